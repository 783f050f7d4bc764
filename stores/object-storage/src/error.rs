//! Converts a server's errors into sentences for you.
//!
//! An error of the client library can contain the address of the endpoint, the bucket, and the server's message about the
//! credentials. Its text is not passed on, only its kind, the HTTP status and the server's short code.

use std::error::Error;
use std::io;
use std::time::{Duration, Instant};

use object_store::client::{HttpError, HttpErrorKind};

use memdir_store::StoreError;

/// How long a command retries after conflicts.
const CONTENTION: Duration = Duration::from_secs(120);
/// The limit of attempts for a request, with growing pauses: about three seconds if each attempt is refused at once.
const TRIES: u32 = 6;
/// No third or later attempt starts after this time. A second attempt always starts: a lost request is only detected after
/// its whole timeout, 30 seconds.
const GIVE_UP: Duration = Duration::from_secs(20);

/// Why a request failed.
#[derive(Debug)]
pub(super) enum ObjectError {
    /// A condition of the store.
    Condition(StoreError),
    /// A temporary failure. The request may have been carried out nevertheless.
    Passing(String),
    /// A permanent failure.
    Broken(String),
}

impl From<StoreError> for ObjectError {
    fn from(condition: StoreError) -> Self {
        Self::Condition(condition)
    }
}

impl ObjectError {
    pub(super) fn during(self, operation: &'static str) -> StoreError {
        match self {
            Self::Condition(condition) => condition,
            Self::Passing(why) => {
                StoreError::failed(operation, io::Error::new(io::ErrorKind::NotConnected, why))
            }
            Self::Broken(why) => StoreError::failed(operation, why),
        }
    }
}

impl From<object_store::Error> for ObjectError {
    fn from(error: object_store::Error) -> Self {
        use object_store::Error as E;

        let text = error.to_string();
        let status = status(&text);
        let code = code(&text);
        let answer = match status {
            Some(status) => format!("HTTP {status} {code}").trim_end().to_owned(),
            None => code.to_owned(),
        };
        if let Some(variables) = of_the_metadata_service(&text) {
            return Self::Broken(format!(
                "no credentials were found: set the environment variables of the service, such as \
                 {variables}"
            ));
        }
        match code {
            "NoSuchBucket" | "ContainerNotFound" => {
                return Self::Broken(format!("the bucket or container does not exist ({answer})"));
            }
            "InvalidAccessKeyId"
            | "SignatureDoesNotMatch"
            | "ExpiredToken"
            | "InvalidToken"
            | "RequestTimeTooSkewed"
            | "AuthenticationFailed"
            | "InvalidAuthenticationInfo" => {
                return Self::Broken(format!("the credentials were refused ({answer})"));
            }
            "AuthorizationHeaderMalformed" | "PermanentRedirect" | "TemporaryRedirect" => {
                return Self::Broken(elsewhere(&answer));
            }
            "XMinioStorageFull" | "InsufficientStorage" | "QuotaExceeded" => {
                return StoreError::Full.into();
            }
            _ => {}
        }
        match (error, status) {
            (E::PermissionDenied { .. }, _) | (_, Some(403)) => StoreError::PermissionDenied.into(),
            (E::Unauthenticated { .. }, _) | (_, Some(401)) => {
                Self::Broken(format!("the credentials were refused ({answer})"))
            }
            (E::InvalidPath { .. }, _) => Self::Broken(
                "below the prefix there is an object whose name cannot be listed: it has an empty \
                 component, \".\", \"..\" or a control character"
                    .to_owned(),
            ),
            (_, Some(501)) | (E::NotImplemented { .. } | E::NotSupported { .. }, _) => {
                Self::Broken(
                    "the server does not do what memdir needs, such as conditional requests"
                        .to_owned(),
                )
            }
            (_, Some(300..=399)) => Self::Broken(elsewhere(&answer)),
            (_, Some(408 | 425 | 429 | 500..)) => {
                Self::Passing(format!("the server answered {answer}"))
            }
            (_, Some(_)) => Self::Broken(format!("the server refused: {answer}")),
            (error, None) if text.contains("without LOCATION") => {
                drop(error);
                Self::Broken(elsewhere("a redirection"))
            }
            (error, None) => match kind(&error) {
                Some(HttpErrorKind::Connect) => Self::Passing(
                    "the endpoint cannot be reached: nothing answers there, or its name or its \
                     certificate is wrong"
                        .to_owned(),
                ),
                Some(HttpErrorKind::Timeout) => {
                    Self::Passing("the endpoint does not answer in time".to_owned())
                }
                Some(_) => Self::Passing("the connection to the endpoint broke off".to_owned()),
                None => Self::Broken("the answer of the server cannot be understood".to_owned()),
            },
        }
    }
}

fn elsewhere(answer: &str) -> String {
    format!(
        "the bucket is in another region than was set, or behind another endpoint ({answer}): set \
         AWS_REGION, or \"region\" in the address"
    )
}

