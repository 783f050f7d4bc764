// Hooks: what may be left out of one.

extension MemoryHooks {
    /// Lets every command pass.
    public func before(command: Command) throws -> HookDecision { .allow }

    /// Does nothing.
    public func after(event: Event) throws {}
}
