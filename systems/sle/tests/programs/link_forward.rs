//! `sle-user link`: CLTUs from programs.

use crate::links::Links;
use crate::station::{Station, until};
use std::collections::{HashMap, HashSet};
use std::net::UdpSocket;
use std::time::Duration;

/// An FCLTU instance whose modem is a socket.
fn radiating(forward: &str) -> (Station, UdpSocket) {
    let modem = UdpSocket::bind("127.0.0.1:0").unwrap();
    // CLTUs wait here until the test looks: none may be lost.
    socket2::SockRef::from(&modem).set_recv_buffer_size(8 << 20).unwrap();
    modem.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let address = modem.local_addr().unwrap();
    let instances = format!(
        "[[instance]]\nid = \"sagr=1.spack=A.fsl-fg=1.cltu=cltu1\"\n[instance.forward]\n\
         modem = \"{address}\"\n{forward}\n"
    );
    (Station::of(&instances, &[]), modem)
}

/// The references of the CLTUs that the modem has received, until it receives nothing for 0.5 s.
fn received(modem: &UdpSocket) -> Vec<u64> {
    let mut octets = [0; 65_536];
    let mut all = Vec::new();
    while let Ok(length) = modem.recv(&mut octets) {
        assert!(length >= 8);
        all.push(u64::from_be_bytes(octets[..8].try_into().unwrap()));
    }
    all
}

fn link(station: &Station, more: &str) -> String {
    let folder = station.folder.path().display();
    format!(
        "[[link]]\ninstance = \"cltu1\"\nreconnect_s = [1, 2]\n[link.forward]\n\
         listen = \"unix:{folder}/cltu1.sock\"\njournal = \"{folder}/cltu1.journal\"\n{more}\n"
    )
}

#[test]
fn cltus_from_a_socket_are_radiated_and_answered() {
    let (station, modem) = radiating("");
    let links = Links::of(&station, &link(&station, ""));
    links.until_state("cltu1", "active");
    let (mut one, mut two) = (links.program("cltu1"), links.program("cltu1"));
    for reference in 0..50 {
        assert!(one.cltu(reference));
    }
    let fates = one.fates(50);
    assert!(fates.values().all(|fate| fate == "radiated"), "{fates:?}");
    assert_eq!(received(&modem), (0..50).collect::<Vec<_>>());
    // Another program has its own answers, and may ask for all fates.
    assert!(two.cltu(1000));
    assert_eq!(two.fates(1), HashMap::from([(1000, "radiated".to_owned())]));
    let known = two.known(40);
    assert_eq!(known.len(), 11);
    assert_eq!((&known[0]["index"], &known[0]["reference"]), (&40.into(), &40.into()));
    assert!(known.iter().all(|one| one["fate"] == "radiated"), "{known:?}");
    let status = links.status("cltu1");
    assert_eq!((&status["sessions"], &status["failures"]), (&1.into(), &0.into()), "{status}");
    links.end();
    assert!(station.status("cltu1").contains("no user bound"));
    assert_eq!(one.answer(), None);
}

#[test]
fn what_is_refused_is_answered_and_what_follows_it_is_radiated() {
    let (station, modem) = radiating("cltu_max = 100");
    let links = Links::of(&station, &link(&station, ""));
    links.until_state("cltu1", "active");
    let mut program = links.program("cltu1");
    let mut given = Vec::new();
    for reference in 0..20u64 {
        let mut data = vec![0; if reference % 5 == 2 { 101 } else { 100 }];
        data[..8].copy_from_slice(&reference.to_be_bytes());
        let request = chronoscope_sle::link::message::RequestedCltu {
            reference,
            earliest_utc_ns: None,
            latest_utc_ns: None,
            delay_us: 0,
            data: data.into(),
        };
        given.extend(request.encode());
    }
    assert!(program.octets(&given), "all at once");
    let fates = program.fates(20);
    for (reference, fate) in &fates {
        let expected = if reference % 5 == 2 { "refused" } else { "radiated" };
        assert_eq!(fate, expected, "{reference}: {fates:?}");
    }
    let radiated: Vec<u64> = (0..20).filter(|reference| reference % 5 != 2).collect();
    assert_eq!(received(&modem), radiated, "once each, in their order");
}

