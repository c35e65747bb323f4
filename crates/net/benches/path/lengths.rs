//! Messages of one and of several packets: predicted beside measured.
//!
//! * Three of the document's rings (4 Mbit/s), entered as such, by datagrams and over a connection.
//! * The same with gateways of 50 ms between, over a connection that was just made: it sends ten
//!   packets before it waits for acknowledgements.
//! * The two gateways of the other series, known by probes of one packet only.
//!
//! Hosts are known by probes of one packet each. `whole` is the sum over all links of the message as
//! a whole, which a network that passes on packets by themselves does not take.

use super::{CLIENT, Extent, Failure, element};
use chronoscope_lab::{Element, Joint, Lab, Plan, run_first};
use chronoscope_net::answer::{Options, Server};
use chronoscope_net::path::element::AtSize;
use chronoscope_net::path::message::{MTU, Message, Transport};
use chronoscope_net::path::parts::parts;
use chronoscope_net::path::predict::predict;
use chronoscope_net::path::topology::Topology;
use chronoscope_net::probe::{Peer, ProbeOptions, Prober, Target};
use chronoscope_statistics::{Quantile, nearest_rank};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

const OCTETS: [u32; 6] = [64, 512, 1460, 4000, 14_000, 64_000];
/// What hosts and gateways are known by.
const PROBES: [u32; 3] = [64, 512, 1400];
const RING_BITS: u64 = 4_000_000;
/// Between two round trips of a path: they do not meet.
const REST: Duration = Duration::from_millis(20);
const TIMEOUT: Duration = Duration::from_secs(20);

/// Network between the client and a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Nothing.
    Direct,
    /// Three rings.
    Rings,
    /// Three rings, and gateways of 25 ms each way.
    FarRings,
    /// The first gateway of the other series, the second, or both.
    Gateways(&'static str),
}

/// How the server is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Udp,
    Tcp,
    /// Over a new connection each time, whose making does not count.
    TcpNew,
}

/// A path with a network of its own.
#[derive(Clone, Copy, Debug)]
struct Series {
    way: Way,
    by: By,
    octets: u32,
}

/// Packets that Linux sends over a new connection before the first acknowledgement (RFC 6928).
const FIRST_WINDOW: u32 = 10;

impl Series {
    fn message(self) -> Message {
        let transport = match self.by {
            By::Udp => Transport::Udp,
            By::Tcp => Transport::Tcp { window: None },
            By::TcpNew => Transport::Tcp { window: Some(FIRST_WINDOW) },
        };
        Message { octets: self.octets, transport }
    }

    fn name(self) -> String {
        let way = match self.way {
            Way::Direct => "direct".to_owned(),
            Way::Rings => "3 rings".to_owned(),
            Way::FarRings => "3 rings, 2 × 50 ms".to_owned(),
            Way::Gateways(names) => format!("gateways {names}"),
        };
        let by = match self.by {
            By::Udp => "udp",
            By::Tcp => "tcp",
            By::TcpNew => "tcp, new",
        };
        format!("{way}, {by}")
    }
}

/// What elements are known by, and what is predicted.
fn series() -> (Vec<Series>, Vec<Series>) {
    let of = |way, by, octets| Series { way, by, octets };
    let ways = [Way::Direct, Way::Gateways("A"), Way::Gateways("B")];
    let known = ways.into_iter().flat_map(|way| PROBES.map(|octets| of(way, By::Udp, octets)));
    let udp = OCTETS.map(|octets| of(Way::Rings, By::Udp, octets));
    let tcp = OCTETS.map(|octets| of(Way::Rings, By::Tcp, octets));
    let new = [14_000, 64_000].map(|octets| of(Way::FarRings, By::TcpNew, octets));
    let gateways = [4000, 14_000].map(|octets| of(Way::Gateways("AB"), By::Udp, octets));
    (known.collect(), [&udp[..], &tcp, &new, &gateways].concat())
}

