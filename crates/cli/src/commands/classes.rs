//! `chronoscope classes`: statistics of every class in the store.

use super::chains::{GROUPS_SHOWN, more_groups, range, selection, stored, value_text};
use crate::args::Classes;
use crate::exit::Exit;
use crate::screen::{asked, show};
use crate::text::{self, Align, Table, known_duration};
use crate::times::Zone;
use anyhow::Result;
use chronoscope_formats::json;
use chronoscope_query::{
    AttributeSelection, ClassGroup, ClassStatistics, Limits, QueryError, StoreLocation, StoreView,
};
use chronoscope_statistics::Quantile;
use chronoscope_store::Ledger;
use std::ops::Range;

/// Runs the command.
pub(crate) fn classes(args: &Classes) -> Result<Exit> {
    let range = range(&args.span, &Zone::new(args.span.utc))?;
    let source = args.data.source()?;
    let selection = selection(&args.filters, &args.by)?;
    if !selection.is_empty() {
        return groups(args, &selection, &range, &source);
    }
    let ((classes, damage), lost) =
        stored(&source, |view| Ok((view.classes(&range)?, Lost::of(view)?)))?;
    if args.json {
        let mut part = chronoscope_server::classes(&classes, &damage);
        // Null of a cluster that does not know.
        part["lost_rows"] = lost.map(|lost| lost.rows).into();
        part["uncounted_losses"] = lost.map(|lost| lost.uncounted).into();
        show(&format!("{:#}\n", json::document("classes", part)))?;
    } else {
        let heading: Vec<&str> = std::iter::once("class").chain(STATISTICS).collect();
        let mut table = Table::new(&heading);
        for (name, class) in &classes {
            table.row(std::iter::once(name.to_string()).chain(statistics(class)).collect());
        }
        show(&table.to_string())?;
    }
    lost.iter().for_each(Lost::say);
    for damage in &damage {
        say!("damaged: {damage}");
    }
    if classes.is_empty() {
        say!("no transactions in {source} in that time");
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

/// Headings of [`statistics`].
const STATISTICS: [&str; 7] = ["count", "not good", "mean", "p50", "p99", "max", "CPU mean"];

/// The statistics of a class as cells of a table.
fn statistics(class: &ClassStatistics) -> [String; 7] {
    let time = |ns: Option<u64>| known_duration(ns.map(|ns| ns as f64));
    [
        text::count(class.elapsed.count()),
        text::count(class.not_good),
        known_duration(class.elapsed.mean()),
        time(class.elapsed.quantile(Quantile::P50)),
        time(class.elapsed.quantile(Quantile::P99)),
        time(class.elapsed.max()),
        known_duration(class.cpu_mean_ns()),
    ]
}

/// The command with `--where` or `--by`: from rows.
fn groups(
    args: &Classes,
    selection: &AttributeSelection,
    range: &Range<i64>,
    source: &StoreLocation,
) -> Result<Exit> {
    let limits = Limits::default();
    let (found, lost) = stored(source, |view| {
        let found = asked(|progress| view.class_groups(range, selection, &limits, progress))?;
        Ok((found, Lost::of(view)?))
    })?;
    if args.json {
        let mut part = chronoscope_server::class_groups(&found);
        chronoscope_server::add_filters(&mut part, selection);
        part["lost_rows"] = lost.map(|lost| lost.rows).into();
        part["uncounted_losses"] = lost.map(|lost| lost.uncounted).into();
        show(&format!("{:#}\n", json::document("classes", part)))?;
    } else {
        let keys: Vec<String> = found.by.iter().map(ToString::to_string).collect();
        let heading = std::iter::once("class").chain(keys.iter().map(String::as_str));
        let heading: Vec<&str> = heading.chain(STATISTICS).collect();
        let left = std::iter::repeat_n(Align::Left, 1 + keys.len());
        let mut table = Table::new(&heading).aligned(left);
        let most = if keys.is_empty() { usize::MAX } else { GROUPS_SHOWN };
        for ClassGroup { name, values, statistics: class } in found.classes.iter().take(most) {
            let values = values.iter().map(value_text);
            let cells = std::iter::once(name.to_string()).chain(values).chain(statistics(class));
            table.row(cells.collect());
        }
        let more = found.classes.len().saturating_sub(most);
        show(&format!("{table}{}", more_groups(more, found.merged, &found.by, &found.cut)))?;
    }
    lost.iter().for_each(Lost::say);
    for damage in &found.damage {
        say!("damaged: {damage}");
    }
    if found.classes.is_empty() {
        say!("no such transactions in {source} in that time");
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

/// All known losses of a store.
#[derive(Clone, Copy)]
struct Lost {
    rows: u64,
    uncounted: u64,
}

impl Lost {
    /// `None` of a cluster whose tables are older than the record of losses, or whose first shard,
    /// which has it, is missing.
    fn of(view: &StoreView) -> Result<Option<Self>, QueryError> {
        let lost = |ledger: &Ledger| Self {
            rows: ledger.lost_rows(),
            uncounted: ledger.losses.uncounted(),
        };
        let cluster = match view {
            StoreView::Files(snapshot) => return Ok(Some(lost(snapshot.ledger()))),
            StoreView::Cluster(remote) => remote.cluster(),
        };
        match cluster.ledger() {
            Ok((ledger, since_ns)) => Ok((since_ns == i64::MIN).then(|| lost(&ledger))),
            Err(error) if cluster.goes_on_after(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn say(&self) {
        if self.rows > 0 {
            let rows = text::count(self.rows);
            say!("lost: {rows} rows, at any time, before they were read (rings lapped or full)");
        }
        if self.uncounted > 0 {
            let times = text::count(self.uncounted);
            say!("lost: rows of unknown number, {times} times (rings damaged, or removed unread)");
        }
    }
}