/// The buffer of the station has room for three CLTUs.
#[test]
fn what_has_no_room_is_sent_again() {
    let (station, modem) = radiating("buffer = 4096\nbit_rate = 800000");
    let links = Links::of(&station, &link(&station, ""));
    links.until_state("cltu1", "active");
    let mut program = links.program("cltu1");
    for reference in 0..200 {
        assert!(program.cltu(reference));
    }
    let fates = program.fates(200);
    assert!(fates.values().all(|fate| fate == "radiated"), "{fates:?}");
    assert_eq!(received(&modem), (0..200).collect::<Vec<_>>());
}

/// The link is started before its station, which is killed and comes back.
#[test]
fn a_station_that_comes_later_and_again_is_found() {
    let (mut station, modem) = radiating("");
    let (address, instances) = (station.address.clone(), station.instances.clone());
    station.child.kill().unwrap();
    station.child.wait().unwrap();
    let links = Links::of(&station, &link(&station, ""));
    until(|| links.status("cltu1")["failures"].as_u64().unwrap_or(0) >= 3);
    let mut program = links.program("cltu1");
    assert!(program.cltu(1));
    assert_eq!(program.fates(1)[&1], "not-sent", "nothing waits for a link that is not up");
    let mut second = Station::at(&address, &instances, &[]);
    links.until_state("cltu1", "active");
    assert!(program.cltu(2));
    assert_eq!(program.fates(1)[&2], "radiated");
    second.child.kill().unwrap();
    second.child.wait().unwrap();
    until(|| links.status("cltu1")["failures"].as_u64().unwrap_or(0) >= 2);
    let third = Station::at(&address, &instances, &[]);
    links.until_state("cltu1", "active");
    assert!(program.cltu(3));
    assert_eq!(program.fates(1)[&3], "radiated");
    assert_eq!(received(&modem), [2, 3]);
    // Refused connections are one line, the lost association another, and its refused connections a
    // third.
    let lines = links.said("trying again");
    assert!((2..=4).contains(&lines), "a change is said once: {lines}");
    assert!(links.said("after ") >= 2, "how many attempts failed");
    links.end();
    assert!(third.status("cltu1").contains("no user bound"));
}

#[test]
fn a_cltu_waits_for_the_link_as_long_as_it_is_told() {
    let (mut station, modem) = radiating("");
    let (address, instances) = (station.address.clone(), station.instances.clone());
    station.child.kill().unwrap();
    station.child.wait().unwrap();
    let links = Links::of(&station, &link(&station, "hold_s = 3000"));
    let mut program = links.program("cltu1");
    assert!(program.cltu(7));
    until(|| links.status("cltu1")["intake"]["waiting"] == 1);
    let _again = Station::at(&address, &instances, &[]);
    assert_eq!(program.fates(1)[&7], "radiated");
    assert_eq!(received(&modem), [7]);
}

/// No CLTU is radiated twice, and each that was given is known afterwards.
#[test]
fn killed_in_the_middle_no_cltu_is_radiated_twice_and_each_fate_is_told() {
    let (station, modem) = radiating("bit_rate = 8000000\ncontinue_after_abort = true");
    let mut links = Links::of(&station, &link(&station, ""));
    let (mut next, mut answered, mut radiated) = (0, HashMap::new(), Vec::new());
    for round in 0..4u64 {
        links.until_state("cltu1", "active");
        let mut program = links.program("cltu1");
        let first = next;
        while next < first + 3000 && program.cltu(next) {
            next += 1;
        }
        let until_answers = round * 60;
        let mut count = 0;
        while count < until_answers {
            let answer = program.answer().unwrap();
            if answer["final"] == true {
                let reference = answer["reference"].as_u64().unwrap();
                answered.insert(reference, answer["fate"].as_str().unwrap().to_owned());
                count += 1;
            }
        }
        links = links.killed_and_started();
        until(|| station.count("cltu1", "waiting") == 0);
        radiated.extend(received(&modem));
    }
    let once: HashSet<u64> = radiated.iter().copied().collect();
    assert_eq!(once.len(), radiated.len(), "none twice");
    assert!(!radiated.is_empty());
    let known: HashMap<u64, String> = links
        .program("cltu1")
        .known(0)
        .iter()
        .map(|one| (one["reference"].as_u64().unwrap(), one["fate"].as_str().unwrap().to_owned()))
        .collect();
    for reference in &radiated {
        let fate = known.get(reference).expect("what was sent is in the journal");
        assert!(["radiated", "acknowledged", "unknown"].contains(&fate.as_str()), "{fate}");
    }
    for (reference, fate) in known.iter().filter(|(_, fate)| *fate == "radiated") {
        assert!(once.contains(reference), "{reference} {fate}");
    }
    for (reference, fate) in &answered {
        assert_eq!(&known[reference], fate, "what a program was told stays so");
    }
    // The link goes on with new indices.
    links.until_state("cltu1", "active");
    let mut program = links.program("cltu1");
    assert!(program.cltu(1_000_000));
    assert_eq!(program.fates(1)[&1_000_000], "radiated");
}

