//! `radar-tracker`: the multi-radar track server (MRTS).

use anyhow::{Context as _, bail};
use chronoscope_radar::asterix::DataSource;
use chronoscope_radar::geodesy::Wgs84;
use chronoscope_radar::tracker::Precision;
use chronoscope_radar::tracker::server::{self, ServerSettings};
use clap::Parser;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

/// Tracks aircraft from the plots of several radars.
///
/// Receives ASTERIX categories 048 (plots) and 034 (service messages, which tell where a radar
/// stands and how fast it turns) by UDP, and serves category 062 by TCP: one block a message, one
/// track a block, the correlator of its measurement in the Special Purpose field. Runs until
/// SIGINT or SIGTERM.
#[derive(Debug, Parser)]
#[command(name = "radar-tracker", version)]
struct Arguments {
    /// Address and port on which plots are received; port 0 lets the kernel choose.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0")]
    plots: SocketAddr,
    /// Multicast group to join as well; --plots then names the interface (or 0.0.0.0) and the
    /// port of the group. Repeatable.
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
    /// Cut a subscriber for whom more than this many octets wait.
    #[arg(long, value_name = "OCTETS", default_value_t = 1 << 20)]
    queue_octets: usize,
    /// Where the tracker's plane touches the earth: latitude and longitude in degrees.
    #[arg(long, value_name = "LAT,LON", default_value = "51,10", value_parser = parse_origin)]
    origin: Wgs84,
    /// A radar that does not tell where it stands: degrees, and metres over the ellipsoid.
    /// Repeatable.
    #[arg(long, value_name = "SAC/SIC=LAT,LON,HEIGHT", value_parser = parse_radar)]
    radar: Vec<(DataSource, Wgs84)>,
    /// Standard deviation of the radars' ranges, in metres.
    #[arg(long, value_name = "METRES", default_value_t = 70.0)]
    range_sigma: f64,
    /// Standard deviation of the radars' azimuths, in degrees.
    #[arg(long, value_name = "DEGREES", default_value_t = 0.08)]
    azimuth_sigma: f64,
    /// SAC/SIC of this tracker in its messages.
    #[arg(long, value_name = "SAC/SIC", default_value = "25/100", value_parser = parse_source)]
    source: DataSource,
    /// Print what was done as one JSON object on stdout at the end.
    #[arg(long)]
    json: bool,
}

fn main() -> anyhow::Result<()> {
    chronoscope_record::init("MRTS");
    let arguments = Arguments::parse();
    if !(arguments.range_sigma > 0.0 && arguments.azimuth_sigma > 0.0) {
        bail!("--range-sigma and --azimuth-sigma have to be above 0");
    }
    let summary = server::run(&ServerSettings {
        plots: arguments.plots,
        join: arguments.join,
        plots_port_file: arguments.plots_port_file,
        listen: arguments.listen,
        port_file: arguments.port_file,
        queue_octets_max: arguments.queue_octets,
        origin: arguments.origin,
        radars: arguments.radar,
        precision: Precision {
            range_sigma_m: arguments.range_sigma,
            azimuth_sigma_deg: arguments.azimuth_sigma,
        },
        source: arguments.source,
    })?;
    eprintln!(
        "radar-tracker: {} plots, {} messages about {} tracks, {} subscribers cut",
        summary.processor.plots,
        summary.processor.messages,
        summary.tracker.confirmed,
        summary.subscribers.cut_slow
    );
    if arguments.json {
        println!("{}", serde_json::to_string(&summary)?);
    }
    Ok(())
}

fn parse_source(text: &str) -> anyhow::Result<DataSource> {
    let (sac, sic) = text.split_once('/').context("expected SAC/SIC, as 25/7")?;
    Ok(DataSource { sac: sac.trim().parse()?, sic: sic.trim().parse()? })
}

fn parse_radar(text: &str) -> anyhow::Result<(DataSource, Wgs84)> {
    let (source, at) = text.split_once('=').context("expected SAC/SIC=LAT,LON,HEIGHT")?;
    let [lat_deg, lon_deg, height_m] = numbers(at)?;
    Ok((parse_source(source)?, checked(Wgs84 { lat_deg, lon_deg, height_m })?))
}

fn parse_origin(text: &str) -> anyhow::Result<Wgs84> {
    let [lat_deg, lon_deg] = numbers(text)?;
    checked(Wgs84 { lat_deg, lon_deg, height_m: 0.0 })
}

fn checked(at: Wgs84) -> anyhow::Result<Wgs84> {
    if at.lat_deg.abs() > 89.0 || at.lon_deg.abs() > 180.0 || at.height_m.abs() > 20_000.0 {
        bail!(
            "no such place: latitude {}, longitude {}, height {} m",
            at.lat_deg,
            at.lon_deg,
            at.height_m
        );
    }
    Ok(at)
}

fn numbers<const N: usize>(text: &str) -> anyhow::Result<[f64; N]> {
    let parsed: Vec<f64> = text
        .split(',')
        .map(|part| f64::from_str(part.trim()).with_context(|| format!("not a number: {part:?}")))
        .collect::<anyhow::Result<_>>()?;
    match <[f64; N]>::try_from(parsed) {
        Ok(values) if values.iter().all(|v| v.is_finite()) => Ok(values),
        _ => bail!("expected {N} numbers separated by commas"),
    }
}
