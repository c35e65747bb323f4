//! The rows that a store gives out.

use crate::server::finish;
use crate::world::World;
use anyhow::{Context, Result, bail};
use std::collections::HashSet;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Output of `chronoscope export`.
pub(crate) struct Rows {
    /// Number of distinct rows.
    pub(crate) distinct: u64,
    /// Rows that were written before already.
    pub(crate) doubled: u64,
}

/// Most time that a store may take to be exported.
const LATE: Duration = Duration::from_secs(120);

/// All rows of a store.
///
/// # Errors
/// When they cannot be exported.
pub(crate) fn export(world: &World, data: &Path) -> Result<Rows> {
    let mut command = world.chronoscope(&["export", "--format", "csv", "--data"]);
    let mut child = command.arg(data).stdout(Stdio::piped()).spawn().context("export")?;
    let out = child.stdout.take().context("the output of export")?;
    let mut table = csv::Reader::from_reader(std::io::BufReader::new(out));
    let heading = table.headers().context("the table of export")?;
    let column = heading.iter().position(|name| name == "id").context("a column id")?;
    let (mut seen, mut doubled) = (HashSet::new(), 0);
    let mut row = csv::StringRecord::new();
    while table.read_record(&mut row).context("a row of export")? {
        if !seen.insert(row[column].parse::<u64>().ok().context("the id of a row")?) {
            doubled += 1;
        }
    }
    let ended = finish(&mut child, LATE)?;
    if !ended.is_some_and(|status| status.success()) {
        bail!("export of {}: {ended:?}", data.display());
    }
    Ok(Rows { distinct: seen.len() as u64, doubled })
}
