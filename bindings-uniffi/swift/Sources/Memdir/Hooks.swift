// The defaults of hooks.

extension MemoryHooks {
    /// Allows every command.
    public func before(command: Command, call: HookCall) throws -> HookDecision { .allow }

    /// Does nothing.
    public func after(event: Event) throws {}
}
