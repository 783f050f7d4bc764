// Errors whose description is their text.

import Foundation

extension MemdirError: CustomStringConvertible, LocalizedError {
    /// The text of the error alone.
    public var errorDescription: String? { description }
}

extension StoreError: CustomStringConvertible, LocalizedError {
    /// The text of the error alone.
    public var errorDescription: String? { description }
}

extension EmbedderError: CustomStringConvertible, LocalizedError {
    /// The text of the error alone.
    public var errorDescription: String? { description }
}

extension HookError: CustomStringConvertible, LocalizedError {
    /// The text of the error alone.
    public var errorDescription: String? { description }
}
