//! The program `sle`: annotated dumps, and configurations of other programs.

mod args;
mod config;
mod dump;

use args::{Args, ToolCommand};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match &args.command {
        ToolCommand::Dump(args) => dump::run(args),
        ToolCommand::Config(command) => config::run(command),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            let said = format!("sle: {error:#}");
            eprintln!("{}", chronoscope_escape::terminal_lines(&said));
            ExitCode::FAILURE
        }
    }
}
