// Callbacks without a result: the hook `after`, and listeners of changes. An error there changes nothing, so it is logged.
// `scripts/edit-generated` puts this into the generated code.

import Foundation

/// Tells the host's `method` something by `call`.
func telling(_ method: String, _ call: () throws -> Void) {
    do {
        try call()
    } catch {
        logFailure(of: method, error)
    }
}

/// Logs what the host's `method` threw: to the system's log, which is the standard error where there is none.
func logFailure(of method: String, _ error: any Error) {
    // It is a format to `NSLog`, and not every system can take the text as an argument of one.
    NSLog("memdir: `\(method)` failed: \(error)".replacingOccurrences(of: "%", with: "%%"))
}
