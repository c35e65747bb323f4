//! Response to a browser with a file of the page.
//!
//! A page may load nothing from elsewhere and connect to no other host, which a
//! Content-Security-Policy enforces in the browser.

use crate::file::File;
use axum::body::Body;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use std::io::{self, Read};

/// Permissions of our pages: load and connect only to their origin. `data:` and `blob:` are
/// pictures that the page drew itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Headers of every response with a file of the page.
pub const COMMON: [(HeaderName, &str); 3] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
];

/// `file` as the answer to a request with these headers: compressed where that is accepted, empty
/// where the browser has it already.
///
/// # Errors
/// When the file cannot be decompressed, which no file that `embed` (feature `build`) wrote does.
pub fn answer(file: &File, headers: &HeaderMap) -> io::Result<Response> {
    // Files below assets/ have a hash in their name and never change.
    let keep = match file.path.starts_with("assets/") {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    let kept = [(ETAG, file.tag), (CACHE_CONTROL, keep), (VARY, "accept-encoding")];
    if named(headers, &IF_NONE_MATCH).any(|tag| tag.trim_start_matches("W/") == file.tag) {
        return Ok((StatusCode::NOT_MODIFIED, COMMON, kept).into_response());
    }
    let kind = [(CONTENT_TYPE, kind(file.path))];
    let takes_gzip = named(headers, &ACCEPT_ENCODING).any(|word| {
        let (coding, quality) = word.split_once(';').unwrap_or((word, ""));
        matches!(coding, "gzip" | "*") && quality.trim() != "q=0"
    });
    if takes_gzip {
        let coded = [(CONTENT_ENCODING, "gzip")];
        return Ok((COMMON, kept, kind, coded, Body::from(file.gzip)).into_response());
    }
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(file.gzip).read_to_end(&mut plain)?;
    Ok((COMMON, kept, kind, plain).into_response())
}

/// The words of a header that is a list.
fn named<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let values = headers.get_all(name).into_iter();
    values.filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(',')).map(str::trim)
}

/// Media type of a file, by its name.
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
