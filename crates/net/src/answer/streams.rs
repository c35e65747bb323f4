//! Connections: who is let in, how long they may dawdle, and what they are answered.

use super::counts::{ServerState, count};
use super::frame::{self, Frame, PREFIX};
use super::request::Reply;
use super::request::Request;
use super::serve_request;
use super::token::NONCE;
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

/// Connections at a time. Each takes as much as its largest frame had, at most 64 KiB.
pub const CONNECTIONS_MAX: usize = 512;
/// Connections from one address, so that no peer alone can keep the others out.
pub const OF_ONE_MAX: usize = 128;
/// Longest time from the connection to its first frame.
const FIRST_WITHIN: Duration = Duration::from_secs(10);
/// Longest time from one frame to the next.
const NEXT_WITHIN: Duration = Duration::from_secs(60);
/// Longest time from a frame's first octet to its last, and for its reply to be read.
const FRAME_WITHIN: Duration = Duration::from_secs(10);
/// Octets of a frame for which there is room before more have come.
const ROOM: usize = 2048;
/// After a failed accept (no file descriptor left).
const RETRY_AFTER: Duration = Duration::from_millis(100);
/// Longest delay of a stop.
const STOP_EVERY: Duration = Duration::from_millis(100);
/// Longest time for exchanges to end once the server is to stop.
const STOP_WITHIN: Duration = Duration::from_secs(1);

/// Begins to answer.
pub(super) fn serve(listener: TcpListener, shared: Arc<ServerState>) -> io::Result<JoinHandle<()>> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let listener = {
        let _inside = runtime.enter();
        tokio::net::TcpListener::from_std(listener)?
    };
    thread::Builder::new().name("answer tcp".into()).spawn(move || {
        runtime.block_on(accept(listener, shared));
        runtime.shutdown_timeout(STOP_WITHIN);
    })
}

async fn accept(listener: tokio::net::TcpListener, shared: Arc<ServerState>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let peers = Arc::new(Peers::default());
    let asks = Arc::new(Semaphore::new(serve_request::AT_A_TIME));
    while !shared.is_stopped() {
        let (stream, from) = match timeout(STOP_EVERY, listener.accept()).await {
            Ok(Ok(came)) => came,
            Ok(Err(_)) => {
                sleep(RETRY_AFTER).await;
                continue;
            }
            Err(_) => continue,
        };
        // A connection too many is closed by being dropped.
        let place = room.clone().try_acquire_owned().ok().zip(peers.enter(from.ip()));
        let Some(place) = place else {
            count(&shared.turned_away);
            continue;
        };
        count(&shared.connections);
        let connection = Connection {
            stream,
            peer: from.ip(),
            buffer: Vec::new(),
            nonce: None,
            shared: shared.clone(),
            asks: asks.clone(),
            place,
        };
        tokio::spawn(connection.run());
    }
}

/// Number of connections by address.
#[derive(Debug, Default)]
struct Peers(Mutex<HashMap<IpAddr, usize>>);

/// A counted connection of an address.
#[derive(Debug)]
struct Peer {
    peers: Arc<Peers>,
    address: IpAddr,
}

impl Peers {
    fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Peer> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = all.entry(address).or_default();
        (*count < OF_ONE_MAX).then(|| {
            *count += 1;
            Peer { peers: Arc::clone(self), address }
        })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let mut all = self.peers.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = all.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.address);
            }
        }
    }
}

/// Connection to a peer.
struct Connection {
    stream: TcpStream,
    peer: IpAddr,
    /// The frame that is read or answered, with its length before it.
    buffer: Vec<u8>,
    /// Nonce for the peer's proof, used once.
    nonce: Option<[u8; NONCE]>,
    shared: Arc<ServerState>,
    /// Permits for requests.
    asks: Arc<Semaphore>,
    place: (OwnedSemaphorePermit, Peer),
}

/// Action after a frame.
enum Next {
    /// Read another frame.
    Frame,
    /// Serve a request in a thread of its own; then the connection is closed.
    Ask(Request, OwnedSemaphorePermit),
}

