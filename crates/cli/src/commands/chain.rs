//! `chronoscope chain ID`: one chain as a waterfall.

use super::chains::stored;
use crate::args::Chain;
use crate::attributes::Shown;
use crate::environment;
use crate::exit::Exit;
use crate::screen::show;
use crate::times::Zone;
use crate::waterfall::waterfall;
use anyhow::Result;
use chronoscope_chain::ChainStatus;
use chronoscope_formats::json;
use chronoscope_model::Transaction;
use serde_json::{Value, json};

/// Runs the command.
pub(crate) fn chain(args: &Chain) -> Result<Exit> {
    let source = args.data.source()?;
    let ((found, damage), clocks) =
        stored(&source, |view| Ok((view.chain(args.id, None)?, view.clocks()?)))?;
    for damage in &damage {
        say!("damaged: {damage}");
    }
    if found.is_empty() {
        say!("{source} has no chain {}", args.id);
        return Ok(Exit::Nothing);
    }
    if args.json {
        let status = ChainStatus::of(&found);
        let transaction = |(t, counts): (&Transaction, &bool)| {
            let mut value = json::transaction(t);
            value["counts_for_chain"] = (*counts).into();
            value["clock"] = clocks.of_transaction(t).map_or(
                Value::Null,
                |clock| json!({ "offset_ns": clock.offset_ns, "error_ns": clock.error_ns }),
            );
            value
        };
        let transactions: Value = found.iter().zip(&status.counts).map(transaction).collect();
        let mut document = json::document("transactions", transactions);
        document["status"] = json!({
            "status": status.status.name(),
            "not_good": status.not_good,
            "independent_not_good": status.independent_not_good,
        });
        show(&format!("{document:#}\n"))?;
    } else {
        let shown = match environment::stdout_size() {
            Some(size) if !args.all => Shown::Folded { columns: size.columns },
            _ => Shown::All,
        };
        show(&waterfall(&found, &clocks, &Zone::new(args.utc), shown))?;
    }
    Ok(Exit::Done)
}
