//! Checks every request, and sets the security headers of every answer.
//!
//! Other programs on this machine, and every page in the browser, can send requests to a port of this machine. So a request
//! must use one of this machine's own names (otherwise a foreign name could be pointed here: DNS rebinding) and carry the
//! secret. A request that changes something must come from a form of this page: with POST, our origin and a token. `routes`
//! checks the token when it reads the form.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::answer::IntoHtml;
use super::html;
use super::site::Site;

/// The data that the guard needs.
#[derive(Clone)]
pub(super) struct Guard {
    pub(super) site: Arc<Site>,
    pub(super) address: SocketAddr,
}

/// Has the value `none` for a browser without a cookie of this server.
const SESSION: HeaderName = HeaderName::from_static("memdir-session");

/// Allows resources only from this server, no inline code, and no frames in other pages.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // Not `no-referrer`: it would make a browser send our own forms with the origin `null`.
    (header::REFERRER_POLICY, "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

pub(super) async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let mut response = match guard.refusal(&request) {
        Some(refused) => refused,
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

impl Guard {
    /// The answer to a request that is not allowed. The first request of a browser is one of them.
    fn refusal(&self, request: &Request) -> Option<Response> {
        let headers = request.headers();
        let host = one(headers, &header::HOST).filter(|host| self.is_ours(host));
        let Some(host) = host else {
            let said = "This is not the address that memdir serve printed.";
            return Some((StatusCode::MISDIRECTED_REQUEST, said).into_response());
        };
        if let Some(given) = request.uri().path().strip_prefix("/open/") {
            return Some(self.open(given));
        }
        if !self.knows_secret(headers) {
            let page = html::message(
                "Not open yet",
                "Open the whole address that memdir serve printed: it contains the secret of this page.",
            );
            let mut response = page.into_string().into_html(StatusCode::FORBIDDEN);
            // For the script of a page that is still open.
            response.headers_mut().insert(SESSION, HeaderValue::from_static("none"));
            return Some(response);
        }
        let is_ours = match one(headers, &header::ORIGIN) {
            Some(origin) => origin == format!("http://{host}"),
            None => request.method() != Method::POST,
        };
        let site = one(headers, &HeaderName::from_static("sec-fetch-site"));
        let is_from_here = site.is_none_or(|site| site == "same-origin" || site == "none");
        if !is_ours || !is_from_here {
            let said = "A request from another page is refused.";
            return Some((StatusCode::FORBIDDEN, said).into_response());
        }
        None
    }

    /// Whether this host can only mean this machine.
    fn is_ours(&self, host: &str) -> bool {
        let port = self.address.port();
        let names = ["127.0.0.1", "localhost", "[::1]"];
        names.iter().any(|name| host.eq_ignore_ascii_case(&format!("{name}:{port}")))
            || host.eq_ignore_ascii_case(&self.address.to_string())
    }

    /// The answer to the address with the secret: sets a cookie, and sends the browser to an address without the secret. It is a page and
    /// not a redirect, because the cookie is not sent along a redirect that started on another site.
    fn open(&self, given: &str) -> Response {
        if !self.site.secret.is(given) {
            let page =
                html::message("Not open", "The secret in this address belongs to another program.");
            return page.into_string().into_html(StatusCode::FORBIDDEN);
        }
        let cookie = format!(
            "{}={}; Path=/; HttpOnly; SameSite=Strict",
            self.cookie(),
            self.site.secret.as_str()
        );
        let mut response = html::entrance().into_string().into_html(StatusCode::OK);
        if let Ok(cookie) = HeaderValue::try_from(cookie) {
            response.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        response
    }

    /// The name of the cookie. It contains the port, because all ports of a machine share its cookies.
    fn cookie(&self) -> String {
        format!("memdir-{}", self.address.port())
    }

    fn knows_secret(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|all| all.to_str().ok());
        cookies
            .flat_map(|all| all.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .any(|(given, secret)| given == name && self.site.secret.is(secret))
    }
}

/// A header that is present exactly once.
fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}
