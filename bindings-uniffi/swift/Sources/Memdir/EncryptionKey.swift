// The key of an encrypted store, which nothing shows.

import Foundation

/// The key of an encrypted store, for `MemoryOptions(encryptionKey: …)`. Neither a description nor an error
/// nor a debugger's mirror shows it.
///
/// The key is validated when a store is opened with it.
public struct EncryptionKey: Sendable, Hashable {
    /// What goes to the library: a byte that says what the others are.
    let crossed: Data

    init(crossed: Data) { self.crossed = crossed }

    /// A key of 32 bytes. Generate them at random and keep them in the keychain.
    public init(_ bytes: Data) { crossed = [0] + bytes }

    /// `hex:` with 64 digits and `base64:` with 44 characters stand for 32 bytes. Any other text is a passphrase,
    /// which costs a tenth of a second and 64 MiB of memory each time that a store is opened.
    public init(_ text: String) { crossed = [1] + Data(text.utf8) }
}

extension EncryptionKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows no part of the key.
    public var description: String { "EncryptionKey(…)" }

    /// Shows no part of the key.
    public var debugDescription: String { description }

    /// Shows no part of the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
