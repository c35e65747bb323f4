//! Benchmark of predicted response times against measured ones, on a network of namespaces.
//!
//! Two gateways are measured one by one, each by two probes around it; then the round trip through
//! either, through both, through three and through four of them is predicted and measured: idle,
//! and with half and four fifths of the gateways' time taken by others. Aims: median within 5 %,
//! 90th percentile within 10 % of measured, the band not refuted. Then lengths of one and of several
//! packets ([`lengths`]).
//!
//! Probes are sparse and random in time, and every path and size has gateways of its own, several of
//! each, so that nobody waits for a probe; whoever carries, asks and answers runs before other
//! programs. What the gateways are known by and what the prediction is judged by are different
//! probes, taken in turns. The band is that of so many measured round trips; beside the measured
//! quantile stands the interval that has the true one with 95 %. `~`: outside the band, but its
//! interval meets it; `!`: the band is refuted. `--json` prints the same as JSON, `--quick` takes
//! fewer probes, `--lengths` only measures lengths.
#![allow(clippy::unwrap_used)]

mod lengths;

use chronoscope_lab::{Element, Joint, Lab, LabError, Namespace, Plan, Traffic, run_first};
use chronoscope_net::path::element::AtSize;
use chronoscope_net::path::interval::{Interval, interval};
use chronoscope_net::path::parts::parts;
use chronoscope_net::path::predict::{Prediction, predict};
use chronoscope_net::path::sampling::{ProbeFn, Sampling, sample};
use chronoscope_net::path::topology::Topology;
use chronoscope_net::probe::echo;
use chronoscope_statistics::Quantile;
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

type Failure = Box<dyn std::error::Error + Send + Sync>;

const SIZES: [u32; 3] = [64, 512, 1400];
/// Gateways by which servers are reached, one after the other.
const WAYS: [&str; 6] = ["", "A", "B", "AB", "ABA", "ABAB"];
/// Mean pause between two probes of one path: the memory of the slower gateway's queue, with four
/// fifths of its time taken, is some 100 ms long.
const PAUSE: Duration = Duration::from_millis(200);
const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

/// Round trips of every way and size, in the order in which they were made.
type Samples = Vec<[Vec<u64>; SIZES.len()]>;

