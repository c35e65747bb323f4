//! `chronoscope net watch`: paths beside their prediction, and the element that changed.

use super::collection::Collection;
use super::probing;
use crate::args::net::path::Watch;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::show;
use crate::text::{Table, duration};
use anyhow::{Result, bail};
use chronoscope_formats::json;
use chronoscope_net::path::parts::parts;
use chronoscope_net::path::predict::predict;
use chronoscope_net::path::sampling::{ProbeFn, Probed, Sampling, sample};
use chronoscope_net::path::topology::Topology;
use chronoscope_net::path::watch::{Limits, Path, PathWindow, Verdict, judge};
use chronoscope_net::probe::Prober;
use chronoscope_net::rows::{Prediction, RoundTrip};
use serde_json::{Value, json};
use std::fmt::Write;
use std::io;
use std::time::Duration;

/// Runs the command.
pub(crate) fn watch(args: &Watch) -> Result<Exit> {
    let interrupt = Interrupt::install()?;
    let topology = super::topology::read(&args.network)?;
    let from = probing::here(&topology, args.from.as_deref())?;
    let hosts = hosts(args, &topology, &from)?;
    let (mut paths, mut asks, mut kinds) = (Vec::new(), Vec::<ProbeFn<'_>>::new(), Vec::new());
    for to in hosts {
        let prober = probing::prober(&topology, &to, args.size, args.timeout)?;
        let message = probing::by(&topology, &to).message(args.size, None);
        let predicted = predict(&parts(&topology, &from, &to, message, &[])?);
        kinds.push(prober.target().by());
        asks.push(asking(to.clone(), prober));
        paths.push(Path::new(to, predicted));
    }
    let collection = if args.no_store { None } else { Some(Collection::begin(&args.data)?) };
    let limits = Limits { windows: args.windows, tolerance: args.tolerance.max(0.0) };
    say!(
        "watching {} paths from {from}; a path that fits is taken for one that does not by less \
         than {:.1e} of its windows",
        paths.len(),
        limits.false_alarms()
    );
    let pause = args.every / u32::try_from(paths.len()).unwrap_or(u32::MAX);
    let sampling = Sampling {
        rounds: u32::MAX - 1,
        pause,
        at_most: args.duration.unwrap_or(Duration::MAX),
        seed: chronoscope_clock::monotonic_ns(),
    };
    let mut watched = Watched::new(args, from, paths, limits);
    watched.keep_predictions();
    let done = sample(&mut asks, &sampling, interrupt.flag(), |probed| {
        if !args.no_store {
            watched.row(&probed, kinds[probed.path]).record();
        }
        if watched.take(&probed).is_err() {
            // Whoever read the results has all he wants.
            interrupt.flag().store(true, std::sync::atomic::Ordering::Relaxed);
        }
    });
    if let Some(collection) = collection {
        collection.end()?;
    }
    done.map_err(|(_, error)| error)?;
    watched.shown?;
    Ok(if watched.windows > 0 { Exit::Done } else { Exit::Nothing })
}

/// The hosts to which paths are watched: those given, or all that have an address.
fn hosts(args: &Watch, topology: &Topology, from: &str) -> Result<Vec<String>> {
    if !args.to.is_empty() {
        return Ok(args.to.clone());
    }
    let with_address = topology.hosts.iter().filter(|(_, host)| host.address.is_some());
    let reached = with_address.filter(|(name, _)| topology.way(from, name).is_ok());
    let hosts: Vec<String> = reached.map(|(name, _)| name.clone()).collect();
    if hosts.is_empty() {
        bail!("no host that {from} reaches has an address in the topology (docs/net-path.md)");
    }
    Ok(hosts)
}

/// A probe that cannot be sent is treated like a lost one: reported once, and repeated.
fn asking<'a>(to: String, mut prober: Prober) -> ProbeFn<'a> {
    let mut said = String::new();
    Box::new(move |_| {
        let asked: io::Result<bool> = prober.ask();
        asked.or_else(|error| {
            let error = error.to_string();
            if error != said {
                say!("{to}: {error}");
                said = error;
            }
            Ok(false)
        })
    })
}

/// The watched paths, the current window, and the last report.
struct Watched<'a> {
    args: &'a Watch,
    from: String,
    paths: Vec<Path>,
    limits: Limits,
    filling: Vec<Vec<Option<u64>>>,
    windows: u64,
    flagged: Option<String>,
    shown: io::Result<()>,
}

