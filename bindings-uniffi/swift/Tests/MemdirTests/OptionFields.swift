// Made from core/options.json by core/generate-options.

import Memdir

/// The options of a case, by their names.
struct OptionFields {
    let fields: [String: JSON]

    static let names = [
        "max_view_chars",
        "max_file_bytes",
        "max_total_bytes",
        "max_files",
        "max_image_bytes",
        "on_existing",
        "read_only",
        "read_only_paths",
        "writable_paths",
        "stale_guard",
        "sensitive_text",
        "sensitive_rules",
        "sensitive_on_view",
        "expire_after",
        "record_access",
        "never_expire",
        "history",
        "history_max_age",
        "history_max_versions",
        "history_max_bytes",
        "actor",
        "search_language",
        "search_max_bytes",
        "search_keep",
        "search_recency",
        "embedder_name",
        "embedder_timeout",
        "event_content",
        "durability",
        "lock_timeout",
        "namespace",
        "encryption_key",
        "encrypt_names",
    ]

    func options() throws -> MemoryOptions {
        let standard = MemoryOptions()
        return MemoryOptions(
            maxViewChars: try limit("max_view_chars", standard.maxViewChars),
            maxFileBytes: try limit("max_file_bytes", standard.maxFileBytes),
            maxTotalBytes: try limit("max_total_bytes", standard.maxTotalBytes),
            maxFiles: try limit("max_files", standard.maxFiles),
            maxImageBytes: try limit("max_image_bytes", standard.maxImageBytes),
            onExisting: try word("on_existing", ["error": .error, "overwrite": .overwrite]),
            readOnly: try flag("read_only"),
            readOnlyPaths: try patterns("read_only_paths"),
            writablePaths: try patterns("writable_paths"),
            staleGuard: try word("stale_guard", ["off": .off, "on": .on, "strict": .strict]),
            sensitiveText: try word("sensitive_text", ["off": .off, "reject": .reject, "redact": .redact]),
            sensitiveRules: try rules("sensitive_rules"),
            sensitiveOnView: try flag("sensitive_on_view"),
            expireAfter: try duration("expire_after", standard.expireAfter),
            recordAccess: try flag("record_access"),
            neverExpire: try patterns("never_expire"),
            history: try flag("history"),
            historyMaxAge: try duration("history_max_age", standard.historyMaxAge),
            historyMaxVersions: try limit("history_max_versions", standard.historyMaxVersions),
            historyMaxBytes: try limit("history_max_bytes", standard.historyMaxBytes),
            actor: try text("actor"),
            searchLanguage: try word("search_language", ["auto": .auto, "none": .none, "danish": .danish, "dutch": .dutch, "english": .english, "finnish": .finnish, "french": .french, "german": .german, "italian": .italian, "norwegian": .norwegian, "polish": .polish, "portuguese": .portuguese, "spanish": .spanish, "swedish": .swedish, "turkish": .turkish]),
            searchMaxBytes: try limit("search_max_bytes", standard.searchMaxBytes),
            searchKeep: try flag("search_keep"),
            searchRecency: try duration("search_recency", standard.searchRecency),
            embedderName: try text("embedder_name"),
            embedderTimeout: try duration("embedder_timeout", standard.embedderTimeout),
            eventContent: try flag("event_content"),
            durability: try word("durability", ["full": .full, "relaxed": .relaxed]) ?? .relaxed,
            lockTimeout: try duration("lock_timeout", standard.lockTimeout),
            namespace: try text("namespace"),
            encryptionKey: try key("encryption_key"),
            encryptNames: try flag("encrypt_names")
        )
    }
}
