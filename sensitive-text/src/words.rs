//! The words that distinguish a remark, or a name in code, from a passphrase of the same form.
//!
//! The words of a passphrase are drawn from a whole language. A remark nearly always contains a function word, or a word
//! about secrets and where they are kept. A name in code, a path or a slug has several computing terms.

/// The kind of text that a word indicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A remark or a reference.
    Remark,
    /// Possibly a name in code. Passphrases contain such words by chance, too.
    Computing,
    /// No indication.
    Other,
}

/// The minimum length of a word that is also recognised with an ending. With endings, shorter ones resemble too many
/// other words.
const FEWEST_LETTERS_BEFORE_ENDING: usize = 4;

/// The kind of a word, in any case and with or without an ending.
pub(super) fn kind(word: &str) -> Kind {
    let word = word.to_lowercase();
    let exact = |word: &str| {
        if REMARK.binary_search(&word).is_ok() {
            Kind::Remark
        } else if COMPUTING.binary_search(&word).is_ok() {
            Kind::Computing
        } else {
            Kind::Other
        }
    };
    let stems = ["s", "ed", "d", "ing"].iter().filter_map(|end| word.strip_suffix(end));
    let long = stems.filter(|stem| stem.chars().count() >= FEWEST_LETTERS_BEFORE_ENDING);
    std::iter::once(word.as_str())
        .chain(long)
        .map(exact)
        .find(|&kind| kind != Kind::Other)
        .unwrap_or(Kind::Other)
}

/// Sorted, in lower case: function words and words about secrets, in the languages of the names before a value.
#[rustfmt::skip]
const REMARK: &[&str] = &[
    "about", "above", "absent", "access", "adresse", "after", "again", "all", "allow", "already", "also", "always", "among", "ancien",
    "and", "ansible", "answer", "any", "aqui", "are", "ask", "assign", "auth", "available", "avec", "avez", "bad", "basic", "been",
    "before", "begin", "beim", "being", "below", "benutzer", "between", "bis", "bitte", "bitwarden", "both", "but", "can", "cannot",
    "caracteres", "caractères", "ceci", "change", "choose", "clave", "com", "commit", "como", "company", "con", "confirm", "contain",
    "contains", "continue", "contract", "contrasena", "contraseña", "correspond", "create", "created", "credential", "cuenta", "current",
    "customer", "dann", "dans", "das", "dashlane", "dass", "deben", "debian", "dein", "del", "dem", "den", "der", "desde", "did", "die",
    "diese", "dieses", "different", "disable", "does", "don", "donde", "done", "durch", "during", "each", "een", "ein", "eine",
    "eingeben", "either", "else", "entre", "entrer", "erforderlich", "esquecida", "est", "esta", "este", "even", "every", "example",
    "exist", "expire", "expiry", "fail", "failure", "false", "fehlt", "few", "first", "for", "forgot", "forgotten", "found", "frei",
    "from", "gehe", "general", "generate", "generic", "gespeichert", "get", "give", "had", "has", "have", "help", "her", "here", "het",
    "hide", "hier", "hint", "his", "how", "ident", "identity", "ihr", "ihre", "immer", "incident", "incorrect", "incorrecta",
    "incorrecte", "incorrecto", "initial", "inside", "instead", "into", "introduzca", "invalid", "ist", "item", "its", "just", "kann",
    "keepass", "kein", "keine", "kennwort", "kept", "key", "keychain", "know", "known", "konto", "las", "last", "lastpass", "later",
    "latest", "lautet", "least", "left", "less", "leur", "liegt", "like", "listing", "lookup", "los", "lost", "lowercase", "maintain",
    "manage", "many", "max", "may", "mein", "meine", "mention", "met", "min", "mindestens", "minimaal", "minimo", "minimum", "missing",
    "more", "most", "mot", "motdepasse", "mus", "muss", "must", "mínima", "mínimo", "mínimos", "nach", "name", "need", "needs", "neu",
    "neue", "neues", "never", "new", "next", "nicht", "niet", "ninety", "noch", "none", "normal", "not", "note", "notes", "nothing",
    "notice", "notify", "nouveau", "nouvelle", "now", "nueva", "nuevo", "null", "nur", "não", "oben", "obligatoire", "obligatoria",
    "obligatorio", "obrigatória", "obrigatório", "oder", "offline", "often", "ohne", "old", "olvidada", "olvidado", "omit", "once", "one",
    "onepassword", "online", "only", "ops", "optional", "other", "oublié", "oubliée", "our", "out", "over", "override", "para", "pas",
    "pass", "passcode", "passe", "passphrase", "passport", "passwd", "password", "passwort", "pending", "people", "per", "permission",
    "pero", "persist", "plain", "please", "por", "pour", "previous", "printed", "properties", "protect", "que", "read", "ready", "reason",
    "received", "record", "recover", "recovery", "refer", "reference", "remember", "remove", "replace", "requerida", "request", "require",
    "required", "requis", "requise", "reset", "resolve", "rest", "restore", "return", "revoke", "right", "safe", "saisir", "same", "save",
    "sealed", "second", "secret", "secure", "security", "see", "senha", "sent", "separate", "ses", "set", "several", "share", "shared",
    "short", "should", "show", "sie", "siehe", "similar", "sin", "since", "sind", "some", "sont", "sous", "steht", "still", "stored",
    "strong", "such", "support", "sur", "tekens", "temporarily", "temporary", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "thing", "this", "those", "through", "todo", "token", "tomorrow", "total", "tous", "tout", "true", "type", "uma",
    "una", "unchanged", "und", "undefined", "under", "unique", "unknown", "unless", "unset", "unter", "until", "update", "upon",
    "uppercase", "uri", "usage", "use", "used", "user", "username", "using", "usuario", "utilisateur", "valid", "validate", "vault",
    "vereist", "vergeten", "verify", "verplicht", "version", "very", "via", "view", "visible", "visit", "vom", "von", "voor", "vor",
    "vos", "votre", "wachtwoord", "wait", "warning", "was", "way", "well", "wenn", "werden", "were", "what", "when", "where", "whether",
    "which", "while", "who", "whole", "whose", "wie", "wiki", "will", "wird", "with", "within", "without", "word", "worth", "would",
    "wrong", "year", "yes", "yet", "you", "your", "zeichen", "zero", "zum", "zur",
];

