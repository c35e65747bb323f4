//! Statistics of a run, from the store.

use super::chain::Ran;
use anyhow::Result;
use chronoscope_query::StoreLocation;
use chronoscope_query::{Answer, Clocks, LeafLevel, Limits, Question};
use chronoscope_statistics::{Quantile, nearest_rank};
use chronoscope_store::Snapshot;
use serde_json::{Value, json};
use std::path::Path;

/// The requirement, in nanoseconds.
pub(super) const LIMIT_NS: u64 = 1_000_000_000;

/// The main chain of a level, or of any.
pub(super) fn main_chain(level: LeafLevel) -> Question {
    let question = Question::acpd("MRTS::decodePlots", "CWP::TargetView_redraw");
    Question { level, limit_ns: Some(LIMIT_NS), ..question }
}

/// The chains of updates that no plot caused: the tracker extrapolated.
pub(super) fn without_plot() -> Question {
    Question::acpd("MRTS::Extrapolate", "CWP::TargetView_redraw")
}

pub(super) fn ask(data: &Path, question: &Question) -> Result<Answer> {
    Ok(StoreLocation::Files(data.to_owned()).ask(question, &Limits::default())?)
}

fn ms(ns: f64) -> f64 {
    ns / 1e6
}

/// Mean of an answer, ms; `None` where there are no such chains.
pub(super) fn mean_ms(answer: &Answer) -> Option<f64> {
    answer.distribution.as_ref().map(|all| ms(all.mean_ns))
}

/// An answer as figures; `null` where there are no such chains.
pub(super) fn figures(answer: &Answer) -> Value {
    let Some(all) = &answer.distribution else { return Value::Null };
    let above = answer.verdict.map_or(0, |verdict| verdict.above());
    json!({
        "chains": all.count, "negative": answer.counts.negative,
        "mean_ms": ms(all.mean_ns), "median_ms": ms(all.median_ns() as f64),
        "sd_ms": ms(all.sd_ns), "max_ms": ms(all.max_ns as f64), "min_ms": ms(all.min_ns as f64),
        "p99_ms": ms(all.quantiles_ns[2] as f64), "p99_73_ms": ms(all.quantiles_ns[3] as f64),
        "three_sigma_ms": ms(all.three_sigma_ns()), "above_3_sigma": all.above_3_sigma,
        "above_3_sigma_pct": all.share_above_3_sigma() * 100.0,
        "above_limit": above, "above_limit_pct": above as f64 * 100.0 / all.count as f64,
        "holds": answer.verdict.is_some_and(|verdict| verdict.holds()),
    })
}

/// Steps of the most frequent path: the duration of each and of the gap behind it, mean ms.
pub(super) fn hops(answer: &Answer) -> Vec<Value> {
    let Some(path) = answer.paths.first() else { return Vec::new() };
    let Some(split) = &path.split else { return Vec::new() };
    let hop = |(name, (inside, waiting)): (&String, &(_, _))| {
        let mean = |part: &chronoscope_chain::PartStatistics| part.mean_ns().map(ms);
        json!({ "hop": name, "inside_ms": mean(inside), "waiting_ms": mean(waiting) })
    };
    path.hops.iter().zip(&split.hops).map(hop).collect()
}

/// Whether the durations are taken by one clock.
pub(super) fn corrected(ran: &Ran, question: Question) -> Question {
    if ran.apart { Question { clocks: Clocks::Corrected, ..question } } else { question }
}

/// Errors set on the clocks, the estimates by the exchange of stamps, and the remaining error.
pub(super) fn clocks(ran: &Ran) -> Result<Vec<Value>> {
    let snapshot = Snapshot::open(&ran.data)?;
    let host = |about: &super::hosts::Host| {
        let track = snapshot.clocks().track(&about.name)?;
        let mut found: Vec<_> = track.knots().iter().map(|knot| knot.estimate).collect();
        found.sort_by_key(|estimate| estimate.offset_ns);
        let middle = nearest_rank(&found, Quantile::P50)?;
        Some(json!({
            "host": about.name, "injected_ms": ms(about.clock_error_ns as f64),
            "found_ms": ms(middle.offset_ns as f64), "bound_ms": ms(middle.error_ns as f64),
            "residual_ms": ms((middle.offset_ns - about.clock_error_ns) as f64),
            "readings": found.len(),
        }))
    };
    Ok(ran.hosts.iter().skip(1).filter(|_| ran.apart).filter_map(host).collect())
}
