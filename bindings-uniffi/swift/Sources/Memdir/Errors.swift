// Errors whose description is their text.

import Foundation

extension MemdirError: CustomStringConvertible, LocalizedError {
    /// The text of the error alone.
    public var errorDescription: String? { description }
}

extension StoreFailure: CustomStringConvertible, LocalizedError {
    /// The text of the error alone.
    public var errorDescription: String? { description }
}

extension HookFailure: CustomStringConvertible, LocalizedError {
    /// The text of the error alone.
    public var errorDescription: String? { description }
}
