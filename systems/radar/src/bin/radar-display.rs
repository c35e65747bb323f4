//! `radar-display`: a controller working position (CWP).

use anyhow::{Context as _, bail};
use chronoscope_radar::asterix::DataSource;
use chronoscope_radar::display::map::MapLayers;
use chronoscope_radar::display::map_file;
use chronoscope_radar::display::server::{self, BrowserSettings, ServerSettings};
use chronoscope_radar::display::{Policy, View, world};
use chronoscope_radar::exit;
use chronoscope_radar::generator::sites::SITES;
use chronoscope_radar::geodesy::{METRES_PER_NM, Wgs84, middle};
use chronoscope_radar::tracker::sites;
use clap::Parser;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;

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
    /// Centre of the picture: latitude and longitude in degrees [default: the middle of the radars of
    /// --radars FILE; else 51.1,10.4, and a browser looks for the tracks when none is seen there].
    #[arg(long, value_name = "LAT,LON", value_parser = parse_centre)]
    centre: Option<Wgs84>,
    /// Height of the picture in nautical miles [default: what the radars of --radars FILE see, with a
    /// range of 150 nautical miles each; else 510].
    #[arg(long, value_name = "NM")]
    height: Option<f64>,
    /// Radar sites shown: the list that radar-tracker reads (--radars), or the first N of those that
    /// radar-generator simulates.
    #[arg(long, value_name = "FILE|N", default_value = "5")]
    radars: RadarsShown,
    /// Map: GeoJSON. The property "layer" of a feature is one of land, border, sector, airway, fix,
    /// airport, radar, area, line, inhibit, proximity, minimum; "name", "from_fl" and "to_fl" are its
    /// name and its flight levels. Without land in it browsers draw the coasts and borders of the
    /// whole Earth (Natural Earth). It takes the place of the made-up airspace over Germany.
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
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

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // Not before: --help leaves no ring.
    chronoscope_record::init("CWP");
    exit::end("radar-display", run(arguments))
}

fn run(arguments: Arguments) -> anyhow::Result<()> {
    let scene = Scene::new(&arguments)?;
    let Scene { centre, height_nm, layers, .. } = scene;
    let (width, height) = arguments.size;
    let summary = server::run(&ServerSettings {
        messages: arguments.messages,
        view: View::new(width, height, centre, height_nm),
        layers,
        policy: arguments.mpa,
        png: arguments.png,
        browsers: arguments.listen.map(|listen| BrowserSettings {
            listen,
            port_file: arguments.port_file,
            allow_hosts: arguments.allow_host,
            centre,
            centre_is_given: scene.is_given,
            height_nm,
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

/// Radar sites to show.
#[derive(Clone, Debug)]
enum RadarsShown {
    /// The first of those that the generator simulates.
    First(usize),
    /// Those of a list.
    Listed(PathBuf),
}

impl FromStr for RadarsShown {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(text.parse().map_or_else(|_| Self::Listed(text.into()), Self::First))
    }
}

/// Centre of the range rings over Germany: Frankfurt.
const RINGS: (f64, f64) = (50.033, 8.570);
/// Centre over Germany, where nothing else is known.
const GERMANY: Wgs84 = Wgs84 { lat_deg: 51.1, lon_deg: 10.4, height_m: 0.0 };
/// The map of Germany reaches so far from there, m.
const GERMANY_M: f64 = 500_000.0;
/// Range of a radar in a list, which does not say it, NM.
const RANGE_NM: f64 = 150.0;

/// What the picture shows besides tracks.
struct Scene {
    centre: Wgs84,
    /// Whether the centre was given, by itself or by radars.
    is_given: bool,
    height_nm: f64,
    layers: MapLayers,
}

impl Scene {
    fn new(arguments: &Arguments) -> anyhow::Result<Self> {
        let given = arguments.map.as_deref().map(read_map).transpose()?;
        let listed = match &arguments.radars {
            RadarsShown::Listed(path) => listed(path)?,
            RadarsShown::First(_) => Vec::new(),
        };
        let radars: Vec<(String, f64, f64)> = match &arguments.radars {
            RadarsShown::First(count) => SITES
                .iter()
                .take(*count)
                .map(|site| (ascii(site.name), site.position.lat_deg, site.position.lon_deg))
                .collect(),
            RadarsShown::Listed(_) => {
                listed.iter().map(|(name, at)| (name.clone(), at.lat_deg, at.lon_deg)).collect()
            }
        };
        let sites: Vec<Wgs84> = listed.into_iter().map(|(_, at)| at).collect();
        let middle = middle(sites.iter().copied());
        let centre = arguments.centre.or(middle);
        let farthest_nm = middle.map(|middle| {
            let distances = sites.iter().map(|site| site.ground_distance_m(middle));
            distances.fold(0.0, f64::max) / METRES_PER_NM
        });
        let seen_nm = farthest_nm.map(|nm| (2.0 * (nm + RANGE_NM)).clamp(1.0, 5000.0));
        let height_nm = arguments.height.or(seen_nm).unwrap_or(510.0);
        if !(1.0..=5000.0).contains(&height_nm) {
            bail!("--height {height_nm}: between 1 and 5000 nautical miles");
        }
        // Browsers have the whole Earth; a picture here has Germany, and elsewhere what they have.
        let elsewhere = centre.filter(|at| at.ground_distance_m(GERMANY) > GERMANY_M);
        let in_memory = arguments.listen.is_none();
        let land = || elsewhere.filter(|_| in_memory).and_then(world::around);
        let file = given.or_else(land).map(Arc::new);
        let rings = centre.map_or(RINGS, |at| (at.lat_deg, at.lon_deg));
        Ok(Self {
            is_given: centre.is_some(),
            centre: centre.unwrap_or(GERMANY),
            height_nm,
            layers: MapLayers { radars, rings: Some(rings), file },
        })
    }
}

/// Sites of a list, by SAC/SIC.
fn listed(path: &Path) -> anyhow::Result<Vec<(String, Wgs84)>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let sites = sites::read(&text).with_context(|| path.display().to_string())?;
    if sites.is_empty() {
        bail!("{}: there is no radar in it", path.display());
    }
    let name = |source: DataSource| format!("{}/{}", source.sac, source.sic);
    Ok(sites.iter().map(|site| (name(site.source), site.at)).collect())
}

fn read_map(path: &Path) -> anyhow::Result<map_file::MapFile> {
    let octets = std::fs::metadata(path).map(|about| about.len());
    let octets = octets.with_context(|| format!("cannot read {}", path.display()))?;
    if octets > map_file::OCTETS_MAX {
        bail!("{}: {octets} octets, at most {} are read", path.display(), map_file::OCTETS_MAX);
    }
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    map_file::read(&text).with_context(|| path.display().to_string())
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
