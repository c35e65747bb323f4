//! `radar-tracker`: the multi-radar track server (MRTS).

use anyhow::{Context as _, bail};
use chronoscope_radar::asterix::DataSource;
use chronoscope_radar::exit;
use chronoscope_radar::geodesy::Wgs84;
use chronoscope_radar::link::Sending;
use chronoscope_radar::tracker::regularity::{RadarReport, TRAITS};
use chronoscope_radar::tracker::server::{self, Input, ServerSettings};
use chronoscope_radar::tracker::sites::{self, RadarSite};
use chronoscope_radar::tracker::{PairSettings, Settings};
use clap::Parser;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Tracks aircraft from the plots of several radars.
///
/// Receives ASTERIX by UDP, or takes it from a capture or a raw recording: categories 048 (plots) and
/// 034 (service messages with a radar's position and rotation period), 001 and 002 (the same of older
/// radars), 021 (ADS-B), 020 and 010 (multilateration). Other categories are named and counted.
/// Serves category 062 by TCP: one block a message, one track a block, the correlator of its
/// measurement in the Special Purpose field.
/// Runs until SIGINT or SIGTERM, or until the end of the capture.
#[derive(Debug, Parser)]
#[command(name = "radar-tracker", version)]
struct Arguments {
    /// Address and port on which plots are received; port 0 lets the kernel choose.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0")]
    plots: SocketAddr,
    /// Take plots from the datagrams of a capture (pcap or pcapng), from a recording in the FINAL
    /// format (.ff, of IOSS recorders), or from a raw recording of ASTERIX blocks (.ast, .raw; each
    /// arrives when its records say), instead, as fast as possible, and end with it. The last two have
    /// no date: their first day is 1970-01-02.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["plots", "join", "plots_port_file"])]
    capture: Option<PathBuf>,
    /// Speed relative to the capture; 1 is the original speed.
    #[arg(long, value_name = "FACTOR", requires = "capture", value_parser = positive)]
    speed: Option<f64>,
    /// Write all messages about tracks into a capture (pcapng) as well.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// At the end write the path of each track, smoothed by earlier and later plots, as true
    /// positions for radar-evaluate --truth: where no truth is known. Keeps all plots in memory.
    #[arg(long, value_name = "FILE")]
    smoothed: Option<PathBuf>,
    /// Multicast group to join as well: the address of --plots then is that of the interface (with
    /// 0.0.0.0 the system chooses), its port that of the group. A group is joined again when its
    /// interface was removed and made again. Repeatable, at most 64.
    #[arg(long, value_name = "GROUP")]
    join: Vec<IpAddr>,
    /// Write the address on which plots are received into FILE.
    #[arg(long, value_name = "FILE")]
    plots_port_file: Option<PathBuf>,
    /// Address and port on which subscribers are served; port 0 lets the kernel choose.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Write the address on which subscribers are served into FILE.
    #[arg(long, value_name = "FILE")]
    port_file: Option<PathBuf>,
    /// Send each message about a track to this address by UDP as well, unicast or multicast, and
    /// status messages (ASTERIX categories 065 about the tracker and 063 about its sensors).
    /// Repeatable.
    #[arg(long, value_name = "ADDR:PORT")]
    to: Vec<SocketAddr>,
    /// Address of the interface by which multicast of --to leaves, instead of the one that the
    /// system chooses.
    #[arg(long, value_name = "ADDR", requires = "to")]
    to_interface: Option<Ipv4Addr>,
    /// Routers that multicast of --to passes.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    multicast_hops: u32,
    /// Hot standby: address on which the other tracker of a pair serves its subscribers. Both get the
    /// same plots; one sends tracks, the other stands by, with the same track numbers, and takes over
    /// within 2 s when the first is killed, stopped or cut off. Which one is in operation is said on
    /// stderr and in category 065 (I065/040 PSS), four times a second, to all subscribers.
    #[arg(long, value_name = "ADDR:PORT", requires = "unit", conflicts_with = "capture")]
    peer: Option<SocketAddr>,
    /// Number of this tracker in the pair, 1 or 2: unit 1 is in operation when both start.
    #[arg(long, value_name = "NUMBER", requires = "peer", value_parser = clap::value_parser!(u8).range(1..=2))]
    unit: Option<u8>,
    /// Interval between two status messages, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "4", value_parser = interval)]
    status_interval: Duration,
    /// Disconnect a subscriber when more than this many octets wait for it.
    #[arg(long, value_name = "OCTETS", default_value_t = 1 << 20)]
    queue_octets: usize,
    #[command(flatten)]
    sending: Sending,
    /// Point where the tracker's plane touches the earth: latitude and longitude in degrees.
    #[arg(long, value_name = "LAT,LON", default_value = "51,10")]
    origin: Wgs84,
    /// Site of a radar that does not report it, or reports it wrongly: degrees, and metres over the
    /// ellipsoid. Repeatable.
    #[arg(long, value_name = "SAC/SIC=LAT,LON,HEIGHT", value_parser = parse_radar)]
    radar: Vec<RadarSite>,
    /// The same for many radars, with what is known of them: a CSV file with the columns
    /// radar,lat_deg,lon_deg,height_m and any of range_sigma_m,azimuth_sigma_deg (standard
    /// deviations), range_error_m,azimuth_error_deg,time_error_s,east_error_m,north_error_m (known
    /// errors: reported less true, the last two of the site), turn_s (time of a turn),
    /// monitor_lat_deg,monitor_lon_deg,monitor_height_m (its field monitor or test target, from
    /// which the errors of a single radar are found), adsb_edition (edition of category 021 that a
    /// station sends: 2, 0.26 or 0.23). Fields may be empty.
    #[arg(long, value_name = "FILE")]
    radars: Option<PathBuf>,
    /// Settings of the tracker (process noise, gates, initiation, coasting, clutter, clocks,
    /// precision by kind of sensor): a TOML file, of which any part may be left out.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print all settings as such a file, and end.
    #[arg(long)]
    print_config: bool,
    /// Standard deviation of the ranges of radars whose own is not known yet, in metres, for all
    /// kinds of sensor.
    #[arg(long, value_name = "METRES", value_parser = positive)]
    range_sigma: Option<f64>,
    /// Standard deviation of the azimuths of such radars, in degrees.
    #[arg(long, value_name = "DEGREES", value_parser = positive)]
    azimuth_sigma: Option<f64>,
    /// Assume radars without systematic errors but the known ones, instead of estimating and correcting those of
    /// range, azimuth and time stamp from aircraft that several radars see.
    #[arg(long)]
    no_registration: bool,
    /// SAC/SIC of this tracker in its messages.
    #[arg(long, value_name = "SAC/SIC", default_value = "25/100")]
    source: DataSource,
    /// Print a table of the regularity of each radar's data on stdout at the end. New
    /// irregularities are also reported on stderr at once.
    #[arg(long, conflicts_with = "json")]
    report: bool,
    /// Print a summary as one JSON object on stdout at the end.
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // Not before: --help leaves no ring.
    chronoscope_record::init("MRTS");
    exit::end("radar-tracker", run(arguments))
}

