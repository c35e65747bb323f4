//! The page's files, as they were built into the program.
//!
//! They may be fetched without a token: they say nothing of what is stored. They may load nothing
//! from elsewhere and talk to nobody else, which browsers are told by a Content-Security-Policy.

use crate::routes::refuse;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use std::io::Read;

/// One file.
struct File {
    /// Below the page's folder.
    path: &'static str,
    /// Of its content, for `ETag`.
    tag: &'static str,
    /// Its content, compressed.
    gzip: &'static [u8],
}

/// All files, by path; none where the page was not there when the program was built.
static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// What a page of ours may do: load and ask only from where it came. `data:` and `blob:` are
/// pictures that it drew itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const COMMON: [(HeaderName, &str); 3] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
];

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
        Some(file) => file.answer(request.headers()),
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

impl File {
    fn answer(&self, headers: &HeaderMap) -> Response {
        // Files below assets/ have a hash in their name and never change.
        let keep = match self.path.starts_with("assets/") {
            true => "public, max-age=31536000, immutable",
            false => "no-cache",
        };
        let kept = [(ETAG, self.tag), (CACHE_CONTROL, keep), (VARY, "accept-encoding")];
        if named(headers, &IF_NONE_MATCH).any(|tag| tag.trim_start_matches("W/") == self.tag) {
            return (StatusCode::NOT_MODIFIED, COMMON, kept).into_response();
        }
        let kind = [(CONTENT_TYPE, kind(self.path))];
        let takes_gzip = named(headers, &ACCEPT_ENCODING)
            .any(|word| matches!(word.split_once(';').unwrap_or((word, "")), ("gzip" | "*", q) if q.trim() != "q=0"));
        if takes_gzip {
            let coded = [(CONTENT_ENCODING, "gzip")];
            return (COMMON, kept, kind, coded, Body::from(self.gzip)).into_response();
        }
        let mut plain = Vec::new();
        match flate2::read::GzDecoder::new(self.gzip).read_to_end(&mut plain) {
            Ok(_) => (COMMON, kept, kind, plain).into_response(),
            Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, error),
        }
    }
}

/// The words of a header that is a list.
fn named<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let values = headers.get_all(name).into_iter();
    values.filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(',')).map(str::trim)
}

/// What a file is, by its name.
fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
