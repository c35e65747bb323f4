//! Networks of namespaces that resemble the document's, and measurements on them: a program of its
//! own, which prints its results as JSON.
//!
//! The hosts are namespaces with real programs in them: `snmpd` reports the counters of their
//! interfaces, `chronoscope net answer` replies to probes. The elements between them are
//! `chronoscope_lab`'s.

mod activation;

use super::super::{list, number, word};
use anyhow::{Context, Result, bail, ensure};
use chronoscope_clock::{monotonic_ns, sleep};
use chronoscope_lab::{Element, Joint, Lab, Namespace, Plan};
use chronoscope_published::{Cell, Published};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Plan of the measurement.
#[derive(Debug, Args)]
pub struct LabPlan {
    /// Network to measure
    what: What,
    /// Folder for the results, empty
    #[arg(long)]
    out: PathBuf,
    /// The folder of the programs
    #[arg(long)]
    bin: PathBuf,
    /// Run the short form
    #[arg(long)]
    quick: bool,
}

/// Network to measure.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// A ring of 40 hosts with the document's traffic.
    Load,
    /// Six rings, gateways between.
    Paths,
}

/// Machines of the PCR ring.
const MACHINES: u8 = 40;
const OUTSIDE: Ipv4Addr = Ipv4Addr::new(10, 4, 1, 1);
/// A closed port: packets are only counted.
const PORT: u16 = 4000;
/// net-snmp renews its counters every 3 s, and counts nothing in its first 3 s.
const SETTLE: Duration = Duration::from_millis(4500);
/// Time without traffic before a scan that ends an interval of its own traffic.
const QUIET_S: f64 = 3.4;
/// Packets of all hosts, in and out, in an interval of Table 2.
const ACTIVITY: f64 = 12_000.0;
const STEP: Duration = Duration::from_millis(10);

/// Measures, and prints the results.
///
/// # Errors
/// When no network can be made here, or a program fails.
pub fn run(plan: &LabPlan) -> Result<()> {
    let found = match plan.what {
        What::Load => load(plan)?,
        What::Paths => paths(plan)?,
    };
    println!("{found:#}");
    Ok(())
}

/// A program of the lab; killed when this is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs programs in hosts, and remembers their command lines.
struct Programs<'p> {
    plan: &'p LabPlan,
    lines: Vec<String>,
}

impl Programs<'_> {
    /// `chronoscope` in a host, to its end; its JSON.
    fn ask(&mut self, host: &Namespace, args: &[&str]) -> Result<Value> {
        let program = self.plan.bin.join("chronoscope");
        self.lines.push(format!("chronoscope {}", args.join(" ")));
        let output = host.run(|| {
            Command::new(program).args(args).stdin(Stdio::null()).stderr(Stdio::inherit()).output()
        })??;
        ensure!(output.status.success(), "chronoscope {}: {}", args.join(" "), output.status);
        serde_json::from_slice(&output.stdout)
            .with_context(|| format!("what chronoscope {} printed", args.join(" ")))
    }

    /// Runs `chronoscope` in a host to its end; `next` is called with the number of each line as it
    /// arrives, from 0.
    fn hear(
        &mut self,
        host: &Namespace,
        args: &[&str],
        heard: &mut dyn FnMut(usize),
    ) -> Result<()> {
        let program = self.plan.bin.join("chronoscope");
        self.lines.push(format!("chronoscope {}", args.join(" ")));
        let child = host.run(|| {
            Command::new(program).args(args).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()
        })??;
        let mut running = Running(child);
        let output = running.0.stdout.take().context("no standard output")?;
        for (index, line) in BufReader::new(output).lines().enumerate() {
            line?;
            heard(index);
        }
        let status = running.0.wait()?;
        ensure!(status.success(), "chronoscope {}: {status}", args.join(" "));
        Ok(())
    }

    /// `chronoscope net answer` in a host, until this is dropped.
    fn answer(&mut self, host: &Namespace, listen: &str, more: &[&str]) -> Result<Running> {
        let program = self.plan.bin.join("chronoscope");
        let child = host.run(|| {
            Command::new(program)
                .args(["net", "answer", "--listen", listen])
                .args(more)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
        })??;
        Ok(Running(child))
    }
}

