//! `chronoscope completions` and `chronoscope man`: their flags.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Shells whose completions can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    /// For /usr/share/bash-completion/completions/chronoscope
    Bash,
    /// For a folder of $fpath, as _chronoscope
    Zsh,
    /// For ~/.config/fish/completions/chronoscope.fish
    Fish,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The command, such as `net rtt` [default: the page of the program, with all exit codes]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands into this folder, as NAME.1
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) output: Option<PathBuf>,
}
