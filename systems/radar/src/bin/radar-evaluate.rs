//! `radar-evaluate`: how good a tracker's tracks are.

use anyhow::{Context as _, Result, bail};
use chronoscope_clock as clock;
use chronoscope_radar::evaluate::{
    Coverage, Details, Dubious, ErrorLimit, Evaluation, Part, Reports, Requirement, Residuals,
    Settings, Truths, against_tracks, against_truth_where, dubious, html, limits, reconstruct,
    text,
};
use chronoscope_radar::geodesy::{Stereographic, Wgs84};
use chronoscope_radar::link::BlockReader;
use chronoscope_radar::tracker::{Settings as Tuning, sites};
use chronoscope_radar::traffic::plans;
use clap::{ArgGroup, Parser, ValueEnum};
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const LONG_ABOUT: &str = "\
Says how good a tracker's tracks (ASTERIX category 062) are: against the true positions of a \
generated scenario, beside what ED-142 and ESASSP require, against the recorded tracks of another \
tracker, or against a reference reconstructed from the plots of all sensors.

Against the truth: probability of update, long gaps, errors of position in straight flight and in \
turns and of level, false and lost tracks, swaps, duplicates, time to initiation. Updates that a \
tracker extrapolates while a track coasts count as none; they have two figures of their own. Against other \
tracks: mean (bias) and standard deviation of the differences, matched by address, else by Mode A \
code, else by place; nobody knows which of both is right.

Both by area and level, by target, along and across the course, with the latency of reports: --html \
writes them as one page with maps, --json has them as `details`. With --plots a target counts as \
without a track only where the sensors see; without it, against other tracks, only in cells of 10 NM \
in which there ever was a track.

Beside positions it says how many reports have the right address, Mode A code, identification and level, a \
wrong one or none, where the reference knows them (of true positions, the code and identification by \
--flight-plans), how many errors are within limits (--within), and which tracks are dubious by \
themselves: too short, without anything but positions, or moving as no aircraft does.

Tracks come from a capture (pcap or pcapng, UDP or TCP), from a recording (.ff, .ast) or live from a tracker.

Exit codes: 0 done; 1 --check was given and the requirement does not hold; 2 usage; 3 nothing to \
compare; 4 error.";

