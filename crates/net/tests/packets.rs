//! Messages of several packets: the model beside a network that carries each packet by itself, by
//! reckoning and in namespaces, whose kernels cut the messages.
#![allow(clippy::unwrap_used)]

use chronoscope_lab::fabric::Fabric;
use chronoscope_lab::{Element, Joint, Lab, LabError, Plan, Traffic, run_first};
use chronoscope_net::answer::{Options as Answering, Server};
use chronoscope_net::path::around::plan;
use chronoscope_net::path::characterise::{Samples, characterise};
use chronoscope_net::path::message::{MTU, Message, Transport};
use chronoscope_net::path::parts::parts;
use chronoscope_net::path::topology::Topology;
use chronoscope_net::probe::{ProbeOptions, Prober, Target};
use chronoscope_statistics::Random;
use proptest::prelude::*;
use std::net::Ipv4Addr;
use std::time::Duration;

const HERE: Ipv4Addr = Ipv4Addr::new(10, 6, 0, 1);
const THERE: Ipv4Addr = Ipv4Addr::new(10, 6, 1, 1);
/// The document's ring.
const RING_BITS: u64 = 4_000_000;

/// Links and what joins them, in a row; a host on the first link, and one on the last.
fn row(links: &[Element], joints: &[Element]) -> Plan {
    let joint = |(at, element): (usize, &Element)| Joint {
        element: *element,
        joins: vec![at, at + 1],
        address: None,
    };
    Plan {
        segments: links.to_vec(),
        joints: joints.iter().enumerate().map(joint).collect(),
        hosts: vec![(HERE, 0), (THERE, links.len() - 1)],
    }
}

/// The same, as people write it.
fn topology(links: &[Element], joints: &[Element]) -> Topology {
    let entered = |element: &Element| {
        let us = |time: Duration| time.as_nanos() as f64 / 1e3;
        let busy = element.traffic.map(|traffic| {
            let octet_us = element.bits_per_s.map_or(0.0, |bits| 8e6 / bits as f64);
            let packet_us = us(element.per_packet);
            let octets = traffic.octets;
            format!(
                ", service = {{ packet_us = {packet_us:?}, octet_us = {octet_us:?}, octets = {octets:?} }}"
            )
        });
        format!(
            "delay_us = {:?}, packet_us = {:?}, rate_bits = {}{}",
            2.0 * us(element.delay),
            us(element.per_packet),
            element.bits_per_s.unwrap_or(0),
            busy.unwrap_or_default()
        )
    };
    let busy = |element: &Element| element.traffic.map_or(0.0, |traffic| traffic.utilisation);
    let mut text = "[types]\npc = { kind = \"host\" }\n".to_owned();
    for (n, link) in links.iter().enumerate() {
        text += &format!("l{n} = {{ kind = \"link\", {} }}\n", entered(link));
    }
    for (n, joint) in joints.iter().enumerate() {
        text += &format!("j{n} = {{ kind = \"gateway\", {} }}\n", entered(joint));
    }
    text += "[segments]\n";
    for (n, link) in links.iter().enumerate() {
        text += &format!("s{n} = {{ type = \"l{n}\", utilisation = {:?} }}\n", busy(link));
    }
    text += "[joints]\n";
    for (n, joint) in joints.iter().enumerate() {
        let (next, busy) = (n + 1, busy(joint));
        text += &format!(
            "g{n} = {{ type = \"j{n}\", joins = [\"s{n}\", \"s{next}\"], utilisation = {busy:?} }}\n"
        );
    }
    let last = links.len() - 1;
    text += &format!(
        "[hosts]\nhere = {{ type = \"pc\", segment = \"s0\" }}\nthere = {{ type = \"pc\", segment = \"s{last}\" }}\n"
    );
    Topology::read(&text, None).unwrap()
}

/// Predicted round trip without waiting for others, in nanoseconds.
fn predicted_ns(topology: &Topology, message: Message) -> f64 {
    let parts = parts(topology, "here", "there", message, &[]).unwrap();
    parts.iter().map(|part| part.delay.fixed_ns).sum()
}

/// An IPv4 packet of so many octets.
fn packet(from: Ipv4Addr, to: Ipv4Addr, octets: u32) -> Vec<u8> {
    let mut packet = vec![0; octets as usize];
    (packet[0], packet[8], packet[9]) = (0x45, 64, 17);
    packet[12..16].copy_from_slice(&from.octets());
    packet[16..20].copy_from_slice(&to.octets());
    packet
}

