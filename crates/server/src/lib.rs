//! The network side of `serve`: the collector's status, questions answered in JSON, and the intake
//! of rows from other hosts. Everything is on one TCP port, HTTP/1.1 and HTTP/2.
//!
//! | request | answer |
//! |---|---|
//! | `GET /` | the page that was built into the program |
//! | `GET /healthz`, `GET /readyz` | liveness; readiness, with the failed checks |
//! | `GET /api/v1/…` | the page's API: `docs/page.md`, `GET /api/v1/openapi.json` |
//! | `GET /status` | the collector's status |
//! | `GET /metrics` | the same numbers for Prometheus, in the format that it asks for (`docs/prometheus.md`) |
//! | `GET /classes` | every class, as `chronoscope classes --json` prints it, at most 10,000 at a time (`limit`, `offset`; `total` says how many there are) |
//! | `GET /chains?root=A&leaf=B` | durations, as `chronoscope chains --json` prints them; also `level`, `apcd=true`, `sync=CLASS`, `limit_ns`, `from_ns`, `until_ns`, `split=true` |
//! | gRPC `chronoscope.Collector` | accepts rows of agents (`docs/formats/agent.md`) |
//! | `POST /v1/traces`, gRPC `TraceService/Export` | accepts spans of OpenTelemetry, answered when durable (`docs/otlp.md`) |
//!
//! ```no_run
//! use chronoscope_server::{Server, ServerOptions};
//! let server = Server::start(ServerOptions::new("127.0.0.1:0".parse()?, "data".into()))?;
//! println!("{}://{}/status", server.scheme(), server.address());
//! server.stop();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! On addresses other than loopback it listens only with TLS and a token, unless an option allows
//! it without. A client without the token gets the page's files, the description of its API and the
//! health checks, none of which contain stored data; every other request is refused.
//!
//! Limits: two questions of the page and one other at a time; further ones wait. 1024 connections,
//! of which 512 are for clients that showed the token. Of the others at most 128 may come from one
//! address; when there is one too many, the one that has been idle for longest is closed. When the
//! process may open fewer than 2048 files, connections use at most half of them. A connection is
//! also closed when its peer reads nothing of an answer for 30 s, when a request's head takes as
//! long, or when the TLS handshake or the first request takes 10 s.
//!
//! Not here: collecting (`collect`), the definitions (`chain`), issuing certificates.
//!
//! # Where to look
//!
//! * a question of the page: `api/mod.rs`, `docs/page.md`; questions that take long:
//!   `api/questions/mod.rs`
//! * limits and how they are judged: `api/now/judge.rs`; the log: `log.rs`, `senders.rs`
//! * rules and their alarms: `rules/`; their definitions are in `crates/rules`
//! * metrics, their formats, and remote write: `metrics/mod.rs`
//! * rows of agents: `grpc.rs`; questions to them: `ring_stream.rs`, `agent_rings.rs`; spans of OpenTelemetry: `otlp.rs`

mod access;
mod agent_rings;
mod annotations;
mod api;
mod arrivals;
mod attribute_query;
mod collectors;
mod contrast;
mod grpc;
mod health;
mod limits;
mod listen;
pub mod log;
mod metrics;
mod options;
mod otlp;
mod page;
mod refusal;
mod ring_stream;
mod routes;
mod rules;
mod senders;
mod tls;
mod token;
mod tokens;
mod verdict_subject;
mod views;
mod write_timeout;

pub use annotations::{AllAnnotations, StoreAnnotations};
pub use api::openapi;
pub use chronoscope_rules::Arrivals;
pub use collectors::LinkingLease;
pub use limits::{Limit, Limited};
pub use metrics::remote_write::{RemoteWriteError, RemoteWriteOptions};
pub use options::ServerOptions;
pub use rules::{RuleHistories, RuleHistory, rule_histories};
pub use senders::Received;
pub use tls::{TlsError, TlsFiles};
pub use token::{Token, TokenError};
pub use tokens::{Rights, Tokens, TokensError};
pub use views::{
    add_filters, answer, attribute_names, attribute_values, class_groups, classes, contrast,
    deletion, inputs,
};

