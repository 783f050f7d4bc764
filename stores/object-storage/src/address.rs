//! Addresses of object storage, and the services' environment variables.
//!
//! `s3://bucket/prefix?region=eu-central-1`: an address may contain settings but never keys, because addresses are
//! written into files and logs.

use std::fmt;
use std::sync::Arc;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as S3};
use object_store::azure::{AzureConfigKey as Az, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey as Gs};
use object_store::path::Path as Key;
use object_store::{ClientConfigKey, ObjectStore, RetryConfig};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The limit of a prefix, in bytes. It leaves room for file names.
const MAX_PREFIX_BYTES: usize = 512;
/// The characters that are encoded in a namespace's name: all except plain letters, digits, `-` and `_`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');

use super::client::below;

/// The connection settings of a bucket.
pub(super) enum Service {
    S3(AmazonS3Builder),
    Google(GoogleCloudStorageBuilder),
    Azure(MicrosoftAzureBuilder),
}

impl Service {
    pub(super) fn connect(&self) -> object_store::Result<Arc<dyn ObjectStore>> {
        // The client above retries, because it must know about each attempt.
        let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        Ok(match self {
            Self::S3(builder) => Arc::new(builder.clone().with_retry(retry).build()?),
            Self::Google(builder) => Arc::new(builder.clone().with_retry(retry).build()?),
            Self::Azure(builder) => Arc::new(builder.clone().with_retry(retry).build()?),
        })
    }

    /// Whether a listing is in the order of the keys, and can begin behind one. Not in S3's directory buckets. Azure's emulator cannot
    /// begin behind a key.
    pub(super) fn lists_in_order(&self) -> bool {
        match self {
            Self::S3(builder) => {
                let is_express = builder.get_config_value(&S3::S3Express);
                let bucket = builder.get_config_value(&S3::Bucket).unwrap_or_default();
                is_express.is_none_or(|value| value == "false") && !bucket.ends_with("--x-s3")
            }
            Self::Google(_) => true,
            Self::Azure(_) => false,
        }
    }

    fn has_region_or_endpoint(&self) -> bool {
        match self {
            Self::S3(builder) => {
                let sources = [S3::Region, S3::DefaultRegion, S3::Endpoint, S3::S3Endpoint];
                sources.iter().any(|key| builder.get_config_value(key).is_some())
            }
            _ => true,
        }
    }

    fn endpoint(&self) -> Option<String> {
        match self {
            Self::S3(builder) => builder
                .get_config_value(&S3::Endpoint)
                .or_else(|| builder.get_config_value(&S3::S3Endpoint)),
            Self::Google(builder) => builder.get_config_value(&Gs::BaseUrl),
            Self::Azure(builder) => builder.get_config_value(&Az::Endpoint),
        }
    }

    /// The bucket and its endpoint.
    pub(super) fn place(&self) -> String {
        let bucket = match self {
            Self::S3(builder) => builder.get_config_value(&S3::Bucket),
            Self::Google(builder) => builder.get_config_value(&Gs::Bucket),
            Self::Azure(builder) => builder.get_config_value(&Az::ContainerName),
        };
        let account = match self {
            Self::Azure(builder) => builder.get_config_value(&Az::AccountName),
            _ => None,
        };
        format!("{self:?} {:?} {account:?} {bucket:?}", self.endpoint())
    }

    fn allows_http(&self) -> bool {
        let allowed = match self {
            Self::S3(builder) => builder.get_config_value(&S3::Client(ClientConfigKey::AllowHttp)),
            Self::Google(builder) => {
                builder.get_config_value(&Gs::Client(ClientConfigKey::AllowHttp))
            }
            Self::Azure(builder) => {
                builder.get_config_value(&Az::Client(ClientConfigKey::AllowHttp))
            }
        };
        allowed.as_deref() == Some("true")
    }

