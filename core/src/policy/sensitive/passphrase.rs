//! Recognises a passphrase such as `correct-horse-battery-staple-9`: several words, joined by the same mark.
//!
//! A slug, a name in code and a remark in the place of a password have the same form. They nearly always contain a word
//! of grammar or of computing, and the words of a passphrase are drawn from all of a language. So a text with
//! one of the words below is none.

/// The fewest words, without a number among them and with one.
const FEWEST_WORDS: usize = 4;
const FEWEST_WORDS_WITH_NUMBER: usize = 3;

/// The most words.
const MOST_WORDS: usize = 10;

/// The most digits of a number. A longer one is an identifier or a date.
const MOST_DIGITS: usize = 4;

/// Whether the whole value of a name such as `password` is a passphrase. Blanks join words only where
/// the value is `delimited` by marks.
pub(super) fn is_passphrase(value: &str, delimited: bool) -> bool {
    let Some(joint) = value.chars().find(|c| !c.is_alphanumeric()) else { return false };
    let joins = matches!(joint, '-' | '_' | '.') || joint == ' ' && delimited;
    if !joins {
        return false;
    }
    let (mut words, mut letters, mut numbers) = (Vec::new(), 0, 0);
    for part in value.split(joint) {
        let word = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = part.len() - word.len();
        if digits > MOST_DIGITS || part.is_empty() {
            return false;
        }
        numbers += usize::from(digits > 0);
        if word.is_empty() {
            continue;
        }
        let length = word.chars().count();
        if length < fewest_letters(joint) || !is_word(word) {
            return false;
        }
        letters += length;
        words.push(word);
    }
    let fewest = if numbers > 0 { FEWEST_WORDS_WITH_NUMBER } else { FEWEST_WORDS };
    (fewest..=MOST_WORDS).contains(&words.len())
        && numbers <= 2
        && letters >= 4 * words.len()
        && !is_sentence(&words)
        && !words.iter().any(|word| is_ordinary(word))
}

/// Names in code are joined by these marks, and have short parts.
fn fewest_letters(joint: char) -> usize {
    if matches!(joint, '_' | '.') { 4 } else { 3 }
}

/// Letters, all of them small but for the first one. An abbreviation has no vowel.
fn is_word(text: &str) -> bool {
    let is_vowel = |c: char| !c.is_ascii() || "aeiouyAEIOUY".contains(c);
    text.chars().enumerate().all(|(at, c)| c.is_lowercase() || at == 0 && c.is_uppercase())
        && text.contains(is_vowel)
}

/// Whether the words stand as in a sentence: the first one begins with a capital letter, and another one does not.
fn is_sentence(words: &[&str]) -> bool {
    let is_capital = |word: &&str| word.starts_with(char::is_uppercase);
    words.first().is_some_and(is_capital) && !words.iter().all(is_capital)
}

/// Whether it is one of the words of grammar, or of computing, also with an ending.
fn is_ordinary(word: &str) -> bool {
    let word = word.to_lowercase();
    let known = |word: &str| ORDINARY.binary_search(&word).is_ok();
    known(&word)
        || ["s", "ed", "d", "ing", "er", "n", "en"]
            .iter()
            .any(|end| word.strip_suffix(end).is_some_and(known))
}

