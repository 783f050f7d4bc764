//! Errors of the server, and their conversion into errors of the store.

use std::error::Error as _;
use std::io::{self, ErrorKind};

use tokio_postgres::Error;
use tokio_postgres::error::{DbError, Severity, SqlState};

use memdir_store::StoreError;

/// Why something inside the store failed.
#[derive(Debug)]
pub(super) enum PostgresError {
    /// A condition of the store.
    Condition(StoreError),
    /// No connection could be opened.
    NoConnection(Option<Error>),
    /// A statement failed on an open connection.
    Statement(Error),
    /// The server did not answer within the time limit of a statement.
    Silence,
}

impl From<StoreError> for PostgresError {
    fn from(condition: StoreError) -> Self {
        Self::Condition(condition)
    }
}

impl From<Error> for PostgresError {
    fn from(error: Error) -> Self {
        Self::Statement(error)
    }
}

impl PostgresError {
    /// Whether the connection broke, as opposed to a refusal by the server. The statement may or may not have
    /// been executed.
    pub(super) fn is_broken_connection(&self) -> bool {
        match self {
            Self::Condition(_) | Self::NoConnection(_) => false,
            Self::Silence => true,
            Self::Statement(error) => error.as_db_error().is_none_or(ends_the_connection),
        }
    }

    /// Whether a retry may succeed soon.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::NoConnection(None) => true,
            Self::NoConnection(Some(error)) => {
                error.as_db_error().is_none_or(|db| is_starting(db) || ends_the_connection(db))
            }
            other => other.is_broken_connection(),
        }
    }

    /// Whether the server reports that it is starting.
    pub(super) fn is_starting(&self) -> bool {
        let Self::NoConnection(Some(error)) = self else { return false };
        error.as_db_error().is_some_and(is_starting)
    }

    /// Converts the error into an error of the store. Nothing was changed if there was no connection. The
    /// same is true if the server refused, because it then rolls back the whole transaction.
    pub(super) fn during(self, operation: &'static str) -> StoreError {
        let refused = !self.is_broken_connection();
        let error = match self {
            Self::Condition(condition) => return condition,
            Self::NoConnection(None) => {
                let sentence = "no connection to the server could be had in time";
                StoreError::failed(operation, io::Error::new(ErrorKind::TimedOut, sentence))
            }
            Self::Silence => {
                let sentence = "the server does not answer";
                StoreError::failed(operation, io::Error::new(ErrorKind::TimedOut, sentence))
            }
            Self::NoConnection(Some(error)) => {
                let kind = ErrorKind::NotConnected;
                StoreError::failed(operation, io::Error::new(kind, explain(&error)))
            }
            Self::Statement(error) => match error.code() {
                Some(&SqlState::DISK_FULL) => StoreError::Full,
                Some(&SqlState::INSUFFICIENT_PRIVILEGE | &SqlState::READ_ONLY_SQL_TRANSACTION) => {
                    StoreError::PermissionDenied
                }
                // Caused by the `lock_timeout` that the store sets.
                Some(&SqlState::LOCK_NOT_AVAILABLE) => StoreError::Busy,
                _ => StoreError::failed(operation, explain(&error)),
            },
        };
        if refused { error.unchanged() } else { error }
    }
}

/// Whether the session does not have a prepared statement, or has another one with its name, or can no longer use it.
pub(super) fn tells_of_lost_statement(error: &Error) -> bool {
    error.as_db_error().is_some_and(|db| match *db.code() {
        SqlState::INVALID_SQL_STATEMENT_NAME | SqlState::DUPLICATE_PSTATEMENT => true,
        SqlState::FEATURE_NOT_SUPPORTED => db.routine() == Some("RevalidateCachedQuery"),
        _ => false,
    })
}

/// Whether the server, or a pooler in front of it, refused the parameters of a connection, and neither the user nor
/// the moment.
pub(super) fn refuses_start(error: &Error) -> bool {
    error.code().is_some_and(|code| {
        ["08", "0A", "22", "42", "XX"].iter().any(|class| code.code().starts_with(class))
    })
}

fn ends_the_connection(error: &DbError) -> bool {
    matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic))
        || error.code().code().starts_with("08")
        || error.code().code().starts_with("57P")
}

fn is_starting(error: &DbError) -> bool {
    *error.code() == SqlState::CANNOT_CONNECT_NOW
}

/// One sentence for the developer. It may contain a user or a database, as the server's message does, but no
/// password and no content. The `DETAIL` of a PostgreSQL error is left out.
pub(super) fn explain(error: &Error) -> String {
    if let Some(db) = error.as_db_error() {
        return match *db.code() {
            SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
                format!("the server does not accept the user or the password: {}", db.message())
            }
            SqlState::INVALID_CATALOG_NAME => {
                format!("the server has no such database: {}", db.message())
            }
            SqlState::TOO_MANY_CONNECTIONS => {
                format!("the server has no connection left: {}", db.message())
            }
            SqlState::QUERY_CANCELED => {
                "it took longer than the statement_timeout, and was given up".to_owned()
            }
            SqlState::UNDEFINED_TABLE | SqlState::INVALID_SCHEMA_NAME => {
                format!("the tables of the store are not there any more: {}", db.message())
            }
            _ => format!("{} (SQLSTATE {})", db.message(), db.code().code()),
        };
    }
    let mut sentence = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        sentence = format!("{sentence}: {error}");
        cause = error.source();
    }
    if sentence.contains("UnknownIssuer") {
        sentence += " (\"sslrootcert\" names a file with the certificate to trust)";
    }
    sentence
}
