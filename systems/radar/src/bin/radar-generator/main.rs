//! Sends what several radars see of a scenario: ASTERIX categories 048 and 034 over UDP.

use anyhow::{Context as _, Result, bail};
use chronoscope_clock as clock;
use chronoscope_radar::asterix::DataSource;
use chronoscope_radar::exit;
use chronoscope_radar::generator::{Bias, Fault, Generator, Transmission, Truth, sites::SITES};
use chronoscope_radar::link::{Destinations, write_whole};
use chronoscope_radar::traffic::{Aircraft, flights, live, plans};
use clap::{Parser, ValueEnum};
use std::fs::File;
use std::io::BufWriter;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

mod day;
mod shape;

const LONG_ABOUT: &str = "\
Sends what several radars see of a scenario: ASTERIX categories 048 (plots) and 034 (north and \
sector messages) over UDP, per sector and in real time, until the duration is over or SIGINT or \
SIGTERM comes. A summary goes to stdout.

The live scenario is COMPOSED, not recorded: real flights (OpenSky data over Switzerland, one day \
of 2018) that start again every half hour and are moved over Germany. Speeds, turns and climbs are \
real; density and levels are not: flights that never met are kept apart by whole thousands of feet. \
Mode 3/A codes, and addresses or callsigns that would occur twice, are made up. \
tools/flights fetches the recording and prints its path.

The other scenarios are artificial, each at --places over Germany with --flights each: circles of \
evenly spaced flights; crossings, two streams that meet in pairs; climbs and descents through one \
point; holds, stacks of racetracks.

Radars stand at about the sites of real German radars; detection probability 0.97, noise 70 m in \
range and 0.08 degrees in azimuth. All plots carry the mark for simulated targets.

Faults, by --fault, of one radar or of all: outage,FROM_S,TO_S: silent in this part of the \
scenario. clutter,PLOTS: so many false plots a turn, half of them in three clusters. \
duplicates,SHARE: this share of the plots is sent twice. late,SHARE,SECONDS: sent up to so much \
later, rightly stamped. bursts,SECONDS: everything is held back and sent at once this often. \
jumps,SHARE,SECONDS: stamps wrong by up to so much, either way. sectors,SHARE: this share of the \
sector and north messages is missing. turns,SHARE: the time of a turn varies by up to this share.";

/// Simulates several radars that observe a scenario, and sends ASTERIX over UDP.
#[derive(Parser, Debug)]
#[command(name = "radar-generator", version, long_about = LONG_ABOUT)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Air traffic to generate
    #[arg(long, value_enum, default_value = "live")]
    scenario: Scenario,
    /// Recorded flights of the live scenario (the file that tools/flights prints)
    #[arg(long, value_name = "FILE")]
    recording: Option<PathBuf>,
    /// Average number of aircraft at once in the live scenario [default: about 750, from a restart
    /// of the flights every half hour]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20_000))]
    aircraft: Option<u32>,
    #[command(flatten)]
    shape: shape::Shape,
    /// Number of radars
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=14))]
    radars: u8,
    /// Destination of plots; may be given several times, multicast groups too
    #[arg(long, value_name = "ADDR:PORT", required = true)]
    to: Vec<SocketAddr>,
    /// Let the n-th radar (from 0) send to the port plus n
    #[arg(long)]
    port_per_radar: bool,
    /// Number of routers that multicast passes
    #[arg(long, value_name = "HOPS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=255))]
    multicast_hops: u32,
    /// Speed of the scenario relative to the clock; stamps count from the beginning at the same
    /// speed, so at 1 they are UTC
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = positive)]
    speed: f64,
    /// Seconds to run, in real time [default: until stopped]
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    duration: Option<f64>,
    /// Seed of the random numbers; the same seed gives the same noise and detections
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// A systematic error of a radar, by its SAC/SIC (98/1 is the first): metres of range, degrees
    /// of azimuth, and seconds by which its plots are stamped late. Repeatable
    #[arg(long, value_name = "SAC/SIC=RANGE_M,AZIMUTH_DEG[,TIME_S]", value_parser = parse_bias)]
    bias: Vec<(DataSource, Bias)>,
    /// Fault of a radar, by its SAC/SIC, or of all: see below. Repeatable
    #[arg(long, value_name = "SAC/SIC|all=KIND,VALUE...", value_parser = parse_fault)]
    fault: Vec<(Option<DataSource>, Fault)>,
    /// Write the flight plans of all aircraft to a CSV file first
    #[arg(long, value_name = "FILE")]
    flight_plans: Option<PathBuf>,
    /// Write the true positions, once a second of the scenario, to a CSV file
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    Day(day::Arguments),
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Scenario {
    /// Real flights, composed into traffic over Germany
    Live,
    /// Circles of evenly spaced flights
    Circles,
    /// Two streams that meet in pairs
    Crossings,
    /// Climbs and descents through one point
    Climbs,
    /// Stacks of holding patterns
    Holds,
}

