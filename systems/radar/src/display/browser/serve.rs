//! The port: connections, requests, and the page's files.

use super::air::SharedAir;
use super::attend;
use super::limits::Limits;
use axum::Router;
use axum::extract::{Request, State, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use chronoscope_admission::http::{FirstRequest, TrackedRoutes, acquire};
use chronoscope_admission::{ConnectionCapacity, ConnectionSlot, ConnectionSlots};
use chronoscope_embed::{COMMON, File};
use chronoscope_origin::AllowedHosts;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

/// All files of the page, by path; none where it was not there when the program was built.
static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// The file of the page whose path begins so, compressed (gzip); `None` where there is none.
pub(in crate::display) fn embedded(path: &str) -> Option<&'static [u8]> {
    FILES.iter().find(|file| file.path.starts_with(path)).map(|file| file.gzip)
}

/// In place of the page where it was not built.
const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
    <title>Working position</title><h1>Working position</h1>\
    <p>This program was built without its page. <code>make page build</code> (which needs Node) \
    builds it with it.</p></html>\n";
/// Connections at a time, one in eight of one address. For one more, the one that has been
/// idle for longest is closed.
const CONNECTIONS_MAX: usize = 64;
/// Within which a request's head must have come.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// Longest lifetime of a connection that is not upgraded.
const LIFETIME: Duration = Duration::from_secs(120);
/// Most octets of a request's head.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// After a failed accept: no file descriptor is left.
const RETRY_AFTER: Duration = Duration::from_millis(100);

/// The thread that serves; it ends when this is dropped.
#[derive(Debug)]
pub struct Browsers {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Browsers {
    /// The address listened on, with the port that the kernel chose.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Browsers {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // It has reported its error.
            let _ = thread.join();
        }
    }
}

/// State that requests are answered from.
#[derive(Clone)]
struct Site {
    air: SharedAir,
    map: Arc<str>,
    limits: Limits,
}

/// Serves browsers at `address` from now on: `air` and, below it, `map` (JSON); under an IP address,
/// `localhost` and the names in `hosts`.
///
/// # Errors
/// When the address cannot be listened on, or the system gives no thread.
pub fn listen(
    address: SocketAddr,
    air: SharedAir,
    map: String,
    limits: Limits,
    hosts: AllowedHosts,
) -> io::Result<Browsers> {
    let listener = std::net::TcpListener::bind(address).map_err(|error| {
        io::Error::new(error.kind(), format!("cannot listen on {address} for browsers: {error}"))
    })?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (stop, stopped) = oneshot::channel();
    let site = Site { air, map: map.into(), limits };
    let thread = std::thread::Builder::new().name("browsers".into()).spawn(move || {
        runtime.block_on(async move {
            tokio::select! {
                // An error means that the other end is gone: to be stopped as well.
                _ = stopped => {}
                () = accept(listener, routes(site, hosts)) => {}
            }
        });
        // Requests in progress are aborted.
        runtime.shutdown_background();
    })?;
    Ok(Browsers { address, stop: Some(stop), thread: Some(thread) })
}

fn routes(site: Site, hosts: AllowedHosts) -> Router {
    Router::new()
        .route("/map.json", get(map))
        .route("/socket", get(socket))
        .fallback(get(file))
        .with_state(site)
        // A browser lets any page open a WebSocket to anywhere, but names the page's origin.
        .layer(from_fn_with_state(hosts, chronoscope_origin::only_own_pages))
}

async fn map(State(site): State<Site>) -> Response {
    let kind = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-cache")];
    (COMMON, kind, site.map.to_string()).into_response()
}

async fn file(request: Request) -> Response {
    let path = match request.uri().path().trim_start_matches('/') {
        "" => "index.html",
        path => path,
    };
    match FILES.iter().find(|file| file.path == path) {
        Some(file) => chronoscope_embed::answer(file, request.headers())
            .unwrap_or_else(|error| refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string())),
        None if FILES.is_empty() && path == "index.html" => {
            (COMMON, [(CONTENT_TYPE, "text/html; charset=utf-8")], NOT_BUILT).into_response()
        }
        None => refuse(StatusCode::NOT_FOUND, "see /, /map.json, /socket"),
    }
}

fn refuse(status: StatusCode, why: &str) -> Response {
    (status, COMMON, format!("{why}\n")).into_response()
}

async fn socket(
    State(site): State<Site>,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Response {
    let Ok(upgrade) = upgrade else {
        return refuse(StatusCode::UPGRADE_REQUIRED, "here the page opens its WebSocket");
    };
    upgrade
        .max_message_size(attend::MESSAGE_BYTES_MAX)
        .max_frame_size(attend::MESSAGE_BYTES_MAX)
        .on_upgrade(move |socket| attend::attend(socket, site.air, site.limits))
}

/// Accepts until the runtime ends.
async fn accept(listener: std::net::TcpListener, routes: Router) {
    let listener = match TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return say!("radar-display: browsers cannot be served: {error}"),
    };
    let slots = ConnectionSlots::new(ConnectionCapacity::of(CONNECTIONS_MAX), false);
    let mut said = false;
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                said = false;
                // A connection too many is closed by being dropped.
                let Some((slot, eviction)) = acquire(&slots, peer.ip()) else { continue };
                let routes = routes.clone();
                tokio::spawn(async move {
                    tokio::select! {
                        // A connection's end needs no report; an upgraded one continues by itself.
                        _ = timeout(LIFETIME, connection(stream, peer, routes, slot)) => {}
                        () = eviction.requested() => {}
                    }
                });
            }
            Err(error) => {
                if !std::mem::replace(&mut said, true) {
                    say!("radar-display: a browser could not be accepted: {error}");
                }
                sleep(RETRY_AFTER).await;
            }
        }
    }
}

async fn connection(stream: TcpStream, peer: SocketAddr, routes: Router, slot: ConnectionSlot) {
    // Without it frames are only later.
    let _ = stream.set_nodelay(true);
    let mut builder = Builder::new(TokioExecutor::new()).http1_only();
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
    builder.http1().max_buf_size(HEAD_BYTES_MAX);
    let first = Arc::new(FirstRequest::default());
    let noted = TrackedRoutes { routes, peer, slot: slot.handle(), first: first.clone() };
    let service = TowerToHyperService::new(noted);
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    tokio::select! {
        // Bytes that are no HTTP were answered with 400.
        _ = connection => {}
        () = first.missed(HEAD_WITHIN) => {}
    }
}
