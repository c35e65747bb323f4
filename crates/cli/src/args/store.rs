//! `chronoscope store`.

use crate::environment;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Store {
    /// Read every byte of a store and compare it with its checksum; exit 1 when something is damaged
    ///
    /// A server may write the store meanwhile.
    Check(Check),
    /// Make a store usable again that is damaged or has lost its manifest
    ///
    /// The manifest is made anew from the segments and the log where it is missing or damaged;
    /// segments that are not what was written are taken out of the store. Nothing is deleted: files
    /// that are left out go to lost+found. What cannot be told any more is said. Nobody may write the
    /// store meanwhile.
    Repair(Repair),
    /// Let a server delete once what it holds back because it is so much
    ///
    /// A server that keeps rows for a time (serve --keep-age) does not delete more than a tenth of that time
    /// and of all rows at once, because a wrong clock is the more likely reason: the rows stay, and it
    /// says so.
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
pub(crate) struct ConfirmDeletion {
    #[command(flatten)]
    pub(crate) folder: Folder,
}

#[derive(Debug, Args)]
pub(crate) struct Repair {
    #[command(flatten)]
    pub(crate) folder: Folder,
    /// Only say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
