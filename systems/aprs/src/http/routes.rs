//! Routes of the status port.

use super::series::INTERVAL_S;
use super::site::{Site, View};
use super::{json, metrics, why};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Query, RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;
use std::sync::Arc;

/// The page, in three files that need nothing else.
const PAGE: [(&str, &str, &str); 3] = [
    ("/", "text/html; charset=UTF-8", include_str!("page/index.html")),
    ("/status.js", "text/javascript; charset=UTF-8", include_str!("page/status.js")),
    ("/status.css", "text/css; charset=UTF-8", include_str!("page/status.css")),
];
/// Largest `motd.html`, octets.
const MOTD_BYTES_MAX: u64 = 64 << 10;
/// A body below this is not worth compressing, octets.
const GZIP_BYTES_MIN: usize = 512;
const JSON: &str = "application/json; charset=UTF-8";
/// Nothing is loaded from elsewhere, and no other page may frame this one.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; \
                      frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/// All that a status port answers.
pub(super) fn routes(site: Arc<Site>) -> Router {
    let mut routes = Router::new()
        .route("/status.json", get(status))
        .route("/counterdata", get(counterdata))
        .route("/metrics", get(metrics_page))
        .route("/why", get(why_dropped))
        .route("/motd.html", get(motd))
        .route("/favicon.ico", get(|| async { StatusCode::NO_CONTENT }));
    for (path, kind, text) in PAGE {
        let file = move |headers: HeaderMap| async move {
            let body = Bytes::from_static(text.as_bytes());
            let mut response = compressed(&headers, kind, "no-cache", body);
            let policy = HeaderValue::from_static(POLICY);
            response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
            response
        };
        routes = routes.route(path, get(file));
    }
    routes
        .fallback(|| async { (StatusCode::NOT_FOUND, "Not found\n") })
        .layer(from_fn_with_state(Arc::clone(&site), every))
        .with_state(site)
}

/// Counts a request, and adds the server's name to its response.
async fn every(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    site.count_request();
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::SERVER, HeaderValue::from_static("aprs-server"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

async fn status(State(site): State<Arc<Site>>, headers: HeaderMap) -> Response {
    let view = site.view().await;
    let body = || view.json.get_or_init(|| json::document(&view, &site).into());
    // One document is made and compressed once, whoever asks for it.
    let (body, coding) = if takes_gzip(&headers) {
        let packed = view.gzip.get_or_init(|| gzip(body()).unwrap_or_default());
        if packed.is_empty() { (body(), None) } else { (packed, Some("gzip")) }
    } else {
        (body(), None)
    };
    answer(JSON, "max-age=1", body.clone(), coding)
}

async fn counterdata(
    State(site): State<Arc<Site>>,
    RawQuery(name): RawQuery,
    headers: HeaderMap,
) -> Response {
    let series = site.with_series(|series| series.json(name.as_deref().unwrap_or_default()));
    match series {
        Some(series) => {
            let caching = format!("max-age={}", INTERVAL_S - 2);
            compressed(&headers, JSON, &caching, series.to_string().into())
        }
        None => (StatusCode::BAD_REQUEST, "Bad request, no such counter\n").into_response(),
    }
}

async fn metrics_page(State(site): State<Arc<Site>>, headers: HeaderMap) -> Response {
    let view = site.view().await;
    let page = metrics::page(&view, &site);
    compressed(&headers, "text/plain; version=0.0.4; charset=utf-8", "no-store", page.into())
}

async fn why_dropped(
    State(site): State<Arc<Site>>,
    Query(question): Query<why::Question>,
    headers: HeaderMap,
) -> Response {
    let view: Arc<View> = site.view().await;
    match serde_json::to_vec(&why::answer(&site, &view, &question)) {
        Ok(body) => compressed(&headers, JSON, "no-store", body.into()),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

/// The operator's message, read anew each time: it is to be there at once.
async fn motd(State(site): State<Arc<Site>>, headers: HeaderMap) -> Response {
    let path = site.web_dir.join("motd.html");
    let read = tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path)?;
        std::io::Read::read_to_end(&mut std::io::Read::take(file, MOTD_BYTES_MAX), &mut bytes)?;
        Ok::<_, std::io::Error>(bytes)
    });
    match read.await {
        Ok(Ok(bytes)) => compressed(&headers, PAGE[0].1, "no-cache", bytes.into()),
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            (StatusCode::NOT_FOUND, "Not found\n").into_response()
        }
        Ok(Err(_)) | Err(_) => {
            (StatusCode::INTERNAL_SERVER_ERROR, "Could not access file\n").into_response()
        }
    }
}

/// An answer, compressed where the browser takes that and it is worth it.
fn compressed(headers: &HeaderMap, kind: &str, caching: &str, body: Bytes) -> Response {
    if body.len() >= GZIP_BYTES_MIN && takes_gzip(headers) {
        // A compressor that fails is no reason to answer nothing.
        if let Ok(packed) = gzip(&body) {
            return answer(kind, caching, packed, Some("gzip"));
        }
    }
    answer(kind, caching, body, None)
}

fn answer(kind: &str, caching: &str, body: Bytes, coding: Option<&'static str>) -> Response {
    let mut response = Response::builder()
        .header(header::CONTENT_TYPE, kind)
        .header(header::CACHE_CONTROL, caching)
        .header(header::VARY, "Accept-Encoding");
    if let Some(coding) = coding {
        response = response.header(header::CONTENT_ENCODING, coding);
    }
    let response = response.body(Body::from(body));
    response.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

/// Whether the browser accepts gzip, with a quality above 0.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING).iter();
    accepted.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).any(
        |item| {
            let mut parts = item.split(';').map(str::trim);
            let gzip = parts.next().is_some_and(|coding| coding.eq_ignore_ascii_case("gzip"));
            let refused = parts
                .filter_map(|part| part.strip_prefix("q="))
                .any(|q| q.parse::<f32>().is_ok_and(|q| q <= 0.0));
            gzip && !refused
        },
    )
}

fn gzip(bytes: &[u8]) -> std::io::Result<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::new(4));
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.into())
}

#[cfg(test)]
mod tests {
    use super::takes_gzip;
    use axum::http::{HeaderMap, HeaderValue, header};

    #[test]
    fn only_who_takes_gzip_gets_it() {
        let takes = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
            takes_gzip(&headers)
        };
        assert!(takes("gzip") && takes("br, GZIP;q=0.5") && takes("deflate , gzip"));
        assert!(!takes("gzip;q=0") && !takes("identity") && !takes("xgzip"));
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