fn parse_bias(text: &str) -> Result<(DataSource, Bias)> {
    let (source, errors) =
        text.split_once('=').context("expected SAC/SIC=RANGE_M,AZIMUTH_DEG[,TIME_S]")?;
    let numbers: Vec<f64> = errors
        .split(',')
        .map(|part| part.trim().parse().with_context(|| format!("not a number: {part:?}")))
        .collect::<Result<_>>()?;
    let (range_m, azimuth_deg, time_s) = match numbers[..] {
        [range_m, azimuth_deg] => (range_m, azimuth_deg, 0.0),
        [range_m, azimuth_deg, time_s] => (range_m, azimuth_deg, time_s),
        _ => bail!("expected RANGE_M,AZIMUTH_DEG[,TIME_S]"),
    };
    if !(range_m.abs() <= 5_000.0 && azimuth_deg.abs() <= 10.0 && time_s.abs() <= 10.0) {
        bail!("at most ±5000 m, ±10 degrees and ±10 s expected");
    }
    Ok((source.parse()?, Bias { range_m, azimuth_deg, time_s }))
}

fn parse_fault(text: &str) -> Result<(Option<DataSource>, Fault)> {
    let (source, fault) = text.split_once('=').context("expected SAC/SIC=KIND,VALUE...")?;
    let source = if source == "all" { None } else { Some(source.parse()?) };
    Ok((source, fault.parse()?))
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("a number above 0".to_owned()),
    }
}

fn main() -> ExitCode {
    exit::end("radar-generator", generate(&Arguments::parse()))
}

fn generate(arguments: &Arguments) -> Result<()> {
    if let Some(Command::Day(day)) = &arguments.command {
        return day::run(day);
    }
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("cannot catch signals")?;
    }
    let aircraft = compose(arguments)?;
    if let Some(path) = &arguments.flight_plans {
        // Written whole: a program that waits for the file must not read a part of it.
        write_whole(path, |file| plans::write(&aircraft, file))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let to =
        Destinations::new(arguments.to.clone(), arguments.port_per_radar, arguments.multicast_hops)
            .context("cannot open a socket")?;
    let sites = &SITES[..usize::from(arguments.radars)];
    eprintln!("radar-generator: {} radars, sending to {}", sites.len(), to.describe());
    let schedule = Schedule::begin(arguments.speed);
    let mut generator = Generator::new(aircraft, sites, arguments.seed, schedule.start_utc_ns);
    for (source, bias) in &arguments.bias {
        if !generator.set_bias(*source, *bias) {
            bail!("--bias {source}: the scenario has no radar with this SAC/SIC");
        }
    }
    for (source, fault) in &arguments.fault {
        if !generator.add_fault(*source, *fault) {
            let source = source.map_or_else(|| "all".to_owned(), |source| source.to_string());
            bail!("--fault {source}: the scenario has no radar with this SAC/SIC");
        }
    }
    let summary = run(arguments, generator, to, &schedule, &stop)?;
    if arguments.json {
        println!("{}", summary.to_json());
    } else {
        print!("{}", summary.to_text());
    }
    Ok(())
}

fn compose(arguments: &Arguments) -> Result<Vec<Aircraft>> {
    match arguments.scenario {
        Scenario::Circles => Ok(arguments.shape.circles()),
        Scenario::Crossings => Ok(arguments.shape.crossings()),
        Scenario::Climbs => Ok(arguments.shape.climbs()),
        Scenario::Holds => Ok(arguments.shape.holds()),
        Scenario::Live => {
            let Some(path) = &arguments.recording else {
                bail!(
                    "the live scenario needs a recording: run tools/flights, which prints the \
                     path to give with --recording, or use another --scenario"
                );
            };
            let file =
                File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            let recorded = flights::read(file).with_context(|| path.display().to_string())?;
            let aircraft = live::compose(&recorded, arguments.aircraft);
            eprintln!(
                "radar-generator: composed of {} recorded flights, {} at once at the beginning",
                recorded.len(),
                aircraft.iter().filter(|plane| plane.at(0.0).is_some()).count()
            );
            Ok(aircraft)
        }
    }
}

