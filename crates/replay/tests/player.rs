//! Recorded inputs reach a program at their virtual instants, thinned, in steps, and in real time.
#![allow(clippy::unwrap_used)]

mod support;

use chronoscope_replay::capture::CaptureWriter;
use chronoscope_replay::coordinator::{Outcome, Settings};
use chronoscope_replay::journal::{Input, Limits, Writer};
use chronoscope_replay::player::{Answers, Feed, FeedKind, Player, Select, Transport};
use chronoscope_replay::schedule::ScheduleMode;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::time::Duration;
use support::Replay;
use support::packets::Sender;

const START_NS: i64 = 1_600_000_000_000_000_000;

fn s(s: u64) -> u64 {
    START_NS.cast_unsigned() + s * 1_000_000_000
}

/// Two datagrams, one to somebody else, and a stream of 300,000 octets, within four hours.
fn record(path: &Path) {
    let mut out = CaptureWriter::new(std::fs::File::create(path).unwrap()).unwrap();
    let [radar, plots, nobody] =
        ["10.0.0.1:4001", "10.0.0.9:8600", "10.0.0.9:9"].map(|at| at.parse().unwrap());
    let mut client = Sender::new("10.0.0.2:4002", "10.0.0.9:80");
    out.datagram(s(60) + 250_000_000, radar, plots, b"one").unwrap();
    client.open(&mut out, s(3600));
    client.send(&mut out, s(3601), &vec![7; 300_000]);
    client.end(&mut out, s(5000));
    out.datagram(s(5000), radar, plots, b"two").unwrap();
    out.datagram(s(5001), radar, nobody, b"nobody").unwrap();
    out.finish().unwrap();
}

/// Ports that nobody gets until this process ends: for datagrams and for streams.
fn free() -> [SocketAddr; 2] {
    let ip = std::net::Ipv4Addr::LOCALHOST.into();
    [(); 2].map(|()| chronoscope_lab::reserve_port(ip).unwrap())
}

fn feed(
    name: &str,
    kind: FeedKind,
    path: &Path,
    select: &str,
    to: (Transport, SocketAddr),
) -> Feed {
    Feed::open(name, kind, path, select.parse::<Select>().unwrap(), to).unwrap()
}

/// The requests of the listener, the result of the replay, and the responses.
fn listen(
    mode: ScheduleMode,
    player: impl Fn(&Path, [SocketAddr; 2]) -> Player,
) -> (String, Outcome, Player, Vec<u8>) {
    let replay = Replay::new();
    let ports = free();
    let answers = replay.path().join("answers");
    std::fs::create_dir(&answers).unwrap();
    let mut player = player(replay.path(), ports).keeping(Answers::new(answers.clone()));
    let mut coordinator = replay.coordinator(Settings { mode, ..Settings::default() });
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/listen.py");
    let [udp, tcp] = ports.map(|at| at.port().to_string());
    let command = ["/usr/bin/python3", script, &udp, &tcp];
    coordinator.start(&replay.program("listener", &command)).unwrap();
    let outcome = coordinator.run(&mut player);
    assert_eq!(outcome.failure, None, "{outcome:?} {}", replay.output("listener"));
    player.finish().unwrap();
    let answer = std::fs::read(answers.join("queries.1")).unwrap_or_default();
    (replay.output("listener"), outcome, player, answer)
}

fn both(folder: &Path, [udp, tcp]: [SocketAddr; 2]) -> Player {
    let path = folder.join("day.pcapng");
    record(&path);
    let plots = feed("plots", FeedKind::State, &path, "udp 8600", (Transport::Udp, udp));
    let queries = feed("queries", FeedKind::Query, &path, "tcp 10.0.0.9:80", (Transport::Tcp, tcp));
    Player::new(vec![plots, queries], START_NS)
}

