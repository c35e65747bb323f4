//! Predicted response times beside measured ones, on a network of namespaces.
//!
//! Two gateways are measured one by one, each by two probes around it; then the round trip through
//! both, through three and through four of them is predicted and measured, idle and with half and
//! four fifths of the gateways' time taken by others. Aims: median within 5 %, 90th percentile
//! within 10 % of measured on idle paths, the band holding on busy ones.
#![allow(clippy::unwrap_used)]

use chronoscope_lab::{Element, Joint, Lab, Namespace, Plan, Traffic};
use chronoscope_model::{Quantile, nearest_rank};
use chronoscope_net::path::element::AtSize;
use chronoscope_net::path::predict::{parts, predict};
use chronoscope_net::path::topology::Topology;
use chronoscope_net::probe::{self, Load, echo};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

const SIZES: [u32; 3] = [64, 512, 1400];
/// Gateways by which each server is reached, one after the other.
const WAYS: [&str; 6] = ["", "A", "B", "AB", "ABA", "ABAB"];

fn main() {
    if std::env::args().any(|arg| arg == "--list") {
        return; // asked by a test runner
    }
    let rounds = if std::env::args().any(|arg| arg == "--quick") { 100 } else { 400 };
    println!(
        "gateways                 octets  predicted p50      measured  error   predicted p90      measured  error   in both bands"
    );
    for utilisation in [0.0, 0.5, 0.8] {
        if let Err(error) = measure(utilisation, rounds) {
            println!("{error}");
            return;
        }
    }
}

/// A: 2 ms each way and 10 Mbit/s, now and then later. B: 5 ms, 2 Mbit/s.
fn element(kind: char, utilisation: f64) -> Element {
    let traffic = Some(Traffic { utilisation, octets: 300.0 });
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

/// A client on segment 0, and for each way a server on the segment that it leads to.
fn plan(utilisation: f64) -> Plan {
    let mut plan = Plan { segments: vec![Element::default()], ..Plan::default() };
    plan.hosts.push((Ipv4Addr::new(10, 0, 0, 1), 0));
    for (index, way) in (1..).zip(WAYS) {
        let mut at = 0;
        for kind in way.chars() {
            plan.segments.push(Element::default());
            let next = plan.segments.len() - 1;
            let element = element(kind, utilisation);
            plan.joints.push(Joint { element, joins: vec![at, next], address: None });
            at = next;
        }
        plan.hosts.push((Ipv4Addr::new(10, 0, index, 1), at));
    }
    plan
}

fn serve(host: &Namespace, address: Ipv4Addr) -> SocketAddr {
    let socket = host.run(|| UdpSocket::bind((address, 0)).unwrap()).unwrap();
    let served = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 65_536];
        while echo::answer(&socket, &mut buffer).is_ok() {}
    });
    served
}

fn measure(utilisation: f64, rounds: u32) -> Result<(), Box<dyn std::error::Error>> {
    let plan = plan(utilisation);
    let idle = Lab::new(self::plan(0.0))?;
    let lab = Lab::new(plan.clone())?;
    let servers = |lab: &Lab| -> Vec<SocketAddr> {
        let hosts = lab.hosts().iter().zip(&plan.hosts).skip(1);
        hosts.map(|(host, (address, _))| serve(host, *address)).collect()
    };
    let (idle_servers, busy_servers) = (servers(&idle), servers(&lab));
    // Interleaved, so that whatever else this machine does is in all of them.
    let samples = |lab: &Lab, servers: &[SocketAddr]| {
        let mut all = vec![[const { Vec::new() }; SIZES.len()]; servers.len()];
        let mut clients: Vec<[echo::Client; SIZES.len()]> = servers
            .iter()
            .map(|server| {
                SIZES.map(|octets| {
                    let socket = lab.hosts()[0]
                        .run(|| UdpSocket::bind((Ipv4Addr::new(10, 0, 0, 1), 0)).unwrap())
                        .unwrap();
                    echo::Client::new(socket, *server, octets as usize, Duration::from_secs(5))
                        .unwrap()
                })
            })
            .collect();
        for _ in 0..rounds / 20 {
            for (way, clients) in clients.iter_mut().enumerate() {
                for (size, client) in clients.iter_mut().enumerate() {
                    let load =
                        Load { count: 20, every: Duration::from_micros(500), ..Load::default() };
                    let series = probe::run(&load, |_| client.ask()).unwrap();
                    all[way][size].extend(series.ascending());
                }
            }
        }
        all
    };
    let characteristic = samples(&idle, &idle_servers);
    let measured = samples(&lab, &busy_servers);
    let topology = topology(&characteristic, utilisation);
    for (way, name) in WAYS.iter().enumerate().skip(1) {
        for (size, octets) in SIZES.iter().enumerate() {
            let mut truth = measured[way][size].clone();
            truth.sort_unstable();
            let [p50, p90] =
                [Quantile::P50, Quantile::P90].map(|q| nearest_rank(&truth, q).unwrap() as f64);
            let found = predict(&parts(&topology, "client", name_of(name).as_str(), *octets, &[])?);
            let inside = |[low, high]: [f64; 2], value: f64| low <= value && value <= high;
            let holds = [inside(found.p50_band_ns, p50), inside(found.p90_band_ns, p90)];
            println!(
                "{:<6} {:>3.0} % busy  {octets:>12}  {:>10.3} ms  {:>9.3} ms {:>+5.1} %  {:>10.3} ms  {:>9.3} ms {:>+5.1} %   {} {}",
                name,
                utilisation * 100.0,
                found.p50_ns / 1e6,
                p50 / 1e6,
                (found.p50_ns / p50 - 1.0) * 100.0,
                found.p90_ns / 1e6,
                p90 / 1e6,
                (found.p90_ns / p90 - 1.0) * 100.0,
                if holds[0] { "yes" } else { "NO" },
                if holds[1] { "yes" } else { "NO" },
            );
        }
    }
    Ok(())
}

fn name_of(way: &str) -> String {
    format!("server{way}")
}

fn topology(samples: &[[Vec<u64>; SIZES.len()]], utilisation: f64) -> Topology {
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
    let mut topology = Topology::read(&text, None).unwrap();
    let at = |way: usize| -> Vec<AtSize> {
        let without = |size: usize| if way == 0 { Vec::new() } else { samples[0][size].clone() };
        let each = SIZES.iter().enumerate();
        each.map(|(size, octets)| AtSize::new(*octets, samples[way][size].clone(), without(size)))
            .collect()
    };
    for (way, kind) in ["pc", "A", "B"].into_iter().enumerate() {
        topology.types.get_mut(kind).unwrap().measured = at(way);
    }
    topology.check().unwrap();
    topology
}
