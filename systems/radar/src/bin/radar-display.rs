//! `radar-display`: a controller working position (CWP).

use anyhow::{Context as _, bail};
use chronoscope_radar::display::map::MapLayers;
use chronoscope_radar::display::server::{self, BrowserSettings, ServerSettings};
use chronoscope_radar::display::{Policy, View};
use chronoscope_radar::generator::sites::SITES;
use chronoscope_radar::geodesy::Wgs84;
use clap::Parser;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Shows the air situation: draws every track update of the message server.
///
/// Draws into memory and needs no screen. --png saves the picture at the end and on SIGUSR1.
/// Reconnects automatically. Runs until SIGINT or SIGTERM.
///
/// With --listen browsers draw instead, any number up to 16 of them at http://ADDR:PORT/. The
/// process keeps the tracks and finds conflicts; a redraw (TargetView_redraw) begins when an update
/// is sent to a browser and ends when that browser reports that it has shown it. Without a browser,
/// updates are received but nothing is redrawn.
///
/// Multiplot averaging (MPA): when the process cannot keep up, it collects updates and draws them
/// together every 500 ms. "auto" goes back when the load of drawing each update at once is
/// predicted to fit; "document" goes back when the load while averaging is low, checked every 25 s,
/// as in the PHOENIX evaluation, and oscillates under constant load.
#[derive(Debug, Parser)]
#[command(name = "radar-display", version)]
struct Arguments {
    /// Address on which the message server serves its displays.
    #[arg(long, value_name = "ADDR:PORT")]
    messages: SocketAddr,
    /// Columns and rows of the picture, each in 200 to 8000.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1600x1200", value_parser = parse_size)]
    size: (u16, u16),
    /// Centre of the picture: latitude and longitude in degrees.
    #[arg(long, value_name = "LAT,LON", default_value = "51.1,10.4", value_parser = parse_centre)]
    centre: Wgs84,
    /// Height of the picture in nautical miles.
    #[arg(long, value_name = "NM", default_value_t = 510.0)]
    height: f64,
    /// Radar sites shown: the first N of those that radar-generator simulates.
    #[arg(long, value_name = "N", default_value_t = 5)]
    radars: usize,
    /// Condition for collecting updates: auto, document, always or never.
    #[arg(long, value_name = "POLICY", default_value = "auto")]
    mpa: Policy,
    /// Serve a working position for browsers at this address. There is no token and no TLS: an
    /// address other than 127.0.0.1 shows the air situation to everyone who can reach it.
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<SocketAddr>,
    /// Also answer requests for this host name; may be given several times. Without it only
    /// requests for an IP address and for localhost are answered.
    #[arg(long, value_name = "NAME", requires = "listen")]
    allow_host: Vec<String>,
    /// Write the address that browsers connect to into FILE.
    #[arg(long, value_name = "FILE", requires = "listen")]
    port_file: Option<PathBuf>,
    /// Save the picture into FILE at the end and on SIGUSR1.
    #[arg(long, value_name = "FILE", conflicts_with = "listen")]
    png: Option<PathBuf>,
    /// Print a summary as one JSON object on stdout at the end.
    #[arg(long)]
    json: bool,
}

fn main() -> anyhow::Result<()> {
    chronoscope_record::init("CWP");
    let arguments = Arguments::parse();
    if !(1.0..=5000.0).contains(&arguments.height) {
        bail!("--height {}: between 1 and 5000 nautical miles", arguments.height);
    }
    let (width, height) = arguments.size;
    let centre = arguments.centre;
    let radars = SITES
        .iter()
        .take(arguments.radars)
        .map(|s| (ascii(s.name), s.position.lat_deg, s.position.lon_deg))
        .collect();
    let layers = MapLayers { radars, rings: Some((50.033, 8.570)) };
    let summary = server::run(&ServerSettings {
        messages: arguments.messages,
        view: View::new(width, height, centre, arguments.height),
        layers,
        policy: arguments.mpa,
        png: arguments.png,
        browsers: arguments.listen.map(|listen| BrowserSettings {
            listen,
            port_file: arguments.port_file,
            allow_hosts: arguments.allow_host,
            centre,
            height_nm: arguments.height,
        }),
    })?;
    eprintln!(
        "radar-display: {} updates drawn at once, {} collected, {} targets, {} mode changes",
        summary.position.standard, summary.position.averaged, summary.targets, summary.mode_changes
    );
    if let Some(browsers) = &summary.browsers {
        eprintln!(
            "radar-display: {} browsers, {} frames, {} updates shown, {} cut",
            browsers.connected,
            browsers.sent.frames,
            browsers.sent.shown,
            browsers.cut_slow + browsers.cut_protocol
        );
    }
    if arguments.json {
        println!("{}", serde_json::to_string(&summary)?);
    }
    Ok(())
}

/// The font is ASCII: German letters as they are written without them.
fn ascii(name: &str) -> String {
    name.replace('ä', "ae").replace('ö', "oe").replace('ü', "ue").replace('ß', "ss")
}

fn parse_size(text: &str) -> anyhow::Result<(u16, u16)> {
    let (width, height) =
        text.split_once('x').context("expected WIDTHxHEIGHT in pixels, such as 1600x1200")?;
    let size = (width.trim().parse()?, height.trim().parse()?);
    if !(200..=8000).contains(&size.0) || !(200..=8000).contains(&size.1) {
        bail!("{} x {}: width and height must be from 200 to 8000", size.0, size.1);
    }
    Ok(size)
}

fn parse_centre(text: &str) -> anyhow::Result<Wgs84> {
    let (lat, lon) = text.split_once(',').context("expected LAT,LON in degrees")?;
    let (lat, lon): (f64, f64) = (lat.trim().parse()?, lon.trim().parse()?);
    if !(-85.0..=85.0).contains(&lat) || !(-180.0..=180.0).contains(&lon) {
        bail!("latitude {lat}, longitude {lon} is not a position on Earth");
    }
    Ok(Wgs84::new(lat, lon, 0.0))
}