#[test]
fn inputs_come_at_their_instants_and_the_same_every_time() {
    let (output, outcome, player, answer) = listen(ScheduleMode::Serial, both);
    let lines: Vec<_> = output.lines().collect();
    assert_eq!(lines[0], "1600000060.250000 datagram one", "{output}");
    assert!(lines[1].starts_with("1600003601.000000 stream "), "{output}");
    assert!(lines.contains(&"1600005000.000000 stream 0"), "{output}");
    assert!(lines.contains(&"1600005000.000000 datagram two"), "{output}");
    assert_eq!(*lines.last().unwrap(), "1600008600.000000 nothing for an hour", "{output}");
    let parts = lines.iter().filter_map(|line| line.split_once(" stream ")?.1.parse().ok());
    let parts: Vec<usize> = parts.filter(|part| *part > 0).collect();
    assert_eq!(parts.iter().sum::<usize>(), 300_000, "{output}");
    let said: Vec<usize> =
        String::from_utf8(answer).unwrap().lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(said, parts, "every answer is kept, in order");
    let delivered = player.delivered();
    assert_eq!((delivered[0].inputs, delivered[0].bytes), (2, 6));
    assert_eq!((delivered[1].bytes, delivered[1].undelivered), (300_000, 0));
    assert!(outcome.strangers.is_empty(), "{:?}", outcome.strangers);
    assert_eq!(listen(ScheduleMode::Serial, both).0, output, "the same every time");
}

#[test]
fn load_is_put_into_steps_and_cut() {
    let steps = |folder: &Path, [udp, _]: [SocketAddr; 2]| {
        let path = folder.join("day.pcapng");
        record(&path);
        let to = (Transport::Udp, udp);
        let mut later = feed("later", FeedKind::Query, &path, "udp 8600", to);
        later.cut(START_NS + 61_000_000_000);
        let plots = feed("plots", FeedKind::State, &path, "udp 8600", to);
        Player::new(vec![plots, later], START_NS).step(Duration::from_secs(1700))
    };
    let (output, _, player, _) = listen(ScheduleMode::Parallel, steps);
    let expected = "1600001700.000000 datagram one\n1600001700.000000 datagram one\n\
                    1600005100.000000 datagram two\n1600008700.000000 nothing for an hour\n";
    assert_eq!(output, expected);
    assert_eq!(player.delivered().iter().map(|feed| feed.inputs).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn a_journal_of_files_is_played_as_one_stream() {
    let player = |folder: &Path, [_, tcp]: [SocketAddr; 2]| {
        let path = folder.join("journal");
        let limits = Limits { file_age_max: Duration::from_secs(60), ..Limits::default() };
        let mut writer = Writer::new(&path, limits).unwrap();
        for (second, channel) in [(10, "line"), (20, "other"), (3000, "line")] {
            let octets = format!("{second}").into_bytes();
            let at_ns = s(second).cast_signed();
            writer.append(&Input { at_ns, channel: channel.to_owned(), octets }).unwrap();
        }
        writer.close().unwrap();
        let last = path.join("0000000001.journal");
        let whole = std::fs::read(&last).unwrap();
        std::fs::write(&last, [&whole[..], &[9, 0, 0]].concat()).unwrap();
        let to = (Transport::Tcp, tcp);
        Player::new(vec![feed("queries", FeedKind::Query, &path, "channel line", to)], START_NS)
    };
    let (output, _, player, _) = listen(ScheduleMode::Serial, player);
    let expected = "1600000010.000000 stream 2\n1600003000.000000 stream 4\n\
                    1600006600.000000 nothing for an hour\n";
    assert_eq!(output, expected);
    let remarks = player.remarks().join("\n");
    assert!(remarks.contains("0000000001.journal: ends within the frame at octet"), "{remarks}");
}

#[test]
fn the_same_journal_plays_in_real_time_at_a_factor() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("day.pcapng");
    record(&path);
    let receiver = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
    let to = (Transport::Udp, receiver.local_addr().unwrap());
    let mut player =
        Player::new(vec![feed("plots", FeedKind::State, &path, "udp 8600", to)], START_NS);
    let played = player.play(1e6, || true).unwrap();
    assert!(played.recorded > std::time::Duration::ZERO && !played.elapsed.is_zero());
    let mut octets = [0; 16];
    for expected in [b"one", b"two"] {
        let length = receiver.recv(&mut octets).unwrap();
        assert_eq!(&octets[..length], expected);
    }
}

#[test]
fn a_selection_that_says_nothing_is_refused() {
    let error = "upd 8600".parse::<Select>().unwrap_err();
    assert!(error.contains("\"upd\" in \"upd 8600\""), "{error}");
}