// -------------------------------------------------------------------------------------------- load

fn host(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 4, 0, number + 1)
}

/// A host's share of what comes in and goes out, in parts of the whole.
type Shares = Vec<[f64; 2]>;

fn load(plan: &LabPlan) -> Result<Value> {
    let published = Published::read()?;
    let names = names(&published)?;
    let mut hosts: Vec<(Ipv4Addr, usize)> = (0..MACHINES).map(|n| (host(n), 0)).collect();
    hosts.push((OUTSIDE, 1));
    let gateway = Joint { element: Element::default(), joins: vec![0, 1], address: None };
    let segments = vec![Element::default(); 2];
    let lab = Lab::new(Plan { segments, joints: vec![gateway], hosts })?;
    let (ring, outside) = lab.hosts().split_at(usize::from(MACHINES));
    let outside = outside.first().context("no host outside")?;
    let _agents =
        (0..).zip(ring).map(|(n, at)| agent(plan, at, host(n))).collect::<Result<Vec<_>>>()?;
    let list: String = (0..).zip(&names).map(|(n, name)| format!("{} {name}\n", host(n))).collect();
    let hosts_file = plan.out.join("hosts.txt");
    std::fs::write(&hosts_file, list)?;
    let traffic = Traffic::new(ring, outside)?;
    sleep(SETTLE);
    let mut programs = Programs { plan, lines: Vec::new() };
    let (interval_s, activity_s) = if plan.quick { (8.0, 4.6) } else { (45.0, 10.0) };
    std::thread::scope(|scope| {
        scope.spawn(|| traffic.run());
        let measured = (|| -> Result<Value> {
            let hosts_file = hosts_file.to_string_lossy().into_owned();
            // The traffic changes with each reported scan.
            let mut scan = |data: &str, seconds: f64, next: &mut dyn FnMut(usize), count: usize| {
                let (every, count) = (format!("{:.0}ms", seconds * 1e3), count.to_string());
                let words = ["net", "scan", "--hosts", &hosts_file, "--every", &every, "--count"];
                let more = [&count, "--timeout", "2s", "--json", "--data", data];
                programs.hear(outside, &[&words[..], &more].concat(), next)
            };
            let data = [1, 2].map(|n| plan.out.join(format!("table{n}")).display().to_string());
            // The first line is the reading that the first interval begins with; each further one
            // ends an interval.
            let shares = distribution(&published, &names)?;
            let (in_all, for_s) = (packets(&published)?, interval_s - QUIET_S);
            let mut once = |line: usize| {
                if line == 0 {
                    traffic.change(&shares, in_all / for_s, for_s);
                }
            };
            scan(&data[0], interval_s, &mut once, 1)?;
            let nine = activity(&published, &names)?;
            let mut next = |line: usize| {
                let Some(shares) = nine.get(line) else { return };
                let halves: Shares = shares.iter().map(|share| [*share; 2]).collect();
                let for_s = activity_s - QUIET_S;
                traffic.change(&halves, ACTIVITY / for_s, for_s);
            };
            scan(&data[1], activity_s, &mut next, nine.len())?;
            let mut table = |data: &str| {
                programs.ask(
                    outside,
                    &["net", "table", "--json", "--measure", "packets", "--data", data],
                )
            };
            let (load, over_time) = (table(&data[0])?, table(&data[1])?);
            Ok(json!({
                "load": table1(&load, &names, &shares, interval_s)?,
                "activity": table2(&over_time, &names, &nine, activity_s)?,
            }))
        })();
        traffic.stop.store(true, Ordering::Relaxed);
        let mut measured = measured?;
        measured["commands"] = json!(programs.lines);
        Ok(measured)
    })
}

