//! Costs of a command besides instructions: `beyond PROGRAM [ARGUMENT...]`.
use std::process::ExitCode;

use chronoscope_track::counters::{Program, beyond};

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let Some(path) = words.next() else {
        eprintln!("usage: beyond PROGRAM [ARGUMENT...]");
        return ExitCode::from(2);
    };
    print!("{}", beyond(&words.fold(Program::new(path), Program::argument)).text());
    ExitCode::SUCCESS
}