    /// Sets an option from the address.
    fn set(self, name: &str, value: &str) -> Result<Self, String> {
        let unknown = |known: &str| {
            format!(
                "has an option that is not known: {known} may stand there, and keys and passwords \
                 belong into the environment"
            )
        };
        Ok(match self {
            Self::S3(builder) => {
                let key = match name {
                    "endpoint" => S3::Endpoint,
                    "region" => S3::Region,
                    "virtual_hosted_style" => S3::VirtualHostedStyleRequest,
                    "timeout" => S3::Client(ClientConfigKey::Timeout),
                    "allow_http" => S3::Client(ClientConfigKey::AllowHttp),
                    _ => {
                        return Err(unknown(
                            "\"endpoint\", \"region\", \"timeout\", \"virtual_hosted_style\" and \
                             \"allow_http\"",
                        ));
                    }
                };
                Self::S3(builder.with_config(key, value))
            }
            Self::Google(builder) => {
                let key = match name {
                    "endpoint" => Gs::BaseUrl,
                    "timeout" => Gs::Client(ClientConfigKey::Timeout),
                    "allow_http" => Gs::Client(ClientConfigKey::AllowHttp),
                    _ => return Err(unknown("\"endpoint\", \"timeout\" and \"allow_http\"")),
                };
                Self::Google(builder.with_config(key, value))
            }
            Self::Azure(builder) => {
                let key = match name {
                    "account" => Az::AccountName,
                    "endpoint" => Az::Endpoint,
                    "timeout" => Az::Client(ClientConfigKey::Timeout),
                    "allow_http" => Az::Client(ClientConfigKey::AllowHttp),
                    _ => {
                        return Err(unknown(
                            "\"account\", \"endpoint\", \"timeout\" and \"allow_http\"",
                        ));
                    }
                };
                Self::Azure(builder.with_config(key, value))
            }
        })
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::S3(_) => "S3",
            Self::Google(_) => "Google",
            Self::Azure(_) => "Azure",
        })
    }
}

/// Parses an address into the service and the prefix.
///
/// # Errors
/// A sentence for the developer. It contains nothing of the address except its scheme.
pub(super) fn parse(address: &str) -> Result<(Service, Key), String> {
    let (scheme, rest) = address.split_once(':').unwrap_or((address, ""));
    let wrong = |problem: &str| {
        format!(
            "the store address that starts with \"{scheme}:\" {problem}; it should look like \
             \"{scheme}://bucket/agents/42\""
        )
    };
    let rest = rest.strip_prefix("//").ok_or_else(|| wrong("has no \"//\" after its scheme"))?;
    let (place, options) = rest.split_once('?').unwrap_or((rest, ""));
    let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
    if bucket.contains(['@', ':']) {
        return Err(wrong(
            "has credentials or a host in it, where the bucket should be: keys belong into the \
             environment, and another host is the option \"endpoint\"",
        ));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if bucket.is_empty() || !bucket.chars().all(plain) {
        return Err(wrong("names no bucket"));
    }
    let names: Vec<&str> = prefix.split('/').filter(|name| !name.is_empty()).collect();
    let dangerous = |name: &&str| matches!(*name, "." | "..") || name.contains(char::is_control);
    if names.iter().any(dangerous) {
        return Err(wrong("has a prefix with \".\", \"..\" or a control character"));
    }
    let prefix = Key::parse(names.join("/")).map_err(|_| wrong("has a prefix that cannot be"))?;
    if prefix.as_ref().len() > MAX_PREFIX_BYTES {
        return Err(wrong(&format!("has a prefix of more than {MAX_PREFIX_BYTES} bytes")));
    }
    let mut service = match scheme {
        "s3" => Service::S3(AmazonS3Builder::from_env().with_bucket_name(bucket)),
        "gs" => Service::Google(GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket)),
        "az" => Service::Azure(MicrosoftAzureBuilder::from_env().with_container_name(bucket)),
        _ => return Err(wrong("is none of object storage")),
    };
    let mut seen = Vec::new();
    for option in options.split('&').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        // Only one of two values would count. If a program inserts untrusted text into an address, that text could then
        // override an option.
        if seen.contains(&name) {
            return Err(wrong("has an option twice"));
        }
        seen.push(name);
        service = service.set(name, value).map_err(|problem| wrong(&problem))?;
    }
    if service.endpoint().is_some_and(|at| at.starts_with("http://")) && !service.allows_http() {
        return Err(wrong(
            "has an endpoint without encryption: use https, or allow it by the option \
             \"allow_http=true\"",
        ));
    }
    if !service.has_region_or_endpoint() {
        return Err(wrong(
            "needs a region: set AWS_REGION, or the option \"region\" in the address",
        ));
    }
    if let Err(error) = service.connect() {
        return Err(wrong(&format!("or its environment is not complete: {}", missing(&error))));
    }
    Ok((service, prefix))
}

