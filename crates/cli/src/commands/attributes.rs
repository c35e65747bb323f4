//! `chronoscope attributes`: what `--where` and `--by` can ask for.

use super::chains::{range, stored, value_text};
use crate::args::Attributes;
use crate::exit::Exit;
use crate::screen::{asked, show};
use crate::text::{self, Align, Table};
use crate::times::Zone;
use anyhow::Result;
use chronoscope_formats::json::document;
use chronoscope_query::{
    AttributeKey, AttributeRows, COUNTED_MAX, Limits, NAMES_MAX, Progress, QueryError, StoreView,
};
use std::ops::Range;

/// Runs the command.
pub(crate) fn attributes(args: &Attributes) -> Result<Exit> {
    let range = range(&args.span, &Zone::new(args.span.utc))?;
    match &args.name {
        None => names(args, &range),
        Some(key) => values(args, key, &range),
    }
}

/// Asks the rows of a time.
fn of_rows<T>(
    args: &Attributes,
    start_ns: &Range<i64>,
    ask: impl Fn(&StoreView, &AttributeRows<'_>) -> Result<T, QueryError>,
) -> Result<T> {
    stored(&args.data.source()?, |view| {
        asked(|progress: &Progress| {
            let threads = Limits::default().threads;
            let start_ns = start_ns.clone();
            ask(view, &AttributeRows { start_ns, most: None, threads, progress })
        })
    })
}

/// The names, and in how many rows they are.
fn names(args: &Attributes, range: &Range<i64>) -> Result<Exit> {
    let found = of_rows(args, range, |view, rows| view.attribute_names(rows))?;
    if args.json {
        show(&format!(
            "{:#}\n",
            document("attributes", chronoscope_server::attribute_names(&found))
        ))?;
    } else {
        let mut table = Table::new(&["attribute", "rows", "share", "values"]);
        for name in &found.names {
            let more = if name.values >= COUNTED_MAX as u64 { " or more" } else { "" };
            table.row(vec![
                name.key.clone(),
                text::count(name.rows),
                text::percent(name.rows, found.rows),
                format!("{}{more}", text::count(name.values)),
            ]);
        }
        show(&table.to_string())?;
    }
    if found.cut {
        say!("there are more than {} attributes", text::count(NAMES_MAX as u64));
    }
    for damage in &found.damage {
        say!("damaged: {damage}");
    }
    if found.names.is_empty() {
        say!("no attributes in {} rows", text::count(found.rows));
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

/// The values of one, and how many rows have them.
fn values(args: &Attributes, key: &AttributeKey, range: &Range<i64>) -> Result<Exit> {
    let found = of_rows(args, range, |view, rows| view.attribute_values(key, rows))?;
    if args.json {
        let part = chronoscope_server::attribute_values(key, &found);
        show(&format!("{:#}\n", document("attribute", part)))?;
    } else {
        let heading = [&*key.to_string(), "rows", "share"];
        let mut table = Table::new(&heading).aligned([Align::Left]);
        let share = |rows: u64| [text::count(rows), text::percent(rows, found.rows)];
        for (value, rows) in &found.values {
            table.row(std::iter::once(value_text(value)).chain(share(*rows)).collect());
        }
        for (what, rows) in [("(others)", found.others), ("(none)", found.without)] {
            if rows > 0 {
                table.row(std::iter::once(what.to_owned()).chain(share(rows)).collect());
            }
        }
        show(&table.to_string())?;
    }
    for damage in &found.damage {
        say!("damaged: {damage}");
    }
    if found.values.is_empty() && found.others == 0 {
        say!(
            "no row has the attribute {key}, in {} rows; chronoscope attributes lists the names",
            text::count(found.rows)
        );
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}
