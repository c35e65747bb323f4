//! Answers of the store in JSON: the same for HTTP and for `--json`.

use chronoscope_formats::json;
use chronoscope_store::ask::Answer;
use serde_json::{Value, json};

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
        "paths": paths.collect::<Value>(),
        "counts": json::counts(&answer.counts),
        "from_ns": answer.covered_ns.as_ref().map(|covered| *covered.start()),
        "to_ns": answer.covered_ns.as_ref().map(|covered| *covered.end()),
        "rows_read": answer.rows_read,
        "losses": {
            "lost_rows": losses.lost_rows,
            "damaged_rows": losses.damaged_rows,
            "expired_rows": losses.expired_rows,
            "unsplit": losses.unsplit,
            "damage": losses.damage.iter().map(ToString::to_string).collect::<Value>(),
        },
    })
}
