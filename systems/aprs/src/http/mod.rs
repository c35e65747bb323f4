//! The web side: status page, `status.json` and `counterdata` as aprsc's dashboards and plug-ins
//! read them, metrics for Prometheus, upload of packets, and clients that come by WebSocket.
//!
//! | request to a status port | answer |
//! |---|---|
//! | `GET /` | the status page: one page that needs nothing from elsewhere |
//! | `GET /status.json` | all counters, ports, uplinks, peers, clients, faults |
//! | `GET /counterdata?totals.clients` | one counter's last 48 hours, a sample a minute |
//! | `GET /metrics` | the same numbers for Prometheus (text format 0.0.4) |
//! | `GET /why?call=OH7LZB` | why packets of a source or from a client were dropped; also `source`, `client`, or of all |
//! | `GET /motd.html` | the operator's message, where there is one |
//!
//! An upload port answers `POST /`. A WebSocket port takes an upgrade at any path.
//!
//! It runs in a thread of its own, and nothing that a browser does takes time of a worker beyond
//! the listing of its clients, once a second at most. A worker that does not list them is a fault
//! on the page.
//!
//! Limits: 256 connections to each status or upload port, 16 KiB of request head, 2 KiB of upload;
//! who dawdles is cut. TLS is for WebSocket ports; in front of the others a proxy does that. Not
//! here: what a packet means.

mod ask;
mod json;
mod listen;
mod metrics;
mod process;
mod routes;
mod series;
mod site;
mod upload;
mod values;
mod websocket;
mod why;

pub use ask::{AskError, why, words};
pub use series::Series;
pub use site::{Adopt, WasCut};
pub use why::{Answer, Client, Dropped, Reason};

use crate::clock;
use crate::config::Listener;
use crate::engine::Server;
use crate::net::ServerTls;
use chronoscope_origin::AllowedHosts;
use listen::Port;
use site::Site;
use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_rustls::TlsAcceptor;

/// Connections to a status or an upload port at a time, and how long one may last.
const BROWSERS: (usize, Duration) = (256, Duration::from_secs(300));
/// Limits of a WebSocket port's connections before the upgrade; afterwards the engine limits them.
const UPGRADES: (usize, Duration) = (1024, Duration::from_secs(20));
/// Within which a browser has to read something.
const READ_WITHIN: Duration = Duration::from_secs(30);
/// Default folder of the operator's files, as aprsc has it.
const WEB_DIR: &str = "web";
/// The fault that a web port which cannot be served is.
const FAULT: &str = "http";

/// Sockets that listen already: bound while the process had its privileges, or taken over from the
/// process before a live upgrade.
#[derive(Debug, Default)]
pub struct Ports {
    /// Status pages.
    pub status: Vec<TcpListener>,
    /// Upload of packets.
    pub upload: Vec<TcpListener>,
    /// WebSocket ports with their sockets.
    pub websocket: Vec<(Arc<Listener>, TcpListener)>,
    /// Folder of the operator's `motd.html`; by default `web` in the working directory.
    pub web_dir: Option<PathBuf>,
}

/// The running web side.
pub struct Http {
    site: Arc<Site>,
    runtime: tokio::runtime::Handle,
    /// Accept loops.
    ports: Vec<AbortHandle>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Http {
    /// Starts the thread that serves the ports. `adopt` takes clients of WebSocket ports. `series`
    /// is what an earlier one had, after a reload or a live upgrade; else empty.
    ///
    /// # Errors
    /// When the system gives no thread, or no way to wait for sockets.
    pub fn start(
        ports: Ports,
        server: Arc<Server>,
        adopt: Adopt,
        series: Series,
    ) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let web_dir = ports.web_dir.clone().unwrap_or_else(|| WEB_DIR.into());
        let site = Arc::new(Site::new(server, adopt, web_dir, series));
        let (stop, stopped) = oneshot::channel();
        let served = Arc::clone(&site);
        let thread = std::thread::Builder::new().name("http".into()).spawn(move || {
            runtime.block_on(async move {
                served.sample();
                tokio::spawn(sample(Arc::clone(&served)));
                // An error means that the other end is gone: to be stopped as well.
                let _ = stopped.await;
            });
            // Requests in progress are aborted.
            runtime.shutdown_background();
        })?;
        let stop = Some(stop);
        let mut http =
            Self { site, runtime: handle, ports: Vec::new(), stop, thread: Some(thread) };
        http.serve(ports)?;
        Ok(http)
    }

