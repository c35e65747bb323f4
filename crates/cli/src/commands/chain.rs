//! `chronoscope chain ID`: one chain as a waterfall.

use super::chains::stored;
use crate::args::Chain;
use crate::exit::Exit;
use crate::screen::show;
use crate::times::Zone;
use crate::waterfall::waterfall;
use anyhow::Result;
use chronoscope_formats::json;
use serde_json::Value;

/// Runs the command.
pub(crate) fn chain(args: &Chain) -> Result<Exit> {
    let source = args.data.source()?;
    let (found, damage) = stored(&source, |view| view.chain(args.id, None))?;
    for damage in &damage {
        eprintln!("damaged: {damage}");
    }
    if found.is_empty() {
        eprintln!("no chain {} in {source}", args.id);
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
