//! `chronoscope serve`: rings in, durable files out, until stopped.

use super::interfaces::{Interfaces, Prepared};
use crate::args::Serve;
use crate::environment;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::{progress, show};
use crate::talk::Talk;
use crate::text;
use crate::usage::Usage;
use anyhow::{Context, Result};
use chronoscope_collect::{Collector, Ingest, Options, Status};
use chronoscope_record::read;
use chronoscope_server::{BoundServer, Limit, Server, ServerError, ServerOptions, TlsFiles};
use chronoscope_store::clickhouse::{Cluster, Sink, TableOptions};
use chronoscope_store::source::Source;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Runs the command.
pub(crate) fn serve(args: &Serve) -> Result<Exit> {
    let interrupt = Interrupt::install()?;
    let data_dir = match args.data.source()? {
        Source::ClickHouse(cluster) => return serve_cluster(args, cluster, &interrupt),
        Source::Files(data_dir) => data_dir,
    };
    let ring_dir = args.rings.clone().unwrap_or_else(read::default_folder);
    let mut options = Options::new(ring_dir.clone(), data_dir.clone());
    options.store.wait = args.wait_late;
    options.store.keep = args.keep_age;
    options.store.keep_bytes = args.keep_size;
    // All that can be refused is refused before a folder is made and anything is announced.
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
    let server = bound.map(|bound| bound.start(ingest)).transpose()?;
    if !args.quiet {
        eprintln!("collecting {} into {}", ring_dir.display(), data_dir.display());
    }
    if let Some(server) = &server {
        eprintln!("answering on {}://{}/status", server.scheme(), server.address());
        eprintln!("the page is at {}://{}/", server.scheme(), server.address());
    }
    let mut talk = Talk::new(args.quiet);
    let ends_ns = args.duration.map(|time| {
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        chronoscope_clock::monotonic_ns().saturating_add(time)
    });
    let last = collector.run(interrupt.flag(), &mut |status| {
        talk.say(status, status.error.as_deref(), &line);
        if ends_ns.is_some_and(|ends| chronoscope_clock::monotonic_ns() >= ends) {
            interrupt.flag().store(true, Ordering::Relaxed);
        }
    });
    if let Some(server) = server {
        server.stop();
    }
    if !args.quiet {
        progress("");
        eprintln!("{}", line(&last));
    }
    if args.json {
        show(&format!("{:#}\n", serde_json::to_value(&last)?))?;
    }
    Ok(if last.error.is_some() { Exit::Error } else { Exit::Done })
}

/// Stands before a cluster: what agents and others send goes to its shards, and questions are
/// answered from them. Nothing is kept here, so that any number of these may stand side by side.
fn serve_cluster(args: &Serve, cluster: Cluster, interrupt: &Interrupt) -> Result<Exit> {
    anyhow::ensure!(
        args.interfaces.is_none(),
        Usage::new("--interfaces before a cluster is the agent's: chronoscope agent --interfaces")
    );
    let address = args.listen.ok_or_else(|| {
        Usage::new(
            "before a cluster, --listen ADDRESS:PORT is needed: rows come from agents \
             (chronoscope agent collects the rings of this host, too)",
        )
    })?;
    let options = listening(args, address, args.data.dir())?;
    let source = Some(Source::ClickHouse(cluster.clone()));
    let bound = bind(ServerOptions { source, ..options })?;
    let cannot = || format!("cannot store into {cluster}");
    cluster.prepare(&TableOptions { keep: args.keep_age }).with_context(cannot)?;
    let server = bound.start(Some(Ingest::into_cluster(Sink::new(cluster.clone()))))?;
    eprintln!("storing into {cluster}");
    eprintln!("answering on {}://{}/chains", server.scheme(), server.address());
    let begin_ns = chronoscope_clock::monotonic_ns();
    let is_over = || {
        let passed_ns = chronoscope_clock::monotonic_ns().saturating_sub(begin_ns);
        args.duration.is_some_and(|time| u128::from(passed_ns) >= time.as_nanos())
    };
    while !interrupt.flag().load(Ordering::Relaxed) && !is_over() {
        chronoscope_clock::sleep(std::time::Duration::from_millis(50));
    }
    server.stop();
    Ok(Exit::Done)
}

/// Takes the port. An open door is a matter of the arguments.
fn bind(options: ServerOptions) -> Result<BoundServer> {
    Server::bind(options).map_err(|error| match error {
        ServerError::Open { .. } => Usage::new(error).into(),
        error => error.into(),
    })
}

/// What the server is to do.
fn listening(args: &Serve, address: SocketAddr, data_dir: PathBuf) -> Result<ServerOptions> {
    let limits = args.limits.as_deref().map(Limit::read).transpose();
    let runs = args.runs.clone().unwrap_or_else(|| environment::data_dir().join("runs"));
    let rings = args.rings.clone().unwrap_or_else(read::default_folder);
    let tls = args.tls_cert.clone().zip(args.tls_key.clone());
    Ok(ServerOptions {
        tls: tls.map(|(certificate, key)| TlsFiles { certificate, key }),
        token: environment::token(args.token_file.as_deref())?,
        insecure: args.insecure,
        limits: limits.context("--limits")?.unwrap_or_default(),
        compare: compare(args)?,
        runs,
        rings,
        ..ServerOptions::new(address, data_dir)
    })
}

/// The stores to compare with, each of which is there and has a name of its own.
fn compare(args: &Serve) -> Result<BTreeMap<String, PathBuf>> {
    let mut stores = BTreeMap::new();
    for (name, dir) in &args.compare {
        let wrong = |reason: String| Usage::new(format!("--compare {name}: {reason}"));
        anyhow::ensure!(dir.is_dir(), wrong(format!("{} is no folder", dir.display())));
        let before = stores.insert(name.clone(), dir.clone());
        anyhow::ensure!(before.is_none(), wrong("two stores of one name".to_owned()));
    }
    Ok(stores)
}

/// The folders that have to be made for a path.
struct NewFolder {
    /// From the path upwards to the outermost one that is not there yet.
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

fn line(status: &Status) -> String {
    let alive = status.processes.iter().filter(|process| process.alive).count();
    let mut line = format!(
        "{} rows ({:.0}/s) from {alive} programs, {} durable, {} sealed",
        text::count(status.rows),
        status.rows_per_second.max(0.0),
        text::count(status.durable_rows),
        text::count(status.sealed_rows),
    );
    let troubles = [
        (status.lost_rows, "LOST"),
        (status.late_rows, "late"),
        (status.damaged_rows, "DAMAGED"),
        (status.failed_rings.len() as u64, "rings unreadable"),
    ];
    for (count, what) in troubles.into_iter().filter(|(count, _)| *count > 0) {
        line += &format!(", {} {what}", text::count(count));
    }
    line
}
