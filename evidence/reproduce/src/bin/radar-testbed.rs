//! `radar-testbed`: the radar chain on several hosts.

use anyhow::{Context, Result};
use chronoscope_reproduce::programs::Programs;
use chronoscope_reproduce::run::Interrupted;
use chronoscope_reproduce::testbed::args::{Arguments, TestbedPart};
use chronoscope_reproduce::testbed::{Bed, buffering, cost, heavy, live};
use clap::Parser;
use std::cell::Cell;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    run(&arguments).unwrap_or_else(|error| {
        eprintln!("radar-testbed: {error:#}");
        ExitCode::from(if error.is::<Interrupted>() { 130 } else { 4 })
    })
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let own = std::env::current_exe()?;
    let own = own.parent().context("this program is in no folder")?;
    let bed = Bed {
        out: arguments.out.clone(),
        programs: Programs::new(arguments.bin.as_deref().unwrap_or(own), None)?,
        root: arguments.root.clone(),
        recording: arguments.recording.clone(),
        one_host: arguments.one_host,
        quick: arguments.quick,
        speed: arguments.speed,
        quiet: arguments.quiet,
        stop,
        said_ns: Cell::new(0),
    };
    let (found, check) = match &arguments.part {
        TestbedPart::Live(options) => (live::run(&bed, options)?, options.check),
        TestbedPart::Heavy(options) => (heavy::run(&bed, options)?, false),
        TestbedPart::Buffering(options) => (buffering::run(&bed, options)?, false),
        TestbedPart::Cost(options) => (cost::run(&bed, options)?, false),
    };
    if arguments.json {
        println!("{:#}", found.json);
    } else {
        print!("{}", found.words);
    }
    Ok(ExitCode::from(match (found.any, found.holds) {
        _ if bed.is_interrupted() => 130,
        (false, _) => 3,
        (true, false) if check => 1,
        (true, _) => 0,
    }))
}