/// Measures all lengths at once; a row of JSON for each.
pub(super) fn measure(extent: &Extent, say: &impl Fn(String)) -> Result<Vec<Value>, Failure> {
    let (known, judged) = series();
    let all = [known.clone(), judged.clone()].concat();
    let took = probe(&all, extent.lengths)?;
    let (known_took, judged_took) = took.split_at(known.len());
    let topology = topology(&known, known_took)?;
    say(format!(
        "{:<28}{:>7} {:>8} {:>12} {:>12} {:>8} {:>12} {:>12}",
        "path", "octets", "packets", "predicted", "median", "error", "best", "whole"
    ));
    let mut rows = Vec::new();
    for (series, took) in judged.iter().zip(judged_took) {
        let row = row(*series, took, &topology)?;
        let ms = |key: &str| {
            row[key].as_f64().map_or("–".to_owned(), |ns| format!("{:.2} ms", ns / 1e6))
        };
        say(format!(
            "{:<28}{:>7} {:>8} {:>12} {:>12} {:>+6.1} % {:>12} {:>12}",
            series.name(),
            series.octets,
            row["packets"].as_u64().unwrap_or(0),
            ms("predicted_ns"),
            ms("p50_ns"),
            row["error_pct"].as_f64().unwrap_or(f64::NAN),
            ms("best_ns"),
            ms("whole_ns")
        ));
        rows.push(row);
    }
    Ok(rows)
}

fn row(series: Series, took: &[u64], topology: &Topology) -> Result<Value, Failure> {
    let to = match series.way {
        Way::Direct => "direct",
        Way::Rings => "rings",
        Way::FarRings => "far",
        Way::Gateways(names) => names,
    };
    let elements = parts(topology, "client", to, series.message(), &[])?;
    let predicted_ns = predict(&elements).p50_ns;
    // Each element by itself, with all packets of the message.
    let alone = topology.way("client", to)?.len();
    let packets = series.message().packets(MTU);
    let octets: u32 = packets.iter().sum();
    let ring_ns = 2.0 * 8e9 * f64::from(octets) / RING_BITS as f64;
    let whole_ns = match series.way {
        Way::Rings => Some(3.0 * ring_ns),
        Way::FarRings => Some(3.0 * ring_ns + 100e6),
        _ => None,
    };
    let p50_ns = nearest_rank(took, Quantile::P50).ok_or("nothing measured")?;
    Ok(json!({
        "path": series.name(), "octets": series.octets, "packets": packets.len(),
        "elements": alone, "predicted_ns": predicted_ns, "p50_ns": p50_ns, "best_ns": took[0],
        "error_pct": (predicted_ns / p50_ns as f64 - 1.0) * 100.0, "whole_ns": whole_ns,
    }))
}

fn address(index: usize) -> Ipv4Addr {
    let [high, low] = u16::try_from(index + 1).unwrap_or(u16::MAX).to_be_bytes();
    Ipv4Addr::new(10, 200, high, low)
}

/// A client, and a server at the end of each series' own network.
fn plan(all: &[Series]) -> Plan {
    let ring = Element { bits_per_s: Some(RING_BITS), ..Element::default() };
    let mut plan = Plan { segments: vec![Element::default()], ..Plan::default() };
    plan.hosts.push((CLIENT, 0));
    for (index, series) in all.iter().enumerate() {
        let delay = |ms| Element { delay: Duration::from_millis(ms), ..Element::default() };
        // What comes one after the other: a joint, and the segment behind it.
        let steps: Vec<(Element, Element)> = match series.way {
            Way::Direct => Vec::new(),
            Way::Rings => vec![(Element::default(), ring); 3],
            Way::FarRings => vec![(delay(0), ring), (delay(25), ring), (delay(25), ring)],
            Way::Gateways(names) => {
                names.chars().map(|kind| (element(kind, 0.0), Element::default())).collect()
            }
        };
        let mut at = 0;
        for (joint, segment) in steps {
            plan.segments.push(segment);
            let next = plan.segments.len() - 1;
            plan.joints.push(Joint { element: joint, joins: vec![at, next], address: None });
            at = next;
        }
        plan.hosts.push((address(index), at));
    }
    plan
}

/// Ascending round trips of each series.
fn probe(all: &[Series], rounds: u32) -> Result<Vec<Vec<u64>>, Failure> {
    let lab = Lab::new(plan(all))?;
    let (client, servers) = lab.hosts().split_first().ok_or("no host")?;
    let took: Vec<Result<Vec<u64>, Failure>> = std::thread::scope(|scope| {
        let each = all.iter().zip(servers).enumerate().map(|(index, (series, host))| {
            scope.spawn(move || -> Result<Vec<u64>, Failure> {
                let answering = Options::new((address(index), 0).into());
                let server = host.run(|| Server::start(answering))??;
                let mut took = client.run(|| one_path(*series, server.address(), rounds))??;
                took.sort_unstable();
                Ok(took)
            })
        });
        each.collect::<Vec<_>>().into_iter().map(|path| path.join().unwrap()).collect()
    });
    took.into_iter().collect()
}