/// Measures the quality of a tracker's tracks.
#[derive(Debug, Parser)]
#[command(name = "radar-evaluate", version, long_about = LONG_ABOUT)]
#[command(group = ArgGroup::new("from").required(true).args(["tracks", "connect"]))]
#[command(group = ArgGroup::new("to").required(true).multiple(true).args(["truth", "reference", "plots"]))]
struct Arguments {
    /// Capture with the tracks, or a recording of them in the FINAL format (.ff) or of raw ASTERIX blocks (.ast)
    #[arg(long, value_name = "FILE")]
    tracks: Option<PathBuf>,
    /// Subscribe to the tracker at this address instead, until it ends, for --seconds, or until
    /// SIGINT
    #[arg(long, value_name = "ADDR:PORT")]
    connect: Option<SocketAddr>,
    /// Time to listen, in seconds
    #[arg(long, value_name = "SECONDS", requires = "connect", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    seconds: Option<u32>,
    /// True positions, as radar-generator --truth writes them; read after the tracks
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Flight plans of the aircraft of --truth, as radar-generator --flight-plans writes them: their
    /// Mode A codes and callsigns, with which those of the tracks are compared
    #[arg(long, value_name = "FILE", requires = "truth")]
    flight_plans: Option<PathBuf>,
    /// Capture or recording with the tracks of another tracker
    #[arg(long, value_name = "FILE", conflicts_with = "truth")]
    reference: Option<PathBuf>,
    /// Capture or recording with the plots of all sensors: where they see. Without --truth and --reference the
    /// reference is reconstructed from them, by this program's tracker, smoothed by earlier and later
    /// plots
    #[arg(long, value_name = "FILE")]
    plots: Option<PathBuf>,
    /// Sites of radars that do not report theirs, as radar-tracker --radars has them
    #[arg(long, value_name = "FILE", requires = "plots")]
    radars: Option<PathBuf>,
    /// Settings of the tracker that reconstructs the reference, as radar-tracker --config has them
    #[arg(long, value_name = "FILE", requires = "plots")]
    config: Option<PathBuf>,
    /// Write the whole result as one HTML page, with maps, that needs nothing else
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Point where the plane of comparison touches the earth, in degrees
    #[arg(long, value_name = "LAT,LON", default_value = "51,10")]
    origin: Wgs84,
    /// Only aircraft between these corners, in degrees
    #[arg(long, value_name = "SOUTH,WEST,NORTH,EAST", value_parser = parse_area)]
    area: Option<[f64; 4]>,
    /// Only aircraft between these flight levels
    #[arg(long, value_name = "LOW-HIGH", value_parser = parse_levels)]
    levels: Option<(f64, f64)>,
    /// Time at the beginning, in seconds, that is not counted, while tracks form [default: 40, and 0
    /// with --reference]
    #[arg(long, value_name = "SECONDS", value_parser = not_negative)]
    skip: Option<f64>,
    /// Longest time between two updates of a track, in seconds [default: 8 en route, 5 in a terminal
    /// area, the longest that ESASSP allows]
    #[arg(long, value_name = "SECONDS", value_parser = not_negative, conflicts_with = "reference")]
    interval: Option<f64>,
    /// Count the reports whose error is within a limit, repeatable: distance, along, across (m),
    /// latency (s), speed (m/s), course (°), level (ft; a level farther off is wrong), climb (ft/min).
    /// [default: distance=926, along=555, across=555, latency=2, speed=10, course=10, level=300,
    /// climb=500; no standard's]
    #[arg(long, value_name = "WHAT=LIMIT")]
    within: Vec<ErrorLimit>,
    /// Required quality: limits of ED-142 and of ESASSP, of each the source in the report
    #[arg(long, value_enum, default_value = "en-route", conflicts_with = "reference")]
    requirement: Airspace,
    /// Exit with 1 when the requirement does not hold
    #[arg(long, conflicts_with = "reference")]
    check: bool,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

/// Warm-up time against a truth, s.
const SKIP_S: f64 = 40.0;

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Airspace {
    /// ED-142 en route: updates 0.97, 350 m, long gaps 0.01; ESASSP for 5 NM: 8 s, 0.97, 500 m
    EnRoute,
    /// ED-142 terminal: updates 0.97, 150 m, long gaps 0.001; ESASSP for 3 NM: 5 s, 0.97, 300 m
    Terminal,
}

fn parse_area(text: &str) -> Result<[f64; 4], String> {
    let numbers: Vec<f64> = text.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    match numbers[..] {
        [south, west, north, east]
            if south < north && west < east && south.abs() < 89.0 && north.abs() < 89.0 =>
        {
            Ok([south, west, north, east])
        }
        _ => Err("expected SOUTH,WEST,NORTH,EAST in degrees, as 47.5,6,55,15".to_owned()),
    }
}

fn parse_levels(text: &str) -> Result<(f64, f64), String> {
    let parsed = text.split_once('-').and_then(|(low, high)| {
        Some((low.trim().parse::<f64>().ok()?, high.trim().parse::<f64>().ok()?))
    });
    parsed
        .filter(|(low, high)| low <= high)
        .ok_or_else(|| "expected LOW-HIGH, as 100-400".to_owned())
}

fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err("a number, not below 0".to_owned()),
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let said = format!("radar-evaluate: {error:#}");
            eprintln!("{}", chronoscope_escape::terminal_lines(&said));
            ExitCode::from(4)
        }
    }
}

