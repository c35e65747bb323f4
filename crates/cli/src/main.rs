//! The program `chronoscope`: arguments in, words and pictures out.

mod args;
mod environment;
mod exit;
mod picture;
mod text;
mod times;

use args::{Cli, Command};
use clap::Parser;

fn main() -> std::process::ExitCode {
    let _ = Cli::parse();
    0.into()
}
