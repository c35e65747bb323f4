//! The page's files, as they were built into the program.
//!
//! They may be fetched without a token: they say nothing of what is stored.

use crate::routes::refuse;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use chronoscope_embed::{COMMON, File};

/// All files, by path; none where the page was not there when the program was built.
static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// In place of the page where it was not built.
const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
    <title>Chronoscope</title><h1>Chronoscope</h1>\
    <p>This program was built without its page. <code>make page build</code> (which needs Node) \
    builds it with it. The <a href=\"/api/v1/openapi.json\">API</a> is all here.</p></html>\n";

/// Answers what nothing else does: with a file of the page, with the page itself for a path that
/// may be one of its views, or with 404.
pub(crate) async fn serve(request: Request) -> Response {
    let path = request.uri().path().trim_start_matches('/');
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return refuse(StatusCode::METHOD_NOT_ALLOWED, "only GET is answered here");
    }
    let file = FILES.iter().find(|file| file.path == path);
    match file.or_else(|| may_be_view(path).then(index).flatten()) {
        Some(file) => chronoscope_embed::answer(file, request.headers())
            .unwrap_or_else(|error| refuse(StatusCode::INTERNAL_SERVER_ERROR, error)),
        None if FILES.is_empty() && may_be_view(path) => {
            (COMMON, [(CONTENT_TYPE, "text/html; charset=utf-8")], NOT_BUILT).into_response()
        }
        None => refuse(StatusCode::NOT_FOUND, "see /, /status, /metrics, /classes, /chains"),
    }
}

fn index() -> Option<&'static File> {
    FILES.iter().find(|file| file.path == "index.html")
}

/// Whether a path may name a view of the page: it has no extension and is not the API's.
fn may_be_view(path: &str) -> bool {
    !path.contains('.') && path != "api" && !path.starts_with("api/")
}
