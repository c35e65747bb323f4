//! `chronoscope chain ID`: one chain as a waterfall.

use super::chains::stored;
use crate::args::Chain;
use crate::exit::Exit;
use crate::screen::show;
use crate::times::Zone;
use crate::waterfall::waterfall;
use anyhow::Result;
use chronoscope_formats::json;
use chronoscope_store::ask;
use serde_json::Value;

/// Runs the command.
pub(crate) fn chain(args: &Chain) -> Result<Exit> {
    let data_dir = args.data.dir();
    let (found, damage) = stored(&data_dir, |snapshot| ask::chain(snapshot, args.id, None))?;
    for damage in &damage {
        eprintln!("damaged: {damage}");
    }
    if found.is_empty() {
        eprintln!("no chain {} in {}", args.id, data_dir.display());
        return Ok(Exit::Nothing);
    }
    if args.json {
        let transactions: Value = found.iter().map(json::transaction).collect();
        show(&format!("{:#}\n", json::document("transactions", transactions)))?;
    } else {
        show(&waterfall(&found, &Zone::new(args.utc)))?;
    }
    Ok(Exit::Done)
}
