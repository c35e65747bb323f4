//! Section "Coverage" of the report: every row of the table, and the outcome of its check.

use super::{Report, escaped};
use crate::coverage::CommandOutcome;
use crate::coverage::page::state;
use crate::coverage::result::{CheckResult, CoveredRow};
use crate::outcome::{Verdict, of_figure};
use chronoscope_published::coverage::{
    Coverage, CoverageCheck, CoverageRow, CoverageState, ItemCheck,
};
use serde_json::{Value, json};
use std::fmt::Write;

impl<'a> Report<'a> {
    /// With the rows of the table, and the outcomes of its commands.
    #[must_use]
    pub fn with_coverage(mut self, coverage: &'a Coverage, commands: &[CommandOutcome]) -> Self {
        let rows = coverage.rows.iter().map(|row| {
            let (checked, words) = self.checked(row, commands);
            CoveredRow { row, checked, words }
        });
        let rows = rows.collect();
        self.coverage = rows;
        self
    }

    fn checked(&self, row: &CoverageRow, commands: &[CommandOutcome]) -> (CheckResult, String) {
        match &row.check {
            None => (CheckResult::NotRun, "no check".to_owned()),
            Some(CoverageCheck::Test(_)) => (CheckResult::ByMakeTest, String::new()),
            Some(CoverageCheck::Item(check)) => self.item(check),
            Some(CoverageCheck::Command(check)) => {
                // An outcome of another command says nothing of this one.
                let found = commands.iter().find(|one| one.id == row.id && one.line == check.line);
                match found.map(|one| &one.fault) {
                    None => (CheckResult::NotRun, String::new()),
                    Some(None) => (CheckResult::Holds, String::new()),
                    Some(Some(fault)) => (CheckResult::Fails, fault.clone()),
                }
            }
        }
    }

    /// An item's or a figure's verdict. Nothing was measured yet where no experiment ran.
    fn item(&self, check: &ItemCheck) -> (CheckResult, String) {
        let Some(entry) = self.entries().find(|entry| entry.name == check.item) else {
            return (CheckResult::NotRun, "no such item".to_owned());
        };
        let (verdict, why) = match &check.figure {
            None => (entry.verdict, entry.why.clone()),
            Some(figure) => {
                let row = entry.found.and_then(|(_, found)| found.of(figure));
                let ours = row.and_then(|row| row.ours);
                let judged = entry.item.figure(figure).and_then(|figure| of_figure(figure, ours));
                let verdict = match (judged, ours) {
                    (_, None) => Verdict::Missing,
                    (None, Some(_)) => Verdict::Shown,
                    (Some(verdict), Some(_)) => verdict,
                };
                (
                    verdict,
                    if verdict == Verdict::Missing { entry.why.clone() } else { String::new() },
                )
            }
        };
        let checked = match verdict {
            Verdict::Confirmed | Verdict::Shown | Verdict::NotComparable => CheckResult::Holds,
            Verdict::Missing if why.starts_with("not measured yet") => CheckResult::NotRun,
            Verdict::Differs | Verdict::Missing => CheckResult::Fails,
        };
        let colon = if why.is_empty() { "" } else { ": " };
        (checked, format!("{}{colon}{why}", verdict.name()))
    }

    /// Number of rows by state, and by what came of their checks.
    fn coverage_counts(&self) -> [(CoverageState, [usize; 4]); 3] {
        CoverageState::ALL.map(|state| {
            let of = |checked| {
                let rows = self.coverage.iter();
                rows.filter(|one| one.row.state == state && one.checked == checked).count()
            };
            (state, CheckResult::ALL.map(of))
        })
    }