use chronoscope_collect::Ingest;
use chronoscope_query::StoreLocation;
use collectors::Collectors;
use log::LogLine;
use metrics::MetricsSource;
use metrics::remote_write::{RemoteWriteState, RemoteWriter};
use senders::Senders;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// Reason why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address is not a loopback address, and the door would be open.
    #[error(
        "{address} is reachable from other hosts, and {missing} missing: give --tls-cert, --tls-key \
         and --tokens or --token-file, or listen on 127.0.0.1, or give --insecure on a trusted \
         network"
    )]
    Open {
        /// Address on which it was to listen.
        address: SocketAddr,
        /// The missing option.
        missing: &'static str,
    },
    /// Certificate or key cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The file of tokens cannot be used.
    #[error(transparent)]
    Tokens(#[from] TokensError),
    /// Remote write cannot be done as asked.
    #[error(transparent)]
    RemoteWrite(#[from] RemoteWriteError),
    /// The journal of alarms and notifications cannot be read.
    #[error("rules/journal.json in the data folder: {0}")]
    Journal(io::Error),
    /// The journal that all collectors have together cannot be read.
    #[error("the table alarms of the cluster: {0}")]
    SharedJournal(io::Error),
    /// The address cannot be bound.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
}

impl ServerOptions {
    /// Refuses what would be open to everybody.
    fn check(&self) -> Result<(), ServerError> {
        let has_token = self.token.is_some() || self.tokens.is_some();
        let missing = match (&self.tls, has_token) {
            _ if self.insecure || self.listen.ip().is_loopback() => return Ok(()),
            (Some(_), true) => return Ok(()),
            (None, true) => "TLS is",
            (Some(_), false) => "a token is",
            (None, false) => "TLS and a token are",
        };
        Err(ServerError::Open { address: self.listen, missing })
    }
}

/// A running server, in a thread of its own. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    scheme: &'static str,
    senders: Arc<Senders>,
    access: Arc<access::Access>,
    tls: Option<Arc<tls::Tls>>,
    /// All collectors before the cluster, where the store is one.
    collectors: Option<Arc<Collectors>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// A server with a bound port and checked options. It does not answer yet: clients that connect
/// wait.
pub struct BoundServer {
    options: ServerOptions,
    tls: Option<Arc<tls::Tls>>,
    access: Arc<access::Access>,
    listener: std::net::TcpListener,
    address: SocketAddr,
}

impl std::fmt::Debug for BoundServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BoundServer").field("address", &self.address).finish_non_exhaustive()
    }
}

impl BoundServer {
    /// Answers, and gives what comes in to `ingest`, until it is stopped.
    ///
    /// # Errors
    /// [`ServerError::Listen`] when the system has no thread for it, [`ServerError::Journal`] when
    /// the journal of alarms cannot be read, [`ServerError::SharedJournal`] when that of a cluster
    /// cannot.
    pub fn start(self, ingest: Option<Ingest>) -> Result<Server, ServerError> {
        let Self { options, tls, access, listener, address } = self;
        let options = ServerOptions { ingest, ..options };
        let scheme = if tls.is_some() { "https" } else { "http" };
        let refused = |source| ServerError::Listen { address, source };
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(refused)?;
        let collectors = match &options.source {
            Some(StoreLocation::Cluster(view)) => {
                let cluster = view.cluster();
                let about = (own_address(scheme, address), options.rules.rules.len());
                let ingest = options.ingest.clone();
                Some(Collectors::start(cluster.clone(), ingest, about).map_err(refused)?)
            }
            _ => None,
        };
        let watch = match &collectors {
            Some(collectors) => rules::RuleWatch::start_shared(&options.rules, collectors.clone())
                .map_err(ServerError::SharedJournal)?,
            None => rules::RuleWatch::start(&options.rules, &options.data_dir)
                .map_err(ServerError::Journal)?,
        };
        let together = collectors.clone();
        let (stop, stopped) = oneshot::channel();
        let senders = Arc::<Senders>::default();
        let noted = senders.clone();
        let (known, presented) = (access.clone(), tls.clone());
        let thread = std::thread::Builder::new().name("server".to_owned()).spawn(move || {
            runtime.spawn(noted.clone().tell());
            let cut = Arc::default();
            let api = api::Api::new(&options, watch, together);
            let (metrics, writer) = metrics_source(&options, &api, &cut);
            if !options.limits.is_empty() {
                runtime.spawn(api.clone().watch_limits());
            }
            if !options.rules.rules.is_empty() {
                runtime.spawn(api.clone().watch_rules());
            }
            if api.collectors.is_some() {
                runtime.spawn(api.clone().publish());
            }
            let has_token = known.is_asked();
            let routes = routes::routes(options, api, &noted, metrics, &known);
            let shared = listen::ListenState { routes, cut, senders: noted, has_token };
            runtime.block_on(listen::serve(listener, presented, shared, stopped));
            // A question that is still being answered is not waited for.
            runtime.shutdown_background();
            drop(writer);
        });
        let thread = Some(thread.map_err(refused)?);
        let stop = Some(stop);
        Ok(Server { address, scheme, senders, access, tls, collectors, stop, thread })
    }
}

/// The URL by which others reach a server, as far as it knows.
fn own_address(scheme: &str, address: SocketAddr) -> String {
    match address.ip().is_unspecified() {
        false => format!("{scheme}://{address}"),
        true => {
            let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
            format!("{scheme}://{}:{}", host.trim(), address.port())
        }
    }
}