fn run(arguments: &Arguments) -> Result<u8> {
    let plane = Stereographic::new(arguments.origin);
    let mut ours = match (&arguments.tracks, arguments.connect) {
        (Some(path), _) => read(path, plane)?,
        (None, Some(address)) => listen(address, arguments.seconds, plane)?,
        (None, None) => bail!("the tracks are missing: give --tracks or --connect"),
    };
    let part = Part { area_deg: arguments.area, levels: arguments.levels };
    let reconstructed = arguments.plots.as_deref().map(|path| sensors(arguments, path, &plane));
    let (paths, coverage) = reconstructed.transpose()?.unzip();
    let (coverage, limits) = (coverage.unwrap_or_default(), limits(&arguments.within));
    let span_utc_s = span_s(&ours);
    let strange = dubious(&ours.reports, (&part, &plane));
    if let Some(path) = &arguments.reference {
        let reference = read(path, plane)?;
        let skip_s = arguments.skip.unwrap_or(0.0);
        let from_s = span_utc_s.map_or(f64::NEG_INFINITY, |(from_s, _)| from_s + skip_s);
        ours.reports.retain(|report| report.utc_s >= from_s);
        let (residuals, details) =
            against_tracks(&ours.reports, &reference.reports, (&part, &plane), (coverage, &limits));
        let conditions = Conditions { skip_s, interval_s: None, span_utc_s };
        let what = path.display().to_string();
        write_html(arguments, (&what, conditions), None, (&details, &strange))?;
        return print_differences(arguments, &residuals, (&details, &strange));
    }
    let (truths, what) = match (&arguments.truth, paths) {
        (Some(path), _) => {
            let truths = Truths::read(BufReader::new(open(path)?), &plane)
                .with_context(|| path.display().to_string())?;
            (with_plans(arguments, truths)?, path.display().to_string())
        }
        (None, Some(paths)) => (paths, "paths reconstructed from the plots".to_owned()),
        (None, None) => bail!("nothing to compare with: give --truth, --reference or --plots"),
    };
    let requirement = match arguments.requirement {
        Airspace::EnRoute => Requirement::EN_ROUTE,
        Airspace::Terminal => Requirement::TERMINAL,
    };
    let settings = Settings {
        skip_s: arguments.skip.unwrap_or(SKIP_S),
        interval_s: arguments.interval.unwrap_or(requirement.separation.interval_s_max),
        area_deg: arguments.area,
        levels: arguments.levels,
        requirement,
    };
    let how = (coverage, &limits[..]);
    let evaluation = against_truth_where(&ours.reports, &truths, &plane, &settings, how);
    let (skip_s, interval_s) = (settings.skip_s, Some(settings.interval_s));
    let conditions = Conditions { skip_s, interval_s, span_utc_s };
    write_html(arguments, (&what, conditions), Some(&evaluation), (&evaluation.details, &strange))?;
    if arguments.json {
        let mut value = versioned(serde_json::to_value(&evaluation)?);
        value["dubious"] = serde_json::to_value(strange)?;
        println!("{value}");
    } else {
        print!("{}{}", text::evaluation(&evaluation), text::details(&evaluation.details));
        print!("{}", text::dubious(&strange));
    }
    Ok(match evaluation {
        Evaluation { verdict, .. } if verdict.samples == 0 => 3,
        Evaluation { holds: false, .. } if arguments.check => 1,
        _ => 0,
    })
}

fn print_differences(
    arguments: &Arguments,
    residuals: &Residuals,
    (details, strange): (&Details, &Dubious),
) -> Result<u8> {
    if arguments.json {
        let mut value = versioned(serde_json::to_value(residuals)?);
        value["details"] = serde_json::to_value(details)?;
        value["dubious"] = serde_json::to_value(strange)?;
        println!("{value}");
    } else {
        print!("{}{}", text::residuals(residuals), text::details(details));
        print!("{}", text::dubious(strange));
    }
    Ok(if residuals.reports == 0 { 3 } else { 0 })
}

fn with_plans(arguments: &Arguments, truths: Truths) -> Result<Truths> {
    let Some(path) = &arguments.flight_plans else { return Ok(truths) };
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(truths.with_plans(&plans::read(&text).with_context(|| path.display().to_string())?))
}

