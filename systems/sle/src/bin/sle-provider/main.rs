//! The program `sle-provider`: provides FCLTU, RAF, RCF and ROCF.

mod args;

use anyhow::Context;
use args::Args;
use chronoscope_record as record;
use chronoscope_sle::config::Config;
use chronoscope_sle::provider::{self, ProviderLog, RunningProvider};
use clap::Parser;
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Interval of the checks whether the program is to end.
const LOOK: Duration = Duration::from_millis(50);

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(code) => code,
        Err(error) => {
            let said = format!("sle-provider: {error:#}");
            eprintln!("{}", chronoscope_escape::terminal_lines(&said));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let config = Config::load(&args.config)
        .with_context(|| format!("configuration {}", args.config.display()))?;
    if args.check {
        return check(&config);
    }
    record::init("SLE provider");
    let ends = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&ends))?;
    }
    let log =
        if args.quiet { ProviderLog::none() } else { ProviderLog::new(|said| eprintln!("{said}")) };
    let running = provider::run(&config, log)?;
    announce(&running)?;
    let running = Arc::new(running);
    if args.operate {
        operate(&running, &ends)?;
    }
    while !ends.load(Ordering::Acquire) && !running.stops() {
        chronoscope_clock::sleep(LOOK);
    }
    // The operator's thread may still hold it, because it checks for the end only after a line.
    running.end();
    Ok(ExitCode::SUCCESS)
}

/// Prints the findings about the configuration; exit code 3 if one is an error.
fn check(config: &Config) -> anyhow::Result<ExitCode> {
    let findings = config.check();
    let mut out = std::io::stdout().lock();
    for finding in &findings {
        writeln!(out, "{finding}")?;
    }
    let mut is_wrong = findings.iter().any(chronoscope_sle::config::Finding::is_wrong);
    if config.provider.is_none() {
        writeln!(out, "wrong: there is no [provider]")?;
        is_wrong = true;
    }
    Ok(if is_wrong { ExitCode::from(3) } else { ExitCode::SUCCESS })
}

fn announce(running: &RunningProvider) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for address in running.addresses() {
        writeln!(out, "listening {address}")?;
    }
    for address in running.addresses_csts() {
        writeln!(out, "listening-csts {address}")?;
    }
    if let Some(address) = running.control() {
        writeln!(out, "control {address}")?;
    }
    for (instance, address) in running.sources() {
        writeln!(out, "source {instance} {address}")?;
    }
    writeln!(out, "ready")?;
    Ok(out.flush()?)
}

/// Executes operator commands from standard input.
fn operate(running: &Arc<RunningProvider>, ends: &Arc<AtomicBool>) -> anyhow::Result<()> {
    let (running, ends) = (Arc::clone(running), Arc::clone(ends));
    std::thread::Builder::new().name("operator".to_owned()).spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            println!("{}", running.order(&line));
            if ends.load(Ordering::Acquire) || running.stops() {
                return;
            }
        }
    })?;
    Ok(())
}