fn main() -> Result<(), Failure> {
    let asked = |flag| std::env::args().any(|arg| arg == flag);
    if asked("--list") {
        return Ok(()); // asked by a test runner
    }
    if let Err(error) = std::thread::spawn(run_first).join().unwrap() {
        eprintln!("other programs' turns are in the figures: {error}");
    }
    let plan = if asked("--quick") { QUICK } else { FULL };
    let as_json = asked("--json");
    let say = |line: String| {
        if !as_json {
            println!("{line}");
        }
    };
    let result = if asked("--lengths") {
        lengths::measure(&plan, &say).map(|lengths| json!({ "version": 1, "lengths": lengths }))
    } else {
        all(&plan, &say)
    };
    match result {
        Ok(result) if as_json => println!("{result:#}"),
        Ok(_) => {}
        // A machine without the right to make namespaces has nothing to measure on.
        Err(error) if error.is::<LabError>() => eprintln!("{error}"),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Extent of the measurement.
struct Extent {
    /// Probes of each copy of a path.
    rounds: u32,
    /// Copies of each path, with gateways of their own.
    copies: u8,
    /// Round trips of each length.
    lengths: u32,
}

const QUICK: Extent = Extent { rounds: 24, copies: 6, lengths: 5 };
const FULL: Extent = Extent { rounds: 500, copies: 4, lengths: 40 };

fn all(plan: &Extent, say: &impl Fn(String)) -> Result<Value, Failure> {
    say("gateways           octets   predicted p50 (band)        measured (95 %)    error   \
              predicted p90 (band)        measured (95 %)    error"
        .to_owned());
    let idle = probe(0.0, plan.rounds, plan.copies)?;
    let every_other = |from: usize| -> Samples {
        let other = |all: &Vec<u64>| all.iter().skip(from).step_by(2).copied().collect();
        idle.iter().map(|sizes| sizes.each_ref().map(other)).collect()
    };
    let (known, truth) = (every_other(0), every_other(1));
    let mut scores = Vec::new();
    for utilisation in [0.0, 0.5, 0.8] {
        let truth = match utilisation {
            0.0 => truth.clone(),
            _ => probe(utilisation, plan.rounds, plan.copies)?,
        };
        let score = compare(&known, &truth, utilisation, say)?;
        let busy = if utilisation == 0.0 {
            "idle".to_owned()
        } else {
            format!("{:.0} % busy", utilisation * 100.0)
        };
        say(score.said(&busy) + "\n");
        scores.push(score.json(utilisation));
    }
    let lengths = lengths::measure(plan, say)?;
    let probes = plan.rounds * u32::from(plan.copies);
    Ok(json!({ "version": 1, "probes": probes, "scores": scores, "lengths": lengths }))
}

/// A: 2 ms each way and 10 Mbit/s, now and then later. B: 5 ms, 2 Mbit/s.
fn element(kind: char, utilisation: f64) -> Element {
    let traffic = (utilisation > 0.0).then_some(Traffic { utilisation, octets: 300.0 });
    let (ms, rate, jitter_us) =
        if kind == 'A' { (2, 10_000_000, 300) } else { (5, 2_000_000, 100) };
    Element {
        delay: Duration::from_millis(ms),
        jitter: Duration::from_micros(jitter_us),
        bits_per_s: Some(rate),
        traffic,
        ..Element::default()
    }
}

/// A client on segment 0, and for each way, size and copy a server behind gateways of its own.
fn plan(utilisation: f64, copies: u8) -> Plan {
    let mut plan = Plan { segments: vec![Element::default()], ..Plan::default() };
    plan.hosts.push((CLIENT, 0));
    for (index, way) in (1..).zip(WAYS) {
        for (size, copy) in (1..=3_u8).flat_map(|size| (0..copies).map(move |copy| (size, copy))) {
            let mut at = 0;
            for kind in way.chars() {
                plan.segments.push(Element::default());
                let next = plan.segments.len() - 1;
                let element = element(kind, utilisation);
                plan.joints.push(Joint { element, joins: vec![at, next], address: None });
                at = next;
            }
            plan.hosts.push((Ipv4Addr::new(10, size, index, copy + 1), at));
        }
    }
    plan
}

/// Probes every path of a network that is that busy, all at once.
fn probe(utilisation: f64, rounds: u32, copies: u8) -> Result<Samples, Failure> {
    let plan = plan(utilisation, copies);
    let lab = Lab::new(plan.clone())?;
    let mut clients = Vec::new();
    for (index, (host, (address, _))) in lab.hosts().iter().zip(&plan.hosts).skip(1).enumerate() {
        let server = serve(host, *address);
        let socket = lab.hosts()[0].run(|| UdpSocket::bind((CLIENT, 0)))??;
        let octets = SIZES[index / usize::from(copies) % SIZES.len()] as usize;
        clients.push(echo::Client::new(socket, server, octets, Duration::from_secs(5))?);
    }
    let took: Vec<Result<Vec<u64>, Failure>> = std::thread::scope(|scope| {
        let each = (1..).zip(clients).map(|(seed, client)| {
            scope.spawn(move || {
                one_path(client, Sampling { rounds, pause: PAUSE, at_most: Duration::MAX, seed })
            })
        });
        each.collect::<Vec<_>>().into_iter().map(|path| path.join().unwrap()).collect()
    });
    let took: Vec<Vec<u64>> = took.into_iter().collect::<Result<_, _>>()?;
    let together: Vec<Vec<u64>> =
        took.chunks(usize::from(copies)).map(|copies| copies.concat()).collect();
    Ok(together.chunks(SIZES.len()).map(|sizes| sizes.to_vec().try_into().unwrap()).collect())
}

fn one_path(mut client: echo::Client, sampling: Sampling) -> Result<Vec<u64>, Failure> {
    let _ = run_first(); // main has said so where it may not
    let mut paths: [ProbeFn<'_>; 1] = [Box::new(move |_| client.ask())];
    let mut all = Vec::new();
    let steady = sample(&mut paths, &sampling, &AtomicBool::new(false), |probed| {
        all.extend(probed.took_ns.filter(|_| probed.round > 0));
    });
    steady.map_err(|(_, error)| error)?;
    match all.len() as u64 == u64::from(sampling.rounds) {
        true => Ok(all),
        false => Err(format!("only {} of {} replies came", all.len(), sampling.rounds).into()),
    }
}

fn serve(host: &Namespace, address: Ipv4Addr) -> SocketAddr {
    let socket = host.run(|| UdpSocket::bind((address, 0)).unwrap()).unwrap();
    let served = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        let _ = run_first();
        let mut buffer = vec![0; 65_536];
        while echo::answer(&socket, &mut buffer).is_ok() {}
    });
    served
}

/// Quality of predictions.
#[derive(Default)]
struct Score {
    /// Largest errors of median and 90th percentile, as shares.
    worst: [f64; 2],
    /// Half the width of the 95 % interval of the measured quantile with that error, as a share.
    chance: [f64; 2],
    /// Largest errors beyond the measured quantile's interval, as shares.
    beyond: [f64; 2],
    /// Largest error of the shortest round trip, as a share.
    best: f64,
    /// Measured round trips of each path.
    probes: usize,
    quantiles: u32,
    /// Measured quantiles inside the band, and those whose interval meets it.
    inside: u32,
    met: u32,
    /// Every path by size, as JSON.
    paths: Vec<Value>,
}

impl Score {
    fn said(&self, what: &str) -> String {
        let share = |count| f64::from(count) * 100.0 / f64::from(self.quantiles);
        format!(
            "{what}: p50 within {:.1} % ({:.1} % beyond its interval), p90 within {:.1} % ({:.1} \
             %); of {} quantiles {:.0} % inside the band, {:.0} % not refuting it",
            self.worst[0] * 100.0,
            self.beyond[0] * 100.0,
            self.worst[1] * 100.0,
            self.beyond[1] * 100.0,
            self.quantiles,
            share(self.inside),
            share(self.met),
        )
    }

    fn json(&self, utilisation: f64) -> Value {
        let [p50, p90] = self.worst.map(|part| part * 100.0);
        let [p50_chance, p90_chance] = self.chance.map(|part| part * 100.0);
        let [p50_beyond, p90_beyond] = self.beyond.map(|part| part * 100.0);
        json!({
            "utilisation": utilisation, "best_error_pct": self.best * 100.0, "p50_error_pct": p50, "p90_error_pct": p90,
            "p50_chance_pct": p50_chance, "p90_chance_pct": p90_chance,
            "p50_beyond_pct": p50_beyond, "p90_beyond_pct": p90_beyond,
            "probes": self.probes, "quantiles": self.quantiles, "inside": self.inside, "met": self.met,
            "paths": self.paths,
        })
    }
}

/// Predicts every path from the measured elements in `known`, and compares with the `truth`.
fn compare(
    known: &Samples,
    truth: &Samples,
    utilisation: f64,
    say: &impl Fn(String),
) -> Result<Score, Failure> {
    let topology = topology(known, utilisation)?;
    let mut score = Score::default();
    for (way, name) in WAYS.iter().enumerate().skip(1) {
        for (size, octets) in SIZES.iter().enumerate() {
            let mut ascending = truth[way][size].clone();
            ascending.sort_unstable();
            score.probes = ascending.len();
            let elements = parts(&topology, "client", &name_of(name), *octets, &[])?;
            let best_ns: f64 = elements.iter().map(|element| element.delay.fixed_ns).sum();
            let shortest_ns = *ascending.first().ok_or("nothing measured")?;
            score.best = score.best.max((best_ns / shortest_ns as f64 - 1.0).abs());
            let found = predict(&elements);
            let [p50_band_ns, p90_band_ns] = found.bands_of_ns(ascending.len());
            let Prediction { p50_ns, p90_ns, .. } = found;
            let mut line = format!("{name:<5} {:>3.0} % busy  {octets:>5}", utilisation * 100.0);
            for (index, (ns, band, quantile)) in
                [(p50_ns, p50_band_ns, Quantile::P50), (p90_ns, p90_band_ns, Quantile::P90)]
                    .into_iter()
                    .enumerate()
            {
                let measured = interval(&ascending, quantile).ok_or("nothing measured")?;
                line.push_str(&score.add(index, ns, band, measured));
                score.paths.push(json!({
                    "gateways": name, "octets": octets, "quantile": quantile.to_string(),
                    "predicted_ns": ns, "measured_ns": measured.value_ns,
                }));
            }
            say(line);
        }
    }
    Ok(score)
}

impl Score {
    fn add(&mut self, index: usize, ns: f64, [low, high]: [f64; 2], measured: Interval) -> String {
        let value = measured.value_ns as f64;
        let (from, to) =
            (measured.low_ns as f64, measured.high_ns.map_or(f64::MAX, |ns| ns as f64));
        let error = ns / value - 1.0;
        if error.abs() > self.worst[index] {
            self.worst[index] = error.abs();
            self.chance[index] = (to - from) / 2.0 / value;
        }
        let beyond = (from - ns).max(ns - to).max(0.0) / value;
        self.beyond[index] = self.beyond[index].max(beyond);
        self.quantiles += 1;
        let (inside, met) = (low <= value && value <= high, from <= high && low <= to);
        self.inside += u32::from(inside);
        self.met += u32::from(met);
        let verdict = if inside {
            ' '
        } else if met {
            '~'
        } else {
            '!'
        };
        let ms = |ns: f64| ns / 1e6;
        format!(
            "  {:>7.2} ({:>6.2}–{:>6.2}) ms  {:>7.2} ({:>6.2}–{:>6.2}) ms {:>+5.1} %{verdict}",
            ms(ns),
            ms(low),
            ms(high),
            ms(value),
            ms(from),
            ms(to),
            error * 100.0
        )
    }
}

fn name_of(way: &str) -> String {
    format!("server{way}")
}

fn topology(known: &Samples, utilisation: f64) -> Result<Topology, Failure> {
    let mut text = String::from("[types.wire]\nkind = \"link\"\n[types.pc]\nkind = \"host\"\n");
    for (kind, octet_us) in [("A", 0.8), ("B", 4.0)] {
        text.push_str(&format!(
            "[types.{kind}]\nkind = \"gateway\"\nservice = {{ octet_us = {octet_us}, octets = 300 }}\n"
        ));
    }
    text.push_str(
        "[segments.s0]\ntype = \"wire\"\n[hosts.client]\ntype = \"pc\"\nsegment = \"s0\"\n",
    );
    for way in WAYS {
        let mut at = "s0".to_owned();
        for (depth, kind) in way.chars().enumerate() {
            let next = format!("s{way}{depth}");
            text.push_str(&format!(
                "[segments.{next}]\ntype = \"wire\"\n[joints.{way}{depth}]\ntype = \"{kind}\"\njoins = [\"{at}\", \"{next}\"]\nutilisation = {utilisation:.3}\n"
            ));
            at = next;
        }
        text.push_str(&format!("[hosts.{}]\ntype = \"pc\"\nsegment = \"{at}\"\n", name_of(way)));
    }
    let mut topology = Topology::read(&text, None)?;
    let at = |way: usize| -> Vec<AtSize> {
        let without = |size: usize| if way == 0 { Vec::new() } else { known[0][size].clone() };
        let each = SIZES.iter().enumerate();
        each.map(|(size, octets)| AtSize::new(*octets, known[way][size].clone(), without(size)))
            .collect()
    };
    for (way, kind) in ["pc", "A", "B"].into_iter().enumerate() {
        topology.types.get_mut(kind).unwrap().measured = at(way);
    }
    topology.check()?;
    Ok(topology)
}
