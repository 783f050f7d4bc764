// Hooks that are awaited.
//
// The library decodes a call and later executes its command; nothing waits in between (`PendingCall`). So a hook is
// awaited here, in the task of its call, and holds no thread meanwhile.

import Foundation

/// Your own code before and after each command of a memory. It may wait for a person or for another service. Pass it as
/// the argument `hooks` of ``Memory``; the asynchronous methods await it. It holds no thread while it waits, so all
/// other calls continue.
///
/// A hook runs in the task of its call, and several may run concurrently. Commands that a hook issues on the same
/// memory run without hooks. Commands that it issues in a detached task run with them.
///
/// The blocking methods of such a memory cannot await its hooks: they refuse every command with `MemdirError.hook`.
public protocol AsyncMemoryHooks: AnyObject, Sendable {
    /// Called with each command before the store is touched, as `MemoryHooks.before`.
    ///
    /// If it throws, it has failed: the command is not executed, and the model reads only that it could not be checked. If
    /// the task is cancelled meanwhile, nothing is changed. By default it allows every command.
    func before(command: Command, call: HookCall) async throws -> HookDecision

    /// Called after each call, when its reply is ready, as `MemoryHooks.after`. Also called for a call whose task was
    /// cancelled; it then cannot be cancelled itself. An error that it throws is logged and has no other effect, because
    /// the command is already executed. By default it does nothing.
    func after(event: Event) async throws
}

extension AsyncMemoryHooks {
    /// Allows every command.
    public func before(command: Command, call: HookCall) async throws -> HookDecision { .allow }

    /// Does nothing.
    public func after(event: Event) async throws {}
}

extension HookCall {
    /// The command's change as a unified diff. This is the blocking `diff` for asynchronous code.
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

/// The object that the library holds for the hooks. It is called directly only by a sync, and for a call that cannot await the
/// hooks.
final class Awaited: MemoryHooks {
    private let hooks: any AsyncMemoryHooks
    private var id: ObjectIdentifier { ObjectIdentifier(hooks) }

    init(_ hooks: any AsyncMemoryHooks) { self.hooks = hooks }

    func before(command: Command, call: HookCall) throws -> HookDecision {
        guard let task = SyncTask.current else {
            throw HookError.failed(reason: "the hooks of this memory are asynchronous, so its commands are called with `await`")
        }
        if task.running.contains(id) { return .allow }
        do {
            return try task.result { try await self.marked(in: task) { try await self.hooks.before(command: command, call: call) } }
        } catch {
            throw HookError.failed(reason: text(of: error))
        }
    }

    func after(event: Event) {
        guard let task = SyncTask.current, !task.running.contains(id) else { return }
        do {
            try task.result { try await self.marked(in: task) { try await self.hooks.after(event: event) } }
        } catch {
            if !(error is CancellationError) { logFailure(of: "after", error) }
        }
    }

    private func marked<T: Sendable>(in task: SyncTask, _ hook: @escaping @Sendable () async throws -> T) async throws -> T {
        try await Self.$running.withValue(task.running.union([id]), operation: hook)
    }

    /// The hooks that this task runs in.
    static var runningHere: Set<ObjectIdentifier> { running }

    /// Awaits `before`, executes the command with `finish`, and awaits `after`. After that the call has its reply.
    ///
    /// `finish` returns true if a thread executed the command. Returns false if the call was abandoned before: nothing
    /// is changed.
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
            // If this task was cancelled, the cancellation ends the call. Any other error is a failure of the hook.
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
                // The cancellation of the task itself is not a failure.
                if !(Task.isCancelled && error is CancellationError) { logFailure(of: "after", error) }
            }
        }
        if Task.isCancelled {
            await Task(operation: tell).value
        } else {
            await tell()
        }
    }

    /// The hooks that a task runs in. Their own commands run without hooks.
    @TaskLocal private static var running: Set<ObjectIdentifier> = []

    private func marked<T: Sendable>(_ hook: @Sendable () async throws -> T) async throws -> T {
        try await Self.$running.withValue(Self.running.union([id]), operation: hook)
    }
}

/// The task that awaits a sync. The thread of the sync runs asynchronous hooks in tasks of their own, and waits for them.
final class SyncTask: @unchecked Sendable {
    private static let key = "dev.memdir.sync"

    /// The hooks that the task of the sync runs in.
    let running = Awaited.runningHere
    private let lock = NSLock()
    private var isCancelled = false
    private var cancelHook: (@Sendable () -> Void)?

    /// The task of the sync that this thread does.
    static var current: SyncTask? { Thread.current.threadDictionary[key] as? SyncTask }

    /// Does the sync on this thread.
    func during<T>(_ sync: () throws -> T) rethrows -> T {
        let outer = Thread.current.threadDictionary[Self.key]
        Thread.current.threadDictionary[Self.key] = self
        defer { Thread.current.threadDictionary[Self.key] = outer }
        return try sync()
    }

    /// Cancels the hook that runs. No other one begins.
    func cancel() {
        let cancelHook = lock.withLock {
            isCancelled = true
            return self.cancelHook
        }
        cancelHook?()
    }

    /// Waits for a hook.
    func result<T: Sendable>(_ hook: @escaping @Sendable () async throws -> T) throws -> T {
        let ended = DispatchSemaphore(value: 0)
        let result = HookResult<T>()
        let task = Task {
            do { result.value = .success(try await hook()) } catch { result.value = .failure(error) }
            ended.signal()
        }
        let isCancelled = lock.withLock {
            cancelHook = { task.cancel() }
            return self.isCancelled
        }
        if isCancelled { task.cancel() }
        ended.wait()
        lock.withLock { cancelHook = nil }
        return try result.value.get()
    }
}

/// The result of a hook, which is read after it has ended.
private final class HookResult<T: Sendable>: @unchecked Sendable {
    var value: Result<T, any Error> = .failure(CancellationError())
}

/// The text that the library reports, as for hooks that are not asynchronous.
private func text(of error: any Error) -> String { String(describing: error) }
