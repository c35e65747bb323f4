//! What the server should be able to do: throughput, latency, connections, bursts of clients, the
//! window of the duplicate check.

use super::{is_complete, list, lost, number};
use crate::outcome::ItemResults;
use anyhow::Result;
use serde_json::Value;

pub(super) fn requirements(printed: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("aprsc.requirements");
    let ceiling = list(printed, "/ceiling")?;
    let whole = ceiling.iter().filter(|outcome| is_complete(outcome));
    let mbit =
        whole.filter_map(|outcome| outcome["octets_per_s"].as_f64()).fold(f64::NAN, f64::max) * 8.0
            / 1e6;
    found.figure("throughput_mbit_per_s", mbit).note(match mbit.is_finite() {
        true => "400 full feeds, every line arrived",
        false => "no run of the series “ceiling” was complete",
    });
    let p50_ms = number(printed, "/paper/p50_ms")?;
    let note = format!("median {p50_ms:.1} ms; 1024 packets/s");
    found.figure("latency_p99_ms", number(printed, "/paper/p99_ms")?).note(note);
    let counted = list(printed, "/clients")?.iter().filter_map(|row| row["counted"].as_f64());
    found
        .figure("clients", counted.fold(0.0, f64::max))
        .note("logged in at once, as the server counts");
    let from = number(printed, "/dupe-window/dropped_until_s")?;
    let to = number(printed, "/dupe-window/passed_from_s")?;
    found
        .range("dupe_window_s", from, to)
        .note("oldest repeated packet that was dropped, youngest that passed");
    bursts(&mut found, &printed["bursts"])?;
    Ok(found)
}

fn bursts(found: &mut ItemResults, bursts: &Value) -> Result<()> {
    let of = |key: &str| number(bursts, &format!("/{key}"));
    let outcome = &bursts["outcome"];
    let all = of("lost")? + of("refused")? + lost(outcome);
    let note = format!(
        "{} crowds of {} that log in, send {} packets each and leave, every {} s instead of 5 \
         minutes; 100 full feeds at 1000 packets/s stay, and get the crowds' {} packets too",
        of("bursts")?,
        of("clients")?,
        of("packets_each")?,
        of("period_s")?,
        of("bursts")? * of("clients")? * of("packets_each")?,
    );
    found.figure("bursts_lost", all).note(note);
    let latency = |from: &str| {
        let of = |key: &str| number(outcome, &format!("{from}/{key}"));
        Ok::<_, anyhow::Error>(vec![
            of("p50_ms")?.into(),
            of("p90_ms")?.into(),
            of("p99_ms")?.into(),
            of("max_ms")?.into(),
        ])
    };
    let row = |name: &str, latency: Vec<_>| [vec![name.into()], latency].concat();
    found.table(
        "latency of those that stay, ms",
        &["", "median", "90 %", "99 %", "longest"],
        vec![
            row("between crowds", latency("")?),
            row("while one is there", latency("/in_bursts")?),
        ],
    );
    found.own(
        "longest crowd, from its first connection until all have left",
        "s",
        of("burst_s_max")?,
    );
    Ok(())
}