impl<'a> Watched<'a> {
    fn new(args: &'a Watch, from: String, paths: Vec<Path>, limits: Limits) -> Self {
        let filling = vec![Vec::new(); paths.len()];
        Self { args, from, paths, limits, filling, windows: 0, flagged: None, shown: Ok(()) }
    }

    /// Stores the predictions of the paths, beside the round trips of a window.
    fn keep_predictions(&self) {
        let now_ns = chronoscope_clock::utc_now_ns();
        for path in self.paths.iter().filter(|_| !self.args.no_store) {
            let of = (self.from.as_str(), path.to.as_str(), self.args.size);
            Prediction::of(of, &path.predicted, now_ns).record();
        }
    }

    fn row(&self, probed: &Probed, by: &str) -> RoundTrip {
        RoundTrip {
            from: self.from.clone(),
            to: self.paths[probed.path].to.clone(),
            by: by.to_owned(),
            first: probed.round == 0,
            octets: u64::from(self.args.size),
            start_ns: probed.start_ns,
            took_ns: probed.took_ns,
        }
    }

    /// Adds a probe; judges the window when it is full. `Err`: the output is closed.
    fn take(&mut self, probed: &Probed) -> Result<(), ()> {
        if probed.round == 0 {
            return Ok(()); // with what has to be made first
        }
        self.filling[probed.path].push(probed.took_ns);
        let full = usize::try_from(self.args.window).unwrap_or(usize::MAX);
        if self.filling.iter().any(|window| window.len() < full) {
            return Ok(());
        }
        let verdict = judge(&mut self.paths, &self.filling, &self.limits);
        self.filling.iter_mut().for_each(Vec::clear);
        self.windows += 1;
        self.keep_predictions();
        let text = match self.args.json {
            true => format!("{}\n", json::document("watch", self.document(probed, &verdict))),
            false => self.said(&verdict),
        };
        self.shown = show(&text);
        self.shown.as_ref().map_err(|_| ()).copied()
    }

    fn document(&self, probed: &Probed, verdict: &Verdict) -> Value {
        json!({
            "from": self.from,
            "window": self.windows,
            "end_ns": probed.start_ns,
            "octets": self.args.size,
            "paths": verdict.paths,
            "flag": verdict.flag,
            "unexplained": verdict.unexplained,
        })
    }

    fn said(&mut self, verdict: &Verdict) -> String {
        let mut table =
            Table::new(&["to", "p50", "predicted", "band", "p90", "predicted", "band", "lost", ""]);
        for seen in &verdict.paths {
            table.row(row(seen));
        }
        let mut text = format!("window {}\n{table}", self.windows);
        let flag = verdict.flag.as_ref().map(|flag| {
            let changed = flag.changed_ns.map_or("no reply comes".to_owned(), |ns| {
                format!(
                    "round trips over it take {} {}",
                    duration(ns.abs()),
                    if ns > 0.0 { "longer" } else { "less" }
                )
            });
            let or = match flag.or.is_empty() {
                true => String::new(),
                false => format!("; by what is watched it may as well be {}", flag.or.join(", ")),
            };
            format!("{} {} no longer is as it was measured: {changed}{or}", flag.kind, flag.element)
        });
        let unexplained = (!verdict.unexplained.is_empty()).then(|| {
            format!(
                "paths to {} no longer fit, and no single element explains it",
                verdict.unexplained.join(", ")
            )
        });
        let now = flag.or(unexplained);
        if let Some(now) = &now {
            let _ = writeln!(text, "{now}");
        } else if self.flagged.is_some() {
            text.push_str("all paths fit again\n");
        }
        self.flagged = now;
        text
    }
}

fn row(seen: &PathWindow) -> Vec<String> {
    let value = |found: Option<chronoscope_net::path::interval::Interval>| {
        found.map_or("–".to_owned(), |found| duration(found.value_ns as f64))
    };
    let band = |[low, high]: [f64; 2]| format!("{} to {}", duration(low), duration(high));
    let verdict = match (seen.fits, seen.within) {
        (false, _) => "no longer fits",
        (true, false) => "off",
        (true, true) => "",
    };
    vec![
        seen.to.clone(),
        value(seen.p50),
        duration(seen.predicted_p50_ns),
        band(seen.p50_band_ns),
        value(seen.p90),
        duration(seen.predicted_p90_ns),
        band(seen.p90_band_ns),
        seen.lost.to_string(),
        verdict.to_owned(),
    ]
}
