//! `chronoscope classes`: statistics of every class in the store.

use super::chains::{range, stored};
use crate::args::Classes;
use crate::exit::Exit;
use crate::screen::show;
use crate::text::{self, Table, known_duration};
use crate::times::Zone;
use anyhow::Result;
use chronoscope_formats::json;
use chronoscope_model::Quantile;

/// Runs the command.
pub(crate) fn classes(args: &Classes) -> Result<Exit> {
    let range = range(&args.span, &Zone::new(args.span.utc))?;
    let source = args.data.source()?;
    let (classes, damage) = stored(&source, |view| view.classes(&range))?;
    if args.json {
        let part = chronoscope_server::classes(&classes, &damage);
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
    for damage in &damage {
        eprintln!("damaged: {damage}");
    }
    if classes.is_empty() {
        eprintln!("no transactions in {source} in that time");
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}