    /// Serves these ports from now on, with the server's configuration and TLS files of now.
    /// Connections stay, those of ports that are gone as well; at each port as many further ones
    /// may come as if there were none.
    ///
    /// # Errors
    /// When a socket is not one; then nothing has changed.
    pub fn serve(&mut self, ports: Ports) -> io::Result<()> {
        for listener in listeners(&ports) {
            listener.set_nonblocking(true)?;
        }
        self.site.server.fault_over(FAULT);
        for port in self.ports.drain(..) {
            port.abort();
        }
        self.ports = serve(ports, &self.site, &self.runtime);
        Ok(())
    }

    /// Whether uploads are refused because no worker takes them: while a live upgrade is tried.
    pub fn pause(&self, is_paused: bool) {
        self.site.paused.store(is_paused, Ordering::Relaxed);
    }

    /// The last 48 hours, to be gone on with by another one.
    pub fn series(&self) -> Series {
        self.site.with_series(|series| series.clone())
    }

    /// Ends the thread; connections are cut, the ports closed.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It panicked, which the standard hook has reported.
            let _ = thread.join();
        }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.end();
    }
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http").finish_non_exhaustive()
    }
}

fn listeners(ports: &Ports) -> impl Iterator<Item = &TcpListener> {
    let websocket = ports.websocket.iter().map(|(_, listener)| listener);
    ports.status.iter().chain(&ports.upload).chain(websocket)
}

fn serve(ports: Ports, site: &Arc<Site>, runtime: &tokio::runtime::Handle) -> Vec<AbortHandle> {
    let mut started = Vec::new();
    let mut start = |listener: TcpListener, port: Port| {
        let site = Arc::clone(site);
        let told = move |words: String| site.server.fault(FAULT, &words, clock::now());
        started.push(runtime.spawn(listen::serve(listener, port, told)).abort_handle());
    };
    let config = site.server.config();
    let hosts = AllowedHosts::new(config.http_allow_hosts.clone(), "HTTPAllowHost");
    let browsers = |routes| Port {
        hosts: hosts.clone(),
        routes,
        connections_max: BROWSERS.0,
        lifetime: BROWSERS.1,
        acknowledged_within: READ_WITHIN,
        upgrades: false,
        tls: None,
    };
    for listener in ports.status {
        start(listener, browsers(routes::routes(Arc::clone(site))));
    }
    for listener in ports.upload {
        start(listener, browsers(upload::routes(Arc::clone(site))));
    }
    for (of, listener) in ports.websocket {
        let tls = match of.tls.as_ref().map(ServerTls::read).transpose() {
            Ok(tls) => tls.map(|tls| TlsAcceptor::from(tls.config)),
            // Without TLS a port that is to have it is not served at all.
            Err(error) => {
                let words = format!("a WebSocket port is not served: {error}");
                site.server.fault(FAULT, &words, clock::now());
                continue;
            }
        };
        let port = Port {
            routes: websocket::routes(Arc::clone(site), of),
            connections_max: UPGRADES.0,
            lifetime: UPGRADES.1,
            acknowledged_within: config.stale_after,
            upgrades: true,
            tls,
            hosts: hosts.clone(),
        };
        start(listener, port);
    }
    started
}

/// Samples once a minute.
async fn sample(site: Arc<Site>) {
    let minute = Duration::from_secs(series::INTERVAL_S);
    let mut minutes = interval_at(Instant::now() + minute, minute);
    minutes.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        minutes.tick().await;
        site.sample();
    }
}

#[cfg(test)]
mod tests;