/// The paths of all targets in the plots, and where the sensors see.
fn sensors(
    arguments: &Arguments,
    path: &Path,
    plane: &Stereographic,
) -> Result<(Truths, Coverage)> {
    let sites = match &arguments.radars {
        None => Vec::new(),
        Some(radars) => {
            let text = std::fs::read_to_string(radars)
                .with_context(|| format!("cannot read {}", radars.display()))?;
            sites::read(&text).with_context(|| radars.display().to_string())?
        }
    };
    let settings = match &arguments.config {
        None => Tuning::default(),
        Some(config) => {
            let text = std::fs::read_to_string(config)
                .with_context(|| format!("cannot read {}", config.display()))?;
            Tuning::from_toml(&text).with_context(|| config.display().to_string())?
        }
    };
    reconstruct(path, (&sites, settings), arguments.origin, plane)
        .with_context(|| path.display().to_string())
}

/// What an HTML page says of the time that is evaluated.
#[derive(Clone, Copy, Debug)]
struct Conditions {
    skip_s: f64,
    interval_s: Option<f64>,
    span_utc_s: Option<(f64, f64)>,
}

/// Time of the first and the last report, seconds since the UTC epoch.
fn span_s(reports: &Reports) -> Option<(f64, f64)> {
    let times = reports.reports.iter().map(|report| (report.utc_s, report.utc_s));
    times.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

fn write_html(
    arguments: &Arguments,
    (reference, conditions): (&str, Conditions),
    evaluation: Option<&Evaluation>,
    (details, dubious): (&Details, &Dubious),
) -> Result<()> {
    let Some(path) = &arguments.html else { return Ok(()) };
    let tracks = match (&arguments.tracks, arguments.connect) {
        (Some(path), _) => path.display().to_string(),
        (None, address) => address.map_or_else(String::new, |address| address.to_string()),
    };
    let mut part = String::new();
    if let Some([south, west, north, east]) = arguments.area {
        part += &format!("Area {south},{west},{north},{east}. ");
    }
    if let Some((low, high)) = arguments.levels {
        part += &format!("Flight levels {low} to {high}.");
    }
    let Conditions { skip_s, interval_s, span_utc_s } = conditions;
    let subject =
        html::Subject { tracks: &tracks, reference, part: &part, skip_s, interval_s, span_utc_s };
    let verdict = evaluation.map(|e| (&e.verdict, &e.requirement[..]));
    std::fs::write(path, html::page(subject, verdict, details, dubious))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// With the version of the format first: raised when a field changes its meaning.
fn versioned(mut value: serde_json::Value) -> serde_json::Value {
    value["version"] = 1.into();
    value
}

fn open(path: &Path) -> Result<File> {
    File::open(path).with_context(|| format!("cannot open {}", path.display()))
}

fn read(path: &Path, plane: Stereographic) -> Result<Reports> {
    let reports = Reports::open(path, plane).with_context(|| path.display().to_string())?;
    say(&path.display().to_string(), &reports);
    Ok(reports)
}

fn say(from: &str, reports: &Reports) {
    eprintln!(
        "radar-evaluate: {from}: {} reports of tracks; {} without number, time or position, {} of \
         other categories, {} malformed",
        reports.reports.len(),
        reports.incomplete,
        reports.other,
        reports.malformed
    );
}

fn listen(address: SocketAddr, seconds: Option<u32>, plane: Stereographic) -> Result<Reports> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("cannot catch signals")?;
    }
    let mut stream =
        TcpStream::connect(address).with_context(|| format!("cannot subscribe to {address}"))?;
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    eprintln!("radar-evaluate: subscribed to {address}");
    let begin_ns = clock::monotonic_ns();
    let over = || {
        let elapsed_ns = clock::monotonic_ns().saturating_sub(begin_ns);
        stop.load(Ordering::Relaxed)
            || seconds.is_some_and(|seconds| elapsed_ns >= u64::from(seconds) * 1_000_000_000)
    };
    let (mut reports, mut reader) = (Reports::new(plane), BlockReader::default());
    let mut buffer = vec![0; 65_536];
    while !over() {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(octets) => {
                reader.extend(&buffer[..octets]);
                while let Some(block) = reader.next_block()? {
                    reports.take(block, clock::utc_now_ns());
                }
            }
            Err(e)
                if matches!(
                    e.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) => {}
            Err(e) => return Err(e).with_context(|| address.to_string()),
        }
    }
    say(&address.to_string(), &reports);
    Ok(reports)
}