    /// Text for a terminal: counts, and the rows that work by the table and whose check does not hold;
    /// nothing without a table.
    #[must_use]
    pub fn coverage_text(&self) -> String {
        if self.coverage.is_empty() {
            return String::new();
        }
        let counts = self.coverage_counts();
        let states = counts
            .map(|(state, counts)| format!("{} {}", counts.iter().sum::<usize>(), state.name()));
        let checks = CheckResult::ALL.iter().enumerate().map(|(column, checked)| {
            let count: usize = counts.iter().map(|(_, counts)| counts[column]).sum();
            format!("{count} {}", checked.name())
        });
        let checks = checks.collect::<Vec<_>>().join(", ");
        let mut text = format!(
            "\ncoverage: {} rows: {}; checks: {checks}\n",
            self.coverage.len(),
            states.join(", ")
        );
        // Of the others the table itself says that something is lacking.
        let is_contrary = |one: &&CoveredRow<'_>| {
            one.row.state == CoverageState::Works && one.checked == CheckResult::Fails
        };
        for one in self.coverage.iter().filter(is_contrary) {
            let _ = writeln!(text, "  {}: {}", one.row.id, one.words);
        }
        text
    }

    /// The table as JSON; `null` without one.
    pub(super) fn coverage_json(&self) -> Value {
        if self.coverage.is_empty() {
            return Value::Null;
        }
        let rows = self.coverage.iter().map(|one| {
            let row = one.row;
            json!({
                "id": row.id,
                "document": row.document,
                "place": row.place,
                "what": row.what,
                "where": row.here,
                "state": row.state,
                "lacking": row.lacking,
                "check": row.check.as_ref().map(CoverageCheck::line),
                "checked": one.checked,
                "words": one.words,
            })
        });
        let counts = self.coverage_counts().map(|(state, counts)| {
            let by = CheckResult::ALL.iter().zip(counts);
            json!({
                "state": state,
                "rows": counts.iter().sum::<usize>(),
                "checks": by.map(|(checked, count)| json!({"checked": checked, "rows": count}))
                    .collect::<Value>(),
            })
        });
        json!({ "counts": counts, "rows": rows.collect::<Value>() })
    }

    /// The section of the page; nothing without a table.
    pub(super) fn write_coverage(&self, page: &mut String) -> std::fmt::Result {
        if self.coverage.is_empty() {
            return Ok(());
        }
        writeln!(
            page,
            "<h2 id=\"coverage\">Coverage</h2>\n<p class=\"lead\">Every feature, figure and finding of \
             the documents, whether it works here, and what came of its check. An item is as the \
             verdict above says: confirmed, shown and not comparable hold here, differs and missing do \
             not.</p>\n<div class=\"scroll\"><table><thead><tr><th></th><th class=\"number\">rows</th>"
        )?;
        for checked in CheckResult::ALL {
            writeln!(page, "<th class=\"number\">{}</th>", checked.name())?;
        }
        writeln!(page, "</tr></thead><tbody>")?;
        for (state, counts) in self.coverage_counts() {
            let all: usize = counts.iter().sum();
            write!(page, "<tr><td>{}</td><td class=\"number\">{all}</td>", state.name())?;
            for count in counts {
                write!(page, "<td class=\"number\">{count}</td>")?;
            }
            writeln!(page, "</tr>")?;
        }
        writeln!(page, "</tbody></table></div>")?;
        for (document, _) in &self.documents {
            writeln!(
                page,
                "<details><summary>{}</summary>\n<div class=\"scroll\"><table><thead><tr>\
                 <th>place</th><th>claim, feature or figure</th><th>here</th><th>state</th>\
                 <th>check</th><th></th></tr></thead><tbody>",
                escaped(&document.title)
            )?;
            for one in self.coverage.iter().filter(|one| one.row.document == document.id) {
                covered(page, one)?;
            }
            writeln!(page, "</tbody></table></div></details>")?;
        }
        Ok(())
    }
}

fn covered(page: &mut String, one: &CoveredRow<'_>) -> std::fmt::Result {
    let row = one.row;
    let check = row.check.as_ref().map_or(String::new(), CoverageCheck::line);
    let words = if one.words.is_empty() { String::new() } else { format!(": {}", one.words) };
    writeln!(
        page,
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td><code>{}</code></td>\
         <td class=\"note\"><span class=\"{}\">{}</span>{}</td></tr>",
        escaped(&row.place),
        escaped(&row.what),
        escaped(&row.here),
        escaped(&state(row).replace("**", "")),
        escaped(&check),
        one.checked.class(),
        one.checked.name(),
        escaped(&words)
    )
}