/// Time when the last packet of a message arrives that is sent at `start_ns`.
fn carried_ns(fabric: &mut Fabric, host: usize, start_ns: u64, packets: &[u32]) -> u64 {
    let (from, to) = if host == 0 { (HERE, THERE) } else { (THERE, HERE) };
    for octets in packets {
        fabric.send(start_ns, host, packet(from, to, *octets));
    }
    let (mut last_ns, mut count) = (0, 0);
    while let Some(due_ns) = fabric.due_ns() {
        while fabric.arrived(due_ns).is_some() {
            (last_ns, count) = (due_ns, count + 1);
        }
    }
    assert_eq!(count, packets.len());
    last_ns
}

prop_compose! {
    fn element()(
        delay_us in 0..20_000_u64,
        packet_us in 0..5000_u64,
        bits in prop::option::of(1_000_000..100_000_000_u64),
    ) -> Element {
        Element {
            delay: Duration::from_micros(delay_us),
            per_packet: Duration::from_micros(packet_us),
            bits_per_s: bits,
            ..Element::default()
        }
    }
}

proptest! {
    /// The lab's reckoning of each packet through each queue says the same as the model.
    #[test]
    fn as_a_network_of_queues_carries_them(
        links in prop::collection::vec(element(), 2..5),
        joints in prop::collection::vec(element(), 4),
        octets in 0..60_000_u32,
        tcp: bool,
    ) {
        let joints = &joints[..links.len() - 1];
        let transport = if tcp { Transport::Tcp { window: None } } else { Transport::Udp };
        let message = Message { octets, transport };
        let packets = message.packets(MTU);
        let mut fabric = Fabric::new(row(&links, joints)).unwrap();
        let there_ns = carried_ns(&mut fabric, 0, 0, &packets);
        let back_ns = carried_ns(&mut fabric, 1, there_ns, &packets);
        let found = predicted_ns(&topology(&links, joints), message);
        // The lab counts whole nanoseconds, for each packet and element.
        let rounded = 2.0 * (packets.len() * 9) as f64;
        prop_assert!((found - back_ns as f64).abs() <= rounded, "{found} for {back_ns}");
    }
}

/// Ten packets through a gateway that others keep half busy: they wait once, and let those of others
/// pass that arrive between. On the average of many messages, and with the same random numbers always.
#[test]
fn others_pass_between_the_packets() {
    let ring = Element { bits_per_s: Some(RING_BITS), ..Element::default() };
    let traffic = Some(Traffic { utilisation: 0.5, octets: 300.0 });
    let busy = Element { traffic, ..ring };
    let message = Message::from(14_000);
    let packets = message.packets(MTU);
    let mut fabric = Fabric::new(row(&[ring, ring], &[busy])).unwrap();
    let (mut now_ns, mut sum_ns, rounds) = (0, 0.0, 2000);
    let mut random = Random(5);
    for _ in 0..rounds {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let rest_ns = 1_000_000_000 + random.exponential(1e9) as u64;
        now_ns += rest_ns;
        let there_ns = carried_ns(&mut fabric, 0, now_ns, &packets);
        let back_ns = carried_ns(&mut fabric, 1, there_ns, &packets);
        sum_ns += (back_ns - now_ns) as f64;
        now_ns = back_ns;
    }
    let topology = topology(&[ring, ring], &[busy]);
    let known = parts(&topology, "here", "there", message, &[]).unwrap();
    let wait_ns = known[2].service.unwrap().waiting_ns(0.5);
    let expected = predicted_ns(&topology, message) + 2.0 * wait_ns;
    let found = sum_ns / f64::from(rounds);
    println!("{:.3} ms predicted, {:.3} ms carried", expected / 1e6, found / 1e6);
    assert!((found - expected).abs() < 0.05 * found, "{found} for {expected}");
    // Without them it would be far less.
    let idle = self::topology(&[ring, ring], &[ring]);
    assert!(found > 1.3 * predicted_ns(&idle, message));
}

