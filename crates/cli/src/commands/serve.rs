//! `chronoscope serve`: rings in, durable files out, until stopped.

use super::cluster_sealing::Sealing;
use super::interfaces::{Interfaces, Prepared};
use crate::args::Serve;
use crate::exit::Exit;
use crate::interrupt::{self, Interrupt};
use crate::screen::{progress, show};
use crate::usage::Usage;
use crate::{environment, text};
use anyhow::{Context, Result};
use chronoscope_clickhouse::{Cluster, ClusterWriter, TableOptions};
use chronoscope_collect::{Collector, Ingest, Options, Status};
use chronoscope_query::{ClusterView, StoreLocation};
use chronoscope_record::read;
use chronoscope_server::log::{self, LogLine};
use chronoscope_server::{
    BoundServer, Limit, Received, RemoteWriteOptions, Server, ServerError, ServerOptions, TlsFiles,
};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs the command.
pub(crate) fn serve(args: &Serve) -> Result<Exit> {
    if args.configuration.check {
        return check(args);
    }
    let interrupt = Interrupt::install()?;
    super::open_files::raise_open_files();
    // Without any of them SIGHUP ends the program, as when its terminal is closed.
    let has_files =
        args.tokens.is_some() || args.tls_cert.is_some() || args.configuration.config.is_some();
    let reload = if has_files { interrupt::hang_up()? } else { Arc::default() };
    let data_dir = match args.data.source()? {
        StoreLocation::Cluster(view) => {
            return serve_cluster(args, view.cluster().clone(), (&interrupt, &reload));
        }
        StoreLocation::Files(data_dir) => data_dir,
    };
    let ring_dir = args.rings.clone().unwrap_or_else(read::default_folder);
    let options = collecting(args, &ring_dir, &data_dir);
    // Everything that can be refused is refused before a folder is created or an address announced.
    let bound = match args.listen {
        Some(address) => Some(bind(listening(args, address, data_dir.clone())?)?),
        None => None,
    };
    let interfaces = args.interfaces.map(|every| Interfaces::prepare(every, &ring_dir));
    let interfaces = interfaces.transpose()?;
    let folder = NewFolder::below(&data_dir);
    let collector = Collector::new(options).map_err(|error| {
        folder.remove_empty();
        anyhow::Error::new(error).context(format!("cannot store into {}", data_dir.display()))
    })?;
    let _interfaces = interfaces.map(Prepared::start).transpose()?;
    let ingest = Some(collector.ingest());
    if args.quiet {
        log::quiet();
    }
    let server = bound.map(|bound| bound.start(ingest)).transpose()?;
    if !args.quiet {
        say!("collecting {} into {}", ring_dir.display(), data_dir.display());
    }
    if let Some(server) = &server {
        say!("answering on {}://{}/status", server.scheme(), server.address());
        say!("the page is at {}://{}/", server.scheme(), server.address());
    }
    started(&data_dir.display().to_string(), server.as_ref())
        .with("rings", ring_dir.display())
        .say();
    let mut summary = Summary::default();
    let ends_ns = args.duration.map(|time| {
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        chronoscope_clock::monotonic_ns().saturating_add(time)
    });
    let last = collector.run(interrupt.flag(), &mut |status| {
        let received = server.as_ref().map(Server::received).unwrap_or_default();
        summary.say(status, received, args.quiet);
        reload_on(&reload, server.as_ref());
        if ends_ns.is_some_and(|ends| chronoscope_clock::monotonic_ns() >= ends) {
            interrupt.flag().store(true, Ordering::Relaxed);
        }
    });
    let received = server.as_ref().map(Server::received).unwrap_or_default();
    if let Some(server) = server {
        server.stop();
    }
    progress("");
    summary.line("stop", &last, received).say();
    if args.json {
        show(&format!("{:#}\n", serde_json::to_value(&last)?))?;
    }
    Ok(if last.error.is_some() { Exit::Error } else { Exit::Done })
}

/// How rings become files.
fn collecting(args: &Serve, ring_dir: &Path, data_dir: &Path) -> Options {
    let mut options = Options::new(ring_dir.to_owned(), data_dir.to_owned());
    options.store.wait = args.wait_late;
    options.store.keep = args.keep_age;
    options.store.keep_bytes = args.keep_size;
    options.store.group_readable = args.group;
    options
}

/// Why a cluster needs an address.
const CLUSTER_NEEDS_LISTEN: &str = "with a cluster, give --listen ADDRESS:PORT: rows come from \
                                    agents (chronoscope agent also collects the rings of this \
                                    host)";

/// Why the interfaces are an agent's with a cluster.
const CLUSTER_NO_INTERFACES: &str =
    "--interfaces is not available with a cluster: use chronoscope agent --interfaces";

