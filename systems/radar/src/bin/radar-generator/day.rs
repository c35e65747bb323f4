//! `radar-generator day`: a whole day as captures.

use anyhow::{Context as _, Result, ensure};
use chronoscope_radar::day::{Day, Settings, Written};
use chronoscope_radar::traffic::{day::FLIGHTS_MAX, flights, made, plans};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// Writes a whole day into a folder for a replay; nothing is sent.
///
/// plots.pcapng has the output of the radars (ASTERIX 048 and 034 over UDP), queries.pcapng the
/// queries of the message server's clients (lines over TCP), both with arrival times; plans.csv the
/// flight plans; day.toml the scenario for `chronoscope replay`; day.json a summary. Without sizes
/// it is the published peak day of a European flow management system: 37,000 flights, 11.6 million
/// positions, 3.3 million queries in 24 hours.
///
/// The day is COMPOSED, not recorded: recorded flights at other times and places, and artificial
/// queries. With fewer hours the shape of the day is kept, shortened.
#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Folder to write into; created if it does not exist
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Recorded flights (the file that tools/flights prints); without it, flights are artificial
    #[arg(long, value_name = "FILE")]
    recording: Option<PathBuf>,
    /// Number of flights
    #[arg(long, value_name = "N", default_value_t = Settings::PEAK.flights, value_parser = clap::value_parser!(u32).range(1..=i64::from(FLIGHTS_MAX)))]
    flights: u32,
    /// Number of positions: plots of all radars
    #[arg(long, value_name = "N", default_value_t = Settings::PEAK.positions)]
    positions: u64,
    /// Number of queries
    #[arg(long, value_name = "N", default_value_t = Settings::PEAK.queries)]
    queries: u64,
    /// Number of clients that send queries
    #[arg(long, value_name = "N", default_value_t = Settings::PEAK.clients, value_parser = clap::value_parser!(u16).range(1..=1000))]
    clients: u16,
    /// Length of the day, in hours; at most 24
    #[arg(long, value_name = "HOURS", default_value_t = 24.0, value_parser = hours)]
    hours: f64,
    /// Start of the day, in seconds since the UTC epoch; default 2026-07-01 00:00
    #[arg(long, value_name = "SECONDS", default_value_t = Settings::PEAK.start_utc_ns / 1_000_000_000, value_parser = clap::value_parser!(i64).range(0..=9_000_000_000))]
    start: i64,
    /// Seed of the random numbers; the same seed gives the same day, octet for octet
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Number of made-up flights, as many as the live scenario's recording has.
const MADE_UP: u32 = 1200;

fn hours(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(hours) if hours > 0.0 && hours <= 24.0 => Ok(hours),
        _ => Err("a number above 0, at most 24".to_owned()),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let recorded = match &arguments.recording {
        None => {
            eprintln!("radar-generator: no --recording given: the flights are artificial");
            made::flights(MADE_UP, arguments.seed)
        }
        Some(path) => {
            let file =
                File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            flights::read(file).with_context(|| path.display().to_string())?
        }
    };
    let settings = Settings {
        flights: arguments.flights,
        positions: arguments.positions,
        queries: arguments.queries,
        clients: arguments.clients,
        length_s: arguments.hours * 3600.0,
        start_utc_ns: arguments.start * 1_000_000_000,
        seed: arguments.seed,
    };
    ensure!(settings.positions > 0, "--positions 0: at least 1 expected");
    let day = Day::compose(&recorded, settings)?;
    let out = &arguments.out;
    std::fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    eprintln!(
        "radar-generator: {} flights, {} radars, detection probability {:.3}",
        day.aircraft().len(),
        day.radar_count(),
        day.detection()
    );
    write(out, "plans.csv", |file| {
        Ok(plans::write_day(day.aircraft(), settings.start_utc_ns, file)?)
    })?;
    let plots = write(out, "plots.pcapng", |file| {
        Ok(day.write_plots(file, progress("plots", settings.length_s))?)
    })?;
    let queries = write(out, "queries.pcapng", |file| {
        Ok(day.write_queries(file, progress("queries", settings.length_s))?)
    })?;
    write(out, "day.toml", |file| Ok(file.write_all(scenario(&settings).as_bytes())?))?;
    let summary = summary(&day, &settings, arguments.recording.is_some(), plots, queries);
    write(out, "day.json", |file| Ok(writeln!(file, "{summary:#}")?))?;
    if arguments.json {
        println!("{summary}");
    } else {
        println!(
            "{} flights, {} positions in {} datagrams, {} queries of {} clients, {} h",
            day.aircraft().len(),
            plots.count,
            plots.packets,
            queries.count,
            settings.clients,
            arguments.hours
        );
    }
    Ok(())
}

