//! The report for people: one HTML file with nothing to fetch and no script.

use super::style::STYLE;
use super::words::{held_to, notes, printed_value, ratio, value};
use super::{Report, ReportEntry, escaped, figures, number};
use crate::machine::utc;
use crate::outcome::{Outcome, Row, of_figure};
use crate::progress::length;
use chronoscope_published::{Cell, Elsewhere, Figure, Table};
use std::fmt::Write;

impl Report<'_> {
    /// The report as an HTML page.
    #[must_use]
    pub fn html(&self) -> String {
        let mut page = String::new();
        // Writing into a string cannot fail.
        let _ = self.write_page(&mut page);
        page
    }

    fn write_page(&self, page: &mut String) -> std::fmt::Result {
        let title = "Five published systems, their figures and ours";
        writeln!(
            page,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"/>\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
             <p class=\"lead\">Every table and picture of the documents that Chronoscope is held to, \
             with what it finds on this machine beside. Theirs are of other machines, years and \
             loads: their rates and times are shown and ours is not held to them; their factors, \
             shapes, limits and findings are checked.</p>"
        )?;
        writeln!(page, "<p class=\"soft\">{}</p>", escaped(&self.circumstances()))?;
        writeln!(page, "<div class=\"counts\">")?;
        for (verdict, count) in self.counts() {
            let (id, name) = (verdict.id(), verdict.name());
            writeln!(page, "<div class=\"count {id}\"><b>{count}</b>{name}</div>")?;
        }
        writeln!(
            page,
            "</div>\n<p class=\"soft\"><b>confirmed</b>: a finding, a factor, a shape or a limit that \
             was checked and could have failed. <b>differs</b>: checked, and not so. <b>shown</b>: \
             a picture or table without a claim that is checked. <b>not comparable</b>: another \
             load, machine or population; both numbers are there. <b>missing</b>: not measured, and \
             why.</p>\n<nav>"
        )?;
        for (document, entries) in &self.documents {
            writeln!(
                page,
                "<p><a href=\"#{}\">{}</a> <span class=\"soft\">{}, {}</span></p>\n<ul>",
                document.id,
                escaped(&document.title),
                escaped(&document.authors),
                document.year
            )?;
            for entry in entries {
                let (name, id, verdict) = (&entry.name, entry.verdict.id(), entry.verdict.name());
                writeln!(
                    page,
                    "<li><span class=\"dot {id}\" title=\"{verdict}\"></span>\
                     <a href=\"#{name}\">{}</a></li>",
                    escaped(&entry.item.title)
                )?;
            }
            writeln!(page, "</ul>")?;
        }
        if !self.coverage.is_empty() {
            writeln!(page, "<p><a href=\"#coverage\">Coverage</a></p>")?;
        }
        writeln!(page, "</nav>\n<main>")?;
        for (document, entries) in &self.documents {
            writeln!(
                page,
                "<h2 id=\"{}\">{}</h2>\n<p class=\"lead\">{}, {}. {}</p>",
                document.id,
                escaped(&document.title),
                escaped(&document.authors),
                document.year,
                escaped(&document.about)
            )?;
            for entry in entries {
                section(page, entry)?;
            }
        }
        self.write_coverage(page)?;
        writeln!(page, "</main>\n</body>\n</html>")
    }

    /// Date, machine and version of the measurement.
    fn circumstances(&self) -> String {
        let mut text = format!("Put together {}.", utc(self.at_utc_ns));
        let mut machines: Vec<_> = self.outcomes.iter().map(|outcome| &outcome.machine).collect();
        machines.dedup();
        for machine in machines {
            text += &format!(
                " Measured on {}, {} processors, {} MB, Linux {}.",
                machine.cpu, machine.cpus, machine.memory_mb, machine.kernel
            );
        }
        let loads = self.outcomes.iter().flat_map(|outcome| outcome.load);
        let [least, most] = loads
            .fold([f64::INFINITY, 0.0], |[least, most], load| [load.min(least), load.max(most)]);
        if least.is_finite() {
            let (least, most) = (number(least), number(most));
            text += &format!(" Load average meanwhile: {least} to {most}.");
        }
        text
    }
}

fn section(page: &mut String, entry: &ReportEntry<'_>) -> std::fmt::Result {
    let ReportEntry { name, item, found, verdict, why } = entry;
    let (id, verdict) = (verdict.id(), verdict.name());
    writeln!(
        page,
        "<section id=\"{name}\">\n<header><h3>{}</h3><span class=\"badge {id}\">{verdict}\
         </span></header>\n<p class=\"soft\">{}; <code>{name}</code></p>\n<p>{}</p>",
        escaped(&item.title),
        escaped(&item.place),
        escaped(&item.shows)
    )?;
    if !why.is_empty() {
        writeln!(page, "<p class=\"{id}\">{}</p>", escaped(&sentence(why)))?;
    }
    let rows = found.map_or(&[][..], |(_, found)| &found.rows);
    figures_table(page, entry, rows)?;
    elsewhere(page, &item.elsewhere)?;
    writeln!(page, "<div class=\"pair\">")?;
    if let Some(table) = &item.table {
        printed(page, "published", table)?;
    }
    let Some((outcome, found)) = found else { return writeln!(page, "</div>\n</section>") };
    for titled in &found.tables {
        printed(page, &format!("ours: {}", titled.title), &titled.table)?;
    }
    writeln!(page, "</div>")?;
    for picture in &found.pictures {
        writeln!(
            page,
            "<figure><figcaption>{}</figcaption>{}</figure>",
            escaped(picture.title()),
            picture.html()
        )?;
    }
    for words in &found.words {
        writeln!(page, "<p>{}</p>", escaped(words))?;
    }
    how(page, outcome)?;
    writeln!(page, "</section>")
}

