//! `link`: keeps associations up until a signal.

use super::args::LinkArgs;
use super::check;
use anyhow::Context;
use chronoscope_record as record;
use chronoscope_sle::config::Config;
use chronoscope_sle::link::{self, LinkDaemon, LinkSignals};
use chronoscope_sle::provider::ProviderLog;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

pub(crate) fn run(args: &LinkArgs, quiet: bool) -> anyhow::Result<ExitCode> {
    if args.check || args.print_config {
        let named = || format!("configuration {}", args.file.display());
        let config = Config::load(&args.file).with_context(named)?;
        return if args.check { checked(&config) } else { print(&config) };
    }
    record::init("SLE user");
    let signals = LinkSignals::default();
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        // A second signal ends the program if the first had no effect.
        let ends = &signals.ends;
        signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(ends))?;
        signal_hook::flag::register(signal, Arc::clone(ends))?;
    }
    signal_hook::flag::register(signal_hook::consts::SIGHUP, Arc::clone(&signals.reload))?;
    let log =
        if quiet { ProviderLog::none() } else { ProviderLog::new(|said| eprintln!("{said}")) };
    let mut daemon = LinkDaemon::start(&args.file, log)
        .with_context(|| format!("configuration {}", args.file.display()))?;
    let mut out = std::io::stdout().lock();
    for (name, address) in daemon.addresses() {
        writeln!(out, "listening {name} {address}")?;
    }
    writeln!(out, "ready")?;
    out.flush()?;
    drop(out);
    daemon.run(&signals);
    Ok(ExitCode::SUCCESS)
}

/// Prints the findings; a configuration without a link is an error here.
fn checked(config: &Config) -> anyhow::Result<ExitCode> {
    let code = check(config)?;
    if config.link.is_empty() {
        writeln!(std::io::stdout(), "wrong: there is no [[link]]")?;
        return Ok(ExitCode::from(3));
    }
    Ok(code)
}

fn print(config: &Config) -> anyhow::Result<ExitCode> {
    let text = link::effective(config).map_err(anyhow::Error::msg)?;
    write!(std::io::stdout(), "{text}")?;
    Ok(ExitCode::SUCCESS)
}