/// net-snmp's agent in a host.
fn agent(plan: &LabPlan, host: &Namespace, address: Ipv4Addr) -> Result<Running> {
    let dir = plan.out.join(format!("snmpd-{address}"));
    std::fs::create_dir_all(&dir)?;
    std::fs::write(
        dir.join("snmpd.conf"),
        format!("agentaddress udp:{address}:161\nrocommunity public\n"),
    )?;
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let child = host.run(|| {
        Command::new("snmpd")
            .args(["-f", "-Ln", "-C", "-I", "-smux", "-c", "snmpd.conf"])
            .env("PATH", path)
            .env("SNMP_PERSISTENT_DIR", &dir)
            .current_dir(&dir)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    })?;
    Ok(Running(child.context("snmpd (Debian's package snmpd)")?))
}

/// The hosts that the tables name, and as many others as the ring has.
fn names(published: &Published) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for item in ["sps-lep.table1", "sps-lep.table2"] {
        for row in rows(published, item)? {
            let Some(Cell::Text(name)) = row.first() else { continue };
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    let named = names.len();
    names.extend((named..usize::from(MACHINES)).map(|n| format!("pcr{n:02}")));
    Ok(names)
}

fn rows<'p>(published: &'p Published, item: &str) -> Result<&'p [Vec<Cell>]> {
    let item = published.item(item).and_then(|item| item.table.as_ref());
    Ok(&item.context("the document's table is missing")?.rows)
}

fn cell(row: &[Cell], column: usize) -> Option<f64> {
    match row.get(column)? {
        Cell::Number(number) => Some(*number),
        Cell::Text(_) => None,
    }
}

/// Packets received and sent in Table 1's interval, by aldev5's counts and shares.
fn packets(published: &Published) -> Result<f64> {
    let row = rows(published, "sps-lep.table1")?.first().context("no row")?;
    let of = |count, share| Some(cell(row, count)? * 100.0 / cell(row, share)?);
    Ok(of(1, 2).context("no counts")? + of(3, 4).context("no counts")?)
}

/// Shares of Table 1: as printed; hosts without a printed share divide the rest.
fn distribution(published: &Published, names: &[String]) -> Result<Shares> {
    let rows = rows(published, "sps-lep.table1")?;
    let of = |name: &String, column| {
        let row = rows.iter().find(|row| row.first() == Some(&Cell::Text(name.clone())))?;
        Some(cell(row, column)? / 100.0)
    };
    let left = |column| {
        let known: Vec<f64> = names.iter().filter_map(|name| of(name, column)).collect();
        (1.0 - known.iter().sum::<f64>()) / (names.len() - known.len()) as f64
    };
    let [left_in, left_out] = [left(2), left(4)];
    // A host's part of all packets: of those that come in, and of those that go out, about half
    // each.
    let of_host = |name| [of(name, 2).unwrap_or(left_in), of(name, 4).unwrap_or(left_out)];
    Ok(names.iter().map(of_host).collect())
}

/// Table 2: of each scan the shares as printed; dots are a third of the threshold.
fn activity(published: &Published, names: &[String]) -> Result<Vec<Vec<f64>>> {
    const DOT: f64 = 0.003;
    let rows = rows(published, "sps-lep.table2")?;
    let scans = rows.first().context("no row")?.len() - 1;
    let of_scan = |scan: usize| {
        let of = |name: &String| {
            let row = rows.iter().find(|row| row.first() == Some(&Cell::Text(name.clone())))?;
            Some(cell(row, scan).map_or(DOT, |percent| percent / 100.0))
        };
        let known: Vec<f64> = names.iter().filter_map(of).collect();
        let left = (1.0 - known.iter().sum::<f64>()).max(0.0) / (names.len() - known.len()) as f64;
        names.iter().map(|name| of(name).unwrap_or(left)).collect()
    };
    Ok((1..=scans).map(of_scan).collect())
}

