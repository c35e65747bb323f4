//! What the web side needs of the rest of the server.

use crate::config::Config;
use crate::status::{Posted, StatusSnapshot, WorkerStatus};
use crate::why;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::oneshot;

/// What the web side asks of the server. Each call returns at once: what a worker has to do is
/// mail to it, and its answer comes through the receiver. A sender that is dropped means that there
/// will be no answer.
pub trait Backend: Send + Sync + 'static {
    /// The configuration in force.
    fn config(&self) -> Arc<Config>;

    /// All counters.
    fn status(&self) -> StatusSnapshot;

    /// Asks every worker for its connections; one receiver for each worker, in their order.
    fn workers(&self) -> Vec<oneshot::Receiver<WorkerStatus>>;

    /// Why packets of a callsign, or from it as a client, were dropped; of all where it is empty.
    /// At most `recent_max` drops with their lines.
    fn why(&self, call: &[u8], recent_max: usize) -> why::Answer;

    /// Gives an upload to a worker: a login line, a line end and a packet line.
    fn post(&self, from: SocketAddr, body: Vec<u8>) -> oneshot::Receiver<Posted>;

    /// Gives a client of a WebSocket port to a worker. The stream carries lines as TCP would; it is
    /// closed when the client is gone.
    ///
    /// # Errors
    /// When the server takes no more clients, or the ACL refuses this one.
    fn adopt(
        &self,
        stream: UnixStream,
        listener: usize,
        remote: SocketAddr,
        local: SocketAddr,
    ) -> io::Result<()>;
}

/// Sockets that listen already, so that they could be bound with privileges or come from the
/// process before a live upgrade.
#[derive(Debug, Default)]
pub struct Ports {
    /// Status page.
    pub status: Vec<TcpListener>,
    /// Upload of packets.
    pub upload: Vec<TcpListener>,
    /// WebSocket ports, each with its index in `Config::listeners`.
    pub websocket: Vec<(usize, TcpListener)>,
    /// Where the operator's `motd.html` is.
    pub web_dir: Option<PathBuf>,
}
