//! The first request to a server that is started by it: on an idle host, and on a busy one.

use super::super::super::{list, number};
use super::{ALDEV5, Programs, Running};
use anyhow::{Context, Result};
use chronoscope_clock::sleep;
use chronoscope_lab::Namespace;
use serde_json::{Value, json};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Port of the first server; each further one has the next.
const PORT: u16 = 7100;
/// Programs that compute on a busy host, for each processor.
const EACH: usize = 4;

/// Measures first requests to servers that have not run yet, to each once, with the host idle and
/// with programs that compute on it.
pub(super) fn measure(programs: &mut Programs<'_>, host: &Namespace, data: &str) -> Result<Value> {
    let count = if programs.plan.quick { 5 } else { 15 };
    let idle = firsts(programs, host, PORT..PORT + count, data)?;
    let processors = std::thread::available_parallelism()?.get();
    let computing = processors * EACH;
    let stop = AtomicBool::new(false);
    let busy = std::thread::scope(|scope| {
        for _ in 0..computing {
            scope.spawn(|| compute(&stop));
        }
        let busy = firsts(programs, host, PORT + count..PORT + 2 * count, data);
        stop.store(true, Ordering::Relaxed);
        busy
    });
    let mut busy = busy?;
    busy["programs"] = json!(computing);
    busy["processors"] = json!(processors);
    Ok(json!({ "idle": idle, "busy": busy }))
}

fn compute(stop: &AtomicBool) {
    let mut sum = 0_u64;
    while !stop.load(Ordering::Relaxed) {
        (0..10_000_u64).for_each(|n| sum = black_box(sum.wrapping_mul(31).wrapping_add(n)));
    }
}

/// First requests to servers of their own, and later ones.
fn firsts(
    programs: &mut Programs<'_>,
    host: &Namespace,
    ports: std::ops::Range<u16>,
    data: &str,
) -> Result<Value> {
    let servers: Vec<Running> = ports
        .clone()
        .map(|port| programs.answer(host, &format!("{ALDEV5}:{port}"), &["--on-demand"]))
        .collect::<Result<_>>()?;
    sleep(Duration::from_millis(500)); // until all listen
    let mut found = Vec::new();
    for port in ports {
        let target = format!("udp:{ALDEV5}:{port}");
        let words = ["net", "rtt", &target, "--count", "5", "--timeout", "5s", "--json"];
        let told = programs.ask(host, &[&words[..], &["--data", data]].concat())?;
        found.push(list(&told, "/rtt/targets")?.first().context("no target")?.clone());
    }
    drop(servers);
    summary(&found)
}

/// Shortest, median and longest first request, and the median of the later ones' medians.
fn summary(targets: &[Value]) -> Result<Value> {
    let sorted = |key: &str| -> Result<Vec<f64>> {
        let of = targets.iter().map(|target| number(target, key).map(|ns| ns / 1e6));
        let mut all = of.collect::<Result<Vec<f64>>>()?;
        all.sort_by(f64::total_cmp);
        Ok(all)
    };
    let (firsts, steady) = (sorted("/first_ns")?, sorted("/p50_ns")?);
    let median = |of: &[f64]| of.get(of.len() / 2).copied();
    Ok(json!({
        "count": firsts.len(), "shortest_ms": firsts.first(), "longest_ms": firsts.last(),
        "first_ms": median(&firsts), "steady_ms": median(&steady),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_first_and_of_later_requests() {
        let target = |first: f64, p50: f64| json!({ "first_ns": first * 1e6, "p50_ns": p50 * 1e6 });
        let found = summary(&[target(9.0, 0.5), target(3.0, 0.25), target(4.0, 2.0)]).unwrap();
        let of = |key: &str| found[key].as_f64().unwrap();
        assert_eq!([of("shortest_ms"), of("first_ms"), of("longest_ms")], [3.0, 4.0, 9.0]);
        assert_eq!((of("steady_ms"), of("count")), (0.5, 3.0));
        let lost = json!({ "first_ns": null, "p50_ns": 1.0 });
        assert!(summary(&[lost]).unwrap_err().to_string().contains("/first_ns"));
    }
}