fn table1(printed: &Value, names: &[String], sent: &Shares, interval_s: f64) -> Result<Value> {
    let lines = list(printed, "/activity/overview/lines")?;
    let (mut shown, mut error) = (Vec::new(), 0_f64);
    let sums = [0, 1].map(|way| sent.iter().map(|shares| shares[way]).sum::<f64>());
    for (name, sent) in names.iter().zip(sent) {
        let line = lines.iter().find(|line| word(line, "host") == name);
        let line = line.with_context(|| format!("{name} is not in the table"))?;
        let share = |at: usize| number(line, &format!("/share_percent/{at}"));
        let ours = [share(0)?, share(1)?];
        let right = [0, 1].map(|way| sent[way] * 100.0 / sums[way]);
        error = error.max((ours[0] - right[0]).abs()).max((ours[1] - right[1]).abs());
        if ours.iter().any(|share| *share >= 1.5) {
            shown.push(json!({
                "host": name, "in": number(line, "/counters/in_packets")?, "in_pct": ours[0],
                "out": number(line, "/counters/out_packets")?, "out_pct": ours[1],
                "sent_in_pct": right[0], "sent_out_pct": right[1],
            }));
        }
    }
    shown.sort_by_key(|row| word(row, "host").to_owned());
    Ok(json!({
        "interval_s": interval_s, "machines": lines.len(), "error_points": error, "rows": shown,
    }))
}

fn table2(printed: &Value, names: &[String], sent: &[Vec<f64>], interval_s: f64) -> Result<Value> {
    let hosts = list(printed, "/activity/over_time/picture/hosts")?;
    let (mut rows, mut error, mut scans) = (Vec::new(), 0_f64, 0);
    for (at, name) in names.iter().enumerate() {
        let of = hosts.iter().find(|host| host[0] == name.as_str());
        let of = of.with_context(|| format!("{name} is not in the picture"))?;
        let shares: Vec<f64> = list(of, "/1")?.iter().filter_map(Value::as_f64).collect();
        scans = shares.len();
        ensure!(
            scans == sent.len(),
            "{name} has {scans} intervals, {} scans were made",
            sent.len()
        );
        for (ours, sent) in shares.iter().zip(sent) {
            let all: f64 = sent.iter().sum();
            error = error.max((ours - sent[at] * 100.0 / all).abs());
        }
        rows.push(json!({ "host": name, "percent": shares }));
    }
    // The document's own hosts, in its order; the others are below the threshold.
    rows.retain(|row| !word(row, "host").starts_with("pcr"));
    rows.sort_by_key(|row| word(row, "host").to_lowercase());
    Ok(json!({
        "interval_s": interval_s, "scans": scans, "error_points": error, "rows": rows,
    }))
}

/// Packets between hosts of the ring and the one outside, to given shares.
struct Traffic {
    /// Sockets of each host of the ring.
    sockets: Vec<UdpSocket>,
    outside: UdpSocket,
    /// Packets a second that come in and go out, of each host, and until when.
    rates: Mutex<(Shares, u64)>,
    stop: AtomicBool,
}

impl Traffic {
    fn new(ring: &[Namespace], outside: &Namespace) -> Result<Self> {
        let sockets = (0..).zip(ring).map(|(n, at)| -> Result<UdpSocket> {
            let socket = at.run(|| UdpSocket::bind((host(n), PORT)))??;
            socket.set_nonblocking(true)?;
            Ok(socket)
        });
        let outside = outside.run(|| UdpSocket::bind((OUTSIDE, PORT)))??;
        outside.set_nonblocking(true)?;
        Ok(Self {
            sockets: sockets.collect::<Result<_>>()?,
            outside,
            rates: Mutex::new((vec![[0.0; 2]; ring.len()], 0)),
            stop: AtomicBool::new(false),
        })
    }

    /// Sends these shares of a number of packets per second from now on, for a given time.
    fn change(&self, shares: &Shares, packets_per_s: f64, for_s: f64) {
        let sum: f64 = shares.iter().flatten().sum();
        let rates = shares.iter().map(|of| of.map(|share| share * packets_per_s / sum));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // `as` keeps to the range
        let until_ns = monotonic_ns().saturating_add((for_s * 1e9) as u64);
        if let Ok(mut now) = self.rates.lock() {
            *now = (rates.collect(), until_ns);
        }
    }

