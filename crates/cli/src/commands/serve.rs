//! `chronoscope serve`: rings in, durable files out, until stopped.

use super::interfaces::Interfaces;
use crate::args::Serve;
use crate::environment;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::{progress, show};
use crate::talk::Talk;
use crate::text;
use anyhow::{Context, Result};
use chronoscope_collect::{Collector, Ingest, Options, Status};
use chronoscope_record::read;
use chronoscope_server::{Limit, Server, ServerOptions, TlsFiles};
use chronoscope_store::clickhouse::{Cluster, Sink, TableOptions};
use chronoscope_store::source::Source;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
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
    let collector = Collector::new(options)
        .with_context(|| format!("cannot store into {}", data_dir.display()))?;
    let _interfaces =
        args.interfaces.map(|every| Interfaces::start(every, &ring_dir)).transpose()?;
    if !args.quiet {
        eprintln!("collecting {} into {}", ring_dir.display(), data_dir.display());
    }
    let server = match args.listen {
        Some(address) => {
            Some(Server::start(listening(args, address, data_dir, collector.ingest())?)?)
        }
        None => None,
    };
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
        "--interfaces before a cluster is the agent's: chronoscope agent --interfaces"
    );
    let address = args.listen.context(
        "before a cluster, --listen ADDRESS:PORT is needed: rows come from agents (chronoscope \
         agent collects the rings of this host, too)",
    )?;
    let cannot = || format!("cannot store into {cluster}");
    cluster.prepare(&TableOptions { keep: args.keep_age }).with_context(cannot)?;
    let ingest = Ingest::into_cluster(Sink::new(cluster.clone()));
    let options = listening(args, address, args.data.dir(), ingest)?;
    let source = Some(Source::ClickHouse(cluster.clone()));
    let server = Server::start(ServerOptions { source, ..options })?;
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

/// What the server is to do.
fn listening(
    args: &Serve,
    address: SocketAddr,
    data_dir: PathBuf,
    ingest: Ingest,
) -> Result<ServerOptions> {
    let limits = args.limits.as_deref().map(Limit::read).transpose();
    let runs = args.runs.clone().unwrap_or_else(|| environment::data_dir().join("runs"));
    let rings = args.rings.clone().unwrap_or_else(read::default_folder);
    let tls = args.tls_cert.clone().zip(args.tls_key.clone());
    Ok(ServerOptions {
        ingest: Some(ingest),
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
        anyhow::ensure!(dir.is_dir(), "--compare {name}: {} is no folder", dir.display());
        let before = stores.insert(name.clone(), dir.clone());
        anyhow::ensure!(before.is_none(), "--compare {name}: two stores of one name");
    }
    Ok(stores)
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
