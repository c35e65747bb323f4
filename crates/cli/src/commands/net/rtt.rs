//! `chronoscope net rtt`: round-trip response time of servers.

use super::collection::Collection;
use super::rtt_measured::Measured;
use super::{rtt_stored, rtt_text};
use crate::args::net::Rtt;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::{progress, show};
use crate::usage::Usage;
use anyhow::{Result, bail};
use chronoscope_formats::json;
use chronoscope_net::probe::rounds::{Probed, Trip, rounds};
use chronoscope_net::probe::{Load, ProbeOptions, Prober, Summary, Timer};
use chronoscope_net::rows::RoundTrip;
use chronoscope_statistics::{Quantile, nearest_rank};
use serde_json::{Value, json};
use std::cell::Cell;
use std::time::Duration;

/// Above these a target's owner should be asked.
const REQUESTS_PER_S_MAX: f64 = 1000.0;
const OCTETS_PER_S_MAX: f64 = 10e6;
/// Time that a run may take beyond its turns.
const SPARE: Duration = Duration::from_millis(1500);

/// Runs the command.
pub(crate) fn rtt(args: &Rtt) -> Result<Exit> {
    if let Some(from) = &args.from_store {
        return rtt_stored::from_store(args, from);
    }
    bounded(args)?;
    let interrupt = Interrupt::install()?;
    let collection = Collection::begin(&args.data)?;
    let from = args.from_name.clone().unwrap_or_else(host_name);
    let measured = measure(args, from, &interrupt);
    progress("");
    if args.json {
        show(&format!("{:#}\n", json::document("rtt", document(&measured))))?;
    } else {
        show(&rtt_text::table(&measured))?;
        if args.histogram {
            show(&rtt_text::histograms(&measured))?;
        }
        say!("{}", rtt_text::notes(&measured).trim_end());
    }
    collection.end()?;
    Ok(exit(&measured))
}

/// Asks all, and records each round trip.
fn measure(args: &Rtt, from: String, interrupt: &Interrupt) -> Measured {
    let timer = Timer::measure();
    let octets = usize::try_from(args.size).unwrap_or(usize::MAX);
    let asking = ProbeOptions { octets, timeout: args.timeout };
    let mut probers: Vec<Prober> =
        args.targets.iter().map(|target| Prober::new(target.clone(), asking)).collect();
    let at_most = args.at_most.unwrap_or_else(|| args.every.saturating_mul(args.count) + SPARE);
    let load = Load { count: args.count, every: args.every, timeout: args.timeout, at_most };
    let what: Vec<_> = probers.iter().map(|prober| (to(prober), prober.octets() as u64)).collect();
    let done = Cell::new(0_u64);
    let all = (u64::from(args.count) + 1) * probers.len() as u64;
    let mut each = |trip: &Trip| {
        let ((to, by), octets) = what[trip.target].clone();
        let (from, Trip { first, at_ns, took_ns, .. }) = (from.clone(), *trip);
        RoundTrip { from, to, by, first, octets, start_ns: at_ns, took_ns }.record();
        done.set(done.get() + 1);
        if done.get().is_multiple_of(100) {
            progress(&format!("{} of {all} requests", done.get()));
        }
    };
    let probed = rounds(&load, &mut probers, &|| !interrupt.is_set(), &mut each);
    let targets = probers.into_iter().zip(probed).map(|(prober, probed)| {
        let summary = probed.series.summary();
        (prober, probed, summary)
    });
    Measured { from, timer, every: args.every, targets: targets.collect() }
}

fn to(prober: &Prober) -> (String, String) {
    (prober.target().host().to_owned(), prober.target().by().to_owned())
}

/// Refuses what could harm a target that is not the caller's.
fn bounded(args: &Rtt) -> Result<()> {
    if args.flood {
        return Ok(());
    }
    let per_s = 1.0 / args.every.as_secs_f64();
    if per_s > REQUESTS_PER_S_MAX {
        bail!(Usage::new(format!(
            "--every {:?} is more than 1,000 requests a second to each target: allow it with \
             --flood if the targets are your own",
            args.every
        )));
    }
    let octets_per_s = per_s * f64::from(args.size);
    if octets_per_s > OCTETS_PER_S_MAX {
        bail!(Usage::new(format!(
            "--size {} --every {:?} is {:.0} MB a second to each target: allow it with --flood if \
             the targets are your own",
            args.size,
            args.every,
            octets_per_s / 1e6
        )));
    }
    Ok(())
}

/// Name of this host.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}

fn exit(measured: &Measured) -> Exit {
    let answered = |summary: &Summary| summary.count > 0 || summary.first_ns.is_some();
    if measured.targets.iter().any(|(_, probed, _)| probed.error.is_some()) {
        Exit::Error
    } else if !measured.targets.iter().any(|(_, _, summary)| answered(summary)) {
        Exit::Nothing
    } else {
        Exit::Done
    }
}

fn document(measured: &Measured) -> Value {
    let targets: Vec<Value> = measured.targets.iter().map(target).collect();
    json!({
        "from": measured.from,
        "every_ns": u64::try_from(measured.every.as_nanos()).unwrap_or(u64::MAX),
        "timer": measured.timer,
        "targets": targets,
    })
}

fn target((prober, probed, summary): &(Prober, Probed, Summary)) -> Value {
    let losses: serde_json::Map<String, Value> =
        probed.losses.iter().map(|(loss, count)| (loss.to_string(), (*count).into())).collect();
    let mut value = json!({
        "target": prober.target().to_string(),
        "by": prober.target().by(),
        "to": prober.target().host(),
        "octets": prober.octets(),
        "start_ns": probed.series.start_ns,
        "duration_ns": probed.series.duration_ns,
        "octets_per_second": summary.per_second * prober.octets() as f64,
        "connections": prober.connections(),
        "losses": losses,
        "missed": probed.missed,
        "sat_out": probed.sat_out,
        "around_p50_ns": nearest_rank(&probed.around_ns, Quantile::P50),
        "error": probed.error.as_ref().map(ToString::to_string),
        "steady_ns": probed.series.steady.iter().map(|(_, took_ns)| *took_ns).collect::<Vec<_>>(),
    });
    let numbers = serde_json::to_value(summary).unwrap_or_default();
    if let (Value::Object(value), Value::Object(numbers)) = (&mut value, numbers) {
        value.extend(numbers);
    }
    value
}