/// `None`: not allowed here.
fn lab(plan: Plan) -> Option<Lab> {
    match Lab::new(plan) {
        Ok(lab) => Some(lab),
        Err(error @ LabError::Forbidden { .. }) => {
            eprintln!("SKIPPED: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Shortest of several round trips from the first host to the second.
fn best_ns(lab: &Lab, by: fn(chronoscope_net::probe::Peer) -> Target, octets: usize) -> f64 {
    let answering = Answering::new((THERE, 0).into());
    let server = lab.hosts()[1].run(|| Server::start(answering)).unwrap().unwrap();
    let peer = server.address().to_string().parse().unwrap();
    let options = ProbeOptions { octets, timeout: Duration::from_secs(20) };
    let ask = || {
        let _ = run_first();
        let mut prober = Prober::new(by(peer), options);
        assert!(prober.ask().unwrap(), "{:?}", prober.loss());
        let one = |_| {
            let start_ns = chronoscope_clock::monotonic_ns();
            assert!(prober.ask().unwrap(), "{:?}", prober.loss());
            chronoscope_clock::monotonic_ns() - start_ns
        };
        (0..5).map(one).min().unwrap() as f64
    };
    lab.hosts()[0].run(ask).unwrap()
}

/// Real datagrams and connections over three of the document's rings: never faster than predicted,
/// and nearer to it than to what the sum over all rings would be.
#[test]
fn as_kernels_carry_them() {
    let ring = Element { bits_per_s: Some(RING_BITS), ..Element::default() };
    let (links, joints) = ([ring; 3], [Element::default(); 2]);
    let Some(lab) = lab(row(&links, &joints)) else { return };
    let topology = topology(&links, &joints);
    for name in ["udp", "tcp"] {
        let (by, transport): (fn(_) -> Target, _) = match name {
            "udp" => (Target::Udp, Transport::Udp),
            _ => (Target::Tcp, Transport::Tcp { window: None }),
        };
        for octets in [64, 512, 1460, 4000, 14_000, 64_000] {
            let message = Message { octets, transport };
            let expected = predicted_ns(&topology, message);
            let found = best_ns(&lab, by, octets as usize);
            let packets = message.packets(MTU);
            println!(
                "{name} {octets:>6} octets, {:>2} packets: {:>8.3} ms predicted, {:>8.3} ms measured",
                packets.len(),
                expected / 1e6,
                found / 1e6
            );
            assert!(found >= 0.999 * expected, "{name} {octets}: {found} for {expected}");
            let all: u32 = packets.iter().sum();
            let whole = 6.0 * 8e9 * f64::from(all) / RING_BITS as f64;
            if packets.len() > 2 {
                assert!(found < (expected + whole) / 2.0, "{name} {octets}: {found} as {whole}");
            }
        }
    }
}

/// A gateway whose program needs 8 ms for each packet, measured by messages of one packet and of
/// several.
#[test]
fn the_time_of_each_packet_is_measured() {
    let slow = Element { per_packet: Duration::from_millis(8), ..Element::default() };
    let mut plan_of = row(&[Element::default(); 2], &[slow]);
    let near = Ipv4Addr::new(10, 6, 0, 2);
    plan_of.hosts.push((near, 0));
    let Some(lab) = lab(plan_of) else { return };
    let mut samples = Samples::new();
    for (name, host, address) in [("near", 2, near), ("there", 1, THERE)] {
        let answering = Answering::new((address, 0).into());
        let server = lab.hosts()[host].run(|| Server::start(answering)).unwrap().unwrap();
        let peer: chronoscope_net::probe::Peer = server.address().to_string().parse().unwrap();
        for octets in [64, 1400, 14_000_u32] {
            let took = lab.hosts()[0].run(|| {
                let _ = run_first();
                let timeout = Duration::from_secs(20);
                let options = ProbeOptions { octets: octets as usize, timeout };
                let mut prober = Prober::new(Target::Udp(peer.clone()), options);
                let mut one = || {
                    let start_ns = chronoscope_clock::monotonic_ns();
                    assert!(prober.ask().unwrap());
                    chronoscope_clock::monotonic_ns() - start_ns
                };
                one();
                (0..10).map(|_| one()).collect::<Vec<_>>()
            });
            samples.insert((name.to_owned(), octets), took.unwrap());
        }
    }
    let text = r#"
        types = { pc = { kind = "host" }, wire = { kind = "link" }, gw = { kind = "gateway" } }
        segments = { a = { type = "wire" }, b = { type = "wire" } }
        joints = { g = { type = "gw", joins = ["a", "b"] } }
        [hosts]
        here = { type = "pc", segment = "a" }
        near = { type = "pc", segment = "a", address = "10.6.0.2:1" }
        there = { type = "pc", segment = "b", address = "10.6.1.1:1" }
    "#;
    let topology = Topology::read(text, None).unwrap();
    let found = characterise(&topology, &plan(&topology, "here", Some("g")).unwrap(), &samples);
    let packet_us = found.elements[0].packet_us.expect("the gateway is the slowest element");
    println!("{packet_us:.1} µs a packet");
    // A busy machine adds to it; without what follows the first packet it would be nothing.
    assert!((7000.0..16_000.0).contains(&packet_us), "{packet_us}");
    let mut known = topology.clone();
    known.types.extend(found.types);
    let long = samples[&("there".to_owned(), 14_000)].iter().min().copied().unwrap() as f64;
    let expected = predicted_ns(&known, Message::from(14_000));
    assert!(expected > 2.0 * 10.0 * 7e6 && long > 2.0 * 10.0 * 8e6, "{expected} {long}");
}
