//! The program `chronoscope`: arguments in, words and pictures out.
//!
//! # Where to look
//!
//! * a command or a flag: `args/mod.rs`, then `commands/`; flags from files: `configuration/`
//! * text on a terminal: `text.rs`; exit codes: `exit.rs`

// All output goes through `screen`, which escapes names.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
mod screen;

mod args;
mod arrivals;
mod attributes;
mod causes;
mod collection_progress;
mod commands;
mod configuration;
mod environment;
mod exit;
mod interrupt;
mod keys;
mod picture;
mod suggest;
mod text;
mod times;
mod usage;
mod waterfall;

use args::Command;
use configuration::{Parsed, Refused};
use exit::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = match configuration::parse(std::env::args_os().collect()) {
        Ok(Parsed::Run(cli)) => run(cli.command),
        Ok(Parsed::Print(text)) => screen::show(&text).map(|()| Exit::Done).map_err(Into::into),
        Err(Refused::Configuration(usage)) => Err(usage.into()),
        Err(Refused::Arguments(error, place)) => {
            let _ = error.print(); // a closed standard error is no reason for another code
            if let Some(place) = place {
                say!("{place}");
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(Exit::Usage.code()));
        }
    };
    match done {
        Ok(exit) => exit.into(),
        // A reader that closed its end (head, less) has all it wants.
        Err(error) if is_closed_pipe(&error) => Exit::Done.into(),
        Err(error) => {
            let said = usage::joined(&error);
            say!("chronoscope: {said}");
            if usage::is_usage(&error) { Exit::Usage.into() } else { Exit::Error.into() }
        }
    }
}

fn run(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Demo(args) => commands::demo(&args),
        Command::Serve(args) => commands::serve(&args),
        Command::Token(args) => commands::token(&args),
        Command::Agent(args) => commands::agent(&args),
        Command::Chains(args) => commands::chains(&args),
        Command::Mark(args) => commands::mark(&args),
        Command::Live(args) => commands::live(&args),
        Command::Chain(args) => commands::chain(&args),
        Command::Classes(args) => commands::classes(&args),
        Command::Attributes(args) => commands::attributes(&args),
        Command::Contrast(args) => commands::contrast(&args),
        Command::Export(args) => commands::export(&args),
        Command::Import(args) => commands::import(&args),
        Command::Record(args) => commands::record(&args),
        Command::Store(command) => commands::store(&command),
        Command::Net(command) => commands::net(&command),
        Command::Track(command) => commands::track(&command),
        Command::Rules(command) => commands::rules(&command),
        Command::Replay(args) => commands::replay(&args),
        Command::Completions(args) => commands::completions(&args),
        Command::Man(args) => commands::man(&args),
    }
}

pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
