//! Flags of `serve` and `agent` about where their flags come from.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Configuration {
    /// Take flags that are not given here from this TOML file: `wait_late = "5min"` is --wait-late
    /// 5min. The environment comes before the file (docs/install.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print every flag with its description and its value, as a file for --config, and exit
    #[arg(long)]
    pub(crate) print_config: bool,
    /// Check the flags and the files that they name, and exit; nothing is started
    #[arg(long, conflicts_with = "print_config")]
    pub(crate) check: bool,
}