/// Mapping from times of the scenario to instants of the clock.
struct Schedule {
    start_utc_ns: i64,
    start_monotonic_ns: u64,
    speed: f64,
}

impl Schedule {
    fn begin(speed: f64) -> Self {
        Self { start_utc_ns: clock::utc_now_ns(), start_monotonic_ns: clock::monotonic_ns(), speed }
    }

    /// By the monotonic clock, in nanoseconds.
    fn deadline_ns(&self, scenario_s: f64) -> u64 {
        #[allow(clippy::cast_possible_truncation, reason = "saturates after centuries")]
        let since_start_ns = (scenario_s / self.speed * 1e9) as u64;
        self.start_monotonic_ns.saturating_add(since_start_ns)
    }

    /// Waits for a time of the scenario; false when asked to stop meanwhile.
    fn wait_for(&self, scenario_s: f64, stop: &AtomicBool) -> bool {
        // A signal's handler only sets the flag, so it is looked at now and then.
        const LOOK_NS: u64 = 100_000_000;
        let deadline_ns = self.deadline_ns(scenario_s);
        loop {
            if stop.load(Ordering::Relaxed) {
                return false;
            }
            let now_ns = clock::monotonic_ns();
            if now_ns >= deadline_ns {
                return true;
            }
            clock::sleep_until(deadline_ns.min(now_ns.saturating_add(LOOK_NS)));
        }
    }

    fn elapsed_s(&self) -> f64 {
        clock::monotonic_ns().saturating_sub(self.start_monotonic_ns) as f64 / 1e9
    }
}

fn run(
    arguments: &Arguments,
    mut generator: Generator,
    mut to: Destinations,
    schedule: &Schedule,
    stop: &AtomicBool,
) -> Result<Summary> {
    let mut truth = match &arguments.truth {
        None => None,
        Some(path) => {
            let file =
                File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
            Some(Truth::new(BufWriter::new(file), 1.0).context("cannot write the truth")?)
        }
    };
    let until_s = arguments.duration.map_or(f64::INFINITY, |seconds| seconds * arguments.speed);
    let mut summary = Summary::new(&generator);
    let mut next_progress_s = PROGRESS_S;
    while let Some(transmission) = generator.next_transmission() {
        let transmission = transmission?;
        let due_s = transmission.at_s.min(until_s);
        if !schedule.wait_for(due_s, stop) || transmission.at_s > until_s {
            break;
        }
        let late_ns = clock::monotonic_ns().saturating_sub(schedule.deadline_ns(due_s));
        for datagram in &transmission.datagrams {
            to.send(transmission.radar, datagram);
        }
        summary.count(&transmission, late_ns);
        // The truth is for later: plots go first.
        if let Some(truth) = &mut truth {
            truth.write_until(&generator, due_s).context("cannot write the truth")?;
        }
        let elapsed_s = schedule.elapsed_s();
        if elapsed_s >= next_progress_s {
            eprintln!("radar-generator: {elapsed_s:.0} s, {} plots", summary.total(|r| r.plots));
            next_progress_s = elapsed_s + PROGRESS_S;
        }
    }
    if let Some(mut truth) = truth {
        let end_s = until_s.min(schedule.elapsed_s() * schedule.speed);
        truth
            .write_until(&generator, end_s)
            .and_then(|()| truth.finish())
            .context("cannot write the truth")?;
    }
    if let Some(error) = &to.first_error {
        eprintln!("radar-generator: {} datagrams were not sent, the first: {error}", to.errors);
    }
    summary.send_errors = to.errors;
    summary.elapsed_s = schedule.elapsed_s();
    Ok(summary)
}

/// Seconds between two lines of progress.
const PROGRESS_S: f64 = 10.0;