/// Metadata services of clouds, which provide credentials to machines. They are tried last, if nothing else is set. Each with
/// the start of its address after `://` or of its path, and the variables to set instead.
const METADATA_SERVICES: [(&str, &str); 6] = [
    ("/metadata/identity", "AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_KEY"),
    ("/computeMetadata", "GOOGLE_APPLICATION_CREDENTIALS"),
    ("metadata.google.internal", "GOOGLE_APPLICATION_CREDENTIALS"),
    ("/latest/api/token", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
    ("/latest/meta-data", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
    ("169.254.", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
];

/// Compares only the start, because a file may have any name.
fn of_the_metadata_service(text: &str) -> Option<&'static str> {
    let (_, address) = text.split_once("://")?;
    let path = &address[address.find('/').unwrap_or(address.len())..];
    let asked = |place: &str| address.starts_with(place) || path.starts_with(place);
    let service = METADATA_SERVICES.iter().find(|(place, _)| asked(place));
    service.map(|(_, variables)| *variables)
}

/// Whether Azure's answer has the status of an unmet condition, but for a reason that reading the object again does not
/// remove.
pub(super) fn is_no_condition(error: &object_store::Error) -> bool {
    matches!(
        code(&error.to_string()),
        "BlobImmutableDueToPolicy"
            | "BlobArchived"
            | "BlobBeingRehydrated"
            | "ContainerBeingDeleted"
            | "ContainerDisabled"
            | "LeaseIdMissing"
            | "LeaseLost"
    )
}

/// The HTTP status. The library's errors contain it only in their text. One part of Azure's answer to a batch of deletions
/// has it at the end.
fn status(text: &str) -> Option<u16> {
    let of_a_part = || text.strip_suffix(')')?.rsplit_once("(code: ");
    let (_, after) = text.split_once("status code: ").or_else(of_a_part)?;
    after.get(..3)?.parse().ok()
}

/// The short error code, which S3, Google and Azure all send as XML.
fn code(text: &str) -> &str {
    let code = text.split_once("<Code>").and_then(|(_, after)| after.split_once("</Code>"));
    code.map(|(code, _)| code)
        .filter(|code| code.len() < 64 && code.chars().all(|c| c.is_ascii_alphanumeric()))
        .unwrap_or("")
}

fn kind(error: &(dyn Error + 'static)) -> Option<HttpErrorKind> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<HttpError>() {
            return Some(error.kind());
        }
        cause = error.source();
    }
    None
}

/// The retries of one step of a command after temporary failures.
pub(super) struct RetryBackoff {
    tries: u32,
    since: Instant,
}

impl RetryBackoff {
    pub(super) fn new() -> Self {
        Self { tries: 1, since: Instant::now() }
    }

    /// Waits before the next attempt, or returns the error if no attempt is left.
    pub(super) async fn after(&mut self, error: ObjectError) -> Result<(), ObjectError> {
        let passing = matches!(error, ObjectError::Passing(_));
        let is_late = self.tries > 1 && self.since.elapsed() > GIVE_UP;
        if !passing || self.tries == TRIES || is_late {
            return Err(error);
        }
        pause(100 << (self.tries - 1)).await;
        self.tries += 1;
        Ok(())
    }
}

/// Sleeps for a random time between half of `millis` and `millis`, so commands that conflicted once do not conflict again.
pub(super) async fn pause(millis: u64) {
    let chance = getrandom::u64().unwrap_or_default() % (millis / 2 + 1);
    tokio::time::sleep(Duration::from_millis(millis / 2 + chance)).await;
}

/// The retries after conflicts with other writers of the same object.
pub(super) struct ConflictBackoff {
    conflicts: u32,
    since: Instant,
}

impl ConflictBackoff {
    pub(super) fn new() -> Self {
        Self { conflicts: 0, since: Instant::now() }
    }

    /// Waits before the next attempt, longer each time; gives up after two minutes.
    pub(super) async fn next(&mut self) -> Result<(), ObjectError> {
        if self.since.elapsed() > CONTENTION {
            return Err(ObjectError::Broken(
                "others kept on changing it for two minutes".to_owned(),
            ));
        }
        self.conflicts += 1;
        pause(4 << self.conflicts.min(6)).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> ObjectError {
        object_store::Error::Generic { store: "any", source: text.into() }.into()
    }

    #[tokio::test]
    async fn a_request_that_was_lost_is_sent_again_once() {
        let lost = || ObjectError::Passing("the endpoint does not answer in time".to_owned());
        let since = Instant::now().checked_sub(2 * GIVE_UP).unwrap();
        let mut backoff = RetryBackoff { tries: 1, since };
        assert!(backoff.after(lost()).await.is_ok());
        assert!(backoff.after(lost()).await.is_err());
    }

    /// The format of the library's Azure backend.
    #[test]
    fn a_part_of_many_deletions_has_a_status_of_its_own() {
        let busy = told("Bulk delete request failed for key a/b: Server Busy (code: 503)");
        assert!(matches!(busy, ObjectError::Passing(_)), "{busy:?}");
        let forbidden = told("Bulk delete request failed for key a: No (code: 403)");
        assert!(matches!(forbidden, ObjectError::Condition(StoreError::PermissionDenied)));
    }

    #[test]
    fn a_file_may_be_named_like_what_is_told_of() {
        for key in
            ["latest/meta-data", "169.254.169.254", "metadata.google.internal", "a/computeMetadata"]
        {
            let error = told(&format!(
                "Error performing GET https://s3.eu-central-1.amazonaws.com/bucket/{key} in 1ms - \
                 Server returned non-2xx status code: 503 Slow Down"
            ));
            assert!(matches!(error, ObjectError::Passing(_)), "{error:?}");
        }
    }

    #[test]
    fn missing_credentials_are_named_as_the_service_names_them() {
        for (place, variable) in [
            ("http://169.254.169.254/metadata/identity/oauth2/token", "AZURE_STORAGE_ACCOUNT_KEY"),
            ("http://169.254.169.254/computeMetadata/v1", "GOOGLE_APPLICATION_CREDENTIALS"),
            ("http://169.254.170.2/v2/credentials", "AWS_ACCESS_KEY_ID"),
        ] {
            let error = told(&format!("Error performing GET {place} in 1ms"));
            assert!(
                matches!(&error, ObjectError::Broken(why) if why.contains(variable)),
                "{error:?}"
            );
        }
    }
}
