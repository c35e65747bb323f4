//! `chronoscope net bulk`: speed of bulk transfer, and what limits the path.

use super::collection::Collection;
use crate::args::net::{Bulk, BulkDirection};
use crate::environment;
use crate::exit::Exit;
use crate::screen::{progress, show};
use crate::text::{self, Table, duration};
use crate::usage::Usage;
use anyhow::{Context, Result, bail};
use chronoscope_figures::numbers::percent;
use chronoscope_formats::json;
use chronoscope_net::answer::request::{BULK_OCTETS_MAX, BULK_TIME_MAX, Bulk as Limits};
use chronoscope_net::answer::{AnswerClient, Cpu, Token, Transferred};
use chronoscope_net::path::topology::Topology;
use chronoscope_net::rows;
use chronoscope_net::survey::{self, Options, Survey};
use chronoscope_net::verdict::{self, Element, PathLocation, Requests, Transfer, Verdict};
use serde_json::{Value, json};
use std::net::ToSocketAddrs;
use std::time::Duration;

/// Runs the command.
pub(crate) fn bulk(args: &Bulk) -> Result<Exit> {
    let options = options(args)?;
    let hosts = [
        args.from_name.clone().unwrap_or_else(environment::host_name),
        args.to_name.clone().unwrap_or_else(|| args.to.host.clone()),
    ];
    let elements = elements(args, &hosts, options.octets)?;
    let cannot = || format!("the address of {} is unknown", args.to.host);
    let mut found = (args.to.host.as_str(), args.to.port).to_socket_addrs().with_context(cannot)?;
    let server = found.next().with_context(cannot)?;
    let token = environment::token(args.token_file.as_deref())?;
    let token = token.as_ref().map(|token| Token::new(token.secret()));
    let collection = Collection::begin(&args.data)?;
    let mut say = |what: &str| progress(&format!("{what} …"));
    let found = survey::survey(&AnswerClient { server, token }, &options, &mut say);
    progress("");
    let survey = found.with_context(|| format!("{} cannot be judged", args.to))?;
    record(&survey, &hosts);
    let verdict = verdict::verdict(&survey.seen(hosts.clone()), elements.as_deref());
    if args.json {
        let part = document(&survey, &hosts, &verdict)?;
        show(&format!("{:#}\n", json::document("bulk", part)))?;
    } else {
        show(&words(&survey, &hosts, &verdict))?;
    }
    for trouble in &survey.troubles {
        say!("{trouble}");
    }
    collection.end()?;
    Ok(Exit::Done)
}

fn options(args: &Bulk) -> Result<Options> {
    let time_max = BULK_TIME_MAX.as_secs_f64();
    if !(0.001..=time_max).contains(&args.seconds) {
        let seconds = args.seconds;
        bail!(Usage::new(format!("--seconds {seconds}: from 0.001 to {time_max} expected")));
    }
    if !(1..=BULK_OCTETS_MAX).contains(&args.octets) {
        let octets = args.octets;
        bail!(Usage::new(format!("--octets {octets}: from 1 to {BULK_OCTETS_MAX} expected")));
    }
    let &[small, large] = args.sizes.as_slice() else {
        bail!(Usage::new("--sizes: two numbers expected"))
    };
    if !(12..=8192).contains(&small) || !(12..=8192).contains(&large) || small >= large {
        bail!(Usage::new(format!(
            "--sizes {small} {large}: a small and a large one, from 12 to 8192, expected"
        )));
    }
    let time = Duration::from_secs_f64(args.seconds);
    let at_most_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let limits = Some(Limits { octets: args.octets, at_most_ms });
    let bulk = match args.direction {
        BulkDirection::To => [limits, None],
        BulkDirection::From => [None, limits],
        BulkDirection::Both => [limits; 2],
    };
    Ok(Options { octets: [small, large], count: args.count, bulk, ..Options::default() })
}

fn elements(args: &Bulk, hosts: &[String; 2], sizes: [u32; 2]) -> Result<Option<Vec<Element>>> {
    let Some(path) = &args.topology else { return Ok(None) };
    let read = |path: &std::path::Path| {
        std::fs::read_to_string(path).with_context(|| path.display().to_string())
    };
    let measured = args.measured.as_deref().map(read).transpose()?;
    let topology = Topology::read(&read(path)?, measured.as_deref())
        .with_context(|| path.display().to_string())?;
    let found = verdict::elements(&topology, &hosts[0], &hosts[1], sizes);
    found.map(Some).with_context(|| {
        format!("{} (give the hosts' names there: --from-name, --to-name)", path.display())
    })
}

fn record(survey: &Survey, hosts: &[String; 2]) {
    let [here, there] = hosts;
    for ((from, to), moved) in [(here, there), (there, here)].into_iter().zip(&survey.bulk) {
        let Some(moved) = moved else { continue };
        let row = rows::Transfer {
            from: from.clone(),
            to: to.clone(),
            octets: moved.octets,
            start_ns: moved.start_ns,
            took_ns: moved.took_ns,
            complete: true,
        };
        row.record();
    }
    for (series, octets) in survey.between.iter().zip(survey.octets) {
        super::matrix::record(series, here, there, u64::from(octets));
    }
    let alone =
        hosts.iter().zip(&survey.alone).filter_map(|(host, own)| Some((host, own.as_ref()?)));
    for (host, own) in alone {
        for (series, octets) in own.iter().zip(survey.octets) {
            super::matrix::record(series, host, host, u64::from(octets));
        }
    }
}

