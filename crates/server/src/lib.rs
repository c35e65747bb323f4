//! The HTTP side of `serve`: what the collector is doing, and questions answered in JSON.
//!
//! | request | answer |
//! |---|---|
//! | `GET /status` | the collector's status |
//! | `GET /metrics` | the same numbers for Prometheus (text format 0.0.4) |
//! | `GET /classes` | every class, as `chronoscope classes --json` prints it |
//! | `GET /chains?root=A&leaf=B` | durations, as `chronoscope chains --json` prints them; also `level`, `apcd=true`, `sync=CLASS`, `limit_ns`, `from_ns`, `until_ns`, `split=true` |
//!
//! ```no_run
//! let server = chronoscope_server::Server::start("127.0.0.1:0".parse()?, "data".into())?;
//! println!("http://{}/status", server.address());
//! server.stop();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Limits: one question at a time, the others wait; it listens on loopback addresses only,
//! because it asks nobody who they are.
//!
//! Not here: collecting (`collect`), the definitions (`chain`).

mod metrics;
mod routes;
mod views;

pub use views::{answer, classes};

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address is not a loopback address.
    #[error(
        "{0} is reachable from other hosts, and answers would go to whoever asks: \
         listen on 127.0.0.1 and put a proxy with TLS and a login in front"
    )]
    NotLoopback(SocketAddr),
    /// The system refuses.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
}

/// A running server, in a thread of its own. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens on `listen` (port 0: the kernel chooses) and answers from the store in `data_dir`.
    ///
    /// # Errors
    /// [`ServerError`] when it may not or cannot listen there.
    pub fn start(listen: SocketAddr, data_dir: PathBuf) -> Result<Self, ServerError> {
        if !listen.ip().is_loopback() {
            return Err(ServerError::NotLoopback(listen));
        }
        let refused = |source| ServerError::Listen { address: listen, source };
        let listener = std::net::TcpListener::bind(listen).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(refused)?;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name("http".to_owned()).spawn(move || {
            runtime.block_on(routes::serve(listener, data_dir, stopped));
            // A question that is still being answered is not waited for.
            runtime.shutdown_background();
        });
        let thread = Some(thread.map_err(refused)?);
        Ok(Self { address, stop: Some(stop), thread })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops it, and waits until it has.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(()); // a server that is gone already needs no telling
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there was printed there
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}