    fn run(&self) {
        let mut owed = vec![[0.0_f64; 2]; self.sockets.len()];
        let mut last_ns = monotonic_ns();
        while !self.stop.load(Ordering::Relaxed) {
            sleep(STEP);
            let now_ns = monotonic_ns();
            // What a busy machine kept from being sent for longer is not sent in one burst.
            let passed_s = ((now_ns - last_ns) as f64 / 1e9).min(0.2);
            last_ns = now_ns;
            let Ok((rates, until_ns)) = self.rates.lock().map(|now| now.clone()) else { return };
            if now_ns > until_ns {
                continue;
            }
            for (n, (owed, rate)) in (0..).zip(owed.iter_mut().zip(&rates)) {
                let Some(socket) = self.sockets.get(usize::from(n)) else { continue };
                for way in 0..2 {
                    owed[way] += rate[way] * passed_s;
                    while owed[way] >= 1.0 {
                        owed[way] -= 1.0;
                        // A packet that the kernel has no room for is one less.
                        let _ = match way {
                            0 => self.outside.send_to(&[0; 64], (host(n), PORT)),
                            _ => socket.send_to(&[0; 64], (OUTSIDE, PORT)),
                        };
                    }
                }
            }
        }
    }
}

// ------------------------------------------------------------------------------------------- paths

/// Rings with the delay that their gateway adds to a request, in ms: the document's range, from the
/// fastest (a router) to the slowest.
const RINGS: [(&str, f64); 5] =
    [("lma", 15.0), ("lsv", 25.0), ("laa", 35.0), ("lbar", 45.0), ("ldev", 50.0)];
/// “Capable of transferring data at about 4.0 Mbps”.
const RING_BITS: u64 = 4_000_000;
/// Value for the PCR ring: a PC with an I80286.
const PCR_MS: f64 = 45.0;
const ALDEV5: Ipv4Addr = Ipv4Addr::new(10, 5, 0, 1);
const ON_BACKBONE: Ipv4Addr = Ipv4Addr::new(10, 5, 1, 1);
const BEHIND_BRIDGE: Ipv4Addr = Ipv4Addr::new(10, 5, 2, 1);

fn adds(ms: f64) -> Element {
    Element { delay: Duration::from_secs_f64(ms / 2e3), ..Element::default() }
}

/// A host of Table 3.
struct Asked {
    ring: String,
    name: String,
    published_ms: f64,
    address: Ipv4Addr,
    gateway_ms: f64,
}

fn asked(published: &Published) -> Result<Vec<Asked>> {
    let of = |(n, row): (u8, &Vec<Cell>)| {
        let (Some(Cell::Text(ring)), Some(Cell::Text(name))) = (row.first(), row.get(1)) else {
            bail!("Table 3 has a row without names");
        };
        let at = RINGS.iter().position(|(known, _)| known == ring).context("an unknown ring")?;
        let segment = u8::try_from(at)? + 10;
        Ok(Asked {
            ring: ring.clone(),
            name: name.clone(),
            published_ms: cell(row, 2).context("no time")?,
            address: Ipv4Addr::new(10, 5, segment, n + 1),
            gateway_ms: RINGS[at].1,
        })
    };
    (0..).zip(rows(published, "sps-lep.table3")?).map(of).collect()
}

/// Segments: 0 PCR, 1 the backbone, 2 behind the bridge, then the rings. All but the backbone have a
/// ring's rate.
fn network(asked: &[Asked]) -> Result<Plan> {
    let mut joints = vec![
        Joint { element: adds(PCR_MS), joins: vec![0, 1], address: None },
        Joint { element: Element::default(), joins: vec![0, 2], address: None },
    ];
    let rings = RINGS.iter().enumerate();
    joints.extend(rings.map(|(at, (_, ms))| Joint {
        element: adds(*ms),
        joins: vec![1, 3 + at],
        address: None,
    }));
    let mut hosts = vec![(ALDEV5, 0), (ON_BACKBONE, 1), (BEHIND_BRIDGE, 2)];
    for host in asked {
        let at =
            RINGS.iter().position(|(ring, _)| *ring == host.ring).context("an unknown ring")?;
        hosts.push((host.address, 3 + at));
    }
    let ring = Element { bits_per_s: Some(RING_BITS), ..Element::default() };
    let mut segments = vec![ring; 3 + RINGS.len()];
    segments[1] = Element::default();
    Ok(Plan { segments, joints, hosts })
}

