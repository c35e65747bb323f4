//! The program `sle-user`: uses FCLTU, RAF, RCF and ROCF.

mod args;
mod ask;
mod delivery;
mod frames;
mod link;
mod pieces;
mod receive;
mod say;
mod selection;
mod send;
mod send_plan;
mod send_report;
mod terminal;

use anyhow::Context;
use args::{Args, UserCommand};
use chronoscope_record as record;
use chronoscope_sle::client::frames::FrameSettings;
use chronoscope_sle::client::{ClientSettings, User};
use chronoscope_sle::config::{Config, Finding};
use chronoscope_sle::pdu::UnbindReason;
use clap::Parser;
use say::UserOutput;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(code) => code,
        Err(error) => {
            let said = format!("sle-user: {error:#}");
            eprintln!("{}", chronoscope_escape::terminal_lines(&said));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(UserCommand::Link(link)) = &args.command {
        return link::run(link, args.quiet);
    }
    let config = Config::load(&args.config)
        .with_context(|| format!("configuration {}", args.config.display()))?;
    if args.check {
        return check(&config);
    }
    let Some(command) = &args.command else {
        anyhow::bail!(
            "a command is required: send, frames, receive, report, get, event, link or terminal (see --help)"
        );
    };
    record::init("SLE user");
    let interrupt = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        // A second signal ends the program if the first had no effect.
        signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&interrupt))?;
        signal_hook::flag::register(signal, Arc::clone(&interrupt))?;
    }
    let say = UserOutput { json: args.json, quiet: args.quiet };
    if let UserCommand::Frames(frames) = command {
        let mut settings = FrameSettings::of(&config, args.instance.as_deref())
            .context("the configuration is incomplete: --check lists the errors")?;
        settings.interrupt = interrupt;
        let is_whole = frames::run(frames, settings, say)?;
        return Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let mut settings = ClientSettings::of(&config, args.instance.as_deref())
        .context("the configuration is incomplete: --check lists the errors")?;
    settings.interrupt = interrupt;
    if let Some(version) = args.proposed {
        settings.association.version = version;
    }
    let is_whole = match command {
        UserCommand::Send(send) => return send::run(&config, args, send, settings, say),
        // Done above.
        UserCommand::Frames(_) | UserCommand::Link(_) => false,
        UserCommand::Receive(receive) => receive::run(receive, settings, say)?,
        UserCommand::Report => ask::report(&bound(settings, say)?, say)?,
        UserCommand::Get { parameter } => {
            ask::get(&bound(settings, say)?, parameter.as_deref(), say)?
        }
        UserCommand::Event { event, qualifier } => {
            ask::event(&bound(settings, say)?, *event, qualifier, say)?
        }
        UserCommand::Terminal => terminal::run(&settings, say)?,
    };
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Connects and binds.
fn bound(settings: ClientSettings, say: UserOutput) -> anyhow::Result<User> {
    let user = User::connect(settings)?;
    let version = user.bind()?;
    say.talk(&format!("bound, version {version}"));
    Ok(user)
}

/// Unbinds.
fn unbind(user: &User, say: UserOutput) {
    match user.unbind(UnbindReason::End) {
        Ok(()) => say.talk("unbound"),
        Err(error) => say.fault(&format!("UNBIND failed: {error}")),
    }
}

/// Prints the findings about the configuration; exit code 3 if one is an error.
pub(crate) fn check(config: &Config) -> anyhow::Result<ExitCode> {
    let findings = config.check();
    let mut out = std::io::stdout().lock();
    for finding in &findings {
        writeln!(out, "{finding}")?;
    }
    let mut is_wrong = findings.iter().any(Finding::is_wrong);
    if config.user.is_none() {
        writeln!(out, "wrong: there is no [user]")?;
        is_wrong = true;
    }
    Ok(if is_wrong { ExitCode::from(3) } else { ExitCode::SUCCESS })
}
