//! The program `sle-comm`: a communication server between applications and the network.

use anyhow::Context;
use chronoscope_sle::communication::{
    CommunicationServer, CommunicationSettings, Relayed, Route, SessionLimits,
};
use chronoscope_sle::net::SocketOptions;
use chronoscope_sle::provider::ProviderLog;
use clap::Parser;
use serde_json::json;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Interval of the checks whether the program is to end.
const LOOK: Duration = Duration::from_millis(50);

/// Has the network connections of SLE and CSTS applications, which are connected to it on this host.
///
/// A route is LISTEN=TO. Whoever connects to LISTEN is the initiator of an association, and TO its
/// responder; each is host:port (TCP) or unix:PATH. For a provider's application:
/// 0.0.0.0:5008=unix:/run/sle/provider.sock, with listen_local in its configuration. For a user's:
/// unix:/run/sle/user.sock=station.example:5008, with address = "unix:/run/sle/user.sock".
///
/// When the routes are open, the program prints a line `listening ADDRESS` for each, then `ready`.
/// SIGTERM and SIGINT abort all associations and end the program; it then prints what it relayed.
///
/// Exit codes: 0 ended normally; 1 could not start; 2 wrong arguments.
#[derive(Debug, Parser)]
#[command(name = "sle-comm", version, max_term_width = 100)]
struct Args {
    /// A route; several may be given
    #[arg(required = true, value_name = "LISTEN=TO")]
    routes: Vec<Route>,

    /// Sessions of a route at a time; three quarters of them from one host
    #[arg(long, default_value_t = 64, value_name = "N")]
    sessions: u16,

    /// A connection is not read while more KiB wait to be sent on the other one
    #[arg(long, default_value_t = 1024, value_name = "KIB", value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    buffer_kib: u32,

    /// Print what was relayed as JSON
    #[arg(long)]
    json: bool,

    /// Print no log on standard error
    #[arg(short, long)]
    quiet: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let said = format!("sle-comm: {error:#}");
            eprintln!("{}", chronoscope_escape::terminal_lines(&said));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> anyhow::Result<()> {
    let ends = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&ends))?;
    }
    let log =
        if args.quiet { ProviderLog::none() } else { ProviderLog::new(|said| eprintln!("{said}")) };
    let settings = CommunicationSettings {
        routes: args.routes.clone(),
        options: SocketOptions::default(),
        sessions: args.sessions.into(),
        limits: SessionLimits {
            buffer_bytes: usize::try_from(args.buffer_kib).context("--buffer-kib")? << 10,
            ..SessionLimits::default()
        },
    };
    let mut server = CommunicationServer::start(&settings, log)?;
    announce(&server)?;
    while !ends.load(Ordering::Acquire) {
        chronoscope_clock::sleep(LOOK);
    }
    server.end();
    let (relayed, sessions) = server.relayed();
    println!(
        "{}",
        if args.json { in_json(&relayed, sessions) } else { in_words(&relayed, sessions) }
    );
    Ok(())
}

fn announce(server: &CommunicationServer) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for address in server.addresses() {
        writeln!(out, "listening {address}")?;
    }
    for path in server.paths() {
        writeln!(out, "listening unix:{}", path.display())?;
    }
    writeln!(out, "ready")?;
    Ok(out.flush()?)
}

fn in_json(relayed: &Relayed, sessions: u64) -> String {
    json!({
        "format": 1,
        "sessions": sessions,
        "pdus": { "of_initiators": relayed.pdus[0], "of_responders": relayed.pdus[1] },
        "octets": { "of_initiators": relayed.octets[0], "of_responders": relayed.octets[1] },
        "system_calls": relayed.calls + relayed.waits,
    })
    .to_string()
}

fn in_words(relayed: &Relayed, sessions: u64) -> String {
    format!(
        "{sessions} sessions, {} PDUs of initiators with {} octets, {} of responders with {}, {} \
         system calls",
        relayed.pdus[0],
        relayed.octets[0],
        relayed.pdus[1],
        relayed.octets[1],
        relayed.calls + relayed.waits
    )
}
