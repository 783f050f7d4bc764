//! Examples of text that each rule finds, and of text that it ignores. All of them are invented. The `¦` in
//! each is removed before use. It keeps the scanners of hosting sites from reporting them as keys.

use super::{built_in, find, redact, rule_ids};

struct Examples {
    rule: &'static str,
    found: &'static [&'static str],
    clean: &'static [&'static str],
}

/// The examples to be found by any rule, with their `¦`.
pub(super) fn found() -> impl Iterator<Item = &'static str> {
    EXAMPLES.iter().flat_map(|examples| examples.found).copied()
}

#[rustfmt::skip]
const EXAMPLES: &[Examples] = &[
    Examples { rule: "anthropic-key",
        found: &["sk-ant¦-api03-Zq81LmXt0bWc5RkP7vYd2NhJ4sGf6TaE9uQi3oKx-A", "key: sk-ant¦-sid01-b7Fk2Lp9XwQm4Rt8Vz1Nc6Hy3Jd5"],
        clean: &["sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxx", "sk-ant-… is how Anthropic's keys begin", "task-ant¦-api03-Zq81LmXt0bWc5RkP7vYd2NhJ4sGf"] },
    Examples { rule: "openrouter-key",
        found: &["sk-or¦-v1-4be19c07d2a8f365e1b04d97c3a862f05be71d94c08a3f26e5d1b790c4a8f362"],
        clean: &["sk-or-v1-", "sk-or¦-v1-your-key-here-your-key-here-your-key-here-your-key"] },
    Examples { rule: "openai-key",
        found: &["sk-proj¦-8fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5Pd0Gs", "sk-¦Zq81LmXt0bWc5RkP7vYd2NhJ4sGf6TaE9uQi3oKxB7Wm2Rt5"],
        clean: &["sk-learn-compatible-estimators-are-listed", "sk-proj-this-is-the-name-of-the-project", "risk-¦Zq81LmXt0bWc5RkP7vYd2NhJ4sGf6TaE"] },
    Examples { rule: "aws-access-key-id",
        found: &["AKIA¦Q3T7WZLM5XRB2NVK", "aws: ASIA¦X4PQ6LTK7RNM2WZB."],
        clean: &["AKIA¦IOSFODNN7EXAMPLE", "AKIA¦Q3T7WZLM5XRB2NVKAA", "AKIA¦q3t7wzlm5xrb2nvk"] },
    Examples { rule: "google-api-key",
        found: &["AIza¦SyB7fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5Pd0Gs2", "maps?key=AIza¦SyD-9xKq3Lm_2Wt7Rv5Zb8Nc1Hy4Jf6P0qT"],
        clean: &["AIza is the start of it", "AIza¦SyB7fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsTooLong"] },
    Examples { rule: "google-oauth-secret",
        found: &["GOCSPX¦-8fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5Pd"],
        clean: &["GOCSPX-", "GOCSPX¦-8fK2mQz7"] },
    Examples { rule: "google-oauth-token",
        found: &["ya29¦.a0AfB_byC7xK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5Pd0Gs"],
        clean: &["ya29.short"] },
    Examples { rule: "github-token",
        found: &["ghp_¦8fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2u", "x\\nghs_¦Zq81LmXt0bWc5RkP7vYd2NhJ4sGf6TaE9uQi", "github_pat_¦11ABCDE0Q0fK2mQz7Lw4Xt9_Rb1Vc6Ny3Hj5Pd0GsAe", "github_pat_¦kmncgvl1spxrasx89ukq53w5l8b9nif7hkj3ojtdqzizhi9x"],
        clean: &["ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "ghp_¦short8fK2", "my_ghp_¦8fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2u"] },
    Examples { rule: "gitlab-token",
        found: &["glpat¦-8fK2mQz7Lw4Xt9Rb1Vc6", "glrt¦-t1_Zq81LmXt0bWc5RkP7vYd", "glimt¦-8fK2mQz7Lw4Xt9Rb1Vc6", "GR13489¦418fK2mQz7Lw4Xt9Rb1Vc6"],
        clean: &["glpat-<your token here>", "glpat-xxxxxxxxxxxxxxxxxxxx"] },
    Examples { rule: "slack-token",
        found: &["xoxb¦-263817263817-4918273645019-Zq81LmXt0bWc5RkP7vYd2NhJ", "xapp¦-1-A04B7C9D2E1-5138472916380-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"],
        clean: &["xoxb-your-bot-token-goes-here", "xoxb- tokens belong to bots", "xoxp-572370529330-573807301142-57233169"] },
    Examples { rule: "slack-webhook",
        found: &["https://hooks¦.slack.com/services/T04B7C9D2/B05K8M3N1/Zq81LmXt0bWc5RkP7vYd2NhJ"],
        clean: &["https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX", "https://hooks.slack.com/"] },
    Examples { rule: "stripe-key",
        found: &["sk_live¦_8fK2mQz7Lw4Xt9Rb1Vc6Ny3H", "rk_test¦_Zq81LmXt0bWc5RkP7vYd2NhJ", "whsec¦_Zq81LmXt0bWc5RkP7vYd2NhJ4sGf6TaE", "sk_prod¦_8fK2mQz7Lw4Xt9Rb1Vc6Ny3H"],
        clean: &["pk_live¦_8fK2mQz7Lw4Xt9Rb1Vc6Ny3H", "sk_test_xxxxxxxxxxxxxxxxxxxxxxxx"] },
    Examples { rule: "sendgrid-key",
        found: &["SG¦.Zq81LmXt0bWc5RkP7vYd2N.hJ4sGf6TaE9uQi3oKx8fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5"],
        clean: &["SG.txt and SG.md", "MSG¦.Zq81LmXt0bWc5RkP7vYd2N.hJ4sGf6TaE9uQi3oKx8fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5"] },
    Examples { rule: "mailgun-key",
        found: &["key-¦9f86d081884c7d659a2feaa0c55ad015"],
        clean: &["key-value", "monkey-¦9f86d081884c7d659a2feaa0c55ad015"] },
    Examples { rule: "npm-token",
        found: &["//registry.npmjs.org/:_authToken=npm_¦8fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2u", "//registry.npmjs.org/:_authToken=550e84¦00-e29b-41d4-a716-446655440000"],
        clean: &["npm_config_registry_is_a_variable_of_npm", "npm_lifecycle_event", "_authToken=${NPM_TOKEN}"] },
    Examples { rule: "pypi-token",
        found: &["pypi-Ag¦EIcHlwaS5vcmcCJDk4ZmI3YzFlLTQyZDAtNGE5Yi04ZjE2LWM3ZDNlNWIyYTkwZgACKlsz"],
        clean: &["pypi-Agents", "pypi-AgEIcHlwaS5vcmc"] },
    Examples { rule: "huggingface-token",
        found: &["hf_¦QzLwXtRbVcNyHjPdGsAeTuKmWf8271Bq3o", "api_org_¦QzLwXtRbVcNyHjPdGsAeTuKmWf8271Bq3o"],
        clean: &["hf_hub_download(repo_id=\"x\")", "hf_transfer_is_a_faster_way_to_download_it"] },
    Examples { rule: "groq-key",
        found: &["gsk_¦8fK2mQz7Lw4Xt9Rb1Vc6WGdyb3FYNy3Hj5Pd0GsAeT2uQi3oKxB7"],
        clean: &["gsk_", "gsk_your_key_here_your_key_here_your_key_here_"] },
    Examples { rule: "xai-key",
        found: &["xai-¦8fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2uQi3oKxB7Zq81LmXt0bWc5RkP7vYd2NhJ4sGf6TaE9u"],
        clean: &["xai-grok"] },
    Examples { rule: "perplexity-key",
        found: &["pplx-¦8fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2uQi3oKxB7Zq81"],
        clean: &["pplx-70b-online"] },
    Examples { rule: "replicate-token",
        found: &["r8_¦8fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2uQ"],
        clean: &["r8_unorm", "bar8_¦8fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2uQ"] },
    Examples { rule: "digitalocean-token",
        found: &["dop_v1¦_4be19c07d2a8f365e1b04d97c3a862f05be71d94c08a3f26e5d1b790c4a8f362"],
        clean: &["dop_v1_abc"] },
    Examples { rule: "shopify-token",
        found: &["shpat¦_9f86d081884c7d659a2feaa0c55ad015"],
        clean: &["shpat_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"] },
    Examples { rule: "databricks-token",
        found: &["dapi¦9f86d081884c7d659a2feaa0c55ad015-2"],
        clean: &["dapi", "fundapi¦9f86d081884c7d659a2feaa0c55ad015"] },
    Examples { rule: "vault-token",
        found: &["hvs¦.CAESIJ8fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5Pd"],
        clean: &["hvs.example-token-with-enough-letters"] },
    Examples { rule: "docker-token",
        found: &["dckr_pat¦_8fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5P"],
        clean: &["dckr_pat_"] },
    Examples { rule: "notion-token",
        found: &["ntn_¦263817263818fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2"],
        clean: &["ntn_id"] },
    Examples { rule: "linear-key",
        found: &["lin_api¦_8fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2uQi3o"],
        clean: &["lin_api_url"] },
    Examples { rule: "grafana-token",
        found: &["glsa¦_8fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5Pd0Gs_4be19c07", "eyJrIjoi¦q7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2uQi3oKxB7Zq81LmXt0bWc5RkP7vYd2NhJ4sGf6TaE9u="],
        clean: &["glsa_"] },
    Examples { rule: "atlassian-token",
        found: &["ATATT3¦xFfGF08fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2uQi3oKxB7Zq81LmXt0=4BE19C07"],
        clean: &["ATATT3"] },
    Examples { rule: "jwt",
        found: &["eyJ¦hbGciOiJIUzI1NiJ9.eyJ¦zdWIiOiI4MTczNjQ1In0.q7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2uQi3oKxB7Zq81L"],
        clean: &["eyJ¦hbGciOiJIUzI1NiJ9", "eyJ¦hbGciOiJIUzI1NiJ9.payload.signature"] },
    Examples { rule: "private-key",
        found: &[
            "-----BEGIN PRI¦VATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----",
            "{\"private_key\": \"-----BEGIN PRI¦VATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIB",
            "AGE-SECRET¦-KEY-1QZ7LW4XT9RB1VC6NY3HJ5PD0GSAET2UQI3OKXB7ZQ81LMXT0BWC5RKP7VY",
            "Private-Lines: 1\nAAAAgQC7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2uQi3oKxB7Zq81LmXt0bWc5RkP7vYd\n",
        ],
        clean: &["-----BEGIN PRIVATE KEY-----", "-----BEGIN PUBLIC KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END PUBLIC KEY-----"] },
    Examples { rule: "aws-secret-key",
        found: &["aws_secret_access_key = q7Lw4Xt9Rb1Vc6Ny3Hj5Pd0Gs¦/AeT2uQi3oKxB7Z", "\"SecretAccessKey\": \"Zq81LmXt0bWc5RkP7vYd2NhJ4sGf¦+TaE9uQi3oKx\""],
        clean: &["the secret key is under the mat", "aws_secret_access_key = <the key>"] },
    Examples { rule: "azure-key",
        found: &["AccountKey=¦Zq81LmXt0bWc5RkP7vYd2NhJ4sGf6TaE9uQi3oKx8fK2mQz7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2uQi3oKxB7Zg==", "SharedAccessKey=¦q7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2uQi3oKxB7Zq81L="],
        clean: &["AccountKey=...", "AccountKey=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="] },
    Examples { rule: "azure-signature",
        found: &["?sv=2024-11-04&sig=¦q7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2uQi3oKxB7Zq81L%3D"],
        clean: &["&sig=abc"] },
    Examples { rule: "twilio-key",
        found: &["TWILIO_AUTH_TOKEN=9f86d081884c7d65¦9a2feaa0c55ad015", "twilio api key: SK¦9f86d081884c7d659a2feaa0c55ad015"],
        clean: &["the twilio call 9f86d081884c7d65¦9a2feaa0c55ad015", "TWILIO_SID=9f86d081"] },
    Examples { rule: "telegram-token",
        found: &["8172635401¦:AAHq7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2uQi"],
        clean: &["12:AA", "1¦:AAHq7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2uQi"] },
    Examples { rule: "url-password",
        found: &["postgres://app:t7Kq-9z¦Lw2@db.internal:5432/app", "mongodb+srv://root:S3cr¦3tpw@cluster0.abcde.mongodb.net", "https://bob:hunt¦er2@wiki.example.org/", "redis://:p4ssw¦0rdX@cache:6379/0"],
        clean: &["postgres://user:password@localhost/db", "postgres://app:${PGPASSWORD}@db/app", "https://localhost:8080/@scope/name", "git@github.com:owner/name.git", "http://[::1]:8080/a@b"] },
    Examples { rule: "authorization-header",
        found: &["Authorization: Bearer q7Lw4Xt9Rb1Vc6¦Ny3Hj5Pd0GsAeT2uQi", "authorization: Basic Ym9iOmh1bn¦RlcjI=", "curl -H \"Authorization: token 9f86d081884c7d65¦9a2feaa0c55ad015a3bf4f1b\"", "Authorization: Api-Token 9f86d081884c7d65¦9a2feaa0c55ad015"],
        clean: &["Authorization: Bearer <token>", "the bearer of this letter is known to me", "Authorization: Bearer your_access_token_here", "Authorization: required-before-Tuesday for everybody"] },
    Examples { rule: "password-assignment",
        found: &["password: hunt¦er2", "DB_PASSWORD=Kx7¦!pLm2", "Das Passwort lautet Sommer¦2024!", "\"password\": \"tr0ub¦4dor&3\"", "mysql --password=Zx81¦kq", "パスワードは Sakura¦88 です", "**Password:** `b1ue-Hor¦se!`", "{\\\"password\\\": \\\"hunt¦er22\\\"}", "<password>hunt¦er22</password>", "<db:adminPassword> x7Kq9z¦Lw2</db:adminPassword>", "password = \"a\\\"b1c2¦d3\"", "password: \"nosecond¦mark7\nx", "put(\"password\", \"hunt¦er22\");", "if (password !== 'hunt¦er22') {", "PASSWORD ?= hunt¦er22", "var password string = \"hunt¦er22\"",
            "DB_PASS=hunt¦er22", "{\"pass\": \"hunt¦er22\"}", "smtpPass: hunt¦er22", "wifi pw: hunt¦er22", "| NAS password | hunt¦er22 |", "|pass|hunt¦er22|", "password \"hunt¦er22\"", "password - hunt¦er22", "Password → hunt¦er22",
            "Password (router): hunt¦er22", "the password for Anna's printer is hunt¦er22.", "Das Passwort fürs WLAN: hunt¦er22", "contraseña: hunt¦er22", "Mot de passe : hunt¦er22", "senha: hunt¦er22", "wachtwoord: hunt¦er22",
            "password: velvet-otter¦-lantern-maple", "password: velvet otter¦ lantern maple.", "pw=VelvetOtter¦LanternMaple", "| password | velvet otter¦ lantern maple |"],
        clean: &["Password: required", "password = getpass()", "password: ${DB_PASSWORD}", "password_min_length: 12", "password=os.environ['PW']", "The password is stored in 1password.", "password: changeme123", "pwd: /home/agent", "<password>required</password>", "<password>${db.password}</password>", "</password>hunt¦er22</x>", "if password > hunt¦er22 {", "<password>\n  hunt¦er22", "put(\"password\", passwd1);", "\"password\",\"token\"",
            "password: summer-trip-photos-2024", "velvet-otter¦-lantern-maple", "bypass: hunt¦er22", "compass=hunt¦er22", "PASS: hunt¦er22", "pass \"hunt¦er22\"", "tests: pass=118,fail=2", "pass: 2024-05-17", "| build | pass | 12.3ms |",
            "| user | password | hunt¦er22 |", "| password | see the vault |", "echo $PASSWORD | sha256sum | cut", "password | hunt¦er22", "`password` `hunt¦er22`", "password \"hunt¦er22", "the password for the wiki is with Ben2", "Password - at least 12 characters",
            "password is velvet otter lantern maple"] },
    Examples { rule: "secret-assignment",
        found: &["api_key: \"q7Lw4Xt9¦Rb1Vc6Ny\"", "CLIENT_SECRET=Zq81LmXt0b¦Wc5RkP7vYd2NhJ", "the token is 9f86d081884c7d65¦9a2feaa0c55ad015", "<apiKey>q7Lw4Xt9¦Rb1Vc6Ny</apiKey>", "\\\"api_key\\\":\\\"q7Lw4Xt9¦Rb1Vc6Ny\\\"", "$apiToken .= \"q7Lw4Xt9¦Rb1Vc6Ny\";"],
        clean: &["token: string", "next_page_token: q7Lw4Xt9¦Rb1Vc6NyHj5P", "secret_name = prod/database/password-v2", "token = settings.auth.token", "request token: 550e8400-e29b-41d4-a716-446655440000", "max_tokens: 4096", "api_key: <YOUR_API_KEY>", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db2-a1B2c3", "Secret: arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db2-a1B2c3", "k8s secret: db-credentials-7d9f8b6c5d", "secret: prod/payments/stripe-live-2024", "credentialId: q7Lw4Xt9¦Rb1Vc6Ny"] },
    Examples { rule: "payment-card",
        found: &["4111 1111¦ 1111 1111", "card 5555¦555555554444, exp 12/27", "3782-822463¦-10005", "6011¦ 0009 9013 9424 12/27", "30569¦309025904", "Jo,4111111111¦111111,12/29", "17,4111111111¦111111,7.50", "2024-01-05 4111 1111¦ 1111 1111", "x 4111111111¦111111 7"],
        clean: &["4111 1111 1111 1112", "order 1234567812345670", "0000 0000 0000 0000", "41111 11111 11111 1", "3.4111¦111111111111", "+4111¦111111111111", "4111¦11111111111123456789", "DE12 5105 10¦51 0510 5100 31", "version 4.1111111111¦111111"] },
];

fn joined(text: &str) -> String {
    text.replace('¦', "")
}

#[test]
fn every_rule_finds_its_examples_and_no_more() {
    let rules = |text: &str| -> Vec<&str> {
        find(&joined(text), &[]).iter().map(|finding| finding.rule).collect()
    };
    let mut wrong: Vec<&str> = Vec::new();
    for Examples { rule, found, clean } in EXAMPLES {
        wrong.extend(found.iter().filter(|text| rules(text) != [*rule]));
        wrong.extend(clean.iter().filter(|text| !rules(text).is_empty()));
        assert!(!found.is_empty() && !clean.is_empty(), "{rule}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_rule_has_examples_and_compiles() {
    let with_examples: Vec<&str> = EXAMPLES.iter().map(|examples| examples.rule).collect();
    for id in rule_ids() {
        assert!(with_examples.contains(&id), "{id}");
    }
    for rule in built_in::rules() {
        assert!(rule.regex().is_some(), "{}", rule.id);
    }
}

#[test]
fn what_was_redacted_is_no_finding() {
    for text in EXAMPLES.iter().flat_map(|examples| examples.found) {
        let text = joined(text);
        let redacted = redact(&text, &find(&text, &[]));
        assert_eq!(find(&redacted, &[]), [], "{redacted}");
        assert_eq!(redacted.matches('\n').count(), text.matches('\n').count(), "{redacted}");
    }
}

/// The whole value is found, whatever its length.
#[test]
fn an_assigned_value_may_be_of_any_length() {
    let long = "Zq81LmXt0bWc5RkP7vYd".repeat(100);
    for (before, after) in [
        ("password: ", "\nnext"),
        ("password: \"", "\" next"),
        ("<password>", "</password>"),
        ("{\\\"password\\\": \\\"", "\\\"}"),
        ("api_key=", " next"),
        ("api_key = '", "' next"),
        ("Authorization: Bearer ", "\nnext"),
    ] {
        for length in [100, 200, 201, 256, 257, 384, 385, 2000] {
            let text = format!("{before}{}{after}", &long[..length]);
            let found = find(&text, &[]);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(found[0].range, before.len()..before.len() + length, "{text}");
        }
    }
}

#[test]
fn each_of_several_cards_is_found() {
    let text = "4111 1111 1111 1111 5555 5555 5555 4444, 378282246310005,4111111111111111";
    assert_eq!(find(text, &[]).len(), 4);
}
