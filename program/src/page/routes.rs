//! Maps addresses to pages.
//!
//! Pages wait for a store, so they run on blocking threads. A page is a function of the site, the memory and the
//! parameters. Pages that change something have their own kind of route, which checks the token.

use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Form, Path, Query, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{MethodRouter, get, post};
use tokio::sync::Semaphore;

use super::answer::{IntoHtml, PageAnswer, Refusal};
use super::params::Params;
use super::site::{Room, Site, Turns};
use super::{follow, html, pages};

/// The page's script. Its parts are concatenated in this order.
const SCRIPT: &str = concat!(
    include_str!("assets/dom.js"),
    include_str!("assets/times.js"),
    include_str!("assets/tree.js"),
    include_str!("assets/trouble.js"),
    include_str!("assets/notice.js"),
    include_str!("assets/refresh.js"),
    include_str!("assets/drafts.js"),
    include_str!("assets/hidden-characters.js"),
    include_str!("assets/editor.js"),
    include_str!("assets/stream.js"),
    include_str!("assets/search.js"),
    include_str!("assets/keys.js"),
    include_str!("assets/page.js"),
);

/// A page, or the action of a form.
type Page = fn(&Site, &Room, &Params) -> PageAnswer;

pub(super) fn router(site: Arc<Site>) -> Router {
    Router::new()
        .route("/", get(first))
        .route(
            "/assets/page.css",
            asset("text/css; charset=utf-8", include_str!("assets/page.css")),
        )
        .route("/assets/page.js", asset("text/javascript; charset=utf-8", SCRIPT))
        .route("/assets/icon.svg", asset("image/svg+xml", include_str!("assets/icon.svg")))
        .route("/{memory}/", shows(pages::overview))
        .route("/{memory}/branch", shows(pages::branch))
        .route("/{memory}/file", shows(pages::file))
        .route("/{memory}/image", shows(pages::image))
        .route("/{memory}/download", shows(pages::download))
        .route("/{memory}/history", shows(pages::history))
        .route("/{memory}/version", shows(pages::version))
        .route("/{memory}/diff", shows(pages::difference))
        .route("/{memory}/compare", shows(pages::compare))
        .route("/{memory}/search", shows(pages::search))
        .route("/{memory}/best", shows(pages::best))
        .route("/{memory}/sensitive", shows(pages::sensitive))
        .route("/{memory}/sync", shows(pages::sync))
        .route("/{memory}/conflict", shows(pages::conflict).merge(changes(pages::resolve)))
        .route("/{memory}/edit", shows(pages::edit).merge(changes(pages::save)))
        .route("/{memory}/new", shows(pages::new).merge(changes(pages::create)))
        .route("/{memory}/rename", shows(pages::ask_rename).merge(changes(pages::rename)))
        .route("/{memory}/delete", shows(pages::ask_delete).merge(changes(pages::delete)))
        .route("/{memory}/restore", shows(pages::ask_restore).merge(changes(pages::restore)))
        .route("/{memory}/undo", shows(pages::ask_undo).merge(changes(pages::undo)))
        .route("/{memory}/redact", shows(pages::ask_redact).merge(changes(pages::redact)))
        .route("/{memory}/changes", get(follow::changes))
        .fallback(nothing)
        .layer(DefaultBodyLimit::max(site.max_form()))
        .with_state(site)
}

/// Redirects to the first memory. The head of its pages links to the others.
async fn first() -> Redirect {
    Redirect::to("/1/")
}

async fn nothing(method: Method) -> Response {
    if method == Method::GET {
        refused(&Refusal::not_found("There is no such page."))
    } else {
        StatusCode::NOT_FOUND.into_response()
    }
}

fn asset(kind: &'static str, content: &'static str) -> MethodRouter<Arc<Site>> {
    get(move || async move { ([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], content) })
}

/// The route of a page that only shows something.
fn shows(page: Page) -> MethodRouter<Arc<Site>> {
    let handler = move |State(site): State<Arc<Site>>,
                        memory: Path<String>,
                        query: Result<Query<Params>, QueryRejection>| async move {
        match query {
            Ok(Query(params)) => answer(site, memory.0, params, page, |turns| &turns.look).await,
            Err(_) => refused(&Refusal::wrong("This page has no such address.")),
        }
    };
    get(handler)
}

/// The route of a form that changes something.
fn changes(page: Page) -> MethodRouter<Arc<Site>> {
    let handler = move |State(site): State<Arc<Site>>,
                        memory: Path<String>,
                        form: Result<Form<Params>, FormRejection>| async move {
        match form {
            Ok(Form(params))
                if params.token.as_deref().is_some_and(|token| site.token.is(token)) =>
            {
                answer(site, memory.0, params, page, |turns| &turns.change).await
            }
            Ok(_) => refused(&Refusal::forbidden(
                "The form is of a page that was open before memdir serve was started anew. Load that page again: \
                 nothing was changed.",
            )),
            Err(rejection) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => {
                refused(&Refusal {
                    status: StatusCode::PAYLOAD_TOO_LARGE,
                    sentence:
                        "The text is too large for this page: use memdir put. Nothing was changed."
                            .to_owned(),
                })
            }
            Err(_) => {
                refused(&Refusal::wrong("This form is not from this page. Nothing was changed."))
            }
        }
    };
    post(handler)
}

async fn answer(
    site: Arc<Site>,
    memory: String,
    params: Params,
    page: Page,
    turns: fn(&Turns) -> &Arc<Semaphore>,
) -> Response {
    let Some(turns) = site.room(&memory).map(|room| Arc::clone(turns(&room.turns))) else {
        return refused(&Refusal::not_found("There is no such memory here."));
    };
    // The semaphore is never closed.
    let turn = turns.acquire_owned().await;
    let made = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        let room = site.room(&memory);
        let room = room.ok_or_else(|| Refusal::not_found("There is no such memory here."))?;
        page(&site, room, &params)
            .map_err(|refusal| Refusal { sentence: room.said(&refusal.sentence), ..refusal })
    });
    match made.await {
        Ok(Ok(done)) => done.into_response(),
        Ok(Err(refusal)) => refused(&refusal),
        Err(_) => refused(&Refusal {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            sentence: "Something went wrong in memdir.".to_owned(),
        }),
    }
}

fn refused(refusal: &Refusal) -> Response {
    let title = refusal.status.canonical_reason().unwrap_or("Refused");
    html::message(title, &refusal.sentence).into_string().into_html(refusal.status)
}
