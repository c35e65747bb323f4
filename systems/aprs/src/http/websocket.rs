//! Clients that connect by WebSocket: each line of APRS-IS is sent as a message; a received message
//! has one line or several.
//!
//! To the client goes one message a line, without its CR LF: a text message where the line is
//! UTF-8, else a binary one. From the client come text or binary messages of whole lines; what is
//! missing of the last line's end is put there. The engine sees a stream of bytes as over TCP, so
//! that login, filters and limits are the same. What waits for a slow reader waits at most half of
//! the staleness bound there, and half of it here.

use super::listen::Peer;
use super::site::{Site, WasCut};
use crate::config::Listener;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{Extension, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Router, body::Bytes};
use futures_util::{SinkExt, StreamExt};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep_until, timeout};

/// Most octets of a message: some lines.
const MESSAGE_BYTES_MAX: usize = 8 << 10;
/// Octets that are read from a worker at a time, and the longest line that is one message.
const CHUNK_BYTES: usize = 8 << 10;
/// Interval between two pings.
const PING_EVERY: Duration = Duration::from_secs(30);
/// Longest time without any frame from the client, pongs included.
const SILENT_MAX: Duration = Duration::from_secs(90);

/// Routes of one port.
pub(super) fn routes(site: Arc<Site>, listener: Arc<Listener>) -> Router {
    Router::new().fallback(upgrade).with_state((site, listener))
}

async fn upgrade(
    State((site, listener)): State<(Arc<Site>, Arc<Listener>)>,
    Extension(peer): Extension<Peer>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let Ok(upgrade) = upgrade else {
        let words = "This port speaks APRS-IS over WebSocket.\n";
        let upgrade = [(header::UPGRADE, "websocket")];
        return (StatusCode::UPGRADE_REQUIRED, upgrade, words).into_response();
    };
    let (ours, workers) = match StdUnixStream::pair() {
        Ok(pair) => pair,
        Err(error) => return busy(&error),
    };
    let was_cut = match (site.adopt)(workers, &listener, peer.remote, peer.local) {
        Ok(was_cut) => was_cut,
        Err(error) => return busy(&error),
    };
    let ours = match ours.set_nonblocking(true).and_then(|()| UnixStream::from_std(ours)) {
        Ok(ours) => ours,
        Err(error) => return busy(&error),
    };
    // The engine cuts after the other half.
    let stale_after = site.server.config().stale_after / 2;
    upgrade
        .read_buffer_size(4 << 10)
        .write_buffer_size(CHUNK_BYTES)
        .max_write_buffer_size(16 * CHUNK_BYTES)
        .max_message_size(MESSAGE_BYTES_MAX)
        .max_frame_size(MESSAGE_BYTES_MAX)
        .on_upgrade(move |socket| bridge(socket, ours, stale_after, peer, was_cut))
}

/// Response to a refused client: the port is full, the ACL refuses it, or the system is out of
/// descriptors or memory.
fn busy(error: &std::io::Error) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response()
}