/// The prefix of a namespace's memory: one name below `prefix`, different for each namespace.
///
/// # Errors
/// A sentence for the developer. It contains nothing of the text.
pub(super) fn namespace(prefix: &Key, namespace: &str) -> Result<Key, String> {
    if namespace.is_empty() {
        return Err("the option \"namespace\" is empty".to_owned());
    }
    let name = utf8_percent_encode(namespace, ENCODED);
    let below = below(prefix, &name.to_string()).map_err(|error| error.to_string())?;
    if below.as_ref().len() > MAX_PREFIX_BYTES {
        return Err(format!(
            "the option \"namespace\" is too long for object storage: encoded, and with the prefix, it \
             has {} bytes, and at most {MAX_PREFIX_BYTES} are allowed",
            below.as_ref().len()
        ));
    }
    Ok(below)
}

/// The namespace for this name below `prefix`, and the prefix of its memory. `None` if no namespace has this name.
pub(super) fn namespace_at(prefix: &Key, name: &str) -> Option<(String, Key)> {
    let text = percent_decode_str(name).decode_utf8().ok()?.into_owned();
    let own = namespace(prefix, &text).ok()?;
    (below(prefix, name).ok()? == own).then_some((text, own))
}

/// The missing setting. The library's own text may contain the values of others.
fn missing(error: &object_store::Error) -> &'static str {
    let text = error.to_string();
    for (sign, meaning) in [
        ("ccount must be specified", "set AZURE_STORAGE_ACCOUNT_NAME, or the option \"account\""),
        ("SecretAccessKey", "AWS_SECRET_ACCESS_KEY is not set, but AWS_ACCESS_KEY_ID is"),
        ("AccessKeyId", "AWS_ACCESS_KEY_ID is not set, but AWS_SECRET_ACCESS_KEY is"),
        ("Invalid Access Key", "AZURE_STORAGE_ACCOUNT_KEY is not in Base64"),
        ("ecode", "a key cannot be decoded"),
        ("redential", "the credentials that are named there cannot be read"),
    ] {
        if text.contains(sign) {
            return meaning;
        }
    }
    "an option or environment variable has a value that cannot be"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_bucket_and_a_prefix() {
        for (address, expected) in [
            ("s3://bucket?region=eu-central-1", ""),
            ("s3://bucket/?region=eu-central-1", ""),
            ("s3://bucket/agents/42?region=eu-central-1", "agents/42"),
            ("s3://bucket//a b//é%/?region=eu-central-1", "a b/é%"),
            ("s3://b/p?endpoint=http://127.0.0.1:9&allow_http=true", "p"),
            ("az://container/p?account=someone", "p"),
        ] {
            let (_, prefix) = parse(address).unwrap_or_else(|error| panic!("{address}: {error}"));
            assert_eq!(prefix.as_ref(), expected, "{address}");
        }
    }

    #[test]
    fn the_same_bucket_is_the_same_place_whatever_the_prefix() {
        let place = |address: &str| parse(address).unwrap().0.place();
        let one = place("s3://bucket/a?region=eu-central-1");
        assert_eq!(one, place("s3://bucket/b/c?region=eu-central-1&timeout=9s"));
        for other in [
            "s3://another/a?region=eu-central-1",
            "s3://bucket/a?endpoint=https://127.0.0.1:9",
            "az://bucket/a?account=someone",
        ] {
            assert_ne!(one, place(other), "{other}");
        }
        assert_ne!(place("az://b?account=someone"), place("az://b?account=another"));
    }

    #[test]
    fn what_is_wrong_is_said_without_what_is_secret() {
        for (address, word) in [
            ("s3:bucket", "//"),
            ("s3://", "names no bucket"),
            ("s3:///prefix", "names no bucket"),
            ("s3://AKIAHUNTER:hunter2@bucket/p", "credentials"),
            ("s3://localhost:9000/bucket", "endpoint"),
            ("s3://bucket/a/../b?region=x", "prefix"),
            ("s3://bucket/p?secret_access_key=hunter2", "environment"),
            ("s3://bucket/p?region=x&access_key_id=AKIAHUNTER", "environment"),
            ("s3://bucket/p?endpoint=http://hunter2.internal", "allow_http"),
            ("gs://bucket/p?key=hunter2", "environment"),
            ("az://bucket/p?sas=hunter2", "environment"),
        ] {
            let error = parse(address).err().unwrap_or_else(|| panic!("{address} was taken"));
            assert!(error.contains(word), "{address}: {error}");
            for secret in ["hunter", "HUNTER"] {
                assert!(!error.contains(secret), "{error}");
            }
        }
    }

    #[test]
    fn an_option_cannot_be_said_twice() {
        for twice in ["region=x&region=y", "region=x&region=x", "region=x&timeout=1s&timeout=2s"] {
            let error = parse(&format!("s3://bucket/p?{twice}")).err().unwrap();
            assert!(error.contains("twice"), "{error}");
        }
    }

    #[test]
    fn each_namespace_has_a_prefix_of_its_own() {
        let prefix = Key::parse("agents/b").unwrap();
        let name = |text: &str| namespace(&prefix, text).unwrap().to_string();
        assert_eq!(name("user-42"), "agents/b/user-42");
        assert_eq!(name("me@example.com"), "agents/b/me%40example%2Ecom");
        assert_eq!(name("猫"), "agents/b/%E7%8C%AB");
        assert_eq!(namespace(&Key::default(), "a/b").unwrap().as_ref(), "a%2Fb");
        for text in ["user-42", "me@example.com", "猫", "a/b"] {
            let own = namespace(&prefix, text).unwrap();
            let name = own.as_ref().strip_prefix("agents/b/").unwrap();
            assert_eq!(namespace_at(&prefix, name), Some((text.to_owned(), own.clone())));
        }
        for other in ["notes.md", "%2e", "a b", "%ff", ".memdir-history"] {
            assert_eq!(namespace_at(&prefix, other), None, "{other}");
        }
        let long = "/".repeat(170);
        for text in ["", &long, &"n".repeat(510)] {
            assert!(namespace(&prefix, text).unwrap_err().contains("namespace"), "{text}");
        }
    }

    proptest::proptest! {
        #![proptest_config(memdir_test_support::effort::cases(200))]
        #[test]
        fn no_namespace_leads_out_of_its_place_or_to_another(
            one in "([a-c/.%A-F0-9\\\\]|\\PC|[\\x00-\\x1f]){1,12}",
            other in "([a-c/.%A-F0-9\\\\]|\\PC|[\\x00-\\x1f]){1,12}",
        ) {
            let prefix = Key::parse("agents").unwrap();
            let [a, b] = [&one, &other].map(|text| namespace(&prefix, text).unwrap());
            proptest::prop_assert_eq!(one == other, a == b);
            let name = a.as_ref().strip_prefix("agents/").unwrap();
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_%".contains(c);
            proptest::prop_assert!(!name.is_empty() && name.chars().all(plain), "{}", name);
        }
    }
}