/// Method of the measurement.
fn how(page: &mut String, outcome: &Outcome) -> std::fmt::Result {
    let form = if outcome.quick { "short form" } else { "whole" };
    writeln!(page, "<details><summary>{}: {}</summary>\n<dl>", form, escaped(&outcome.scale))?;
    let machine = &outcome.machine;
    let [before, after] = outcome.load.map(number);
    let facts = [
        ("experiment", outcome.experiment.clone()),
        ("version", outcome.commit.clone()),
        ("begun", utc(outcome.began_utc_ns)),
        ("took", length(outcome.took_s)),
        (
            "machine",
            format!("{}, {} processors, Linux {}", machine.cpu, machine.cpus, machine.kernel),
        ),
        ("load", format!("{before} before, {after} after")),
    ];
    for (what, fact) in facts {
        writeln!(page, "<dt>{what}</dt><dd>{}</dd>", escaped(&fact))?;
    }
    for command in &outcome.commands {
        writeln!(page, "<dt>ran</dt><dd><code>{}</code></dd>", escaped(command))?;
    }
    writeln!(page, "</dl></details>")
}

fn figures_table(page: &mut String, entry: &ReportEntry<'_>, rows: &[Row]) -> std::fmt::Result {
    let own = figures::own(entry.item, rows);
    if entry.item.figures.is_empty() && own.is_empty() {
        return Ok(());
    }
    writeln!(
        page,
        "<div class=\"scroll\"><table><thead><tr><th></th><th class=\"number\">published</th>\
         <th class=\"number\">ours</th><th>unit</th><th>held to</th>\
         <th class=\"number\">ours / theirs</th><th></th><th></th></tr></thead><tbody>"
    )?;
    for published in &entry.item.figures {
        let row = rows.iter().find(|row| row.figure == published.id);
        published_row(page, published, row)?;
    }
    for row in own {
        writeln!(
            page,
            "<tr><td>{}</td><td></td><td class=\"number\">{}</td><td>{}</td><td></td><td></td>\
             <td></td><td class=\"note\">{}</td></tr>",
            escaped(&row.what),
            value(row.ours),
            escaped(&row.unit),
            escaped(&notes(None, Some(row)))
        )?;
    }
    writeln!(page, "</tbody></table></div>")
}

fn published_row(page: &mut String, published: &Figure, row: Option<&Row>) -> std::fmt::Result {
    let ours = row.and_then(|row| row.ours);
    let verdict = of_figure(published, ours).map_or(String::new(), |verdict| {
        format!("<span class=\"{}\">{}</span>", verdict.id(), verdict.name())
    });
    writeln!(
        page,
        "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td>{}</td>\
         <td>{}</td><td class=\"number\">{}</td><td>{verdict}</td><td class=\"note\">{}</td></tr>",
        escaped(&published.what),
        printed_value(published),
        value(ours),
        escaped(&published.unit),
        escaped(&held_to(published)),
        ratio(published, ours),
        escaped(&notes(Some(published), row))
    )
}

/// Measurements of the document's program that are neither the document's nor of this run.
fn elsewhere(page: &mut String, measured: &[Elsewhere]) -> std::fmt::Result {
    for one in measured {
        let words = format!(
            "Measured apart, and held to nothing: {}: {} {} ({}, {}).",
            one.what,
            value(Some(one.value)),
            one.unit,
            one.by,
            one.when
        );
        writeln!(page, "<p class=\"soft\">{}</p>", escaped(&words))?;
    }
    Ok(())
}

/// A table, published or ours.
fn printed(page: &mut String, title: &str, table: &Table) -> std::fmt::Result {
    writeln!(
        page,
        "<div class=\"scroll\"><table><caption>{}</caption><thead><tr>",
        escaped(title)
    )?;
    // A column is as its cells are: words to the left, numbers to the right.
    let numeric = |column: usize| {
        let cells = table.rows.iter().filter_map(|row| row.get(column));
        cells.clone().any(|cell| matches!(cell, Cell::Number(_)))
    };
    for (column, head) in table.columns.iter().enumerate() {
        let class = if numeric(column) { " class=\"number\"" } else { "" };
        write!(page, "<th{class}>{}</th>", escaped(head))?;
    }
    writeln!(page, "</tr></thead><tbody>")?;
    for row in &table.rows {
        write!(page, "<tr>")?;
        for (column, cell) in row.iter().enumerate() {
            let class = if numeric(column) { " class=\"number\"" } else { "" };
            let text = match cell {
                Cell::Number(one) => number(*one),
                Cell::Text(text) => escaped(text),
            };
            write!(page, "<td{class}>{text}</td>")?;
        }
        writeln!(page, "</tr>")?;
    }
    writeln!(page, "</tbody></table></div>")
}

/// With a capital and a full stop.
fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let end = if words.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}
