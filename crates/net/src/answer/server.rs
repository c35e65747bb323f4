//! Starting and stopping.

use super::counts::{Counts, ServerState};
use super::options::Options;

use super::{datagrams, streams};
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

/// Number of tries for a port that is free for UDP and for TCP.
const PORT_TRIES: u32 = 32;

/// Reasons why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// The system refuses the port.
    #[error("cannot listen on {address} ({protocol}): {source}")]
    Listen {
        /// Address of the server.
        address: SocketAddr,
        /// UDP or TCP.
        protocol: &'static str,
        /// Error of the system.
        source: io::Error,
    },
    /// The system refuses a thread or its resources.
    #[error("cannot serve: {0}")]
    System(#[from] io::Error),
}

/// Sockets of one port, over UDP and TCP.
#[derive(Debug)]
pub struct Sockets {
    /// Socket for datagrams.
    pub udp: UdpSocket,
    /// Socket for connections.
    pub tcp: TcpListener,
}

impl Sockets {
    /// Listens there.
    ///
    /// # Errors
    /// [`AnswerError::Listen`].
    pub fn bind(listen: SocketAddr) -> Result<Self, AnswerError> {
        let refused =
            |address, protocol| move |source| AnswerError::Listen { address, protocol, source };
        let mut tries = if listen.port() == 0 { PORT_TRIES } else { 1 };
        loop {
            tries -= 1;
            let tcp = TcpListener::bind(listen).map_err(refused(listen, "TCP"))?;
            let address = tcp.local_addr().map_err(refused(listen, "TCP"))?;
            match UdpSocket::bind(address) {
                Ok(udp) => return Ok(Self { udp, tcp }),
                Err(error) if tries == 0 => return Err(refused(address, "UDP")(error)),
                Err(_) => {} // somebody else's; the next one that is free for TCP
            }
        }
    }
}

/// A running server, in threads of its own. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<ServerState>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    /// Listens and answers, until it is stopped.
    ///
    /// # Errors
    /// [`AnswerError`].
    pub fn start(options: Options) -> Result<Self, AnswerError> {
        Self::on(Sockets::bind(options.listen)?, options)
    }

    /// Answers on sockets that listen already.
    ///
    /// # Errors
    /// [`AnswerError`].
    pub fn on(sockets: Sockets, options: Options) -> Result<Self, AnswerError> {
        let address = sockets.tcp.local_addr()?;
        let shared = Arc::new(ServerState::new(options));
        let mut server = Self { address, shared, threads: Vec::new() };
        server.threads.push(datagrams::serve(sockets.udp, Arc::clone(&server.shared))?);
        server.threads.push(streams::serve(sockets.tcp, Arc::clone(&server.shared))?);
        Ok(server)
    }

    /// Address on which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Counts so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.shared.counts()
    }

    /// Time since the last request.
    #[must_use]
    pub fn idle(&self) -> Duration {
        self.shared.idle()
    }

    /// Stops the server; exchanges that do not end within a second are cut.
    pub fn stop(mut self) -> Counts {
        self.end();
        self.counts()
    }

    fn end(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A panic in it was reported by its thread.
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}
