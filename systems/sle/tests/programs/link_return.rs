//! `sle-user link`: frames for programs, passes, and stores.

use crate::links::{Links, parsed};
use crate::station::{Station, until};
use chronoscope_sle::client::notation;
use chronoscope_sle::time::{Now, Time};
use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::time::Duration;

/// An RAF instance with frames of 100 octets.
fn delivering(rate: u32, more: &str) -> Station {
    Station::of(
        &format!(
            "[[instance]]\nid = \"sagr=1.spack=A.rsl-fg=1.raf=onlc1\"\n[instance.return]\n{more}\n\
             [instance.return.generator]\noctets = 100\nrate = {rate}\n"
        ),
        &[],
    )
}

fn utc(offset_s: i64) -> String {
    let now_ns = i64::try_from(Now::read().utc_ns).unwrap();
    let at_ns = u64::try_from(now_ns + offset_s * 1_000_000_000).unwrap();
    notation::time(Time::from_utc_ns(at_ns)).as_str().unwrap().to_owned()
}

/// Time, antenna and the frame of a message.
fn fields(rest: &[u8]) -> (u64, String, Vec<u8>) {
    let ns = u64::from_be_bytes(rest[..8].try_into().unwrap());
    assert_eq!((rest[10], rest[11]), (6, 0), "microseconds, a good frame");
    let antenna = usize::from(rest[17]);
    let name = String::from_utf8(rest[18..18 + antenna].to_vec()).unwrap();
    assert_eq!(rest[18 + antenna], 0, "no annotation");
    (ns, name, rest[19 + antenna..].to_vec())
}

#[test]
fn frames_go_to_datagrams_to_programs_and_to_a_store() {
    let station = delivering(200, "antenna = \"DSS-25\"");
    let modem = UdpSocket::bind("127.0.0.1:0").unwrap();
    modem.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let store = station.folder.path().join("received");
    let links = Links::of(
        &station,
        &format!(
            "[[link]]\ninstance = \"onlc1\"\n[link.return]\nudp = [\"{}\"]\n\
             listen = [\"127.0.0.1:0\"]\nstore = \"{}\"\n",
            modem.local_addr().unwrap(),
            store.display()
        ),
    );
    let mut program = links.program("onlc1");
    let mut octets = [0; 65_536];
    let (mut by_udp, mut by_tcp) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        let length = modem.recv(&mut octets).unwrap();
        assert_eq!(octets[..4], *b"SLF1");
        by_udp.push(parsed(&octets[8..length]));
        by_tcp.push(program.message());
    }
    for all in [&by_udp, &by_tcp] {
        let numbers: Vec<u64> = all.iter().map(|message| message.1).collect();
        assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{numbers:?}");
        for (kind, _, rest) in all {
            let (received_ns, antenna, frame) = fields(rest);
            assert_eq!((*kind, &*antenna, frame.len()), (0, "DSS-25", 100));
            assert!(received_ns <= Now::read().utc_ns, "it was received before now");
        }
    }
    until(|| links.status("onlc1")["frames"]["stored"].as_u64().unwrap_or(0) >= 100);
    let status = links.status("onlc1")["frames"].clone();
    assert_eq!((&status["missing"], &status["datagrams_lost"]), (&0.into(), &0.into()), "{status}");
    links.end();
    assert!(station.status("onlc1").contains("no user bound"));
    chronoscope_sle::source::check_store(&store).unwrap();
}

/// One program reads nothing, another everything: the first loses frames, the second and the association
/// notice nothing.
#[test]
fn a_slow_reader_loses_frames_and_nobody_waits_for_it() {
    let station = delivering(5000, "");
    let links = Links::of(
        &station,
        "[[link]]\ninstance = \"onlc1\"\n[link.return]\nlisten = [\"127.0.0.1:0\"]\n\
         buffer = 1048576\n",
    );
    let mut slow = links.program("onlc1");
    let first = slow.message().1;
    let mut fast = links.program("onlc1");
    let mut last = fast.message().1;
    let lost = || {
        let status = links.status("onlc1")["frames"]["listening"][0].clone();
        let readers = status["readers"].as_array().unwrap().clone();
        readers.iter().map(|reader| reader["lost"].as_u64().unwrap()).max().unwrap_or(0)
    };
    while lost() == 0 {
        for _ in 0..1000 {
            let (_, number, _) = fast.message();
            assert_eq!(number, last + 1, "the fast one has all");
            last = number;
        }
    }
    assert_eq!(links.said("reads too slowly"), 1, "said once");
    // What the slow one reads now has a gap where frames were lost.
    let (mut number, mut gaps) = (first, 0);
    while gaps == 0 {
        let (_, next, _) = slow.message();
        assert!(next > number, "in their order");
        gaps += u64::from(next > number + 1);
        number = next;
    }
    let status = links.status("onlc1");
    assert_eq!((&status["sessions"], &status["failures"]), (&1.into(), &0.into()), "{status}");
    drop(slow);
    links.end();
}

