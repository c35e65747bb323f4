//! Connections: who is let in, how long they may dawdle, and how they end.

use crate::log::LogLine;
use crate::senders::{Peer, Senders};
use crate::tls::Tls;
use crate::write_timeout::WriteTimeout;
use axum::Router;
use chronoscope_admission::http::{FirstRequest, TrackedRoutes, acquire};
use chronoscope_admission::{ConnectionCapacity, ConnectionSlot, ConnectionSlots};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// Time from the connection to the end of the TLS handshake, and from there to the first request.
const FIRST_WITHIN: Duration = Duration::from_secs(10);
/// Within which a request's head must have come (HTTP/1.1).
const HEAD_WITHIN: Duration = Duration::from_secs(30);
/// HTTP/2 keep-alive: interval of pings to a silent peer, and timeout of the reply.
const PING: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(20));
/// HTTP/2 flow control: octets that a peer may send before they are read, per stream and per
/// connection.
const WINDOW_BYTES: (u32, u32) = (2 << 20, 4 << 20);
/// Requests at a time on one HTTP/2 connection.
const STREAMS_MAX: u32 = 64;
/// Within which a peer has to take something of what waits to be sent to it.
const READ_WITHIN: Duration = Duration::from_secs(30);
/// Time that running requests have to finish after the server is told to stop.
const STOP_WITHIN: Duration = Duration::from_secs(1);
/// Delay after a failed accept (no file descriptor left).
const RETRY_AFTER: Duration = Duration::from_millis(100);

/// State that all connections share.
pub(crate) struct ListenState {
    pub(crate) routes: Router,
    /// Number of peers that were disconnected because they did not read their answers.
    pub(crate) cut: Arc<AtomicU64>,
    /// Is informed of connections for which there is no slot.
    pub(crate) senders: Arc<Senders>,
    /// Whether requests have to show a token.
    pub(crate) has_token: bool,
}

/// Serves until `stopped`.
pub(crate) async fn serve(
    listener: std::net::TcpListener,
    tls: Option<Arc<Tls>>,
    shared: ListenState,
    stopped: oneshot::Receiver<()>,
) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return LogLine::error("server_not_started").with("error", error).say(),
    };
    let slots = ConnectionSlots::new(ConnectionCapacity::of_process(), shared.has_token);
    let ending = GracefulShutdown::new();
    let accept = async {
        let mut told = None;
        loop {
            match listener.accept().await {
                Ok((stream, peer)) => {
                    told = None;
                    // A connection too many is closed by being dropped.
                    let Some((slot, eviction)) = acquire(&slots, peer.ip()) else {
                        let why = "the limit of connections is reached";
                        shared.senders.refused(Some(peer), "connections", 1, why);
                        continue;
                    };
                    let (routes, cut) = (shared.routes.clone(), shared.cut.clone());
                    let connection = Connection { routes, cut, peer: Peer(peer), slot };
                    let tls = tls.as_ref().map(|tls| tls.acceptor());
                    let watcher = ending.watcher();
                    let senders = shared.senders.clone();
                    tokio::spawn(async move {
                        tokio::select! {
                            () = connection.begin(stream, tls, watcher) => {}
                            () = eviction.requested() => {
                                let why = "closed because it was idle and another connection came";
                                senders.refused(Some(peer), "connections", 1, why);
                            }
                        }
                    });
                }
                Err(error) => {
                    if told.replace(error.kind()) != Some(error.kind()) {
                        LogLine::error("connection_not_accepted").with("error", error).say();
                    }
                    sleep(RETRY_AFTER).await;
                }
            }
        }
    };
    tokio::select! {
        () = accept => {}
        _ = stopped => {}
    }
    drop(listener);
    let _ = timeout(STOP_WITHIN, ending.shutdown()).await; // what has not ended by then is cut
}

/// One connected peer.
struct Connection {
    routes: Router,
    cut: Arc<AtomicU64>,
    peer: Peer,
    slot: ConnectionSlot,
}

impl Connection {
    async fn begin(self, stream: TcpStream, tls: Option<TlsAcceptor>, ending: Watcher) {
        // Acknowledgements are small and awaited.
        let _ = stream.set_nodelay(true); // without it only slower
        let stream = WriteTimeout::new(stream, READ_WITHIN, self.cut.clone());
        match tls {
            None => self.serve(stream, ending).await,
            // A failed handshake: TLS has already sent the peer an alert.
            Some(tls) => {
                if let Ok(Ok(stream)) = timeout(FIRST_WITHIN, tls.accept(stream)).await {
                    self.serve(stream, ending).await;
                }
            }
        }
    }

    async fn serve<S>(self, stream: S, ending: Watcher)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut builder = Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(PING.0)
            .keep_alive_timeout(PING.1)
            .initial_stream_window_size(WINDOW_BYTES.0)
            .initial_connection_window_size(WINDOW_BYTES.1)
            .max_concurrent_streams(STREAMS_MAX);
        let first = Arc::new(FirstRequest::default());
        let (routes, slot) = (self.routes, self.slot.handle());
        let service = TrackedRoutes { routes, peer: self.peer, slot, first: first.clone() };
        let service = TowerToHyperService::new(service);
        let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
        tokio::select! {
            // The result is ignored: bytes that are no HTTP were already answered with 400.
            _ = ending.watch(connection) => {}
            () = first.missed(FIRST_WITHIN) => {}
        }
        drop(self.slot);
    }
}
