// The key of an encrypted store, in a type that never prints it.

import Foundation

/// The key of an encrypted store, for `MemoryOptions(encryptionKey: …)`. Descriptions, errors and a
/// debugger's mirror never contain it.
///
/// The key is validated when a store is opened with it.
public struct EncryptionKey: Sendable, Hashable {
    /// The bytes that cross to the library. The first byte is the kind of key.
    let crossed: Data

    init(crossed: Data) { self.crossed = crossed }

    /// A key of 32 bytes. Generate them at random and keep them where you keep secrets, or use `fromFile`.
    public init(_ bytes: Data) { crossed = [0] + bytes }

    /// A key from text: `hex:` with 64 digits or `base64:` with 44 characters is 32 bytes. Any other text is a
    /// passphrase, which costs a tenth of a second and 64 MiB of memory each time a store is opened.
    public init(_ text: String) { crossed = [1] + Data(text.utf8) }
}

extension EncryptionKey {
    /// Reads a key of 32 bytes from a file. If the file does not exist, it generates a random key and creates the file,
    /// which only its owner may read. If several threads or processes make the first call at the same time, all get the
    /// same key. The file is never overwritten. Do not lose it: without it the memory cannot be read.
    ///
    /// Throws `MemdirError.config` if the file does not have exactly 32 bytes, or cannot be read or created.
    public static func fromFile(_ file: URL) throws -> EncryptionKey {
        try keyFromFile(path: path(of: file, argument: "file"))
    }

    /// The key that `read` returns. If there is none, it generates a random key and stores it with `add`. `add` returns
    /// false if another caller has stored a key meanwhile; that key is used then.
    static func kept(read: () throws -> Data?, add: (Data) throws -> Bool) throws -> EncryptionKey {
        if let bytes = try read() { return try validated(bytes) }
        var random = SystemRandomNumberGenerator()
        let bytes = Data((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        if try add(bytes) { return EncryptionKey(bytes) }
        guard let bytes = try read() else {
            throw MemdirError.config(reason: "the key was removed while it was read", option: "encryptionKey")
        }
        return try validated(bytes)
    }

    private static func validated(_ bytes: Data) throws -> EncryptionKey {
        if bytes.count == 32 { return EncryptionKey(bytes) }
        throw MemdirError.config(
            reason: "the key in the keychain must have 32 bytes, and has \(bytes.count)", option: "encryptionKey")
    }
}

#if canImport(Security)
    import Security

    extension EncryptionKey {
        /// An error code of the keychain, such as `errSecInteractionNotAllowed` before the device was first unlocked.
        public struct KeychainError: Error {
            public let status: OSStatus
        }

        /// Reads a key of 32 bytes from an item of the keychain. The first call creates it. If several threads or
        /// processes, such as an app and its extension, make it at the same time, all get the same key. The item is never
        /// overwritten. It stays on this device, and can be read after the device was first unlocked since it started.
        ///
        /// The keychain keeps its items when an app is deleted, but the memory is deleted with the app. A key without a
        /// memory does no harm; a memory without its key cannot be read.
        ///
        /// `group` is an access group that an app shares with its extensions. Throws `KeychainError`, or
        /// `MemdirError.config` if the item does not have 32 bytes.
        public static func fromKeychain(
            service: String, account: String = "memory-key", group: String? = nil
        ) throws -> EncryptionKey {
            // On a Mac, this selects the keychain that iOS also has. The app must be signed for it.
            var item: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
                kSecUseDataProtectionKeychain: true,
            ]
            if let group { item[kSecAttrAccessGroup] = group }
            return try kept(
                read: {
                    var found: CFTypeRef?
                    let query = item.merging([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne]) { $1 }
                    let status = SecItemCopyMatching(query as CFDictionary, &found)
                    if status == errSecItemNotFound { return nil }
                    if status != errSecSuccess { throw KeychainError(status: status) }
                    return found as? Data ?? Data()
                },
                add: { bytes in
                    let made = item.merging([
                        kSecValueData: bytes,
                        kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
                    ]) { $1 }
                    // Adding is exclusive; updating is not.
                    let status = SecItemAdd(made as CFDictionary, nil)
                    if status == errSecDuplicateItem { return false }
                    if status != errSecSuccess { throw KeychainError(status: status) }
                    return true
                })
        }
    }
#endif

extension EncryptionKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Contains no part of the key.
    public var description: String { "EncryptionKey(…)" }

    /// Contains no part of the key.
    public var debugDescription: String { description }

    /// Contains no part of the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