/// For example `2.000 Mbit/s`.
fn speed(bits_per_s: f64) -> String {
    match bits_per_s {
        b if b < 1e3 => format!("{b:.0} bit/s"),
        b if b < 1e6 => format!("{:.2} kbit/s", b / 1e3),
        b if b < 1e9 => format!("{:.2} Mbit/s", b / 1e6),
        b => format!("{:.2} Gbit/s", b / 1e9),
    }
}

fn words(survey: &Survey, hosts: &[String; 2], verdict: &Verdict) -> String {
    let [here, there] = hosts;
    let mut table = Table::new(&["round trips", "octets", "first", "best", "p50", "p90", "lost"]);
    let ways = [
        (format!("{here} – {there}"), Some(&survey.between)),
        (format!("{here} alone"), survey.alone[0].as_ref()),
        (format!("{there} alone"), survey.alone[1].as_ref()),
    ];
    let time = |ns: Option<u64>| ns.map_or("–".to_owned(), |ns| duration(ns as f64));
    for (name, both) in ways {
        for (series, octets) in both.into_iter().flatten().zip(survey.octets) {
            let s = series.summary();
            let first = [name.clone(), octets.to_string(), time(s.first_ns), time(s.best_ns)];
            let rest = [time(s.p50_ns), time(s.p90_ns), text::count(s.lost)];
            table.row(first.into_iter().chain(rest).collect());
        }
    }
    let mut words = table.to_string();
    let mut table = Table::new(&[
        "bulk",
        "octets",
        "took",
        "speed",
        "CPU sender",
        "receiver",
        "busy sender",
        "receiver",
    ]);
    let ways = [format!("{here} → {there}"), format!("{there} → {here}")];
    for (way, moved) in survey.bulk.iter().enumerate() {
        let Some(moved) = moved else { continue };
        let [sender, receiver] = ends(moved, way);
        let share = |share: f64| percent(share, 0);
        let busy = |cpu: &Cpu| cpu.host_busy.map_or("–".to_owned(), share);
        table.row(vec![
            ways[way].clone(),
            text::count(moved.octets),
            duration(moved.took_ns as f64),
            speed(moved.bits_per_s()),
            share(process_share(sender)),
            share(process_share(receiver)),
            busy(sender),
            busy(receiver),
        ]);
    }
    if survey.bulk.iter().any(Option::is_some) {
        words += &format!("\n{table}");
    }
    words += &format!("\n{}", requests(&verdict.requests));
    for (way, transfer) in verdict.bulk.iter().enumerate() {
        if let Some(transfer) = transfer {
            words += &format!("{}\n", limit(&ways[way], transfer, hosts));
        }
    }
    words
}

/// CPU cost of the sender and of the receiver.
fn ends(moved: &Transferred, way: usize) -> [&Cpu; 2] {
    if way == 0 { [&moved.here, &moved.there] } else { [&moved.there, &moved.here] }
}

/// CPU share of the process, in processors; above 1 where several threads compute.
fn process_share(cpu: &Cpu) -> f64 {
    cpu.process_ns as f64 / cpu.wall_ns.max(1) as f64
}

fn requests(found: &Requests) -> String {
    let mut words = format!(
        "requests: the {} {} is the bottleneck, of {}:\n",
        found.place,
        found.name,
        duration(found.round_trip_ns)
    );
    let mut table = Table::new(&["part", "takes", "share", "a request", "an octet"]);
    for part in &found.parts {
        table.row(vec![
            format!("  {} {}", part.place, part.name),
            duration(part.ns),
            percent(part.share, 1),
            duration(part.request_ns),
            format!("{:.1} ns", part.octet_ns),
        ]);
    }
    words += &table.to_string();
    words
}

fn limit(way: &str, found: &Transfer, hosts: &[String; 2]) -> String {
    let mut words = format!("bulk {way}: the {} {} is the bottleneck", found.place, found.name);
    words += &match (found.place, found.capacity_bits_per_s) {
        (PathLocation::Host, _) => {
            let of = |host: usize| format!("{} {}", hosts[host], percent(found.wanted[host], 0));
            format!(": its thread always has something to compute; {}, {}", of(0), of(1))
        }
        (_, Some(most)) => format!(": {} of {}", speed(found.bits_per_s), speed(most)),
        (_, None) => {
            let most = percent(found.wanted[0].max(found.wanted[1]), 0);
            format!(": {}, while neither host computes more than {most}", speed(found.bits_per_s))
        }
    };
    words
}

fn document(survey: &Survey, hosts: &[String; 2], verdict: &Verdict) -> Result<Value> {
    let both = |both: &[chronoscope_net::probe::Series; 2]| -> Result<Value> {
        let mut all = Vec::new();
        for (series, octets) in both.iter().zip(survey.octets) {
            all.push(
                json!({ "octets": octets, "summary": serde_json::to_value(series.summary())? }),
            );
        }
        Ok(Value::Array(all))
    };
    let alone = |host: usize| survey.alone[host].as_ref().map(both).transpose();
    let mut bulk = Vec::new();
    for (way, moved) in survey.bulk.iter().enumerate() {
        let Some(moved) = moved else { continue };
        let [sender, receiver] = ends(moved, way);
        bulk.push(json!({
            "from": hosts[way], "to": hosts[1 - way], "octets": moved.octets,
            "start_ns": moved.start_ns, "took_ns": moved.took_ns,
            "bits_per_s": moved.bits_per_s(),
            "sender": serde_json::to_value(sender)?, "receiver": serde_json::to_value(receiver)?,
        }));
    }
    Ok(json!({
        "hosts": hosts,
        "between": both(&survey.between)?,
        "alone": [alone(0)?, alone(1)?],
        "connect": serde_json::to_value(survey.connect.summary())?,
        "transfers": bulk,
        "verdict": serde_json::to_value(verdict)?,
        "troubles": survey.troubles,
    }))
}
