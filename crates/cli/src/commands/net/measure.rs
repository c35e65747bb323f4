//! `chronoscope net measure`: what elements are like, by two probes around each.

use super::probing;
use crate::args::net::path::{Measure, Network};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::{progress, show};
use crate::text::{Table, duration};
use anyhow::{Context, Result, bail};
use chronoscope_formats::json;
use chronoscope_net::path::around::{self, Plan};
use chronoscope_net::path::characterise::{
    Characterised, ElementDelay, Samples, characterise, resolved,
};
use chronoscope_net::path::sampling::{ProbeFn, Sampling, sample};
use chronoscope_net::path::topology::Topology;
use serde_json::json;
use std::fmt::Write;
use std::fs;

/// Runs the command.
pub(crate) fn measure(args: &Measure) -> Result<Exit> {
    let network = Network { topology: args.topology.clone(), measured: None };
    let topology = super::topology::read(&network)?;
    let from = probing::here(&topology, args.from.as_deref())?;
    let plan = around::plan(&topology, &from, args.element.as_deref())?;
    for why in &plan.not {
        say!("{why}");
    }
    if plan.around.is_empty() {
        bail!(
            "nothing can be measured from {from}: {}",
            probing::lacking(&topology).unwrap_or_else(|| {
                "no two hosts with addresses differ in one element (docs/net-path.md)".to_owned()
            })
        );
    }
    let (samples, lost) = probe(args, &topology, &plan)?;
    let found = characterise(&topology, &plan, &samples);
    for note in &found.notes {
        say!("{note}");
    }
    if found.types.is_empty() {
        say!("no type was characterised; nothing is written");
        return Ok(Exit::Nothing);
    }
    write(args, &from, &found)?;
    if args.json {
        let part = json!({
            "from": from,
            "elements": serde_json::to_value(&found.elements)?,
            "not": plan.not,
            "notes": found.notes,
            "lost": lost,
            "output": args.output,
        });
        show(&format!("{:#}\n", json::document("measure", part)))?;
    } else {
        show(&said(&found, lost))?;
        say!("written to {}; the network was taken to be idle", args.output.display());
    }
    Ok(Exit::Done)
}

/// Round trips to every host of the plan with every size, and how many were lost. When it is
/// interrupted, those that were made.
fn probe(args: &Measure, topology: &Topology, plan: &Plan) -> Result<(Samples, u64)> {
    let interrupt = Interrupt::install()?;
    let mut keys = Vec::new();
    let mut asks: Vec<ProbeFn<'_>> = Vec::new();
    for host in plan.hosts() {
        for octets in &args.size {
            let mut prober = probing::prober(topology, &host, *octets, args.timeout)?;
            asks.push(Box::new(move |_| prober.ask()));
            keys.push((host.clone(), *octets));
        }
    }
    let sampling = Sampling {
        rounds: args.rounds,
        pause: args.pause,
        at_most: args.at_most,
        seed: chronoscope_clock::monotonic_ns(),
    };
    let (mut samples, mut lost, mut made) = (Samples::new(), 0, 0_u64);
    let all = keys.len() as u64 * (u64::from(args.rounds) + 1);
    let done = sample(&mut asks, &sampling, interrupt.flag(), |probed| {
        made += 1;
        if made.is_multiple_of(64) {
            progress(&format!("{made} of {all} round trips"));
        }
        // The first has in it what has to be made first.
        match probed.took_ns.filter(|_| probed.round > 0) {
            Some(ns) => samples.entry(keys[probed.path].clone()).or_default().push(ns),
            None => lost += u64::from(probed.took_ns.is_none()),
        }
    });
    progress("");
    done.map_err(|(path, error)| (&keys[path].0, error))
        .or_else(|(host, error)| Err(error).with_context(|| format!("cannot probe {host}")))?;
    if made < all {
        say!("{made} of {all} round trips were made before it ended");
    }
    Ok((samples, lost))
}

/// Writes the file whole or not at all.
fn write(args: &Measure, from: &str, found: &Characterised) -> Result<()> {
    let mut text = format!("# What chronoscope net measure found from {from}:\n");
    for element in &found.elements {
        let without = element.without.as_deref().map(|host| format!(" without {host}"));
        let _ = writeln!(
            text,
            "# type {} by {} {}: round trips to {}{}",
            element.type_name,
            element.kind,
            element.element,
            element.with,
            without.unwrap_or_default()
        );
    }
    let types = Topology { types: found.types.clone(), ..Topology::default() };
    text.push_str(&types.written()?);
    let part = args.output.with_extension("part");
    let cannot = || format!("cannot write {}", args.output.display());
    fs::write(&part, text).with_context(cannot)?;
    fs::rename(&part, &args.output).with_context(cannot)
}

fn said(found: &Characterised, lost: u64) -> String {
    let mut table = Table::new(&[
        "element",
        "kind",
        "type",
        "octets",
        "p50",
        "p90",
        "round trips",
        "with",
        "without",
    ]);
    for element in &found.elements {
        for at in &element.sizes {
            table.row(vec![
                element.element.clone(),
                element.kind.to_string(),
                element.type_name.clone(),
                at.octets.to_string(),
                part(at.p50_ns),
                part(at.p90_ns),
                at.count.to_string(),
                element.with.clone(),
                element.without.clone().unwrap_or_else(|| "–".to_owned()),
            ]);
        }
    }
    let each = found.elements.iter().filter_map(|element| {
        let packet_us = element.packet_us?;
        let name = &element.element;
        Some(format!(
            "{name}: each packet occupies it for {} beside its octets\n",
            duration(packet_us * 1e3)
        ))
    });
    let each: String = each.collect();
    let lost = if lost > 0 { format!("{lost} round trips were lost\n") } else { String::new() };
    let parts = found.elements.iter().flat_map(|element| &element.sizes);
    let is_hidden =
        |at: &ElementDelay| resolved(at.p50_ns).is_none() || resolved(at.p90_ns).is_none();
    let hidden = if parts.into_iter().any(is_hidden) { HIDDEN } else { "" };
    format!("{table}{each}{lost}{hidden}")
}

/// Table entry of a part that round trips cannot resolve.
pub(super) const BELOW_RESOLUTION: &str = "below resolution";

const HIDDEN: &str = "below resolution: round trips with the element were not longer than those \
                      without it. It adds less than round trips vary; more --rounds resolve more\n";

/// Time that an element adds.
pub(super) fn part(ns: f64) -> String {
    resolved(ns).map_or_else(|| BELOW_RESOLUTION.to_owned(), duration)
}
