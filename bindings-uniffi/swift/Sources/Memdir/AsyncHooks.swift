// Hooks that are awaited.
//
// The library decodes a call and later executes its command; in between nothing waits (`PendingCall`). So a hook is
// awaited here, in the task of its call, and holds no thread meanwhile.

import Foundation

/// Your own code before and after each command of a memory, which may wait: for a person, or for another service. It is
/// the argument `hooks` of ``Memory``, and the asynchronous methods await it. While it waits it holds no thread, so all
/// other calls go on.
///
/// A hook runs in the task of its call, and several may run at once. Commands that a hook issues on the same memory run
/// without hooks; those that it issues in a detached task do not.
///
/// The blocking methods of such a memory cannot await its hooks: they refuse every command with `MemdirError.hook`.
public protocol AsyncMemoryHooks: AnyObject, Sendable {
    /// Called with each command before the store is touched, as `MemoryHooks.before`.
    ///
    /// If it throws, it has failed: the command is not executed, and the model reads only that it could not be checked. If
    /// the task is cancelled meanwhile, nothing is changed. By default it allows every command.
    func before(command: Command, call: HookCall) async throws -> HookDecision

    /// Called after each call, when its reply is ready, as `MemoryHooks.after`. Also called for a call whose task was
    /// cancelled; it then cannot be cancelled itself. An error that it throws is logged and changes nothing, because the
    /// command is done. By default it does nothing.
    func after(event: Event) async throws
}

extension AsyncMemoryHooks {
    /// Allows every command.
    public func before(command: Command, call: HookCall) async throws -> HookDecision { .allow }

    /// Does nothing.
    public func after(event: Event) async throws {}
}

extension HookCall {
    /// What the command would change, as a unified diff: the blocking `diff` for asynchronous code.
    public func diff() async throws -> String {
        try await onThread(
            .views,
            { cancellation in Result { try self.diffUnless(cancellation: cancellation) } },
            { _ in .failure(CancellationError()) }
        ).get()
    }
}

extension Memory {
    /// As `init(store:options:hooks:)`, with hooks that its asynchronous methods await.
    public convenience init(
        store: String = "./memory", options: MemoryOptions = MemoryOptions(), hooks: any AsyncMemoryHooks
    ) throws {
        try self.init(store: store, options: options, hooks: Awaited(hooks))
    }

    /// A memory on your own store, with hooks that its asynchronous methods await.
    public convenience init(
        store: any Store, options: MemoryOptions = MemoryOptions(), hooks: any AsyncMemoryHooks
    ) throws {
        try self.init(store: store, options: options, hooks: Awaited(hooks))
    }

    /// Opens a directory, with hooks that its asynchronous methods await.
    public convenience init(
        directory: URL, options: MemoryOptions = MemoryOptions(), hooks: any AsyncMemoryHooks
    ) throws {
        try self.init(directory: directory, options: options, hooks: Awaited(hooks))
    }

    /// Opens a memory on a thread that may block, with hooks that its asynchronous methods await.
    public static func open(
        store: String = "./memory", options: MemoryOptions = MemoryOptions(), hooks: any AsyncMemoryHooks
    ) async throws -> Memory {
        try await open(store: store, options: options, hooks: Awaited(hooks))
    }

    /// Opens a memory on a store, on a thread that may block, with hooks that its asynchronous methods await.
    public static func open(
        store: any Store, options: MemoryOptions = MemoryOptions(), hooks: any AsyncMemoryHooks
    ) async throws -> Memory {
        try await open(store: store, options: options, hooks: Awaited(hooks))
    }

    /// Opens a directory, on a thread that may block, with hooks that its asynchronous methods await.
    public static func open(
        directory: URL, options: MemoryOptions = MemoryOptions(), hooks: any AsyncMemoryHooks
    ) async throws -> Memory {
        try await open(directory: directory, options: options, hooks: Awaited(hooks))
    }
}

/// The hooks as the library has them. It keeps them, and asks them only about a call that cannot await them.
final class Awaited: MemoryHooks {
    private let hooks: any AsyncMemoryHooks
    private var id: ObjectIdentifier { ObjectIdentifier(hooks) }

    init(_ hooks: any AsyncMemoryHooks) { self.hooks = hooks }

    func before(command: Command, call: HookCall) throws -> HookDecision {
        throw HookError.failed(reason: "the hooks of this memory are asynchronous, so its commands are called with `await`")
    }

    /// Asks `before`, has the command executed by `finish`, and tells `after`. The call has its reply then.
    ///
    /// `finish` returns whether a thread executed the command. Returns false if the call was given up before: nothing is
    /// changed.
    func carryOut(_ call: PendingCall, finish: (HookDecision) async -> Bool) async -> Bool {
        if Self.running.contains(id) { return await finish(.allow) }
        let isExecuted = await decided(call, finish)
        if let event = call.event() { await tell(event) }
        return isExecuted
    }

    private func decided(_ call: PendingCall, _ finish: (HookDecision) async -> Bool) async -> Bool {
        var decision = HookDecision.allow
        do {
            if let command = call.command(), let known = call.hookCall() {
                decision = try await marked { try await self.hooks.before(command: command, call: known) }
            }
        } catch {
            // The cancellation of this task goes on to its caller; any other one is a failure of the hook.
            if !Task.isCancelled {
                call.failHook(reason: text(of: error))
                return true
            }
        }
        if Task.isCancelled {
            call.cancel()
            return false
        }
        return await finish(decision)
    }

    private func tell(_ event: Event) async {
        let tell: @Sendable () async -> Void = {
            do {
                try await self.marked { try await self.hooks.after(event: event) }
            } catch {
                // The cancellation of its task is no failure.
                if !(Task.isCancelled && error is CancellationError) { logFailure(of: "after", error) }
            }
        }
        if Task.isCancelled {
            await Task(operation: tell).value
        } else {
            await tell()
        }
    }

    /// The hooks that a task runs in: their own commands go without hooks.
    @TaskLocal private static var running: Set<ObjectIdentifier> = []

    private func marked<T: Sendable>(_ hook: @Sendable () async throws -> T) async throws -> T {
        try await Self.$running.withValue(Self.running.union([id]), operation: hook)
    }
}

/// What the library says of it, as for hooks that are not asynchronous.
private func text(of error: any Error) -> String { String(describing: error) }