/// Sorted, in lower case: computing terms.
#[rustfmt::skip]
const COMPUTING: &[&str] = &[
    "accordion", "account", "action", "active", "add", "address", "admin", "agent", "alias", "alphabet", "android", "angular", "apache",
    "api", "app", "application", "apply", "argo", "argon", "argument", "array", "article", "asset", "async", "attempt", "author",
    "avatar", "aws", "azure", "babel", "back", "backend", "backup", "badge", "bank", "banner", "base", "batch", "bcrypt", "beta", "block",
    "body", "bold", "boolean", "border", "bot", "branch", "breadcrumb", "browser", "bucket", "build", "bundle", "button", "cache", "call",
    "callback", "card", "cargo", "carousel", "case", "catalog", "center", "certificate", "channel", "char", "character", "charge",
    "chart", "chat", "check", "checkbox", "checklist", "child", "cipher", "class", "clear", "click", "client", "clone", "close", "cloud",
    "cluster", "code", "collect", "column", "command", "comment", "common", "compare", "component", "compute", "config", "configure",
    "connect", "connection", "console", "constant", "contact", "container", "content", "context", "control", "controller", "convert",
    "cookie", "copy", "core", "count", "cron", "crypto", "custom", "daily", "data", "database", "date", "day", "deploy", "design",
    "desktop", "detail", "dev", "develop", "development", "device", "dialog", "digest", "direct", "directory", "disabled", "display",
    "django", "docker", "docs", "document", "domain", "download", "draft", "drive", "dropdown", "elasticsearch", "email", "empty",
    "enable", "encode", "encrypt", "end", "endpoint", "engine", "enter", "entry", "env", "envelope", "environment", "error", "escape",
    "eval", "event", "exception", "export", "expose", "expression", "extern", "external", "fallback", "feature", "fetch", "field", "file",
    "fill", "filter", "final", "find", "five", "flag", "flask", "flexbox", "flow", "focus", "folder", "font", "footer", "form", "format",
    "forward", "four", "framework", "free", "frequent", "front", "frontend", "full", "function", "gallery", "gateway", "git", "global",
    "good", "gradle", "grafana", "grid", "group", "guest", "guide", "handle", "handler", "hash", "hashing", "header", "health", "hello",
    "helm", "hero", "hidden", "hook", "host", "hour", "hover", "html", "http", "hyphen", "icon", "identifier", "image", "implement",
    "import", "index", "info", "ingress", "inject", "inline", "inner", "install", "instance", "integration", "interface", "internal",
    "issue", "jenkins", "job", "json", "kafka", "keeper", "kerberos", "kibana", "kind", "kubernetes", "label", "language", "laravel",
    "large", "launch", "layer", "layout", "ldap", "ledger", "legacy", "length", "letter", "level", "library", "limit", "line", "link",
    "linux", "list", "live", "load", "local", "locale", "location", "lock", "locker", "log", "login", "logout", "long", "machine",
    "macos", "mail", "main", "make", "manager", "manual", "map", "margin", "mariadb", "match", "maven", "maximum", "medium", "meeting",
    "member", "memory", "menu", "merge", "message", "meta", "meter", "method", "middle", "migration", "mobile", "mock", "modal", "mode",
    "model", "module", "mongodb", "monitor", "month", "monthly", "mount", "move", "mysql", "namespace", "navbar", "navigation", "network",
    "nginx", "nine", "node", "nonce", "npm", "number", "numeric", "oauth", "object", "open", "operation", "operator", "option", "oracle",
    "orchestrator", "order", "org", "outline", "output", "owner", "package", "padding", "page", "pagination", "panel", "param",
    "parameter", "parent", "parse", "part", "partner", "path", "pattern", "payment", "phone", "pin", "pip", "pipeline", "plan",
    "platform", "plugin", "point", "policy", "pool", "portal", "position", "post", "postgres", "prefix", "preview", "primary", "private",
    "process", "processor", "prod", "product", "production", "profile", "program", "project", "prometheus", "prompt", "property",
    "protocol", "provider", "proxy", "public", "publish", "pull", "push", "query", "queue", "quick", "quote", "rabbitmq", "radio",
    "rails", "random", "range", "rate", "react", "real", "redis", "refresh", "register", "registry", "release", "reload", "remote",
    "render", "replica", "repo", "report", "repository", "resource", "response", "restart", "result", "retry", "review", "role",
    "rollback", "rollout", "root", "rotate", "rotation", "rounded", "route", "router", "row", "rule", "run", "runtime", "salt", "saml",
    "scan", "schedule", "schema", "scheme", "scope", "screen", "script", "scrypt", "search", "section", "seed", "select", "sequence",
    "server", "service", "session", "setting", "seven", "shadow", "sheet", "shell", "sign", "signature", "signin", "simple", "single",
    "site", "six", "size", "skip", "slide", "slider", "slot", "slug", "small", "snapshot", "social", "son", "source", "space", "spec",
    "special", "specific", "spinner", "spring", "sql", "sqlite", "staff", "stage", "staging", "standard", "start", "state", "static",
    "status", "step", "stock", "storage", "store", "story", "strategy", "stream", "strength", "string", "structure", "style", "submit",
    "subscription", "subsystem", "suffix", "summary", "surface", "svelte", "switch", "symbol", "sync", "system", "tab", "table", "tag",
    "target", "task", "team", "template", "ten", "tenant", "terraform", "test", "text", "three", "thumbnail", "ticket", "time", "timeout",
    "tiny", "title", "toggle", "tool", "tooltip", "topic", "trace", "track", "traffic", "transaction", "transfer", "transit", "try",
    "two", "typescript", "ubuntu", "unit", "upgrade", "upload", "url", "util", "vagrant", "value", "van", "variable", "vendor", "virtual",
    "vote", "war", "web", "webhook", "webpack", "website", "week", "weekly", "window", "windows", "work", "worker", "workflow",
    "workspace", "wrap", "write", "xml", "yaml", "zone",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_sorted_and_have_one_kind() {
        for words in [REMARK, COMPUTING] {
            assert!(words.is_sorted_by(|one, next| one < next));
        }
        assert!(REMARK.iter().all(|word| COMPUTING.binary_search(word).is_err()));
    }

    #[test]
    fn endings_are_recognised_after_words_that_are_long_enough() {
        for (word, expected) in [
            ("vaults", Kind::Remark),
            ("Stored", Kind::Remark),
            ("WINDOWS", Kind::Computing),
            ("tested", Kind::Computing),
            ("flower", Kind::Other),
            ("linen", Kind::Other),
            ("ford", Kind::Other),
            ("apps", Kind::Other),
        ] {
            assert_eq!(kind(word), expected, "{word}");
        }
    }
}