/// Serves a cluster: rows from agents and others go to its shards, and questions are answered from
/// them. This process stores nothing, so that any number of them may run side by side.
fn serve_cluster(
    args: &Serve,
    cluster: Cluster,
    (interrupt, reload): (&Interrupt, &AtomicBool),
) -> Result<Exit> {
    anyhow::ensure!(args.interfaces.is_none(), Usage::new(CLUSTER_NO_INTERFACES));
    let address = args.listen.ok_or_else(|| Usage::new(CLUSTER_NEEDS_LISTEN))?;
    let options = listening(args, address, args.data.dir())?;
    let view = ClusterView::new(cluster.clone());
    let source = Some(StoreLocation::Cluster(view.clone()));
    let bound = bind(ServerOptions { source, ..options })?;
    let cannot = || format!("cannot store into {cluster}");
    cluster.prepare(&TableOptions { keep: args.keep_age }).with_context(cannot)?;
    let ingest = Ingest::into_cluster(ClusterWriter::new(cluster.clone()));
    if args.quiet {
        log::quiet();
    }
    let server = bound.start(Some(ingest.clone()))?;
    say!("storing into {cluster}");
    say!("answering on {}://{}/status", server.scheme(), server.address());
    say!("the page is at {}://{}/", server.scheme(), server.address());
    started(&cluster.to_string(), Some(&server)).say();
    let mut summary = Summary::default();
    let status = || Status {
        at_ns: chronoscope_clock::utc_now_ns(),
        agents: ingest.agents(),
        ..Status::default()
    };
    let lease = server.linking_lease().context("a cluster has no linking lease")?;
    let sealing = Sealing::start(view, lease, args.wait_late)?;
    let begin_ns = chronoscope_clock::monotonic_ns();
    let is_over = || {
        let passed_ns = chronoscope_clock::monotonic_ns().saturating_sub(begin_ns);
        args.duration.is_some_and(|time| u128::from(passed_ns) >= time.as_nanos())
    };
    while !interrupt.flag().load(Ordering::Relaxed) && !is_over() {
        summary.say(&status(), server.received(), true);
        reload_on(reload, Some(&server));
        chronoscope_clock::sleep(std::time::Duration::from_millis(50));
    }
    let received = server.received();
    // Before the lease is given up.
    sealing.cancel();
    server.stop();
    sealing.stop();
    summary.line("stop", &status(), received).say();
    Ok(Exit::Done)
}

/// `--check`: everything that is refused at a start, apart from a port in use and a store that
/// cannot be written.
fn check(args: &Serve) -> Result<Exit> {
    let source = args.data.source()?;
    let is_cluster = matches!(source, StoreLocation::Cluster(_));
    anyhow::ensure!(!is_cluster || args.listen.is_some(), Usage::new(CLUSTER_NEEDS_LISTEN));
    if let Some(every) = args.interfaces {
        anyhow::ensure!(!is_cluster, Usage::new(CLUSTER_NO_INTERFACES));
        let rings = args.rings.clone().unwrap_or_else(read::default_folder);
        Interfaces::check(every, &rings)?;
    }
    if let Some(address) = args.listen {
        Server::check(&listening(args, address, args.data.dir())?).map_err(refused)?;
    }
    show("the configuration is valid\n")?;
    Ok(Exit::Done)
}

/// Reads certificate, key and tokens anew when SIGHUP has come.
fn reload_on(reload: &AtomicBool, server: Option<&Server>) {
    let Some(server) = server.filter(|_| reload.swap(false, Ordering::Relaxed)) else { return };
    match server.reload() {
        Ok(()) => LogLine::info("reloaded").say(),
        Err(error) => LogLine::error("not_reloaded").with("error", error).say(),
    }
}

/// Takes the port. An open door and a receiver that is none are matters of the arguments.
fn bind(options: ServerOptions) -> Result<BoundServer> {
    Server::bind(options).map_err(refused)
}

fn refused(error: ServerError) -> anyhow::Error {
    match error {
        ServerError::Open { .. } | ServerError::RemoteWrite(_) => Usage::new(error).into(),
        error => error.into(),
    }
}