/// Writes a file under another name and renames it when it is whole.
fn write<T>(
    folder: &Path,
    name: &str,
    fill: impl FnOnce(&mut BufWriter<File>) -> Result<T>,
) -> Result<T> {
    let (path, new) = (folder.join(name), folder.join(format!("{name}.new")));
    let all = || -> Result<T> {
        let mut file = BufWriter::with_capacity(1 << 20, File::create(&new)?);
        let filled = fill(&mut file)?;
        file.flush()?;
        std::fs::rename(&new, &path)?;
        Ok(filled)
    };
    all().with_context(|| format!("cannot write {}", path.display()))
}

/// Says on stderr how far it is, every tenth.
fn progress(what: &'static str, length_s: f64) -> impl FnMut(f64) {
    let mut next = 0.1;
    move |at_s: f64| {
        while at_s / length_s >= next {
            eprintln!("radar-generator: {what}: {:.0} %", next * 100.0);
            next += 0.1;
        }
    }
}

/// Tracker, message server and one reader of it, fed by the captures.
fn scenario(settings: &Settings) -> String {
    let start = settings.start_utc_ns / 1_000_000_000;
    format!(
        r#"# Written by radar-generator day. Chain: plots -> tracker -> messages -> display.
version = 1
name = "radar-day"
start = "{}"
duration = "{:.0}ms"
seed = 1
step = "1s"

# Recording reads the processor's own counter, which is real: without it two replays execute the
# same instructions.
[environment]
CHRONOSCOPE_RECORD = "off"

[ports]
plots = "udp"
tracks = "tcp"
displays = "tcp"
queries = "tcp"

[[process]]
name = "tracker"
command = ["{{bin}}/radar-tracker", "--plots", "127.0.0.1:{{port.plots}}",
  "--listen", "127.0.0.1:{{port.tracks}}", "--json"]

[[process]]
name = "messages"
command = ["{{bin}}/radar-messages", "--tracker", "127.0.0.1:{{port.tracks}}",
  "--listen", "127.0.0.1:{{port.displays}}", "--queries", "127.0.0.1:{{port.queries}}",
  "--flight-plans", "{{scenario}}/plans.csv", "--json"]

[[process]]
name = "display"
command = ["{{bin}}/radar-display", "--messages", "127.0.0.1:{{port.displays}}",
  "--png", "picture.png", "--size", "640x480", "--json"]

[[input]]
name = "plots"
journal = "plots.pcapng"
select = "udp 8600"
to = "plots"
kind = "state"

[[input]]
name = "queries"
journal = "queries.pcapng"
select = "tcp 8602"
to = "queries"
kind = "query"
login_lines = 0 # lines without a login
"#,
        utc(start),
        (settings.length_s + 10.0) * 1000.0
    )
}

/// Seconds since the UTC epoch as `YYYY-MM-DDTHH:MM:SSZ`.
fn utc(seconds: i64) -> String {
    // Days to a date of the Gregorian calendar, counted from 0000-03-01, which makes the leap day
    // the last of its year: 146,097 days are 400 years, 1461 four, 36,524 a hundred without the
    // last leap day; months of 153 days are five (31, 30, 31, 30, 31) from March on.
    let days = seconds.div_euclid(86_400) + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (date, month) =
        (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = year + 400 * era + i64::from(month <= 2);
    let of_day = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z")
}

fn summary(
    day: &Day,
    settings: &Settings,
    recorded: bool,
    plots: Written,
    queries: Written,
) -> serde_json::Value {
    serde_json::json!({
        "version": 1,
        "paths": if recorded { "recorded" } else { "made up" },
        "seed": settings.seed,
        "start": utc(settings.start_utc_ns / 1_000_000_000),
        "length_s": settings.length_s,
        "flights": day.aircraft().len(),
        "radars": day.radar_count(),
        "detection": day.detection(),
        "positions": plots,
        "queries": queries,
        "clients": settings.clients,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_400 + 86_399), "2000-02-29T23:59:59Z");
        assert_eq!(utc(Settings::PEAK.start_utc_ns / 1_000_000_000), "2026-07-01T00:00:00Z");
    }
}
