//! The page's files, embedded in the program at build time.
//!
//! They are served without a token: they contain no stored data.

use crate::refusal::refuse;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use chronoscope_embed::{COMMON, File};

/// All files, by path; empty when the page was not built before the program.
static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// The page's views, each of which is a path (`VIEWS` in `page/src/selection/place.ts`).
const VIEWS: [&str; 12] = [
    "now",
    "scatter",
    "histogram",
    "groups",
    "chain",
    "graph",
    "compare",
    "worst",
    "rings",
    "hosts",
    "runs",
    "data",
];

/// In place of the page where it was not built.
const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
    <title>Chronoscope</title><h1>Chronoscope</h1>\
    <p>This program was built without its page. <code>make page build</code> (which needs Node) \
    builds it with it. The <a href=\"/api/v1/openapi.json\">API</a> is all here.</p></html>\n";

/// Answers what nothing else does: with a file of the page, with the page itself for a path that
/// names one of its views, or with 404.
pub(crate) async fn serve(request: Request) -> Response {
    let path = request.uri().path().trim_start_matches('/');
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return refuse(StatusCode::METHOD_NOT_ALLOWED, "only GET is allowed at this path");
    }
    let file = FILES.iter().find(|file| file.path == path);
    match file.or_else(|| is_view(path).then(index).flatten()) {
        Some(file) => chronoscope_embed::answer(file, request.headers())
            .unwrap_or_else(|error| refuse(StatusCode::INTERNAL_SERVER_ERROR, error)),
        None if FILES.is_empty() && is_view(path) => {
            (COMMON, [(CONTENT_TYPE, "text/html; charset=utf-8")], NOT_BUILT).into_response()
        }
        None => refuse(
            StatusCode::NOT_FOUND,
            "see /, /status, /metrics, /classes, /chains, /healthz, /readyz",
        ),
    }
}

fn index() -> Option<&'static File> {
    FILES.iter().find(|file| file.path == "index.html")
}

/// Whether a path names a view of the page, or what such a view is about: `chain/0123`.
fn is_view(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    path.is_empty() || VIEWS.contains(&first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A view that is missing here would be lost when its address is opened anew.
    #[test]
    fn the_views_are_those_of_the_page() {
        let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let place = std::fs::read_to_string(top.join("page/src/selection/place.ts")).unwrap();
        let (_, list) = place.split_once("export const VIEWS = [").unwrap();
        let (list, _) = list.split_once(']').unwrap();
        let named: Vec<&str> = list.split('\'').skip(1).step_by(2).collect();
        assert_eq!(named, VIEWS);
    }

    #[test]
    fn what_is_no_view_is_no_page() {
        for path in ["", "now", "chain/0123", "runs/a.b", "rings/"] {
            assert!(is_view(path), "{path}");
        }
        for path in ["nothing", "nowhere", "api", "api/v1", "healthz/x", "favicon.ico"] {
            assert!(!is_view(path), "{path}");
        }
    }
}
