//! Connections of browsers and of programs that speak HTTP/1.1: how many, and how long they may
//! dawdle.

use axum::Router;
use axum::middleware::from_fn_with_state;
use chronoscope_admission::http::{FirstRequest, TrackedRoutes, acquire};
use chronoscope_admission::{ConnectionCapacity, ConnectionSlot, ConnectionSlots};
use chronoscope_origin::AllowedHosts;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use socket2::SockRef;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// Within which a TLS handshake, and then a request's head, must have come.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// Octets in the kernel that are not sent yet: what waits longer waits where it is measured.
const UNSENT_BYTES_MAX: u32 = 16 << 10;
/// Most octets of a request's head.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// After a failed accept: no file descriptor is left.
const RETRY_AFTER: Duration = Duration::from_millis(100);

/// The two ends of a connection.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    pub(super) remote: SocketAddr,
    pub(super) local: SocketAddr,
    /// The socket once more, where the connection may be upgraded.
    socket: Option<Arc<OwnedFd>>,
}

impl Peer {
    /// Discards the kernel's unsent octets when the connection is closed.
    pub(super) fn forget_unsent(&self) {
        if let Some(socket) = &self.socket {
            // Where that cannot be, the kernel's own timeout ends it.
            let _ = SockRef::from(socket.as_ref()).set_linger(Some(Duration::ZERO));
        }
    }
}

/// Settings of a port that serves HTTP.
#[derive(Clone)]
pub(super) struct Port {
    pub(super) routes: Router,
    /// Connections at a time, and how many of one address: for one more, the one that has been
    /// idle for longest is closed.
    pub(super) connections_max: usize,
    /// Longest lifetime of a connection; one that is upgraded is not counted.
    pub(super) lifetime: Duration,
    /// Within which the kernel's send queue must move.
    pub(super) acknowledged_within: Duration,
    /// Connections may be upgraded, and then carry a stream of packets.
    pub(super) upgrades: bool,
    pub(super) tls: Option<TlsAcceptor>,
    /// Host names by which it may be requested, beside `localhost` and every IP address.
    pub(super) hosts: AllowedHosts,
}

/// Serves a port until the runtime ends. `told` gets a line for each failure to accept.
pub(super) async fn serve(listener: TcpListener, port: Port, told: impl Fn(String)) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return told(format!("HTTP port cannot be served: {error}")),
    };
    let slots = ConnectionSlots::new(ConnectionCapacity::of(port.connections_max), false);
    let mut last = None;
    loop {
        match listener.accept().await {
            Ok((stream, remote)) => {
                last = None;
                // A connection too many is closed by being dropped.
                let Some((slot, eviction)) = acquire(&slots, remote.ip()) else { continue };
                let port = port.clone();
                tokio::spawn(async move {
                    tokio::select! {
                        // How it ended is the peer's affair.
                        _ = timeout(port.lifetime, begin(stream, remote, &port, slot)) => {}
                        () = eviction.requested() => {}
                    }
                });
            }
            Err(error) => {
                if last.replace(error.kind()) != Some(error.kind()) {
                    told(format!("HTTP connection could not be accepted: {error}"));
                }
                sleep(RETRY_AFTER).await;
            }
        }
    }
}

async fn begin(stream: TcpStream, remote: SocketAddr, port: &Port, slot: ConnectionSlot) {
    let Ok(local) = stream.local_addr() else { return }; // it is gone already
    let socket = SockRef::from(&stream);
    // Without these it is only slower, and a dead reader is found later.
    let _ = socket.set_tcp_nodelay(true);
    let _ = socket.set_tcp_user_timeout(Some(port.acknowledged_within));
    let mut peer = Peer { remote, local, socket: None };
    if port.upgrades {
        let _ = socket.set_tcp_notsent_lowat(UNSENT_BYTES_MAX);
        peer.socket = stream.as_fd().try_clone_to_owned().ok().map(Arc::new);
    }
    let mut routes = port.routes.clone();
    // Beyond loopback a status page is public, under any name; a configured list of names is
    // enforced everywhere.
    if local.ip().to_canonical().is_loopback() || !port.hosts.is_empty() {
        let hosts = port.hosts.clone();
        routes = routes.layer(from_fn_with_state(hosts, chronoscope_origin::only_own_pages));
    }
    let first = Arc::new(FirstRequest::default());
    let noted = TrackedRoutes { routes, peer, slot: slot.handle(), first };
    match &port.tls {
        None => connection(stream, noted).await,
        // The peer was informed of a failed handshake by an alert.
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(HEAD_WITHIN, tls.accept(stream)).await {
                connection(stream, noted).await;
            }
        }
    }
}

async fn connection<S>(stream: S, noted: TrackedRoutes<Peer>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = Builder::new(TokioExecutor::new()).http1_only();
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
    builder.http1().max_buf_size(HEAD_BYTES_MAX);
    let first = noted.first.clone();
    let service = TowerToHyperService::new(noted);
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    tokio::select! {
        // Bytes that are no HTTP were answered with 400.
        _ = connection => {}
        () = first.missed(HEAD_WITHIN) => {}
    }
}
