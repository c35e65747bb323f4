//! Answers of the store in JSON: the same for HTTP and for `--json`.

use crate::arrivals::ArrivalsView;
use crate::contrast::ContrastView;
use chronoscope_formats::json;
use chronoscope_model::ClassName;
use chronoscope_query::{
    Answer, AttributeContrast, AttributeGroups, AttributeKey, AttributeNames, AttributeSelection,
    AttributeValues, COUNTED_MAX, ClassGroups, ClassStatistics, ClockQuality, FanInAnswer,
    GroupValue, InputCase,
};
use chronoscope_store::{Damage, Deletion};
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
    let mut value = json!({
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
    });
    if !losses.deletions.is_empty() {
        value["losses"]["deleted_rows"] = losses.deleted_rows().into();
        value["losses"]["deletions"] = losses.deletions.iter().map(deletion).collect();
    }
    if let Some(found) = &answer.groups {
        value["groups"] = groups(found);
    }
    value
}

/// A deletion on request.
pub fn deletion(of: &Deletion) -> Value {
    json!({
        "from_ns": of.from_ns,
        "until_ns": of.until_ns,
        "at_ns": of.at_ns,
        "rows": of.rows,
        "by": of.by,
    })
}

/// Durations by the values of attributes.
fn groups(found: &AttributeGroups) -> Value {
    let groups = found.groups.iter().map(|group| {
        let mut part = group_values(&group.values);
        part["distribution"] = json::distribution(&group.distribution);
        part["above"] = group.above.into();
        part
    });
    json!({
        "by": found.by.iter().map(ToString::to_string).collect::<Value>(),
        "groups": groups.collect::<Value>(),
        "merged": found.merged,
        "cut": found.cut,
    })
}

/// The values of a group: null where there is none, or where `others` is true.
fn group_values(values: &[GroupValue]) -> Value {
    let text = |value: &GroupValue| match value {
        GroupValue::Text(text) => Value::from(&**text),
        GroupValue::None | GroupValue::Others => Value::Null,
    };
    json!({
        "values": values.iter().map(text).collect::<Value>(),
        "others": values.contains(&GroupValue::Others),
    })
}

/// The statistics of classes by the values of attributes, and segments that could not be read.
pub fn class_groups(found: &ClassGroups) -> Value {
    let rows = found.classes.iter().map(|group| {
        let mut row = class_row(&group.name, &group.statistics);
        if !found.by.is_empty() {
            row["group"] = group_values(&group.values);
        }
        row
    });
    let mut part = json!({
        "rows": rows.collect::<Value>(),
        "damage": found.damage.iter().map(ToString::to_string).collect::<Value>(),
    });
    if !found.by.is_empty() {
        part["by"] = found.by.iter().map(ToString::to_string).collect();
        part["merged"] = found.merged.into();
        part["cut"] = found.cut.clone().into();
    }
    part
}

/// The names of attributes.
pub fn attribute_names(found: &AttributeNames) -> Value {
    let names = found.names.iter().map(|name| {
        json!({
            "key": name.key,
            "rows": name.rows,
            "values": name.values,
            "values_cut": name.values >= COUNTED_MAX as u64,
        })
    });
    json!({
        "names": names.collect::<Value>(),
        "cut": found.cut,
        "rows": found.rows,
        "newest_only": found.newest_only,
        "damage": found.damage.iter().map(ToString::to_string).collect::<Value>(),
    })
}

/// The values of an attribute.
pub fn attribute_values(key: &AttributeKey, found: &AttributeValues) -> Value {
    let values = found.values.iter();
    let values = values.map(|(value, rows)| json!({ "value": value.to_string(), "rows": rows }));
    json!({
        "key": key.to_string(),
        "values": values.collect::<Value>(),
        "others": found.others,
        "without": found.without,
        "rows": found.rows,
        "newest_only": found.newest_only,
        "damage": found.damage.iter().map(ToString::to_string).collect::<Value>(),
    })
}

/// Attribute values by which two sets of durations differ.
pub fn contrast(found: &AttributeContrast) -> Value {
    json!(ContrastView::from(found))
}

/// Names the filters of an answer, where there are any.
pub fn add_filters(part: &mut Value, selection: &AttributeSelection) {
    let filters = selection.filters();
    if !filters.is_empty() {
        part["where"] = filters.iter().map(ToString::to_string).collect();
    }
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
    let rows = classes.iter().map(|(name, class)| class_row(name, class));
    json!({
        "rows": rows.collect::<Value>(),
        "damage": damage.iter().map(ToString::to_string).collect::<Value>(),
    })
}

/// The statistics of one class.
fn class_row(name: &ClassName, class: &ClassStatistics) -> Value {
    let mut row = json::class(name);
    row["elapsed"] = json::histogram(&class.elapsed);
    // Null where no row's CPU time is known.
    row["cpu_ns"] = (class.cpu_known > 0).then_some(class.cpu_ns).into();
    row["cpu_known"] = class.cpu_known.into();
    row["not_good"] = class.not_good.into();
    row
}
