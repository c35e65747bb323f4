//! The report for programs: `figures.json`, version 2. Fields are only added.

use super::{Report, ReportEntry};
use crate::outcome::{Row, of_figure};
use chronoscope_published::{Figure, PublishedItem};
use serde_json::{Value, json};

impl Report<'_> {
    /// The report as JSON, as written and printed.
    #[must_use]
    pub fn figures(&self) -> Value {
        let documents = self.documents.iter().map(|(document, entries)| {
            json!({
                "id": document.id,
                "title": document.title,
                "authors": document.authors,
                "year": document.year,
                "items": entries.iter().map(entry).collect::<Value>(),
            })
        });
        let counts = self.counts().map(|(verdict, count)| (verdict.id(), count));
        json!({
            "version": 2,
            "at": crate::machine::utc(self.at_utc_ns),
            "verdicts": counts.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
            "documents": documents.collect::<Value>(),
            "coverage": self.coverage_json(),
        })
    }
}

fn entry(entry: &ReportEntry<'_>) -> Value {
    let item = entry.item;
    let (outcome, found) = entry.found.unzip();
    let published = item
        .figures
        .iter()
        .map(|published| figure(Some(published), found.and_then(|found| found.of(&published.id))));
    let own = found
        .into_iter()
        .flat_map(|found| own(item, &found.rows))
        .map(|row| figure(None, Some(row)));
    json!({
        "id": entry.name,
        "title": item.title,
        "place": item.place,
        "kind": item.kind,
        "shows": item.shows,
        "verdict": entry.verdict,
        "why": entry.why,
        "figures": published.chain(own).collect::<Value>(),
        "published_table": item.table,
        "elsewhere": item.elsewhere,
        "tables": found.map(|found| json!(found.tables)),
        "pictures": found.map(|found| json!(found.pictures)),
        "words": found.map(|found| json!(found.words)),
        "experiment": outcome.map(|outcome| outcome.experiment.as_str()),
        "commands": outcome.map(|outcome| json!(outcome.commands)),
        "scale": outcome.map(|outcome| outcome.scale.as_str()),
        "quick": outcome.map(|outcome| outcome.quick),
        "commit": outcome.map(|outcome| outcome.commit.as_str()),
        "machine": outcome.map(|outcome| json!(outcome.machine)),
        "load": outcome.map(|outcome| outcome.load),
        "began": outcome.map(|outcome| crate::machine::utc(outcome.began_utc_ns)),
        "took_s": outcome.map(|outcome| outcome.took_s),
    })
}

/// Rows of figures that the item has not.
pub(super) fn own<'r>(item: &PublishedItem, rows: &'r [Row]) -> Vec<&'r Row> {
    rows.iter().filter(|row| item.figure(&row.figure).is_none()).collect()
}

fn figure(published: Option<&Figure>, row: Option<&Row>) -> Value {
    let ours = row.and_then(|row| row.ours);
    let verdict = published.and_then(|published| of_figure(published, ours));
    json!({
        "id": published.map(|figure| figure.id.as_str()),
        "what": published.map(|figure| figure.what.as_str()).or(row.map(|row| row.what.as_str())),
        "unit": published.map(|figure| figure.unit.as_str()).or(row.map(|row| row.unit.as_str())),
        "published": published.map(|figure| figure.value),
        "whose": published.map(|figure| figure.whose),
        "judge": published.map(|figure| figure.judge),
        "tolerance": published.and_then(|figure| figure.tolerance),
        "not_comparable": published.and_then(|figure| figure.not_comparable.as_deref()),
        "source": published.and_then(|figure| figure.source.as_deref()),
        "ours": ours,
        "verdict": verdict,
        "note": row.map(|row| row.note.as_str()),
        "beside": row.and_then(|row| row.beside.as_ref()).map(|beside| json!(beside)),
    })
}
