//! Tokens with a known prefix: the formats of providers' keys.
//!
//! Lengths are tolerant, because providers lengthen their tokens without notice.

use std::ops::Range;

use super::rule::{Candidate, Rule, run_end};
use super::{entropy, steps};

pub(super) static TOKENS: [Rule; 38] = [
    Rule::token("anthropic-key", &["sk-ant-"], "^sk-ant-[a-z0-9]{2,12}-[A-Za-z0-9_-]{20,200}"),
    Rule::token("openrouter-key", &["sk-or-v1-"], "^sk-or-v1-[0-9a-f]{48,80}"),
    // The current format with a kind, and the earlier one, which many compatible services use.
    Rule::token("openai-key", &["sk-"], "^sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,250}"),
    Rule::token("openai-key", &["sk-"], "^sk-[A-Za-z0-9]{32,64}"),
    Rule::token(
        "aws-access-key-id",
        &["AKIA", "ASIA", "ABIA", "ACCA"],
        "^(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}",
    ),
    Rule::token("google-api-key", &["AIza"], "^AIza[A-Za-z0-9_-]{35}"),
    Rule::token("google-oauth-secret", &["GOCSPX-"], "^GOCSPX-[A-Za-z0-9_-]{28}"),
    Rule::token("google-oauth-token", &["ya29."], "^ya29\\.[A-Za-z0-9_-]{30,250}"),
    Rule::token(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        "^gh[pousr]_[A-Za-z0-9]{36,250}",
    ),
    Rule::token("github-token", &["github_pat_"], "^github_pat_[A-Za-z0-9_]{36,250}"),
    Rule::token(
        "gitlab-token",
        &[
            "glpat-",
            "gldt-",
            "glrt-",
            "glcbt-",
            "glptt-",
            "glft-",
            "glsoat-",
            "glagent-",
            "glimt-",
            "gloas-",
            "glffct-",
            "GR1348941",
        ],
        "^(?:gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt|oas|ffct)-|GR1348941)[A-Za-z0-9_-]{20,200}(?:\\.[0-9a-z]{2}\\.[0-9a-z]{9})?",
    ),
    Rule::token(
        "slack-token",
        &["xoxb-", "xoxp-", "xoxa-", "xoxe-", "xoxe.", "xoxo-", "xoxr-", "xoxs-"],
        "^xox(?:[abeoprs]-|e\\.xox[bp]-)[A-Za-z0-9-]{12,250}",
    ),
    Rule::token(
        "slack-token",
        &["xapp-"],
        "^xapp-[0-9]-[A-Z0-9]{8,14}-[0-9]{8,15}-[0-9a-f]{32,128}",
    ),
    Rule::token(
        "slack-webhook",
        &["hooks.slack.com/"],
        "^hooks\\.slack\\.com/(?:services|workflows|triggers)/([A-Z0-9]{8,14}/[A-Za-z0-9]{8,24}/[A-Za-z0-9/]{20,64})",
    ),
    Rule::token(
        "stripe-key",
        &["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"],
        "^[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,250}",
    ),
    Rule::token("stripe-key", &["whsec_"], "^whsec_[A-Za-z0-9+/]{32,64}={0,2}"),
    Rule::token("sendgrid-key", &["SG."], "^SG\\.[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{32,64}"),
    Rule::token("mailgun-key", &["key-"], "^key-[0-9a-f]{32}"),
    Rule::token("npm-token", &["npm_"], "^npm_[A-Za-z0-9]{36}"),
    // The earlier format.
    Rule::new(
        "npm-token",
        &["_authToken"],
        "^_authToken ?= ?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})",
        |candidate| Some(candidate.secret.clone()),
    ),
    Rule::token("pypi-token", &["pypi-Ag"], "^pypi-Ag[A-Za-z0-9_-]{50,250}"),
    Rule::token("huggingface-token", &["hf_"], "^hf_[A-Za-z0-9]{30,40}"),
    Rule::token("huggingface-token", &["api_org_"], "^api_org_[A-Za-z0-9]{30,40}"),
    Rule::token("groq-key", &["gsk_"], "^gsk_[A-Za-z0-9]{40,64}"),
    Rule::token("xai-key", &["xai-"], "^xai-[A-Za-z0-9]{64,100}"),
    Rule::token("perplexity-key", &["pplx-"], "^pplx-[A-Za-z0-9]{40,64}"),
    Rule::token("replicate-token", &["r8_"], "^r8_[A-Za-z0-9]{36,40}"),
    Rule::token(
        "digitalocean-token",
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        "^do[por]_v1_[0-9a-f]{64}",
    ),
    Rule::token(
        "shopify-token",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        "^shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    ),
    Rule::token("databricks-token", &["dapi"], "^dapi[0-9a-f]{32}(?:-[0-9])?"),
    Rule::token("vault-token", &["hvs.", "hvb."], "^hv[sb]\\.[A-Za-z0-9_-]{24,250}"),
    Rule::token("docker-token", &["dckr_pat_", "dckr_oat_"], "^dckr_[po]at_[A-Za-z0-9_-]{20,64}"),
    Rule::token("notion-token", &["ntn_"], "^ntn_[A-Za-z0-9]{40,60}"),
    Rule::token("linear-key", &["lin_api_"], "^lin_api_[A-Za-z0-9]{32,64}"),
    Rule::token("grafana-token", &["glsa_", "glc_"], "^gl(?:sa|c)_[A-Za-z0-9+/_]{32,250}={0,2}"),
    // Base64 of JSON: a key, a name and an id.
    Rule::token("grafana-token", &["eyJrIjoi"], "^eyJrIjoi[A-Za-z0-9]{60,300}={0,3}"),
    Rule::token("atlassian-token", &["ATATT3"], "^ATATT3[A-Za-z0-9_=-]{50,250}"),
    Rule::token("jwt", &["eyJ"], "^eyJ[A-Za-z0-9_-]{8}").validated_by(json_web_token),
];

/// A token of three parts: header, payload and signature. The first two are JSON. No part contains another
/// keyword that is outside of a word.
fn json_web_token(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    const JSON: &str = "eyJ";
    let text = candidate.text;
    let start = candidate.extent.start;
    let part = |at: usize, least: usize| {
        let end = run_end(text, at, |byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        (end - at >= least).then_some(end)
    };
    let header = part(start, JSON.len() + 8)?;
    let rest = text[header..].strip_prefix('.').filter(|rest| rest.starts_with(JSON))?;
    let claims = part(text.len() - rest.len(), JSON.len() + 8)?;
    text[claims..].strip_prefix('.')?;
    let end = part(claims + 1, 16)?;
    steps::add(end - start);
    entropy::random(&text[start..end]).then_some(start..end)
}