#[test]
fn passes_begin_and_end_and_are_read_again() {
    let station = delivering(100, "");
    let pass = |from: i64, until: i64| {
        format!("passes = [{{ from = {}, until = {} }}]", utc(from), utc(until))
    };
    let first = pass(8, 16);
    let links = Links::of(
        &station,
        &format!(
            "[[link]]\ninstance = \"onlc1\"\n{first}\n[link.return]\nlisten = [\"127.0.0.1:0\"]\n"
        ),
    );
    let status = links.status("onlc1");
    assert_eq!(status["state"], "waiting", "{status}");
    assert!(status["next_pass"].is_string(), "{status}");
    links.until_state("onlc1", "active");
    until(|| station.status("onlc1").contains("no user bound"));
    links.until_state("onlc1", "waiting");
    assert_eq!(links.said("no pass is to come"), 1);
    // A pass that is on: the link is up at once.
    links.reconfigure(|text| text.replace(&first, &pass(-10, 3600)));
    links.until_state("onlc1", "active");
    // Only other passes: the association stays. A file with faults changes nothing.
    let second = pass(-20, 7200);
    let replace = |text: &str| {
        let at = text.find("passes = ").unwrap();
        let end = at + text[at..].find('\n').unwrap();
        format!("{}{second}{}", &text[..at], &text[end..])
    };
    links.reconfigure(replace);
    until(|| links.said("read again") == 2);
    links.reconfigure(|text| text.replace("onlc1\"\npasses", "onlc9\"\npasses"));
    until(|| links.said("nothing has changed") == 1);
    let status = links.status("onlc1");
    assert_eq!((&status["state"], &status["sessions"]), (&"active".into(), &2.into()), "{status}");
    links.end();
}

/// What a user has received live, another one gets offline, also after the provider was killed.
#[test]
fn what_was_delivered_live_is_delivered_offline() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let store = folder.path().join("store");
    let instances = format!(
        "[[instance]]\nid = \"sagr=1.spack=A.rsl-fg=1.raf=offl1\"\n[instance.return]\n\
         delivery = \"offline\"\nfile = \"{store}\"\n\
         [[instance]]\nid = \"sagr=1.spack=A.rsl-fg=1.rcf=offl2\"\n[instance.return]\n\
         delivery = \"offline\"\nfile = \"{store}\"\nchannels = [\"1.0.1\"]\n\
         [[instance]]\nid = \"sagr=1.spack=A.rsl-fg=1.raf=onlc1\"\n[instance.return]\n\
         store = \"{store}\"\n[instance.return.generator]\noctets = 100\nrate = 2000\n\
         virtual_channels = [0, 1]\n",
        store = store.display()
    );
    let mut station = Station::of(&instances, &[]);
    let (live, again) = (folder.path().join("live"), folder.path().join("again"));
    let from = utc(-1);
    let out = live.to_str().unwrap();
    let got = station.json(&["-i", "onlc1", "receive", "--frames", "3000", "--out", out]);
    assert_eq!(got[0]["frames"], 3000);
    assert!(station.count("onlc1", "stored") >= 3000);
    let until_now = utc(0);
    // All frames of before are stored.
    let stored = station.count("onlc1", "stored");
    until(|| station.count("onlc1", "stored") > stored + 4000);
    let offline = |station: &Station, instance: &str, more: &[&str]| {
        let args = ["-i", instance, "receive", "--from", &from, "--until", &until_now, "--out"];
        let args = [&args[..], &[again.to_str().unwrap()], more].concat();
        let got = station.json(&args);
        assert_eq!(got[0]["end_of_data"], true, "{got:?}");
        (got[0]["frames"].as_u64().unwrap(), fs::read(&again).unwrap())
    };
    let wanted = fs::read(&live).unwrap();
    let has_all = |octets: &[u8]| octets.windows(wanted.len()).step_by(104).any(|at| at == wanted);
    let (frames, octets) = offline(&station, "offl1", &[]);
    assert!(frames >= 3000 && has_all(&octets), "{frames}");
    let (half, _) = offline(&station, "offl2", &["--channel", "1.0.1"]);
    assert!((frames / 2).abs_diff(half) <= 1, "{half} of {frames}");
    station.child.kill().unwrap();
    station.child.wait().unwrap();
    let station = Station::of(&instances, &[]);
    let (again, octets) = offline(&station, "offl1", &[]);
    assert_eq!(again, frames, "nothing was lost by the kill");
    assert!(has_all(&octets));
}

#[test]
fn the_configuration_is_checked_and_printed() {
    let station = delivering(100, "");
    let config = station.folder.path().join("link.toml");
    let run = |text: &str, option: &str| {
        let own = "[user]\nid = \"MCC\"\naddress = \"127.0.0.1:1\"\n[[peer]]\nid = \"STATION\"\n";
        fs::write(&config, format!("{own}{}{text}", station.instances)).unwrap();
        let output = station.user(&["link", config.to_str().unwrap(), option]);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, said) = run("", "--check");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("wrong: there is no [[link]]"), "{said}");
    let good = "[[link]]\ninstance = \"onlc1\"\n[link.return]\nudp = [\"127.0.0.1:9\"]\n";
    let (code, said) = run(good, "--check");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("link onlc1: Raf of"), "{said}");
    let (code, printed) = run(good, "--print-config");
    assert_eq!(code, Some(0));
    assert!(printed.contains("# link onlc1: Raf, version 5"), "{printed}");
    assert!(printed.contains("buffer = 4194304"), "{printed}");
    assert_eq!(run(&printed, "--print-config").1, printed, "it is a configuration");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("dist/link.toml");
    let output = station.user(&["link", example.to_str().unwrap(), "--check"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(said.matches("right: line").count(), 4, "{said}");
}