/// Counts of sent messages, as printed at the end.
struct Summary {
    radars: Vec<Sent>,
    elapsed_s: f64,
    send_errors: u64,
    late_ns_max: u64,
    late_ns_sum: u64,
    transmissions: u64,
}

#[derive(Default)]
struct Sent {
    name: &'static str,
    sac: u8,
    sic: u8,
    plots: u64,
    blocks: u64,
    datagrams: u64,
    octets: u64,
}

impl Summary {
    fn new(generator: &Generator) -> Self {
        let sent = |radar: &chronoscope_radar::generator::Radar| Sent {
            name: radar.site().name,
            sac: radar.site().source.sac,
            sic: radar.site().source.sic,
            ..Sent::default()
        };
        Self {
            radars: generator.radars().iter().map(sent).collect(),
            elapsed_s: 0.0,
            send_errors: 0,
            late_ns_max: 0,
            late_ns_sum: 0,
            transmissions: 0,
        }
    }

    fn count(&mut self, transmission: &Transmission, late_ns: u64) {
        self.late_ns_max = self.late_ns_max.max(late_ns);
        self.late_ns_sum += late_ns;
        self.transmissions += 1;
        let radar = &mut self.radars[transmission.radar];
        radar.plots += transmission.plots;
        radar.datagrams += transmission.datagrams.len() as u64;
        for datagram in &transmission.datagrams {
            radar.blocks += blocks_in(datagram);
            radar.octets += datagram.len() as u64;
        }
    }

    fn total(&self, of: impl Fn(&Sent) -> u64) -> u64 {
        self.radars.iter().map(of).sum()
    }

    fn late_mean_us(&self) -> f64 {
        self.late_ns_sum as f64 / self.transmissions.max(1) as f64 / 1e3
    }

    fn to_text(&self) -> String {
        use std::fmt::Write as _;
        let mut text = format!(
            "{:<20} {:>7} {:>9} {:>9} {:>10} {:>11}\n",
            "radar", "SAC/SIC", "plots", "blocks", "datagrams", "octets"
        );
        let total = Sent {
            name: "all",
            plots: self.total(|r| r.plots),
            blocks: self.total(|r| r.blocks),
            datagrams: self.total(|r| r.datagrams),
            octets: self.total(|r| r.octets),
            ..Sent::default()
        };
        for sent in self.radars.iter().chain([&total]) {
            let source = if sent.name == "all" {
                String::new()
            } else {
                format!("{}/{}", sent.sac, sent.sic)
            };
            // Writing into a string cannot fail.
            let _ = writeln!(
                text,
                "{:<20} {source:>7} {:>9} {:>9} {:>10} {:>11}",
                sent.name, sent.plots, sent.blocks, sent.datagrams, sent.octets
            );
        }
        let _ = writeln!(
            text,
            "{:.1} s, {:.1} plots/s; sent late by {:.0} µs on average, {:.0} µs at most; {} errors",
            self.elapsed_s,
            total.plots as f64 / self.elapsed_s.max(f64::MIN_POSITIVE),
            self.late_mean_us(),
            self.late_ns_max as f64 / 1e3,
            self.send_errors
        );
        text
    }

    fn to_json(&self) -> serde_json::Value {
        let radars: Vec<_> = self
            .radars
            .iter()
            .map(|r| {
                serde_json::json!({
                    "name": r.name, "sac": r.sac, "sic": r.sic, "plots": r.plots,
                    "blocks": r.blocks, "datagrams": r.datagrams, "octets": r.octets,
                })
            })
            .collect();
        serde_json::json!({
            "version": 1,
            "elapsed_s": self.elapsed_s,
            "plots": self.total(|r| r.plots),
            "blocks": self.total(|r| r.blocks),
            "datagrams": self.total(|r| r.datagrams),
            "octets": self.total(|r| r.octets),
            "send_errors": self.send_errors,
            "late_us_mean": self.late_mean_us(),
            "late_us_max": self.late_ns_max as f64 / 1e3,
            "radars": radars,
        })
    }
}

/// Number of ASTERIX blocks in one of our datagrams.
fn blocks_in(mut datagram: &[u8]) -> u64 {
    let mut blocks = 0;
    while let [_, high, low, ..] = *datagram {
        blocks += 1;
        datagram = datagram.get(usize::from(u16::from_be_bytes([high, low]))..).unwrap_or_default();
    }
    blocks
}