/// The network in the form of `docs/formats/topology.md`.
fn topology(asked: &[Asked]) -> String {
    let mut text = format!(
        "[types]\npc = {{ kind = \"host\" }}\nbackbone = {{ kind = \"link\", delay_us = 0 }}\n\
         ring = {{ kind = \"link\", rate_bits = {RING_BITS} }}\nbridge = {{ kind = \"bridge\" }}\n\
         gw-pcr = {{ kind = \"gateway\" }}\n"
    );
    for (ring, _) in RINGS {
        text += &format!("gw-{ring} = {{ kind = \"gateway\" }}\n");
    }
    text += "[segments]\n";
    for segment in ["PCR", "backbone", "bridged"].into_iter().chain(RINGS.map(|(ring, _)| ring)) {
        let kind = if segment == "backbone" { "backbone" } else { "ring" };
        text += &format!("{segment} = {{ type = \"{kind}\" }}\n");
    }
    text += "[joints]\ngw-pcr = { type = \"gw-pcr\", joins = [\"PCR\", \"backbone\"] }\n\
        bridge = { type = \"bridge\", joins = [\"PCR\", \"bridged\"] }\n";
    for (ring, _) in RINGS {
        text += &format!(
            "gw-{ring} = {{ type = \"gw-{ring}\", joins = [\"backbone\", \"{ring}\"] }}\n"
        );
    }
    text += "[hosts]\n";
    let fixed = [
        ("aldev5", "PCR", ALDEV5),
        ("tdm", "backbone", ON_BACKBONE),
        ("near", "bridged", BEHIND_BRIDGE),
    ];
    let hosts = asked.iter().map(|host| (host.name.as_str(), host.ring.as_str(), host.address));
    for (name, segment, address) in fixed.into_iter().chain(hosts) {
        text += &format!(
            "\"host-{name}\" = {{ type = \"pc\", segment = \"{segment}\", address = \"{address}:7007\" }}\n"
        );
    }
    text
}

fn paths(plan: &LabPlan) -> Result<Value> {
    let asked = asked(&Published::read()?)?;
    let lab = Lab::new(network(&asked)?)?;
    let mut programs = Programs { plan, lines: Vec::new() };
    let addresses = [ALDEV5, ON_BACKBONE, BEHIND_BRIDGE].into_iter();
    let addresses: Vec<Ipv4Addr> = addresses.chain(asked.iter().map(|host| host.address)).collect();
    let mut answering = Vec::new();
    for (host, address) in lab.hosts().iter().zip(&addresses) {
        answering.push(programs.answer(host, &format!("{address}:7007"), &[])?);
    }
    let aldev5 = lab.hosts().first().context("no host")?;
    sleep(Duration::from_secs(1));
    let file = |name: &str| plan.out.join(name).display().to_string();
    let (topology_file, measured_file, data) =
        (file("topology.toml"), file("measured.toml"), file("data"));
    std::fs::write(&topology_file, topology(&asked))?;
    let (rounds, count) = if plan.quick { ("20", "20") } else { ("100", "100") };

    let own = format!("udp:{ALDEV5}:7007");
    let rtrt =
        programs.ask(aldev5, &["net", "rtt", &own, "--count", "200", "--json", "--data", &data])?;
    let activation = activation::measure(&mut programs, aldev5, &data)?;
    let targets: Vec<String> =
        asked.iter().map(|host| format!("udp:{}:7007", host.address)).collect();
    let mut words = vec!["net", "rtt", "--count", count, "--at-most", "60s", "--timeout", "2s"];
    words.extend(["--json", "--data", &data]);
    words.extend(targets.iter().map(String::as_str));
    let responses = programs.ask(aldev5, &words)?;
    let words = ["net", "measure", "--topology", &topology_file, "--output", &measured_file];
    let how = ["--from", "host-aldev5", "--rounds", rounds, "--size", "64"];
    let bound = ["--at-most", "60s", "--json"];
    programs.ask(aldev5, &[&words[..], &how, &bound].concat())?;
    let words = ["net", "report", "--json", "--data", &data, "--topology", &topology_file];
    let report = programs.ask(aldev5, &[&words[..], &["--measured", &measured_file]].concat())?;
    let mut table3 = Vec::new();
    for (host, target) in asked.iter().zip(list(&responses, "/rtt/targets")?) {
        let name = format!("host-{}", host.name);
        let words = ["net", "predict", "--topology", &topology_file, "--measured", &measured_file];
        let more = ["--from", "host-aldev5", "--to", &name, "--json"];
        let predicted = programs.ask(aldev5, &[&words[..], &more].concat())?;
        let ms = |value: &Value, pointer: &str| number(value, pointer).map(|ns| ns / 1e6);
        let p50 =
            ms(&predicted, "/now/p50_ns").or_else(|_| ms(&predicted, "/predict/now/p50_ns"))?;
        table3.push(json!({
            "ring": host.ring, "host": host.name, "published_ms": host.published_ms,
            "best_ms": ms(target, "/best_ns").ok(), "median_ms": ms(target, "/p50_ns").ok(),
            "predicted_ms": p50, "gateways_ms": PCR_MS + host.gateway_ms,
        }));
    }
    let of = |key: &str| number(&rtrt, &format!("/rtt/targets/0/{key}")).map(|ns| ns / 1e6);
    Ok(json!({
        "table3": table3,
        "rtrt_ms": { "best": of("best_ns")?, "median": of("p50_ns")? },
        "activation": activation,
        "timer_step_ns": number(&report, "/report/timer/step_ns")?,
        "gateways": gateways(&report)?,
        "commands": programs.lines,
    }))
}

