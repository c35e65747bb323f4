//! `chronoscope net table`: who loads the network.

use super::table_text as words;
use super::tables::{Tables, over_time, speeds};
use super::{grouping, stored};
use crate::args::net::Table;
use crate::exit::Exit;
use crate::screen::show;
use crate::times::Zone;
use crate::usage::Usage;
use anyhow::{Result, ensure};
use chronoscope_formats::json::document;
use chronoscope_net::activity::{Activity, Host};
use chronoscope_net::table::{ActivityTable, HostRow, Measure};
use chronoscope_query::StoreLocation;
use serde_json::{Value, json};
use std::ops::Range;
use std::time::Duration;

/// Runs the command.
pub(crate) fn table(args: &Table) -> Result<Exit> {
    ensure!(
        (0.0..=100.0).contains(&args.threshold),
        Usage::new(format!(
            "--threshold {}: a number of percent from 0 to 100 expected",
            args.threshold
        ))
    );
    let zone = Zone::new(args.utc);
    let range = range(&args.from, args.until.as_deref(), &zone)?;
    let groups = grouping::listed(&args.groups)?;
    let source = args.data.source()?;
    let mut activity = activity(&source, &range, over_time(args.measure), args.interval)?;
    let intervals_max = if args.json || args.csv { usize::MAX } else { words::INTERVALS };
    let tables = Tables {
        overview: activity.overview(),
        picture: activity.picture(intervals_max),
        silent: silent(&activity),
        measure: args.measure,
        threshold_percent: args.threshold,
        groups,
        speeds: speeds(&activity),
    };
    if activity.rows() == 0 {
        let (from, until) = (zone.instant(range.start), zone.instant(range.end));
        say!(
            "no scan in {source} from {from} to {until}: chronoscope net scan makes them, --from \
             and --until say another time"
        );
        return Ok(Exit::Nothing);
    }
    if args.json {
        show(&format!("{:#}\n", document("activity", json(&tables))))?;
    } else if args.csv {
        crate::screen::show_as_is(&csv(args, &tables))?;
    } else {
        show(&words::page(args, &tables, &zone))?;
    }
    Ok(Exit::Done)
}

/// Activity in the scans of a time range, with shares over time by `measure`.
pub(super) fn activity(
    source: &StoreLocation,
    range: &Range<i64>,
    measure: Measure,
    interval: Option<Duration>,
) -> Result<Activity> {
    let interval_ns = interval.map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    let mut activity = Activity::new(measure, range.start, interval_ns);
    stored::scans(source, range, &mut |row| activity.add(&row))?;
    if activity.left_out() > 0 {
        say!("{} rows of too many hosts were left out", activity.left_out());
    }
    Ok(activity)
}

/// The requested time range, in UTC nanoseconds; by default it ends now.
pub(super) fn range(from: &str, until: Option<&str>, zone: &Zone) -> Result<Range<i64>> {
    let now_ns = chronoscope_clock::utc_now_ns();
    let until = until.unwrap_or("-0s"); // now
    Ok(zone.range(Some(from), Some(until), now_ns)?)
}

/// Hosts that are silent now, or were for some time.
pub(super) fn silent(activity: &Activity) -> Vec<(String, Host)> {
    let silent = activity.hosts().filter(|(_, host)| host.silent_count > 0);
    silent.map(|(name, host)| (name.to_owned(), host.clone())).collect()
}

fn json(tables: &Tables) -> Value {
    let active: Vec<&str> = tables.active().iter().map(|line| line.host.as_str()).collect();
    let silent: Vec<Value> = tables
        .silent
        .iter()
        .map(|(name, host)| {
            json!({
                "host": name,
                "answered_ns": host.answered_ns,
                "silent_since_ns": host.silent_since_ns,
                "silent_count": host.silent_count,
                "why": host.why,
            })
        })
        .collect();
    let lines = tables.overview.lines.iter();
    let capacity: serde_json::Map<String, Value> = lines
        .filter_map(|line| Some((line.host.clone(), json!(tables.capacity_percent(line)?))))
        .collect();
    let columns: Vec<_> = tables.columns().iter().map(|measure| json!(measure)).collect();
    json!({
        "overview": tables.overview,
        "active": { "threshold_percent": tables.threshold_percent, "measures": columns, "hosts": active },
        "over_time": { "measure": over_time(tables.measure), "picture": tables.picture },
        "silent": silent,
        "groups": tables.by_group(),
        "capacity_percent": capacity,
    })
}

/// The requested table: all hosts, the most active of them, or activity over time.
fn csv(args: &Table, tables: &Tables) -> String {
    if args.over_time {
        return csv_over_time(&tables.picture);
    }
    let lines: Vec<&HostRow> =
        if args.active { tables.active() } else { tables.overview.lines.iter().collect() };
    let mut text = String::from(
        "host,measured_s,in_packets,in_packets_percent,out_packets,out_packets_percent,in_bytes,\
         in_bytes_percent,out_bytes,out_bytes_percent,bytes_per_s,in_errors,out_errors,in_drops,\
         out_drops,restarts,group,capacity_percent\n",
    );
    for line in lines {
        let counters = &line.counters;
        let mut fields = vec![field(&line.host), (line.measured_ns as f64 / 1e9).to_string()];
        for (measure, share) in Measure::COUNTED.iter().zip(line.share_percent) {
            fields.push(measure.of(counters).to_string());
            fields.push(share.map_or(String::new(), |share| share.to_string()));
        }
        fields.push(line.speed.to_string());
        fields.extend(counters.values()[4..].iter().map(u64::to_string));
        fields.push(line.restarts.to_string());
        fields.push(tables.groups.of(&line.host).map_or(String::new(), field));
        let percent = tables.capacity_percent(line);
        fields.push(percent.map_or(String::new(), |percent| percent.to_string()));
        text += &fields.join(",");
        text.push('\n');
    }
    text
}

fn csv_over_time(picture: &ActivityTable) -> String {
    let mut text = String::from("start_ns,interval_ns,host,percent\n");
    for (host, shares) in &picture.hosts {
        for (start_ns, share) in picture.starts_ns.iter().zip(shares) {
            if let Some(share) = share {
                let (host, interval_ns) = (field(host), picture.interval_ns);
                text += &format!("{start_ns},{interval_ns},{host},{share}\n");
            }
        }
    }
    text
}

/// A word as a field of CSV (RFC 4180).
fn field(word: &str) -> String {
    if word.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", word.replace('"', "\"\""))
    } else {
        word.to_owned()
    }
}