/// Reasons why a bridge ended.
enum End {
    /// The client left, or its connection broke.
    Client,
    /// The server closed it.
    Server,
    /// The client reads more slowly than the staleness bound allows.
    Stale,
    /// The client broke the protocol.
    Protocol(&'static str),
}

/// Carries lines until either side ends.
async fn bridge(
    mut socket: WebSocket,
    mut worker: UnixStream,
    stale_after: Duration,
    peer: Peer,
    was_cut: WasCut,
) {
    let mut lines = Lines::default();
    let end = carry(&mut socket, &mut worker, &mut lines, stale_after).await;
    let (code, reason) = match end {
        End::Server => (close_code::NORMAL, "closed by the server"),
        End::Protocol(reason) => (close_code::PROTOCOL, reason),
        End::Client => return, // there is nobody to tell
        // It would read of its end after all that is too old by now: nothing more is sent.
        End::Stale => {
            was_cut();
            return peer.forget_unsent();
        }
    };
    let frame = CloseFrame { code, reason: reason.into() };
    // The client may be gone already: a failure does not matter.
    let _ = timeout(Duration::from_secs(1), socket.send(Message::Close(Some(frame)))).await;
}

async fn carry(
    socket: &mut WebSocket,
    worker: &mut UnixStream,
    lines: &mut Lines,
    stale_after: Duration,
) -> End {
    let mut heard = Instant::now();
    let mut ping_at = heard + PING_EVERY;
    loop {
        lines.buffer.reserve(CHUNK_BYTES);
        tokio::select! {
            message = socket.next() => {
                heard = Instant::now();
                let bytes = match message {
                    Some(Ok(Message::Text(text))) => Bytes::from(text),
                    Some(Ok(Message::Binary(bytes))) => bytes,
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                    Some(Ok(Message::Close(_))) | None => return End::Client,
                    Some(Err(_)) => return End::Protocol("not a message of whole lines"),
                };
                // A worker takes bytes always, unless it has closed or hangs.
                match timeout(stale_after, write_lines(worker, &bytes)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) | Err(_) => return End::Server,
                }
            }
            read = worker.read_buf(&mut lines.buffer) => {
                match read {
                    Ok(0) | Err(_) => return End::Server,
                    Ok(_) => {}
                }
                match timeout(stale_after, send_lines(socket, lines)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return End::Client,
                    Err(_) => return End::Stale,
                }
            }
            () = sleep_until(ping_at) => {
                if heard.elapsed() > SILENT_MAX {
                    return End::Client;
                }
                ping_at = Instant::now() + PING_EVERY;
                match timeout(stale_after, socket.send(Message::Ping(Bytes::new()))).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return End::Client,
                    Err(_) => return End::Stale,
                }
            }
        }
    }
}

/// A message to the worker, its last line ended.
async fn write_lines(worker: &mut UnixStream, bytes: &[u8]) -> std::io::Result<()> {
    worker.write_all(bytes).await?;
    if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        worker.write_all(b"\r\n").await?;
    }
    Ok(())
}

/// All whole lines to the client, each a message, in as few writes as possible.
async fn send_lines(socket: &mut WebSocket, lines: &mut Lines) -> Result<(), axum::Error> {
    while let Some(line) = lines.next() {
        let message = match String::from_utf8(line) {
            Ok(text) => Message::Text(text.into()),
            Err(error) => Message::Binary(error.into_bytes().into()),
        };
        socket.feed(message).await?;
    }
    socket.flush().await
}

/// Bytes of a worker on their way to become lines.
#[derive(Default)]
struct Lines {
    buffer: bytes::BytesMut,
}

impl Lines {
    /// The next whole line without its end, or [`CHUNK_BYTES`] of one that is longer.
    fn next(&mut self) -> Option<Vec<u8>> {
        let end = match self.buffer.iter().position(|octet| *octet == b'\n') {
            Some(end) => end + 1,
            None if self.buffer.len() >= CHUNK_BYTES => CHUNK_BYTES,
            None => return None,
        };
        let mut line = self.buffer.split_to(end).to_vec();
        while matches!(line.last(), Some(b'\r' | b'\n')) {
            line.pop();
        }
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK_BYTES, Lines};

    #[test]
    fn lines_come_whole_whatever_the_pieces() {
        let mut lines = Lines::default();
        let mut seen = Vec::new();
        for piece in [&b"# hel"[..], b"lo\r", b"\nA>B:\xff\r\nC>", b"D:x\n"] {
            lines.buffer.extend_from_slice(piece);
            while let Some(line) = lines.next() {
                seen.push(line);
            }
        }
        assert_eq!(seen, [&b"# hello"[..], b"A>B:\xff", b"C>D:x"]);
        assert!(lines.buffer.is_empty());
    }

    #[test]
    fn a_line_without_end_is_bounded() {
        let mut lines = Lines::default();
        lines.buffer.extend_from_slice(&vec![b'x'; CHUNK_BYTES + 1]);
        assert_eq!(lines.next().map(|line| line.len()), Some(CHUNK_BYTES));
        assert_eq!(lines.next(), None);
    }
}
