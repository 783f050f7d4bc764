// The keychain of Apple's systems, for the store in `KeychainStore.swift`.

import Foundation

#if canImport(Security)
    import Security

    /// The keychain of Apple's systems: the items of one service. They stay on this device, and can be read after
    /// it was unlocked once since its start, so background tasks can read them, too.
    public struct SystemKeychain: Keychain {
        /// A code of the keychain, such as `errSecInteractionNotAllowed` before the first unlock.
        public struct Failure: Error {
            public let status: OSStatus
        }

        private let service: String
        private let group: String?

        /// `group` is an access group that an app shares with its extensions.
        public init(service: String, group: String? = nil) {
            self.service = service
            self.group = group
        }

        public func data(for key: String) throws -> Data? {
            var found: CFTypeRef?
            let query = item(key).merging([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne]) { $1 }
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            try check(status)
            return found as? Data
        }

        public func set(_ data: Data, for key: String) throws {
            let value: [CFString: Any] = [
                kSecValueData: data, kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            let status = SecItemUpdate(item(key) as CFDictionary, value as CFDictionary)
            if status != errSecItemNotFound { return try check(status) }
            try check(SecItemAdd(item(key).merging(value) { $1 } as CFDictionary, nil))
        }

        public func remove(_ key: String) throws {
            let status = SecItemDelete(item(key) as CFDictionary)
            if status != errSecItemNotFound { try check(status) }
        }

        public func keys() throws -> [String] {
            var found: CFTypeRef?
            let query = item(nil).merging([kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll]) { $1 }
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return [] }
            try check(status)
            return (found as? [[String: Any]] ?? []).compactMap { $0[kSecAttrAccount as String] as? String }
        }

        private func item(_ key: String?) -> [CFString: Any] {
            var item: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: service]
            // On a Mac, the data protection keychain, as on iOS; the app must be signed for it.
            item[kSecUseDataProtectionKeychain] = true
            if let key { item[kSecAttrAccount] = key }
            if let group { item[kSecAttrAccessGroup] = group }
            return item
        }

        private func check(_ status: OSStatus) throws {
            if status != errSecSuccess { throw Failure(status: status) }
        }
    }
#endif
