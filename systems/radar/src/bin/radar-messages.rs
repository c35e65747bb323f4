//! `radar-messages`: the message server (MSG).

use anyhow::Context as _;
use chronoscope_radar::exit;
use chronoscope_radar::link::Sending;
use chronoscope_radar::messages::PlanCorrelation;
use chronoscope_radar::messages::server::{self, ServerSettings};
use chronoscope_radar::traffic::plans;
use clap::Parser;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

/// Correlates flight plans with tracks and serves the displays.
///
/// Subscribes to the tracker (ASTERIX category 062 by TCP), adds flight plan data (I062/390) to
/// each track update and sends it to every display, with its own correlator in the Special Purpose
/// field. Reconnects to the tracker automatically; disconnects a display that does not read. Runs
/// until SIGINT or SIGTERM.
#[derive(Debug, Parser)]
#[command(name = "radar-messages", version)]
struct Arguments {
    /// Address on which the tracker serves its subscribers. Twice for a pair of which one stands by
    /// (radar-tracker --peer): tracks come from the one that is in operation.
    #[arg(long, value_name = "ADDR:PORT", required = true)]
    tracker: Vec<SocketAddr>,
    /// Address and port on which displays are served; port 0 lets the kernel choose.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Write the address on which displays are served into FILE.
    #[arg(long, value_name = "FILE")]
    port_file: Option<PathBuf>,
    /// Answer questions on this address and port: lines of text in, lines of JSON out (see
    /// docs/radar-queries.md); port 0 lets the kernel choose.
    #[arg(long, value_name = "ADDR:PORT")]
    queries: Option<SocketAddr>,
    /// Write the address on which questions are answered into FILE.
    #[arg(long, value_name = "FILE", requires = "queries")]
    queries_port_file: Option<PathBuf>,
    /// Flight plans, the CSV file that radar-generator writes.
    #[arg(long, value_name = "FILE")]
    flight_plans: Option<PathBuf>,
    /// Disconnect a display or client when more than this many octets wait for it.
    #[arg(long, value_name = "OCTETS", default_value_t = 1 << 20)]
    queue_octets: usize,
    #[command(flatten)]
    sending: Sending,
    /// Print a summary as one JSON object on stdout at the end.
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // Not before: --help leaves no ring.
    chronoscope_record::init("MSG");
    exit::end("radar-messages", run(arguments))
}

fn run(arguments: Arguments) -> anyhow::Result<()> {
    let correlation = match &arguments.flight_plans {
        None => PlanCorrelation::default(),
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            let plans = plans::read(&text).with_context(|| path.display().to_string())?;
            eprintln!("radar-messages: {} flight plans", plans.len());
            PlanCorrelation::new(plans)
        }
    };
    let summary = server::run(ServerSettings {
        trackers: arguments.tracker,
        listen: arguments.listen,
        port_file: arguments.port_file,
        queue_octets_max: arguments.queue_octets,
        sending: arguments.sending,
        queries: arguments.queries,
        queries_port_file: arguments.queries_port_file,
        correlation,
    })?;
    eprintln!(
        "radar-messages: {} updates, {} with a flight plan, {} displays cut",
        summary.forwarder.updates, summary.forwarder.with_plan, summary.displays.cut_slow
    );
    if arguments.json {
        println!("{}", serde_json::to_string(&summary)?);
    }
    Ok(())
}
