//! Paths of a network of namespaces: found, measured, predicted and watched with real sockets.
#![allow(clippy::unwrap_used)]

use chronoscope_lab::{Element, Joint, Lab, LabError, Plan, run_first};
use chronoscope_net::path::around::plan;
use chronoscope_net::path::characterise::{Samples, characterise};
use chronoscope_net::path::parts::parts;
use chronoscope_net::path::predict::predict;
use chronoscope_net::path::sampling::{ProbeFn, Sampling, sample};
use chronoscope_net::path::topology::{ElementKind, Topology};
use chronoscope_net::path::trace::{Limits, trace};
use chronoscope_net::path::watch::{self, Flag, Path, judge};
use chronoscope_net::probe::echo;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const HERE: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 1);

const fn gateway(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 3, 200, n)
}

fn delayed(ms: u64) -> Element {
    Element { delay: Duration::from_millis(ms), ..Element::default() }
}

/// Segments 0 to 3 in a row, gateways 1 to 3 between, each adding twice so many milliseconds to a
/// round trip; a bridge to segment 4 from segment 1. This host is on segment 0, and one on each.
fn network(ms: [u64; 3]) -> Option<Lab> {
    let mut joints: Vec<Joint> = (1..=3_u8)
        .map(|n| {
            let at = usize::from(n);
            let element = delayed(ms[at - 1]);
            Joint { element, joins: vec![at - 1, at], address: Some(gateway(n)) }
        })
        .collect();
    joints.push(Joint { element: delayed(1), joins: vec![1, 4], address: None });
    let mut hosts = vec![(HERE, 0)];
    hosts.extend((0..5_u8).map(|n| (address(n), usize::from(n))));
    let plan = Plan { segments: vec![Element::default(); 5], joints, hosts };
    match Lab::new(plan) {
        Ok(lab) => Some(lab),
        Err(error @ LabError::Forbidden { .. }) => {
            eprintln!("SKIPPED: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The host on a segment.
const fn address(segment: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 3, segment, 9)
}

/// The same network, as people write it.
const TOPOLOGY: &str = r#"
    [types]
    pc = { kind = "host" }
    wire = { kind = "link" }
    g1 = { kind = "gateway" }
    g2 = { kind = "gateway" }
    g3 = { kind = "gateway" }
    bridge = { kind = "bridge" }
    [segments]
    s0 = { type = "wire" }
    s1 = { type = "wire" }
    s2 = { type = "wire" }
    s3 = { type = "wire" }
    s4 = { type = "wire" }
    [joints]
    first = { type = "g1", joins = ["s0", "s1"] }
    second = { type = "g2", joins = ["s1", "s2"] }
    third = { type = "g3", joins = ["s2", "s3"] }
    side = { type = "bridge", joins = ["s1", "s4"] }
    [hosts]
    here = { type = "pc", segment = "s0" }
    h0 = { type = "pc", segment = "s0", address = "set by the test" }
    h1 = { type = "pc", segment = "s1", address = "set by the test" }
    h2 = { type = "pc", segment = "s2", address = "set by the test" }
    h3 = { type = "pc", segment = "s3", address = "set by the test" }
    h4 = { type = "pc", segment = "s4", address = "set by the test" }
"#;

fn clients(lab: &Lab) -> Vec<echo::Client> {
    (0..5)
        .map(|segment| {
            let host = &lab.hosts()[usize::from(segment) + 1];
            let server = host.run(|| UdpSocket::bind((address(segment), 0)).unwrap()).unwrap();
            let served: SocketAddr = server.local_addr().unwrap();
            std::thread::spawn(move || {
                let _ = run_first();
                let mut buffer = vec![0; 4096];
                while echo::answer(&server, &mut buffer).is_ok() {}
            });
            let socket = lab.hosts()[0].run(|| UdpSocket::bind((HERE, 0)).unwrap()).unwrap();
            echo::Client::new(socket, served, 100, Duration::from_secs(10)).unwrap()
        })
        .collect()
}

/// Steady round trips to each host, in rounds.
fn probe(clients: &mut [echo::Client], rounds: u32) -> Vec<Vec<Option<u64>>> {
    let mut all = vec![Vec::new(); clients.len()];
    let mut asks: Vec<ProbeFn<'_>> =
        clients.iter_mut().map(|client| Box::new(|_| client.ask()) as ProbeFn<'_>).collect();
    let pause = Duration::from_millis(1);
    let sampling = Sampling { rounds, pause, at_most: Duration::MAX, seed: 1 };
    sample(&mut asks, &sampling, &AtomicBool::new(false), |probed| {
        if probed.round > 0 {
            all[probed.path].push(probed.took_ns);
        }
    })
    .unwrap();
    all
}

/// Each gateway's type comes out of two probes around it, and paths of several are predicted from
/// these. The delays are far apart, so that no machine is too busy to tell them apart.
#[test]
fn elements_are_told_apart_and_put_together() {
    let Some(lab) = network([5, 15, 45]) else { return };
    let _ = run_first(); // who measures, too
    let mut clients = clients(&lab);
    let mut topology = Topology::read(TOPOLOGY, None).unwrap();
    let around = plan(&topology, "here", None).unwrap();
    let pairs: Vec<_> =
        around.around.iter().map(|a| (&*a.element, &*a.with, a.without.as_deref())).collect();
    let expected = [
        ("first", "h1", Some("h0")),
        ("second", "h2", Some("h1")),
        ("side", "h4", Some("h1")),
        ("third", "h3", Some("h2")),
    ];
    assert_eq!(pairs, expected);
    let samples: Samples = (0..)
        .zip(probe(&mut clients, 10))
        .map(|(host, took)| ((format!("h{host}"), 100), took.into_iter().flatten().collect()))
        .collect();
    let found = characterise(&topology, &around, &samples);
    let median = |name: &str| {
        let element = found.elements.iter().find(|element| element.element == name).unwrap();
        element.sizes[0].p50_ns / 1e6
    };
    let [first, second, third] = ["first", "second", "third"].map(median);
    assert!(first < second && second < third, "{first} {second} {third}");
    assert!(median("side") < second);
    topology.types.extend(found.types);
    // From a host behind one gateway to one behind another: a path that was never probed.
    let over = |from, to| predict(&parts(&topology, from, to, 100, &[]).unwrap()).p50_ns / 1e6;
    assert!(over("h1", "h3") > over("h0", "h2"));
    assert!((over("h1", "h3") - second - third).abs() < first, "the two gateways' parts");
}

fn watched(topology: &Topology) -> Vec<Path> {
    let path = |to: &str| {
        let predicted = predict(&parts(topology, "here", to, 100, &[]).unwrap());
        Path::new(to.to_owned(), predicted)
    };
    ["h0", "h1", "h2", "h3", "h4"].map(path).into()
}

/// Entered as it is: gateways of 2 × 10 ms, hosts that take some 10 ms at most.
fn entered() -> Topology {
    let text = ["g1", "g2", "g3"].iter().fold(TOPOLOGY.to_owned(), |text, name| {
        let type_of = |delay: &str| format!("{name} = {{ kind = \"gateway\"{delay} }}");
        text.replace(&type_of(""), &type_of(", delay_us = 20_000"))
    });
    let text =
        text.replace("pc = { kind = \"host\" }", "pc = { kind = \"host\", delay_us = 10_000 }");
    Topology::read(&text, None).unwrap()
}

/// While nothing changes nothing is flagged; when one gateway becomes slower, that one is, and no
/// other; when it is as before, nothing is.
#[test]
fn the_gateway_that_changes_is_flagged() {
    let Some(lab) = network([10; 3]) else { return };
    let _ = run_first(); // who measures, too
    let mut clients = clients(&lab);
    let mut paths = watched(&entered());
    // Far above what a busy machine adds, far below what changes.
    let limits = watch::Limits { windows: 2, tolerance: 2.0 };
    let mut flag = |windows: u32| -> Option<Flag> {
        let mut last = None;
        for _ in 0..windows {
            let verdict = judge(&mut paths, &probe(&mut clients, 3), &limits);
            assert_eq!(verdict.unexplained, [""; 0], "{verdict:?}");
            last = verdict.flag;
        }
        last
    };
    assert_eq!(flag(3), None);
    lab.change_joint(1, delayed(110));
    chronoscope_clock::sleep(Duration::from_millis(100));
    let found = flag(2).unwrap();
    assert_eq!((&*found.element, found.kind), ("second", ElementKind::Gateway), "{found:?}");
    assert_eq!(found.paths, ["h2", "h3"]);
    assert!(found.changed_ns.unwrap() > 100e6, "{found:?}");
    lab.change_joint(1, delayed(10));
    chronoscope_clock::sleep(Duration::from_millis(100));
    assert_eq!(flag(2), None);
}

#[test]
fn gateways_on_the_way_are_found() {
    let Some(lab) = network([1; 3]) else { return };
    let limits = Limits { hops: 8, tries: 3, timeout: Duration::from_secs(3) };
    let look = |to| lab.hosts()[0].run(|| trace(to, &limits, &AtomicBool::new(false)).unwrap());
    let found = look(address(3)).unwrap();
    let gateways: Vec<_> = found.gateways.iter().map(|hop| hop.unwrap().address).collect();
    assert_eq!(gateways, [gateway(1), gateway(2), gateway(3)]);
    assert_eq!(found.host.unwrap().address, address(3));
    // A bridge does not show.
    let found = look(address(4)).unwrap();
    assert_eq!((found.gateways.len(), found.host.unwrap().address), (1, address(4)));
    // Nobody is there: what is on the way to nowhere is nothing.
    let limits = Limits { hops: 4, tries: 1, timeout: Duration::from_millis(100) };
    let nobody = Ipv4Addr::new(10, 3, 77, 77);
    let found = lab.hosts()[0].run(|| trace(nobody, &limits, &AtomicBool::new(false)).unwrap());
    let found = found.unwrap();
    assert_eq!((found.gateways, found.host), (vec![], None));
}

/// The same as an independent implementation finds.
#[test]
fn as_traceroute_finds_them() {
    let Some(lab) = network([1; 3]) else { return };
    let to = address(3).to_string();
    let run = || Command::new("traceroute").args(["-n", "-q", "1", "-w", "3", &to]).output();
    let output = match lab.hosts()[0].run(run).unwrap() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("SKIPPED: no traceroute ({error}); apt-get install traceroute");
            return;
        }
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let theirs: Vec<Ipv4Addr> = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().nth(1)?.parse().ok())
        .collect();
    let ours = lab.hosts()[0]
        .run(|| trace(address(3), &Limits::default(), &AtomicBool::new(false)).unwrap())
        .unwrap();
    let gateways = ours.gateways.iter().chain([&ours.host]);
    let ours: Vec<Ipv4Addr> = gateways.map(|hop| hop.unwrap().address).collect();
    assert_eq!(ours, theirs, "{text}");
}
