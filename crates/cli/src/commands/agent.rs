//! `chronoscope agent`: rings in, rows to a collector, until stopped.

use super::interfaces::{Interfaces, Prepared};
use super::net;
use crate::collection_progress::CollectionProgress;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::{progress, show};
use crate::usage::Usage;
use crate::{args, environment, text};
use anyhow::{Context, Result};
use chronoscope_collect::{Agent, AgentOptions, DeliveryStatus, Status, Target, TargetError};
use chronoscope_record::read;
use chronoscope_store::SpoolOptions;
use std::sync::atomic::Ordering;

/// Runs the command.
pub(crate) fn agent(args: &args::Agent) -> Result<Exit> {
    let spool_dir = args.spool.clone().unwrap_or_else(|| environment::data_dir().join("spool"));
    if let Some(probe) = args.probe {
        return super::agent_probe::probe(&spool_dir, probe);
    }
    let interrupt = Interrupt::install()?;
    super::open_files::raise_open_files();
    let token = environment::token(args.token_file.as_deref())?;
    let token = token.as_ref().map(chronoscope_server::Token::secret);
    let mut others = targets(args, token)?.into_iter();
    let first = others.next().context("--to names no collector")?;
    let ring_dir = args.rings.clone().unwrap_or_else(read::default_folder);
    if args.configuration.check {
        args.interfaces.map(|every| Interfaces::check(every, &ring_dir)).transpose()?;
        show("the configuration is valid\n")?;
        return Ok(Exit::Done);
    }
    let answering = args.answer.map(|listen| net::answer::start(listen, token)).transpose()?;
    let spool = SpoolOptions { bytes_max: args.spool_size, ..SpoolOptions::default() };
    let options =
        AgentOptions { spool, ..AgentOptions::new(ring_dir.clone(), spool_dir.clone(), first) };
    let options = AgentOptions { others: others.collect(), ..options };
    let interfaces = args.interfaces.map(|every| Interfaces::prepare(every, &ring_dir));
    let interfaces = interfaces.transpose()?;
    let agent = Agent::new(options)
        .with_context(|| format!("cannot keep rows in {}", spool_dir.display()))?;
    let _interfaces = interfaces.map(Prepared::start).transpose()?;
    if !args.quiet {
        let spool_dir = spool_dir.display();
        let to = args.to.join(", else ");
        say!("delivering {} to {to} by {spool_dir}", ring_dir.display());
    }
    let mut talk = CollectionProgress::new(args.quiet);
    let mut renumbered = 0;
    let ends_ns = args.duration.map(|time| {
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        chronoscope_clock::monotonic_ns().saturating_add(time)
    });
    let last = agent.run(interrupt.flag(), &mut |status| {
        if let Some(DeliveryStatus { renumbered: times, notice: Some(notice), .. }) =
            &status.delivery
            && *times > renumbered
        {
            progress("");
            say!("trouble: {notice}");
            renumbered = *times;
        }
        let delivery = status.delivery.as_ref().and_then(|delivery| delivery.error.as_deref());
        let ring = ring_trouble(status);
        let trouble = status.error.as_deref().or(delivery).or(ring.as_deref());
        talk.say(status, trouble, &line);
        if ends_ns.is_some_and(|ends| chronoscope_clock::monotonic_ns() >= ends) {
            interrupt.flag().store(true, Ordering::Relaxed);
        }
    })?;
    if let Some(server) = answering {
        server.stop();
    }
    if !args.quiet {
        progress("");
        say!("{}", line(&last));
    }
    if args.json {
        show(&format!("{:#}\n", serde_json::to_value(&last)?))?;
    }
    Ok(if last.error.is_some() { Exit::Error } else { Exit::Done })
}

/// The collectors to deliver to, in their order.
fn targets(args: &args::Agent, token: Option<&str>) -> Result<Vec<Target>> {
    let target = |url: &String| {
        let target = Target::new(url, args.ca.as_deref(), token, args.insecure);
        target.map_err(|error| match error {
            TargetError::Url { .. } | TargetError::Open { .. } => Usage::new(error).into(),
            error => anyhow::Error::new(error),
        })
    };
    args.to.iter().map(target).collect()
}

/// Error of the first ring that has one.
fn ring_trouble(status: &Status) -> Option<String> {
    let failed = status.failed_rings.first();
    let failed = failed.map(|ring| format!("{}: {}", ring.path.display(), ring.reason));
    let damaged = status.processes.iter().find_map(|process| {
        let damage = process.damage.as_ref()?;
        Some(format!("ring of {} process {}: {damage}", process.application, process.pid))
    });
    failed.or(damaged)
}

fn line(status: &Status) -> String {
    let alive = status.processes.iter().filter(|process| process.alive).count();
    let delivery = status.delivery.clone().unwrap_or_default();
    let mut line = format!(
        "{} rows ({:.0}/s) from {alive} programs, {} delivered, {} wait{}",
        text::count(status.rows),
        status.rows_per_second.max(0.0),
        text::count(delivery.acknowledged_rows),
        text::count(delivery.waiting_rows),
        if delivery.connected { "" } else { ", NOT CONNECTED" },
    );
    let troubles = [
        (status.lost_rows, "LOST"),
        (delivery.dropped_rows, "DROPPED"),
        (delivery.renumbered, "TIMES RENUMBERED"),
        (status.damaged_rows, "DAMAGED"),
        (status.damaged_rings, "RINGS DAMAGED"),
        (status.failed_rings.len() as u64, "rings unreadable"),
        (status.waiting_rings, "rings wait"),
    ];
    for (count, what) in troubles.into_iter().filter(|(count, _)| *count > 0) {
        line += &format!(", {} {what}", text::count(count));
    }
    line
}