#[test]
fn octets_that_are_no_messages_reach_no_spacecraft() {
    let (station, modem) = radiating("");
    let tcp = link(&station, "")
        .replace(&format!("unix:{}/cltu1.sock", station.folder.path().display()), "127.0.0.1:0");
    let links = Links::of(&station, &tcp);
    links.until_state("cltu1", "active");
    let mut good = links.program("cltu1");
    let cltu = chronoscope_sle::link::message::RequestedCltu {
        reference: 1,
        earliest_utc_ns: None,
        latest_utc_ns: None,
        delay_us: 0,
        data: vec![0; 16].into(),
    };
    let post = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 52\r\n\r\n";
    let too_long = [&b"SLC1"[..], &[255; 100]].concat();
    for garbage in [&[&post[..], &cltu.encode()].concat()[..], &too_long, &[0xeb; 70_000]] {
        let mut program = links.program("cltu1");
        // The daemon may close before all is written.
        let _ = program.octets(garbage);
        let answers: Vec<_> = std::iter::from_fn(|| program.answer()).collect();
        assert!(answers.iter().all(|one| one["error"].is_string()), "{answers:?}");
    }
    let mut idle = links.program("cltu1");
    assert!(idle.octets(b"SLC1\0\0"), "a message that never ends");
    assert!(good.cltu(9));
    assert_eq!(good.fates(1)[&9], "radiated");
    assert_eq!(received(&modem), [9]);
    until(|| links.status("cltu1")["intake"]["malformed"] == 3);
}

/// After a loss a station takes no CLTU before STOP and START.
#[test]
fn after_an_expired_cltu_the_link_starts_again() {
    // Each CLTU is on the air for 80 ms.
    let (station, modem) = radiating("bit_rate = 10000");
    let links = Links::of(&station, &link(&station, "hold_s = 600"));
    links.until_state("cltu1", "active");
    let mut program = links.program("cltu1");
    let now_ns = chronoscope_sle::time::Now::read().utc_ns;
    for reference in 0..34u64 {
        let mut data = vec![0; 100];
        data[..8].copy_from_slice(&reference.to_be_bytes());
        let request = chronoscope_sle::link::message::RequestedCltu {
            reference,
            earliest_utc_ns: None,
            // Its turn comes after 2.4 s.
            latest_utc_ns: (reference == 30).then_some(now_ns + 1_500_000_000),
            delay_us: 0,
            data: data.into(),
        };
        assert!(program.octets(&request.encode()));
    }
    let fates = program.fates(34);
    assert_eq!((&*fates[&29], &*fates[&30]), ("radiated", "expired"), "{fates:?}");
    let lost = |reference| ["discarded", "refused"].contains(&fates[&reference].as_str());
    assert!((31..34).all(lost), "{fates:?}");
    assert!(program.cltu(100));
    assert_eq!(program.fates(1)[&100], "radiated");
    assert_eq!(received(&modem), (0..30).chain([100]).collect::<Vec<_>>());
    until(|| links.status("cltu1")["sessions"].as_u64().unwrap() >= 2);
}