fn run(arguments: Arguments) -> anyhow::Result<()> {
    let tuning = settings(&arguments)?;
    if arguments.print_config {
        print!("{}", tuning.to_toml());
        return Ok(());
    }
    let mut radars = arguments.radar;
    if let Some(path) = &arguments.radars {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        radars.extend(sites::read(&text).with_context(|| path.display().to_string())?);
    }
    let input = match arguments.capture {
        Some(file) => Input::Capture { file, speed: arguments.speed },
        None => Input::Udp {
            at: arguments.plots,
            join: arguments.join,
            port_file: arguments.plots_port_file,
        },
    };
    let summary = server::run(&ServerSettings {
        input,
        out: arguments.out,
        listen: arguments.listen,
        port_file: arguments.port_file,
        to: arguments.to,
        to_interface: arguments.to_interface,
        hops: arguments.multicast_hops,
        pair: arguments.peer.zip(arguments.unit).map(|(peer, unit)| PairSettings { peer, unit }),
        status_interval: arguments.status_interval,
        queue_octets_max: arguments.queue_octets,
        sending: arguments.sending,
        origin: arguments.origin,
        radars,
        smoothed: arguments.smoothed,
        tuning,
        source: arguments.source,
        registration: !arguments.no_registration,
    })?;
    eprintln!(
        "radar-tracker: {} plots, {} messages about {} tracks, {} subscribers cut",
        summary.processor.plots,
        summary.processor.messages,
        summary.tracker.confirmed,
        summary.subscribers.cut_slow
    );
    for (category, blocks) in &summary.processor.categories_not_used {
        eprintln!("radar-tracker: ASTERIX category {category:03} was not used: {blocks} blocks");
    }
    if arguments.report {
        print!("{}", report_text(&summary.radar_reports));
    }
    if arguments.json {
        println!("{}", serde_json::to_string(&summary)?);
    }
    Ok(())
}

