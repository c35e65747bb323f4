//! Answers of the store in JSON: the same for HTTP and for `--json`.

use crate::arrivals::ArrivalsView;
use chronoscope_formats::json;
use chronoscope_model::ClassName;
use chronoscope_query::{Answer, ClassStatistics, ClockQuality, FanInAnswer, InputCase};
use chronoscope_store::Damage;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An answer to a question about durations, without the single durations.
pub fn answer(answer: &Answer) -> Value {
    let losses = &answer.losses;
    let paths = answer.paths.iter().map(|path| {
        json!({
            "path": path.path,
            "distribution": json::distribution(&path.distribution),
            "hops": path.split.as_ref().map(|split| json::split(&path.hops, split)),
        })
    });
    json!({
        "distribution": answer.distribution.as_ref().map(json::distribution),
        "verdict": answer.verdict.as_ref().map(json::verdict),
        "arrivals": answer.arrivals.as_ref().map(ArrivalsView::from),
        "paths": paths.collect::<Value>(),
        "counts": json::counts(&answer.counts),
        "from_ns": answer.covered_ns.as_ref().map(|covered| *covered.start()),
        "to_ns": answer.covered_ns.as_ref().map(|covered| *covered.end()),
        "rows_read": answer.rows_read,
        "clocks": answer.clocks.as_ref().map(clocks),
        "losses": {
            "lost_rows": losses.lost_rows,
            "uncounted_losses": losses.uncounted_losses,
            "damaged_rows": losses.damaged_rows,
            "expired_rows": losses.expired_rows,
            "unsplit": losses.unsplit,
            "damage": losses.damage.iter().map(ToString::to_string).collect::<Value>(),
        },
    })
}

/// Durations over several parents: which were measured, and what of the graph is not known.
pub fn inputs(case: InputCase, found: &FanInAnswer) -> Value {
    let case = match case {
        InputCase::All => "all",
        InputCase::Best => "best",
        InputCase::Worst => "worst",
        InputCase::Age => "age",
    };
    json!({
        "case": case,
        "links": found.links,
        "unknown": found.unknown_inputs,
        "cut_edges": found.cut_edges,
        "incomplete": found.counts.incomplete,
        "root_missing": found.counts.root_missing,
        "beyond_links": found.counts.beyond_links,
    })
}

/// Clock errors of durations that cross hosts.
fn clocks(quality: &ClockQuality) -> Value {
    let ClockQuality { corrected, durations, crossings } = quality;
    let shortest = crossings.shortest.map(|shortest| {
        json!({
            "duration_ns": shortest.duration_ns,
            "error_ns": shortest.error_ns,
            "explained": shortest.is_explained(),
        })
    });
    json!({
        "corrected": corrected,
        "durations": durations,
        "crossing": crossings.count,
        "unknown": crossings.unknown,
        "error_ns_max": crossings.error_ns_max,
        "error_ns_mean": crossings.error_ns_mean(),
        "share_mean": crossings.share_mean(),
        "explained": crossings.explained,
        "negative": crossings.negative,
        "negative_explained": crossings.negative_explained,
        "shortest": shortest,
    })
}

/// The statistics of all classes, and sketches that could not be read.
pub fn classes(classes: &BTreeMap<ClassName, ClassStatistics>, damage: &[Damage]) -> Value {
    let rows = classes.iter().map(|(name, class)| {
        let mut row = json::class(name);
        row["elapsed"] = json::histogram(&class.elapsed);
        // Null where no row's CPU time is known.
        row["cpu_ns"] = (class.cpu_known > 0).then_some(class.cpu_ns).into();
        row["cpu_known"] = class.cpu_known.into();
        row["not_good"] = class.not_good.into();
        row
    });
    json!({
        "rows": rows.collect::<Value>(),
        "damage": damage.iter().map(ToString::to_string).collect::<Value>(),
    })
}
