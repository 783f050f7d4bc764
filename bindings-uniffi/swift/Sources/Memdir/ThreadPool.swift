import Foundation

/// The thread pool that executes commands. Dispatch's pool is not suitable: while all its threads wait, it adds at most one
/// thread a second. A view would then wait behind changes that wait for another writer.
final class ThreadPool: @unchecked Sendable {
    /// For calls that change nothing. They have their own threads, because changes may have to wait.
    static let views = ThreadPool("memdir.views")
    static let changes = ThreadPool("memdir.changes")

    /// The most threads, as in every language; further work is queued.
    private static let most = 64
    /// The time, in seconds, after which an idle thread ends.
    private static let patience: TimeInterval = 10

    private let name: String
    private let condition = NSCondition()
    private var work: [@Sendable () -> Void] = []
    private var threads = 0
    private var idle = 0

    private init(_ name: String) { self.name = name }

    /// Calls `job` on a thread that may block.
    func run(_ job: @escaping @Sendable () -> Void) {
        condition.lock()
        defer { condition.unlock() }
        work.append(job)
        if idle >= work.count {
            condition.signal()
        } else if threads < Self.most {
            threads += 1
            let thread = Thread { self.live() }
            thread.name = name
            thread.start()
        }
    }

    private func live() {
        condition.lock()
        defer { condition.unlock() }
        var isPatient = true
        while isPatient || !work.isEmpty {
            if work.isEmpty {
                idle += 1
                isPatient = condition.wait(until: Date(timeIntervalSinceNow: Self.patience))
                idle -= 1
                continue
            }
            let job = work.removeFirst()
            condition.unlock()
            #if canImport(ObjectiveC)
                autoreleasepool(invoking: job)
            #else
                job()
            #endif
            condition.lock()
            isPatient = true
        }
        threads -= 1
    }
}