/// Settings of the tracker: defaults, the file's, and what the command line says.
fn settings(arguments: &Arguments) -> anyhow::Result<Settings> {
    let mut settings = Settings::default();
    if let Some(path) = &arguments.config {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        settings = Settings::from_toml(&text).with_context(|| path.display().to_string())?;
    }
    let sensors = &mut settings.sensors;
    for sensor in [&mut sensors.primary, &mut sensors.secondary, &mut sensors.mode_s] {
        sensor.range_sigma_m = arguments.range_sigma.unwrap_or(sensor.range_sigma_m);
        sensor.azimuth_sigma_deg = arguments.azimuth_sigma.unwrap_or(sensor.azimuth_sigma_deg);
    }
    Ok(settings)
}

/// Delays, plots and turns of each radar, the share or amount of each trait, and the verdicts.
fn report_text(reports: &[RadarReport]) -> String {
    let mut text = format!(
        "{:<8} {:>8} {:>7} {:>8} {:>9} {:>9} {:>9}",
        "radar", "plots", "a turn", "turn, s", "delay, s", "its sd", "its p99"
    );
    for what in TRAITS {
        text += &format!(" {:>12}", what.name());
    }
    text += "\n";
    for radar in reports {
        let source = format!("{}/{}", radar.sac, radar.sic);
        text += &format!(
            "{source:<8} {:>8} {:>7.1} {:>8.3} {:>9.3} {:>9.3} {:>9.3}",
            radar.plots,
            radar.plots_a_turn,
            radar.turn_s,
            radar.delay_s,
            radar.delay_sd_s,
            radar.delay_p99_s
        );
        for what in TRAITS {
            let value = radar.traits.get(&what).map(|value| what.amount(*value));
            let mark =
                if radar.irregular.iter().any(|found| found.what == what) { "*" } else { "" };
            text += &format!(" {:>12}", value.unwrap_or_else(|| "-".to_owned()) + mark);
        }
        text += "\n";
    }
    let mut regular = true;
    for radar in reports {
        for found in &radar.irregular {
            regular = false;
            let others = found.others.map_or_else(String::new, |others| {
                format!("; of the others half have at most {}", found.what.amount(others))
            });
            let what = found.what.describe(found.value);
            text += &format!("radar {}/{} is irregular: {what}{others}\n", radar.sac, radar.sic);
        }
    }
    if regular {
        text += "no radar is irregular\n";
    }
    text
}

fn parse_radar(text: &str) -> anyhow::Result<RadarSite> {
    let (source, at) = text.split_once('=').context("expected SAC/SIC=LAT,LON,HEIGHT")?;
    if at.split(',').count() != 3 {
        bail!("expected SAC/SIC=LAT,LON,HEIGHT");
    }
    Ok(RadarSite::new(source.parse()?, at.parse()?))
}

fn interval(text: &str) -> Result<Duration, String> {
    let seconds = positive(text)?;
    if seconds < 0.1 {
        return Err("at least 0.1 s".to_owned());
    }
    Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("a number above 0".to_owned()),
    }
}
