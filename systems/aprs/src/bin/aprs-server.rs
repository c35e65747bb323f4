//! The program `aprs-server`: an APRS-IS core server.

use anyhow::{Context, anyhow};
use chronoscope_aprs::args::Args;
use chronoscope_aprs::config::Config;
use chronoscope_aprs::daemon::{self, Ready, Signal, Signals, Started};
use chronoscope_aprs::engine::{Identity, LogLevel, Now, Server};
use chronoscope_aprs::log::Log;
use chronoscope_aprs::net::{self, Bound, Running};
use chronoscope_clock as clock;
use clap::Parser;
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("aprs-server: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> anyhow::Result<()> {
    // Before there is any other thread.
    let Started { config, log, ready, pid_file, files_max: _ } = daemon::start(args)?;
    if args.check {
        for warning in &config.warnings {
            eprintln!("{warning}");
        }
        return Ok(());
    }
    let served = serve(args, config, &log, ready);
    drop(pid_file);
    if let Err(error) = &served {
        log.write(LogLevel::Critical, format_args!("{error:#}"));
    }
    served
}

fn now() -> Now {
    Now { monotonic_ns: clock::monotonic_ns(), utc_ns: clock::utc_now_ns() }
}

/// Serves until asked to end.
fn serve(args: &Args, config: Config, log: &Log, ready: Ready) -> anyhow::Result<()> {
    let mut signals = Signals::register().context("signals cannot be handled")?;
    let config = Arc::new(config);
    let bound = Bound::new(Arc::clone(&config)).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        anyhow!("{}", lines.join("; "))
    })?;
    let addresses = bound.addresses();
    let server = Server::new(config, seed(), identity(), now());
    let to_log = log.clone();
    let to_log: net::Log = Arc::new(move |level, line| to_log.write(level, line));
    let running = Running::start(server, bound, to_log).context("threads cannot be started")?;
    announce(&addresses, log, args.ports.as_deref())?;
    ready.tell().context("standard error cannot be redirected")?;
    loop {
        for signal in signals.wait(None).context("cannot wait for signals")? {
            match signal {
                Signal::Shutdown => {
                    log.write(LogLevel::Info, format_args!("ending: asked to by a signal"));
                    running.stop();
                    return Ok(());
                }
                Signal::Reload => reload(args, &running, log),
                Signal::ReopenLog => match log.reopen() {
                    Ok(()) => log.write(LogLevel::Info, format_args!("the log is opened anew")),
                    Err(error) => log.write(LogLevel::Error, format_args!("{error}")),
                },
                Signal::Upgrade => {}
            }
        }
    }
}

/// The seed of hash tables: nobody outside can know it. A replay has its recording's.
fn seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish()
}

fn identity() -> Identity {
    Identity { software: "aprs-server".into(), version: env!("CARGO_PKG_VERSION").into() }
}

fn reload(args: &Args, running: &Running, log: &Log) {
    let handle = running.handle();
    let server = handle.server();
    let Some(config) = daemon::reread(args, &server.config(), log) else { return };
    let config = Arc::new(config);
    server.reload(Arc::clone(&config));
    for error in running.reload(config) {
        log.write(LogLevel::Error, format_args!("{error}"));
    }
}

/// Says where the ports are: in the log, and in the file that was asked for, which is there whole
/// or not at all.
fn announce(
    addresses: &[(String, &str, SocketAddr)],
    log: &Log,
    file: Option<&Path>,
) -> anyhow::Result<()> {
    let mut lines = String::new();
    for (name, protocol, address) in addresses {
        log.write(LogLevel::Info, format_args!("listening \"{name}\" {protocol} {address}"));
        let quote = if name.contains(' ') { "\"" } else { "" };
        writeln!(lines, "{quote}{name}{quote} {protocol} {address}")?;
    }
    let Some(file) = file else { return Ok(()) };
    let mut part = file.as_os_str().to_owned();
    part.push(".part");
    std::fs::write(&part, lines)
        .and_then(|()| std::fs::rename(&part, file))
        .with_context(|| format!("{} cannot be written", file.display()))
}
