//! [`PageAnswer`]: the result of a page, or why there is none.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::Markup;

use memdir::Error;
use memdir::history::HistoryError;

/// The result of a page.
pub(super) type PageAnswer = Result<Done, Refusal>;

pub(super) enum Done {
    Page(Markup),
    /// The form again, with an error or with concurrent changes. Nothing was changed. It has the status of a success, because the
    /// browser would otherwise log an error in its console.
    Unchanged(Markup),
    /// A page about something that does not exist.
    Missing(Markup),
    /// Something was changed. The browser requests this address next.
    See(String),
    /// An image, which the browser shows.
    Image(&'static str, Vec<u8>),
    /// Bytes that the browser saves under this name instead of showing them.
    File(String, Vec<u8>),
}

/// Why there is no page, in one sentence for a person.
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) sentence: String,
}

impl Refusal {
    pub(super) fn not_found(sentence: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, sentence: sentence.into() }
    }

    pub(super) fn wrong(sentence: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, sentence: sentence.into() }
    }

    pub(super) fn forbidden(sentence: impl Into<String>) -> Self {
        Self { status: StatusCode::FORBIDDEN, sentence: sentence.into() }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let status = StatusCode::from_u16(error.kind().http_status());
        let status = status.unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
        Self { status, sentence: error.to_string() }
    }
}

impl From<HistoryError> for Refusal {
    fn from(error: HistoryError) -> Self {
        let status = match error {
            HistoryError::NoId(_) | HistoryError::Path(_) => StatusCode::BAD_REQUEST,
            HistoryError::ReadOnly => StatusCode::FORBIDDEN,
            HistoryError::Conflict { .. } | HistoryError::IsCurrent { .. } => StatusCode::CONFLICT,
            // A condition of the tree, such as a directory that is not writable.
            HistoryError::Store(ref error) if !error.is_failure() => StatusCode::CONFLICT,
            HistoryError::Store(_) | HistoryError::Partly { .. } => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::NOT_FOUND,
        };
        Self { status, sentence: error.to_string() }
    }
}

impl IntoResponse for Done {
    fn into_response(self) -> Response {
        let typed = |kind: &'static str, bytes: Vec<u8>| {
            ([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], bytes).into_response()
        };
        match self {
            Self::Page(page) | Self::Unchanged(page) => {
                page.into_string().into_html(StatusCode::OK)
            }
            Self::Missing(page) => page.into_string().into_html(StatusCode::NOT_FOUND),
            Self::See(address) => match HeaderValue::try_from(address) {
                Ok(address) => {
                    (StatusCode::SEE_OTHER, [(header::LOCATION, address)]).into_response()
                }
                Err(_) => StatusCode::BAD_REQUEST.into_response(),
            },
            Self::Image(kind, bytes) => typed(kind, bytes),
            Self::File(name, bytes) => {
                let name = super::html::encoded(&name);
                let disposition = format!("attachment; filename*=UTF-8''{name}");
                let mut response = typed("application/octet-stream", bytes);
                if let Ok(disposition) = HeaderValue::try_from(disposition) {
                    response.headers_mut().insert(header::CONTENT_DISPOSITION, disposition);
                }
                response
            }
        }
    }
}

/// HTML as a response.
pub(super) trait IntoHtml {
    fn into_html(self, status: StatusCode) -> Response;
}

impl IntoHtml for String {
    fn into_html(self, status: StatusCode) -> Response {
        (status, axum::response::Html(self)).into_response()
    }
}