/// Sorted, in lower case.
#[rustfmt::skip]
const ORDINARY: &[&str] = &[
    "about", "above", "absent", "access", "accordion", "account", "action", "active", "add", "address", "admin", "adresse", "after",
    "again", "agent", "alias", "all", "allow", "alphabet", "already", "also", "always", "among", "ancien", "and", "android", "angular",
    "ansible", "answer", "any", "apache", "api", "app", "application", "apply", "aqui", "are", "argo", "argon", "argument", "array",
    "article", "ask", "asset", "assign", "async", "attempt", "auth", "author", "available", "avatar", "avec", "avez", "aws", "azure",
    "babel", "back", "backend", "backup", "bad", "badge", "bank", "banner", "base", "basic", "batch", "bcrypt", "been", "before", "begin",
    "beim", "being", "below", "benutzer", "beta", "between", "bis", "bitte", "bitwarden", "block", "body", "bold", "boolean", "border",
    "bot", "both", "branch", "breadcrumb", "browser", "bucket", "build", "bundle", "but", "button", "cache", "call", "callback", "can",
    "cannot", "card", "cargo", "carousel", "case", "catalog", "ceci", "center", "certificate", "change", "channel", "char", "character",
    "charge", "chart", "chat", "check", "checkbox", "checklist", "child", "choose", "cipher", "class", "clave", "clear", "click",
    "client", "clone", "close", "cloud", "cluster", "code", "collect", "column", "command", "comment", "commit", "common", "como",
    "company", "compare", "component", "compute", "con", "config", "configure", "confirm", "connect", "connection", "console", "constant",
    "contact", "contain", "container", "contains", "content", "context", "continue", "contract", "contrasena", "contraseña", "control",
    "controller", "convert", "cookie", "copy", "core", "correspond", "count", "create", "created", "credential", "cron", "crypto",
    "cuenta", "current", "custom", "customer", "daily", "dann", "dans", "das", "dashlane", "dass", "data", "database", "date", "day",
    "deben", "debian", "dein", "del", "dem", "den", "deploy", "der", "desde", "design", "desktop", "detail", "dev", "develop",
    "development", "device", "dialog", "did", "die", "diese", "dieses", "different", "digest", "direct", "directory", "disable",
    "disabled", "display", "django", "docker", "docs", "document", "does", "domain", "don", "donde", "done", "download", "draft", "drive",
    "dropdown", "durch", "during", "each", "ein", "eine", "eingeben", "either", "elasticsearch", "else", "email", "empty", "enable",
    "encode", "encrypt", "end", "endpoint", "engine", "enter", "entre", "entrer", "entry", "env", "envelope", "environment",
    "erforderlich", "error", "escape", "est", "esta", "este", "eval", "even", "event", "every", "example", "exception", "exist", "expire",
    "expiry", "export", "expose", "expression", "extern", "external", "fail", "failure", "fallback", "false", "feature", "fehlt", "fetch",
    "few", "field", "file", "fill", "filter", "final", "find", "first", "five", "flag", "flask", "flexbox", "flow", "focus", "folder",
    "font", "footer", "for", "forgot", "form", "format", "forward", "found", "four", "framework", "free", "frei", "frequent", "from",
    "front", "frontend", "full", "function", "gallery", "gateway", "gehe", "general", "generate", "generic", "gespeichert", "get", "git",
    "give", "global", "good", "gradle", "grafana", "grid", "group", "guest", "guide", "had", "handle", "handler", "has", "hash",
    "hashing", "have", "header", "health", "hello", "helm", "help", "her", "here", "hero", "hidden", "hide", "hier", "hint", "his",
    "hook", "host", "hour", "hover", "how", "html", "http", "hyphen", "icon", "ident", "identifier", "identity", "ihr", "ihre", "image",
    "immer", "implement", "import", "incident", "index", "info", "ingress", "initial", "inject", "inline", "inner", "inside", "install",
    "instance", "instead", "integration", "interface", "internal", "into", "introduzca", "invalid", "issue", "ist", "item", "its",
    "jenkins", "job", "json", "just", "kafka", "kann", "keepass", "keeper", "kein", "keine", "kennwort", "kept", "kerberos", "key",
    "keychain", "kibana", "kind", "know", "known", "konto", "kubernetes", "label", "language", "laravel", "large", "las", "last",
    "lastpass", "later", "latest", "launch", "lautet", "layer", "layout", "ldap", "least", "ledger", "left", "legacy", "length", "less",
    "letter", "leur", "level", "library", "liegt", "like", "limit", "line", "link", "linux", "list", "listing", "live", "load", "local",
    "locale", "location", "lock", "locker", "log", "login", "logout", "long", "lookup", "los", "lost", "lowercase", "machine", "macos",
    "mail", "main", "maintain", "make", "manage", "manager", "manual", "many", "map", "margin", "mariadb", "match", "maven", "max",
    "maximum", "may", "medium", "meeting", "mein", "meine", "member", "memory", "mention", "menu", "merge", "message", "meta", "meter",
    "method", "middle", "migration", "min", "mindestens", "minimum", "missing", "mobile", "mock", "modal", "mode", "model", "module",
    "mongodb", "monitor", "month", "monthly", "more", "most", "mot", "motdepasse", "mount", "move", "mus", "muss", "must", "mysql",
    "nach", "name", "namespace", "navbar", "navigation", "need", "needs", "network", "neu", "neue", "neues", "never", "new", "next",
    "nginx", "nicht", "nine", "ninety", "noch", "node", "nonce", "none", "normal", "not", "note", "notes", "nothing", "notice", "notify",
    "nouveau", "nouvelle", "now", "npm", "nueva", "nuevo", "null", "number", "numeric", "nur", "oauth", "oben", "object", "oder",
    "offline", "often", "ohne", "old", "omit", "once", "one", "onepassword", "online", "only", "open", "operation", "operator", "ops",
    "option", "optional", "oracle", "orchestrator", "order", "org", "other", "our", "out", "outline", "output", "over", "override",
    "owner", "package", "padding", "page", "pagination", "panel", "para", "param", "parameter", "parent", "parse", "part", "partner",
    "pas", "pass", "passcode", "passe", "passphrase", "passport", "passwd", "password", "passwort", "path", "pattern", "payment",
    "pending", "people", "per", "permission", "pero", "persist", "phone", "pin", "pip", "pipeline", "plain", "plan", "platform", "please",
    "plugin", "point", "policy", "pool", "por", "portal", "position", "post", "postgres", "pour", "prefix", "preview", "previous",
    "primary", "printed", "private", "process", "processor", "prod", "product", "production", "profile", "program", "project",
    "prometheus", "prompt", "properties", "property", "protect", "protocol", "provider", "proxy", "public", "publish", "pull", "push",
    "que", "query", "queue", "quick", "quote", "rabbitmq", "radio", "rails", "random", "range", "rate", "react", "read", "ready", "real",
    "reason", "received", "record", "recover", "recovery", "redis", "refer", "reference", "refresh", "register", "registry", "release",
    "reload", "remember", "remote", "remove", "render", "replace", "replica", "repo", "report", "repository", "request", "require",
    "required", "reset", "resolve", "resource", "response", "rest", "restart", "restore", "result", "retry", "return", "review", "revoke",
    "right", "role", "rollback", "rollout", "root", "rotate", "rotation", "rounded", "route", "router", "row", "rule", "run", "runtime",
    "safe", "saisir", "salt", "same", "saml", "save", "scan", "schedule", "schema", "scheme", "scope", "screen", "script", "scrypt",
    "sealed", "search", "second", "secret", "section", "secure", "security", "see", "seed", "select", "sent", "separate", "sequence",
    "server", "service", "ses", "session", "set", "setting", "seven", "several", "shadow", "share", "shared", "sheet", "shell", "short",
    "should", "show", "sie", "siehe", "sign", "signature", "signin", "similar", "simple", "sin", "since", "sind", "single", "site", "six",
    "size", "skip", "slide", "slider", "slot", "slug", "small", "snapshot", "social", "some", "son", "sont", "source", "sous", "space",
    "spec", "special", "specific", "spinner", "spring", "sql", "sqlite", "staff", "stage", "staging", "standard", "start", "state",
    "static", "status", "steht", "step", "still", "stock", "storage", "store", "stored", "story", "strategy", "stream", "strength",
    "string", "strong", "structure", "style", "submit", "subscription", "subsystem", "such", "suffix", "summary", "support", "sur",
    "surface", "svelte", "switch", "symbol", "sync", "system", "tab", "table", "tag", "target", "task", "team", "template", "temporarily",
    "temporary", "ten", "tenant", "terraform", "test", "text", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "thing", "this", "those", "three", "through", "thumbnail", "ticket", "time", "timeout", "tiny", "title", "todo", "toggle", "token",
    "tomorrow", "tool", "tooltip", "topic", "total", "tous", "tout", "trace", "track", "traffic", "transaction", "transfer", "transit",
    "true", "try", "two", "type", "typescript", "ubuntu", "una", "unchanged", "und", "undefined", "under", "unique", "unit", "unknown",
    "unless", "unset", "unter", "until", "update", "upgrade", "upload", "upon", "uppercase", "uri", "url", "usage", "use", "used", "user",
    "username", "using", "usuario", "util", "utilisateur", "vagrant", "valid", "validate", "value", "van", "variable", "vault", "vendor",
    "verify", "version", "very", "via", "view", "virtual", "visible", "visit", "vom", "von", "vor", "vos", "vote", "votre", "wait", "war",
    "warning", "was", "way", "web", "webhook", "webpack", "website", "week", "weekly", "well", "wenn", "werden", "were", "what", "when",
    "where", "whether", "which", "while", "who", "whole", "whose", "wie", "wiki", "will", "window", "windows", "wird", "with", "within",
    "without", "word", "work", "worker", "workflow", "workspace", "worth", "would", "wrap", "write", "wrong", "xml", "yaml", "year",
    "yes", "yet", "you", "your", "zeichen", "zero", "zone", "zum", "zur",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ordinary_words_are_sorted() {
        assert!(ORDINARY.is_sorted_by(|one, next| one < next));
    }

    #[test]
    fn words_are_a_passphrase_if_nothing_says_otherwise() {
        for found in [
            "correct-horse-battery-staple-9",
            "correct-horse-battery-staple",
            "Correct-Horse-Battery-Staple",
            "correct_horse_battery_staple",
            "correct.horse.battery.staple",
            "7-lantern-otter-velvet",
            "lantern-otter7-velvet",
            "apfel-birne-kürbis-möhre",
        ] {
            assert!(is_passphrase(found, false), "{found}");
        }
        assert!(is_passphrase("correct horse battery staple", true));
        for clean in [
            "",
            "-",
            "correct",
            "correct-horse",
            "correct-horse-battery",
            "correct-horse--battery-staple",
            "correct-horse_battery-staple",
            "correct horse battery staple",
            "CORRECT_HORSE_BATTERY_STAPLE",
            "Correct-horse-battery-staple",
            "correct-horse-battery-20240105",
            "1-2-3-lantern-otter-velvet",
            "lantern-otter-velvet-v2",
            "lantern-otter-velvet-tls",
            "see-the-team-vault",
            "lantern-otter-velvet-vaults",
            "one-two-six-ten-abe",
            "ab_cd_ef_gh",
        ] {
            assert!(!is_passphrase(clean, false), "{clean}");
        }
        let long = ["lantern"; MOST_WORDS + 1].join("-");
        assert!(is_passphrase(&long[..MOST_WORDS * 8 - 1], false) && !is_passphrase(&long, false));
    }
}