/// Gateways and the bridge: as set, and as reported by `net report` after `net measure`.
fn gateways(report: &Value) -> Result<Vec<Value>> {
    let mut set: BTreeMap<String, f64> =
        RINGS.iter().map(|(ring, ms)| (format!("gw-{ring}"), *ms)).collect();
    set.insert("gw-pcr".to_owned(), PCR_MS);
    set.insert("bridge".to_owned(), 0.0);
    let types = list(report, "/report/types")?;
    let of = |(name, set_ms): (String, f64)| {
        let found = types.iter().find(|one| word(one, "name") == name && one["measured"] == true);
        json!({
            "name": name, "set_ms": set_ms,
            "measured_ms": found.and_then(|one| one["best_ns"].as_f64()).map(|ns| ns / 1e6),
        })
    };
    Ok(set.into_iter().map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_has_forty_hosts_and_shares_are_the_documents() {
        let published = Published::read().unwrap();
        let names = names(&published).unwrap();
        assert_eq!(names.len(), usize::from(MACHINES));
        let fs = names.iter().position(|name| name == "fsPCR").unwrap();
        let shares = distribution(&published, &names).unwrap();
        let near = |share: f64, wanted: f64| (share - wanted).abs() < 1e-9;
        assert!(near(shares[fs][0], 0.533) && near(shares[fs][1], 0.5811), "{:?}", shares[fs]);
        let sums = [0, 1].map(|way| shares.iter().map(|share| share[way]).sum::<f64>());
        assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-9), "{sums:?}");
        // Who is not printed is below the threshold.
        assert_eq!(shares.iter().filter(|share| share[0] >= 0.015).count(), 6);
        let nine = activity(&published, &names).unwrap();
        assert_eq!((nine.len(), nine[0][fs]), (9, 0.35));
        assert!(nine.iter().all(|scan| (scan.iter().sum::<f64>() - 1.0).abs() < 0.02));
    }

    #[test]
    fn every_host_of_table_3_has_a_place_in_the_topology() {
        let asked = asked(&Published::read().unwrap()).unwrap();
        let text = topology(&asked);
        assert_eq!(asked.len(), 8);
        assert!(
            asked.iter().all(|host| text.contains(&format!("\"host-{}\"", host.name))),
            "{text}"
        );
        assert_eq!(network(&asked).unwrap().joints.len(), 2 + RINGS.len());
    }
}