fn one_path(series: Series, server: SocketAddr, rounds: u32) -> Result<Vec<u64>, Failure> {
    let _ = run_first(); // main has said so where it may not
    let peer: Peer = server.to_string().parse()?;
    let target = if series.by == By::Udp { Target::Udp(peer) } else { Target::Tcp(peer) };
    let options = ProbeOptions { octets: series.octets as usize, timeout: TIMEOUT };
    let mut prober = Prober::new(target, options);
    let mut took = Vec::new();
    for round in 0..=rounds {
        let ns = match series.by {
            By::TcpNew => over_new_connection(server, series.octets)?,
            _ => {
                let start_ns = chronoscope_clock::monotonic_ns();
                if !prober.ask()? {
                    return Err(format!("{}: {:?}", series.name(), prober.loss()).into());
                }
                chronoscope_clock::monotonic_ns() - start_ns
            }
        };
        if round > 0 {
            took.push(ns);
        }
        chronoscope_clock::sleep(REST);
    }
    Ok(took)
}

/// One round trip over a connection that was made before, and has carried nothing.
fn over_new_connection(server: SocketAddr, octets: u32) -> Result<u64, Failure> {
    let mut stream = TcpStream::connect_timeout(&server, TIMEOUT)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    chronoscope_clock::sleep(REST);
    let mut request = octets.to_be_bytes().to_vec();
    request.extend_from_slice(b"CHRq");
    request.resize(4 + octets as usize, 0);
    let mut reply = vec![0; request.len()];
    let start_ns = chronoscope_clock::monotonic_ns();
    stream.write_all(&request)?;
    stream.read_exact(&mut reply)?;
    Ok(chronoscope_clock::monotonic_ns() - start_ns)
}

fn topology(known: &[Series], took: &[Vec<u64>]) -> Result<Topology, Failure> {
    let text = r#"
        [types]
        pc = { kind = "host" }
        wire = { kind = "link" }
        ring = { kind = "link", rate_bits = 4e6 }
        bridge = { kind = "bridge" }
        slow = { kind = "gateway", delay_us = 50_000 }
        A = { kind = "gateway" }
        B = { kind = "gateway" }
        [segments]
        here = { type = "wire" }
        r1 = { type = "ring" }
        r2 = { type = "ring" }
        r3 = { type = "ring" }
        f1 = { type = "ring" }
        f2 = { type = "ring" }
        f3 = { type = "ring" }
        a = { type = "wire" }
        ab = { type = "wire" }
        [joints]
        to_r1 = { type = "bridge", joins = ["here", "r1"] }
        to_r2 = { type = "bridge", joins = ["r1", "r2"] }
        to_r3 = { type = "bridge", joins = ["r2", "r3"] }
        to_f1 = { type = "bridge", joins = ["here", "f1"] }
        to_f2 = { type = "slow", joins = ["f1", "f2"] }
        to_f3 = { type = "slow", joins = ["f2", "f3"] }
        to_a = { type = "A", joins = ["here", "a"] }
        to_ab = { type = "B", joins = ["a", "ab"] }
        [hosts]
        client = { type = "pc", segment = "here" }
        direct = { type = "pc", segment = "here" }
        rings = { type = "pc", segment = "r3" }
        far = { type = "pc", segment = "f3" }
        AB = { type = "pc", segment = "ab" }
    "#;
    let mut topology = Topology::read(text, None)?;
    let of = |way: Way| -> Vec<&Vec<u64>> {
        let of_way = known.iter().zip(took).filter(|(series, _)| series.way == way);
        of_way.map(|(_, took)| took).collect()
    };
    let direct = of(Way::Direct);
    for (name, way) in [("pc", Way::Direct), ("A", Way::Gateways("A")), ("B", Way::Gateways("B"))] {
        let sizes = of(way).into_iter().zip(&direct).zip(PROBES).map(|((with, direct), octets)| {
            let without = if way == Way::Direct { Vec::new() } else { direct.to_vec() };
            AtSize::new(octets, with.clone(), without)
        });
        let kind = topology.types.get_mut(name).ok_or("no type")?;
        kind.measured = sizes.collect();
    }
    topology.check()?;
    Ok(topology)
}
