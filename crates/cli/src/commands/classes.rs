//! `chronoscope classes`: statistics of every class in the store.

use super::chains::{range, stored};
use crate::args::Classes;
use crate::exit::Exit;
use crate::screen::show;
use crate::text::{self, Table, known_duration};
use crate::times::Zone;
use anyhow::Result;
use chronoscope_formats::json;
use chronoscope_query::StoreView;
use chronoscope_statistics::Quantile;

/// Runs the command.
pub(crate) fn classes(args: &Classes) -> Result<Exit> {
    let range = range(&args.span, &Zone::new(args.span.utc))?;
    let source = args.data.source()?;
    let ((classes, damage), lost) =
        stored(&source, |view| Ok((view.classes(&range)?, Lost::of(view))))?;
    if args.json {
        let mut part = chronoscope_server::classes(&classes, &damage);
        // Null for a cluster, which does not count lost rows.
        part["lost_rows"] = lost.map(|lost| lost.rows).into();
        part["uncounted_losses"] = lost.map(|lost| lost.uncounted).into();
        show(&format!("{:#}\n", json::document("classes", part)))?;
    } else {
        let heading = ["class", "count", "not good", "mean", "p50", "p99", "max", "CPU mean"];
        let mut table = Table::new(&heading);
        for (name, class) in &classes {
            let time = |ns: Option<u64>| known_duration(ns.map(|ns| ns as f64));
            table.row(vec![
                name.to_string(),
                text::count(class.elapsed.count()),
                text::count(class.not_good),
                known_duration(class.elapsed.mean()),
                time(class.elapsed.quantile(Quantile::P50)),
                time(class.elapsed.quantile(Quantile::P99)),
                time(class.elapsed.max()),
                known_duration(class.cpu_mean_ns()),
            ]);
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

/// All known losses of a store of files.
#[derive(Clone, Copy)]
struct Lost {
    rows: u64,
    uncounted: u64,
}

impl Lost {
    fn of(view: &StoreView) -> Option<Self> {
        let StoreView::Files(snapshot) = view else { return None };
        let ledger = snapshot.ledger();
        Some(Self { rows: ledger.lost_rows(), uncounted: ledger.losses.uncounted() })
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