/// Reason why a connection ended.
enum End {
    /// By its peer, or by the network.
    Closed,
    /// The peer was too slow.
    Slow,
    /// The peer sent an invalid request.
    Refused,
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::TimedOut => Self::Slow,
            _ => Self::Closed,
        }
    }
}

impl Connection {
    async fn run(mut self) {
        // Requests are small and awaited. Without it they are only slower.
        let _ = self.stream.set_nodelay(true);
        let mut within = FIRST_WITHIN;
        let end = loop {
            match self.answer(within).await {
                Ok(Next::Frame) => within = NEXT_WITHIN,
                Ok(Next::Ask(ask, permit)) => return self.serve(ask, permit),
                Err(end) => break end,
            }
        };
        match end {
            End::Closed => {}
            End::Slow => count(&self.shared.cut),
            End::Refused => count(&self.shared.refused_frames),
        }
    }

    /// Answers the next frame.
    async fn answer(&mut self, within: Duration) -> Result<Next, End> {
        self.buffer.resize(PREFIX, 0);
        match timeout(within, self.stream.read_exact(&mut self.buffer[..1])).await {
            Err(_) => return Err(End::Slow),
            Ok(read) => read?,
        };
        timeout(FRAME_WITHIN, self.read()).await.map_err(|_| End::Slow)??;
        match frame::read(&mut self.buffer[PREFIX..]) {
            Ok(Frame::Echo(_)) => {
                self.shared.asked();
                let written = timeout(FRAME_WITHIN, self.stream.write_all(&self.buffer)).await;
                written.map_err(|_| End::Slow)??;
                count(&self.shared.frames);
                Ok(Next::Frame)
            }
            Ok(Frame::Hello) => {
                let mut nonce = [0; NONCE];
                getrandom::fill(&mut nonce).map_err(|_| End::Closed)?;
                self.nonce = Some(nonce);
                self.say(&frame::frame(&[frame::NUMBER, &nonce])).await?;
                Ok(Next::Frame)
            }
            Ok(Frame::Ask { proof, json }) => {
                let (nonce, room) = (self.nonce.take(), self.asks.clone().try_acquire_owned());
                let ask = serve_request::admit(&self.shared, self.peer, nonce, &proof, json);
                let busy = || "too many requests at a time: try again later".to_owned();
                match ask.and_then(|ask| Ok((ask, room.map_err(|_| busy())?))) {
                    Ok((ask, permit)) => Ok(Next::Ask(ask, permit)),
                    Err(why) => {
                        count(&self.shared.refused_asks);
                        self.say(&serve_request::answer(&Reply::Refused(why))).await?;
                        Ok(Next::Frame)
                    }
                }
            }
            Err(_) => Err(End::Refused),
        }
    }

    async fn say(&mut self, octets: &[u8]) -> Result<(), End> {
        let written = timeout(FRAME_WITHIN, self.stream.write_all(octets)).await;
        Ok(written.map_err(|_| End::Slow)??)
    }

    /// Serves a request in a thread of its own, because it blocks.
    fn serve(self, ask: Request, permit: OwnedSemaphorePermit) {
        let Self { stream, shared, place, .. } = self;
        let Ok(stream) = stream.into_std() else { return };
        tokio::task::spawn_blocking(move || {
            shared.asked();
            serve_request::serve(stream, &ask, &shared);
            shared.asked();
            drop((permit, place));
        });
    }

    /// Reads a frame whose first octet has arrived. Memory grows with received octets, not with the
    /// announced length.
    async fn read(&mut self) -> Result<(), End> {
        self.stream.read_exact(&mut self.buffer[1..PREFIX]).await?;
        let prefix = self.buffer.first_chunk().copied().unwrap_or_default();
        let length = frame::length(prefix).map_err(|_| End::Refused)?;
        let (mut have, end) = (PREFIX, PREFIX + length);
        while have < end {
            let next = end.min((2 * have).max(ROOM));
            self.buffer.resize(next, 0);
            self.stream.read_exact(&mut self.buffer[have..next]).await?;
            have = next;
        }
        Ok(())
    }
}