/// Options of the server.
fn listening(args: &Serve, address: SocketAddr, data_dir: PathBuf) -> Result<ServerOptions> {
    let rules = args.limits.as_deref().map(super::rules::read).transpose()?;
    let rules = rules.unwrap_or_default();
    let runs = args.runs.clone().unwrap_or_else(|| environment::data_dir().join("runs"));
    let rings = args.rings.clone().unwrap_or_else(read::default_folder);
    let tls = args.tls_cert.clone().zip(args.tls_key.clone());
    Ok(ServerOptions {
        tls: tls.map(|(certificate, key)| TlsFiles { certificate, key }),
        token: environment::token(args.token_file.as_deref())?,
        tokens: args.tokens.clone(),
        allow_hosts: args.allow_host.clone(),
        insecure: args.insecure,
        limits: Limit::of_rules(&rules.rules),
        rules,
        compare: compare(args)?,
        remote_write: args.remote_write.as_ref().map(|url| remote_write(args, url)).transpose()?,
        runs,
        rings,
        ..ServerOptions::new(address, data_dir)
    })
}

/// The receiver of the metrics. Its files are read here once, so that a wrong one is told at the start.
fn remote_write(args: &Serve, url: &str) -> Result<RemoteWriteOptions> {
    if let Some(file) = &args.remote_write_token_file {
        environment::token(Some(file))?;
    }
    let mut headers = Vec::new();
    if let Some(file) = &args.remote_write_headers {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        headers = RemoteWriteOptions::parse_headers(&text).map_err(Usage::new)?;
    }
    let mut labels: BTreeMap<_, _> = [
        ("job".to_owned(), "chronoscope".to_owned()),
        ("instance".to_owned(), environment::host_name()),
    ]
    .into();
    labels.extend(args.remote_write_label.iter().cloned());
    Ok(RemoteWriteOptions {
        every: args.remote_write_every,
        token_file: args.remote_write_token_file.clone(),
        headers,
        labels,
        native: args.remote_write_native,
        ..RemoteWriteOptions::new(url)
    })
}

/// The stores to compare with: each exists and has a unique name.
fn compare(args: &Serve) -> Result<BTreeMap<String, PathBuf>> {
    let mut stores = BTreeMap::new();
    for (name, dir) in &args.compare {
        let wrong = |reason: String| Usage::new(format!("--compare {name}: {reason}"));
        anyhow::ensure!(dir.is_dir(), wrong(format!("{} is not a folder", dir.display())));
        let before = stores.insert(name.clone(), dir.clone());
        anyhow::ensure!(before.is_none(), wrong("two stores have the same name".to_owned()));
    }
    Ok(stores)
}

/// The folders that have to be made for a path.
struct NewFolder {
    /// Folders from the path upwards that do not exist yet.
    missing: Vec<PathBuf>,
}

impl NewFolder {
    /// Notes which folders of `dir` are not there.
    fn below(dir: &Path) -> Self {
        let missing = dir.ancestors().take_while(|dir| !dir.as_os_str().is_empty());
        Self { missing: missing.take_while(|dir| !dir.exists()).map(Path::to_owned).collect() }
    }

    /// Removes those that were made since and have nothing in them but empty folders.
    fn remove_empty(&self) {
        let Some(dir) = self.missing.first() else { return };
        let inside = std::fs::read_dir(dir).into_iter().flatten().flatten();
        // A folder that is not empty stays: removing it fails, and that is meant.
        inside.for_each(|entry| drop(std::fs::remove_dir(entry.path())));
        self.missing.iter().for_each(|dir| drop(std::fs::remove_dir(dir)));
    }
}

/// The log line of the start.
fn started(store: &str, server: Option<&Server>) -> LogLine {
    let line =
        LogLine::info("start").with("version", env!("CARGO_PKG_VERSION")).with("store", store);
    let address = server.map(|server| format!("{}://{}", server.scheme(), server.address()));
    line.with_some("listen", address)
}

/// Interval of summaries in the log.
const SUMMARY_EVERY_NS: i64 = 10_000_000_000;

/// State of the running log: a periodic summary, and each new fault once.
#[derive(Default)]
struct Summary {
    /// Time of the last summary, and the number of rows by then.
    told: Option<(i64, u64)>,
    error: Option<String>,
    /// Unreadable rings that have been reported.
    failed: BTreeSet<(PathBuf, String)>,
}

impl Summary {
    /// Reports every unreadable or damaged ring once.
    fn say_of_rings(&mut self, status: &Status) {
        let failed = status.failed_rings.iter();
        let failed = failed.map(|ring| (ring.path.clone(), ring.reason.clone()));
        // Damage is reported with its process; an entry of the same ring in `failed_rings` has
        // further details.
        let damaged = status.processes.iter().filter_map(|process| {
            let name = format!("{} process {}", process.application, process.pid);
            Some((PathBuf::from(name), format!("damaged: {}", process.damage.as_ref()?)))
        });
        let now: BTreeSet<_> = failed.chain(damaged).collect();
        for (ring, reason) in now.difference(&self.failed) {
            LogLine::warn("ring").with("ring", ring.display()).with("reason", reason).say();
        }
        self.failed = now;
    }

