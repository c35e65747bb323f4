//! `chronoscope store`.

use super::{Span, StoreArgs};
use crate::environment;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Store {
    /// Read every byte of a store and compare it with its checksum; exit 1 when something is damaged
    ///
    /// A server may write the store meanwhile.
    Check(Check),
    /// Repair a store that is damaged or has lost its manifest
    ///
    /// A missing or damaged manifest is rebuilt from the segments and the log; damaged segments are
    /// taken out of the store. Nothing is deleted: files that are left out go to lost+found. What
    /// cannot be recovered is reported. No other program may write to the store meanwhile.
    Repair(Repair),
    /// Delete the transactions of a range of time; without --yes only say what would be deleted
    ///
    /// Chains go by the start of their roots, foreign rows by their own start, as in `export`. What is
    /// deleted is in no file of the store afterwards; every question over that time says how many rows
    /// were deleted. No other program may write to the store meanwhile: where a server does, its page
    /// deletes (view Data).
    Delete(Delete),
    /// Copy the transactions of a store into another, files or cluster, and compare the two
    ///
    /// Rows that are in the copy already are passed over, by all that they say: a copy that was
    /// interrupted continues where it ended, and a second run copies what is new. Then both stores
    /// are read and compared row by row: exit 0 when every row is in the copy, 1 when rows are
    /// missing. Not copied are marks, rules, readings of the hosts' clocks and counts of losses.
    Copy(Copy),
    /// Confirm a large deletion that a server holds back
    ///
    /// A server that deletes old rows (serve --keep-age) does not delete more than a tenth of that
    /// time and of all rows at once, because a wrong clock is the more likely cause: the rows stay,
    /// and it reports this.
    ConfirmDeletion(ConfirmDeletion),
}

/// The folder of a store.
#[derive(Debug, Args)]
pub(crate) struct Folder {
    /// Folder of the stored transactions [default: $CHRONOSCOPE_DATA, else
    /// ~/.local/share/chronoscope]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl Folder {
    /// The folder.
    pub(crate) fn dir(&self) -> PathBuf {
        self.data.clone().unwrap_or_else(environment::data_dir)
    }
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) folder: Folder,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Copy {
    /// The store to copy: a folder, file:DIR, or clickhouse://HOST,HOST…/DATABASE
    #[arg(value_name = "FROM")]
    pub(crate) from_store: String,
    /// The store to copy into; made where it is not there. No other program may write to a folder
    /// meanwhile; a cluster may be written
    #[arg(value_name = "TO")]
    pub(crate) to_store: String,
    #[command(flatten)]
    pub(crate) span: Span,
    /// Only compare the two stores; nothing is copied
    #[arg(long)]
    pub(crate) verify: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConfirmDeletion {
    #[command(flatten)]
    pub(crate) folder: Folder,
}

#[derive(Debug, Args)]
pub(crate) struct Repair {
    #[command(flatten)]
    pub(crate) folder: Folder,
    /// Only print the planned changes
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    #[command(flatten)]
    pub(crate) data: StoreArgs,
    /// Delete chains whose root started at this time or later: 14:01:17 (today), "2026-11-21 14:01",
    /// RFC 3339, or relative to now as in -10min
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: String,
    /// Delete chains whose root started before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: String,
    /// Read and print times in UTC instead of the local time zone
    #[arg(long)]
    pub(crate) utc: bool,
    /// Delete; without it nothing is changed
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
