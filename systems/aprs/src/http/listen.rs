//! Connections of browsers and of programs that speak HTTP/1.1: how many, and how long they may
//! dawdle.

use axum::{Extension, Router};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use socket2::SockRef;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// Within which a request's head must have come.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// Within which the kernel's send queue must move.
const ACKNOWLEDGED_WITHIN: Duration = Duration::from_secs(30);
/// Most octets of a request's head.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// After a failed accept: no file descriptor is left.
const RETRY_AFTER: Duration = Duration::from_millis(100);

/// The two ends of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer {
    pub(super) remote: SocketAddr,
    pub(super) local: SocketAddr,
}

/// How much a port takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Connections at a time; further ones are closed at once.
    pub(super) connections_max: usize,
    /// How long one may last at most, whatever it does. An upgraded one is no longer counted here.
    pub(super) lifetime: Duration,
}

/// Serves `routes` until the runtime ends. `told` hears of failures to accept.
pub(super) async fn serve(
    listener: TcpListener,
    routes: Router,
    limits: Limits,
    told: impl Fn(String),
) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return told(format!("HTTP port cannot be served: {error}")),
    };
    let room = Arc::new(Semaphore::new(limits.connections_max));
    let mut last = None;
    loop {
        match listener.accept().await {
            Ok((stream, remote)) => {
                last = None;
                // A connection too many is closed by being dropped.
                let Ok(permit) = Arc::clone(&room).try_acquire_owned() else { continue };
                let routes = routes.clone();
                tokio::spawn(async move {
                    // How it ended is the peer's affair.
                    let _ = timeout(limits.lifetime, connection(stream, remote, routes)).await;
                    drop(permit);
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

async fn connection(stream: TcpStream, remote: SocketAddr, routes: Router) {
    let Ok(local) = stream.local_addr() else { return }; // it is gone already
    // Without these two it is only slower, and a dead reader is found later.
    let _ = stream.set_nodelay(true);
    let _ = SockRef::from(&stream).set_tcp_user_timeout(Some(ACKNOWLEDGED_WITHIN));
    let routes = routes.layer(Extension(Peer { remote, local }));
    let mut builder = Builder::new(TokioExecutor::new()).http1_only();
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
    builder.http1().max_buf_size(HEAD_BYTES_MAX);
    let service = TowerToHyperService::new(routes);
    // Bytes that are no HTTP were answered with 400.
    let _ = builder.serve_connection_with_upgrades(TokioIo::new(stream), service).await;
}