    /// Prints progress. With `without_progress` nothing is overwritten on a terminal either.
    fn say(&mut self, status: &Status, received: Received, without_progress: bool) {
        self.say_of_rings(status);
        if self.error != status.error {
            match &status.error {
                Some(error) => {
                    LogLine::error("trouble").with("error", error).with("again", true).say();
                }
                None => LogLine::info("trouble_over").say(),
            }
            self.error.clone_from(&status.error);
        }
        if environment::stderr_is_terminal() && !without_progress {
            return progress(&sentence(status, received));
        }
        let (at_ns, _) = *self.told.get_or_insert((status.at_ns, rows(status, received)));
        if status.at_ns.saturating_sub(at_ns) >= SUMMARY_EVERY_NS {
            self.line("summary", status, received).say();
            self.told = Some((status.at_ns, rows(status, received)));
        }
    }

    /// Rows by any way, and who sends them.
    fn line(&self, event: &str, status: &Status, received: Received) -> LogLine {
        let rows = rows(status, received);
        let rate = self.told.filter(|(at_ns, _)| status.at_ns > *at_ns).map(|(at_ns, before)| {
            let seconds = (status.at_ns - at_ns) as f64 * 1e-9;
            format!("{:.0}", rows.saturating_sub(before) as f64 / seconds)
        });
        let mut line = LogLine::info(event).with("rows", rows).with_some("rows_per_s", rate);
        for (name, count) in senders(status, received) {
            line = line.with(name, count);
        }
        line = line.with("durable", status.durable_rows).with("sealed", status.sealed_rows);
        for (count, name, _) in troubles(status) {
            line = line.with(name, count);
        }
        line
    }
}

/// Rows that have come since the start: out of rings, from agents, from OpenTelemetry.
fn rows(status: &Status, received: Received) -> u64 {
    let of_agents: u64 = status.agents.iter().map(|agent| agent.rows).sum();
    status.rows + of_agents + received.otlp_rows
}

/// Senders of rows, with their number.
fn senders(status: &Status, received: Received) -> [(&'static str, u64); 3] {
    let programs = status.processes.iter().filter(|process| process.alive).count();
    let agents = status.agents.iter().filter(|agent| agent.connected).count();
    [
        ("programs", programs as u64),
        ("agents", agents as u64),
        ("otlp_sources", received.otlp_sources),
    ]
}

/// Faults: their number, their name in the log, and a description.
fn troubles(status: &Status) -> impl Iterator<Item = (u64, &'static str, &'static str)> {
    let troubles = [
        (status.lost_rows, "lost", "LOST"),
        (status.late_rows, "late", "late"),
        (status.damaged_rows, "damaged", "DAMAGED"),
        (status.damaged_rings, "rings_damaged", "RINGS DAMAGED"),
        (status.failed_rings.len() as u64, "rings_unreadable", "rings unreadable"),
        (status.waiting_rings, "rings_waiting", "rings wait"),
    ];
    troubles.into_iter().filter(|(count, ..)| *count > 0)
}

/// Progress as a sentence for the terminal.
fn sentence(status: &Status, received: Received) -> String {
    let [(_, programs), (_, agents), (_, sources)] = senders(status, received);
    let mut line = format!(
        "{} rows from {programs} programs, {agents} agents and {sources} OpenTelemetry sources, {} \
         durable, {} sealed",
        text::count(rows(status, received)),
        text::count(status.durable_rows),
        text::count(status.sealed_rows),
    );
    for (count, _, what) in troubles(status) {
        line += &format!(", {} {what}", text::count(count));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_collect::AgentStatus;

    #[test]
    fn the_summary_counts_what_comes_over_the_network_too() {
        let agent = AgentStatus { rows: 20, connected: true, ..AgentStatus::default() };
        let gone = AgentStatus { rows: 3, ..AgentStatus::default() };
        let status = Status { rows: 100, at_ns: 7, agents: vec![agent, gone], ..Status::default() };
        let received = Received { otlp_sources: 2, otlp_rows: 4000 };
        let line =
            Summary { told: Some((7 - 2_000_000_000, 123)), error: None, ..Summary::default() };
        assert_eq!(
            line.line("summary", &status, received).at(0),
            "1970-01-01T00:00:00.000Z info summary rows=4123 rows_per_s=2000 programs=0 agents=1 \
             otlp_sources=2 durable=0 sealed=0"
        );
        let words = sentence(&status, received);
        let begin = "4,123 rows from 0 programs, 1 agents and 2 OpenTelemetry sources";
        assert!(words.starts_with(begin), "{words}");
    }
}