/// What the metrics are taken from, and the thread that sends them, where one is asked for.
fn metrics_source(
    options: &ServerOptions,
    api: &api::Api,
    cut: &Arc<AtomicU64>,
) -> (MetricsSource, Option<RemoteWriter>) {
    let state = options.remote_write.as_ref().map(|_| Arc::<RemoteWriteState>::default());
    let source = MetricsSource {
        data_dir: options.data_dir.clone(),
        cluster: options.ingest.clone().filter(|_| api.collectors.is_some()),
        follower: api.metrics.clone(),
        watch: api.watch.clone(),
        rules: api.rules.clone(),
        cut: cut.clone(),
        remote_write: state.clone(),
    };
    let writer = options.remote_write.clone().zip(state).and_then(|(options, state)| {
        let started = RemoteWriter::start(options, source.clone(), state);
        started.map_err(|error| LogLine::error("no_remote_write").with("error", error).say()).ok()
    });
    (source, writer)
}

/// What is read of the files that options name.
fn checked(options: &ServerOptions) -> Result<(Option<tls::Tls>, access::Access), ServerError> {
    options.check()?;
    options.remote_write.as_ref().map_or(Ok(()), RemoteWriteOptions::check)?;
    let tls = options.tls.clone().map(tls::Tls::new).transpose()?;
    let access = access::Access::new(options.token.clone(), options.tokens.clone())?;
    Ok((tls, access))
}

impl Server {
    /// Binds the port, so that a refused option fails before anything else starts.
    ///
    /// # Errors
    /// [`ServerError`] when it may not or cannot listen there.
    pub fn bind(options: ServerOptions) -> Result<BoundServer, ServerError> {
        let (tls, access) = checked(&options)?;
        let (tls, access) = (tls.map(Arc::new), Arc::new(access));
        let refused = |source| ServerError::Listen { address: options.listen, source };
        let listener = std::net::TcpListener::bind(options.listen).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(BoundServer { options, tls, access, listener, address })
    }

    /// Checks options and the files that they name, without listening.
    ///
    /// # Errors
    /// [`ServerError`] as [`Server::bind`] returns it, apart from [`ServerError::Listen`].
    pub fn check(options: &ServerOptions) -> Result<(), ServerError> {
        checked(options).map(drop)
    }

    /// Listens and answers, until it is stopped.
    ///
    /// # Errors
    /// [`ServerError`] when it may not or cannot listen there.
    pub fn start(options: ServerOptions) -> Result<Self, ServerError> {
        let ingest = options.ingest.clone();
        Self::bind(options)?.start(ingest)
    }

    /// The address on which it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The scheme of its URL: `http` or `https`.
    pub const fn scheme(&self) -> &'static str {
        self.scheme
    }

    /// Rows received over the network so far.
    pub fn received(&self) -> Received {
        self.senders.received()
    }

    /// Reads certificate, key and token file again, for connections and requests from now on. A
    /// file that cannot be read changes nothing.
    ///
    /// # Errors
    /// [`ServerError::Tls`] or [`ServerError::Tokens`]: the first that cannot be read.
    pub fn reload(&self) -> Result<(), ServerError> {
        let tls = self.tls.as_ref().map_or(Ok(()), |tls| tls.reload());
        self.access.reload()?;
        Ok(tls?)
    }

    /// Whether this server is the one that links the chains of its cluster; `None` where its store
    /// is no cluster.
    pub fn linking_lease(&self) -> Option<LinkingLease> {
        self.collectors.as_ref().map(|collectors| LinkingLease(Arc::downgrade(collectors)))
    }

    /// Stops it, and waits until it has.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(()); // a server that is gone already needs no telling
            self.collectors.iter().for_each(|collectors| collectors.end());
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

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(change: impl FnOnce(&mut ServerOptions)) -> Option<String> {
        let mut options = ServerOptions::new("0.0.0.0:0".parse().unwrap(), "nowhere".into());
        change(&mut options);
        options.check().err().map(|error| error.to_string())
    }

    #[test]
    fn beyond_loopback_only_behind_tls_and_token() {
        let files = || TlsFiles { certificate: "c".into(), key: "k".into() };
        let token = || Token::new("sesame").unwrap();
        assert!(refusal(|_| ()).unwrap().contains("TLS and a token are missing"));
        let no_tls = refusal(|options| options.token = Some(token())).unwrap();
        assert!(no_tls.starts_with("0.0.0.0:0 is reachable from other hosts, and TLS is missing"));
        let no_token = refusal(|options| options.tls = Some(files())).unwrap();
        assert!(no_token.contains("a token is missing"));
        assert_eq!(refusal(|o| (o.tls, o.token) = (Some(files()), Some(token()))), None);
        assert_eq!(refusal(|options| options.insecure = true), None);
        assert_eq!(refusal(|options| options.listen = "[::1]:0".parse().unwrap()), None);
    }
}
