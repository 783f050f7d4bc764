// Callbacks without a result: the hook `after`, and listeners of changes. An error there has no effect, so it is logged.
// `scripts/edit-generated` inserts these calls into the generated code.

import Foundation

/// Notifies the host's `method` with `call`.
func telling(_ method: String, _ call: () throws -> Void) {
    do {
        try call()
    } catch {
        logFailure(of: method, error)
    }
}

/// Logs an error of the host's `method` to the system's log, or to standard error on a system without one.
func logFailure(of method: String, _ error: any Error) {
    // `NSLog` takes a format string. Passing the text as an argument of one does not work on every system.
    NSLog("memdir: `\(method)` failed: \(error)".replacingOccurrences(of: "%", with: "%%"))
}
