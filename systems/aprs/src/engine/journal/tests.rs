#![allow(clippy::cast_possible_truncation)] // small numbers of a test's own

use super::frame::{Body, Frame, MAGIC, What, parse};
use super::{Action, Header, Journal, JournalError, Replayed, Sent, print, replay};
use crate::callsign::Callsign;
use crate::config::{Config, Listener, PortKind, Protocol};
use crate::engine::{
    Close, ConnId, DatagramPort, Identity, Input, LogLevel, Now, Output, Server, Worker,
};
use proptest::prelude::*;
use std::fmt;
use std::io::{self, IoSlice, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

const SEED: u64 = 42;
const STARTED: Now = Now { monotonic_ns: 1_000_000_000, utc_ns: 1_700_000_000_000_000_000 };
const FULL_FEED: usize = 0;
const IGATE: usize = 1;

fn config() -> Arc<Config> {
    let port = |name: &str, kind| {
        Arc::new(Listener {
            name: name.to_owned(),
            kind,
            protocol: Protocol::Tcp,
            address: address(0),
            filter: None,
            clients_max: 100,
            acl: None,
            hidden: false,
            tls: None,
        })
    };
    let mut config = Config::new(Callsign::new(b"TESTING").unwrap());
    config.workers = 1;
    config.listeners = vec![
        port("Full feed", PortKind::FullFeed),
        port("Client-defined filters", PortKind::Igate),
        port("Duplicates", PortKind::DupeFeed),
    ];
    Arc::new(config)
}

fn header() -> Header {
    Header {
        seed: SEED,
        started: STARTED,
        config_crc: Header::config_crc(&config()),
        software: "aprs-server".into(),
        version: "1.2.3".into(),
    }
}

fn address(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

/// A kernel in memory that takes octets by its own lights.
#[derive(Default)]
struct Kernel {
    /// All that was put out, in order.
    sent: Vec<u8>,
    writes: usize,
    /// Errors logged.
    errors: usize,
    /// Every so many writes take only half, and twice as rarely none are possible any more.
    short_every: usize,
}

impl Output for Kernel {
    fn write(&mut self, conn: ConnId, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.writes += 1;
        let bytes: Vec<u8> = slices.iter().flat_map(|slice| slice.iter().copied()).collect();
        let short = self.short_every > 0 && self.writes.is_multiple_of(self.short_every);
        if short && self.writes.is_multiple_of(2 * self.short_every) {
            return Err(io::Error::from(io::ErrorKind::ConnectionReset));
        }
        let taken = if short { bytes.len() / 2 } else { bytes.len() };
        write!(self.sent, "{conn:?} takes ")?;
        self.sent.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn unacknowledged(&mut self, conn: ConnId) -> usize {
        usize::try_from(conn.0).unwrap() * 10
    }

    fn send(&mut self, port: DatagramPort, to: SocketAddr, bytes: &[u8]) {
        write!(self.sent, "{port:?} to {to} ").unwrap();
        self.sent.extend_from_slice(bytes);
    }

    fn close(&mut self, conn: ConnId, how: Close, reason: &str) {
        write!(self.sent, "{conn:?} {how:?} {reason}").unwrap();
    }

    fn log(&mut self, level: LogLevel, _line: fmt::Arguments<'_>) {
        self.errors += usize::from(level == LogLevel::Error);
    }
}

/// A file in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A step of the test.
#[derive(Clone, Debug)]
enum Step {
    Open { conn: u64, listener: usize },
    Say { conn: u64, what: Vec<u8> },
    Writable { conn: u64 },
    Close { conn: u64 },
    Post { what: Vec<u8> },
    Wait { ns: u64 },
}

fn now_at(ns: u64) -> Now {
    Now { monotonic_ns: STARTED.monotonic_ns + ns, utc_ns: STARTED.utc_ns + ns.cast_signed() }
}

/// Plays the steps, calling `tick` as a server would.
fn play(worker: &mut Worker, steps: &[Step], kernel: &mut Kernel) -> u64 {
    let mut ns = 0;
    for step in steps {
        let now = now_at(ns);
        match step {
            Step::Open { conn, listener } => {
                let (remote, local) = (address(40_000 + *listener as u16), address(14_580));
                let (conn, listener, certificate) = (ConnId(*conn), *listener, None);
                let input = Input::Opened { conn, listener, remote, local, certificate };
                worker.input(now, input, kernel);
            }
            Step::Say { conn, what } => {
                let input = Input::Received { conn: ConnId(*conn), bytes: what };
                worker.input(now, input, kernel);
            }
            Step::Writable { conn } => {
                worker.input(now, Input::Writable { conn: ConnId(*conn) }, kernel);
            }
            Step::Close { conn } => {
                let input = Input::Closed { conn: ConnId(*conn), reason: "gone" };
                worker.input(now, input, kernel);
            }
            Step::Post { what } => {
                worker.input(now, Input::Posted { from: address(9), bytes: what }, kernel);
                let _ = worker.posted();
            }
            Step::Wait { ns: pause } => {
                let until = ns + pause;
                while let Some(at) = worker.deadline()
                    && at <= STARTED.monotonic_ns + until
                {
                    ns = (at - STARTED.monotonic_ns).max(ns + 1);
                    worker.tick(now_at(ns), kernel);
                }
                ns = until.max(ns);
                worker.mail(now_at(ns), kernel);
            }
        }
        ns += 1_000;
    }
    ns
}

/// Output, journal and digest of one program.
fn run(seed: u64, steps: &[Step], short_every: usize) -> (Vec<u8>, Vec<u8>, Sent) {
    let identity = Identity { software: "aprs-server".into(), version: "1.2.3".into() };
    let server = Server::new(config(), seed, identity, STARTED);
    let mut worker = server.worker(0, Box::new(|| ()));
    let memory = Memory::default();
    let header = Header { seed, ..header() };
    let journal = Journal::new(Box::new(memory.clone()), &header).unwrap();
    worker.record_to(journal.clone());
    let mut kernel = Kernel { short_every, ..Kernel::default() };
    let ns = play(&mut worker, steps, &mut kernel);
    let sent = journal.finish(now_at(ns)).unwrap();
    let recorded = memory.0.lock().unwrap().clone();
    (kernel.sent, recorded, sent)
}

fn replayed(journal: &[u8]) -> Result<Replayed, JournalError> {
    replay(journal, config(), &mut |_, _| ())
}

/// Two clients, packets, a duplicate, a slow reader, time going by.
fn a_day() -> Vec<Step> {
    let say = |conn, what: &str| Step::Say { conn, what: what.as_bytes().to_vec() };
    let mut steps = vec![
        Step::Open { conn: 1, listener: FULL_FEED },
        Step::Open { conn: 2, listener: IGATE },
        say(1, "user N5CAL-2 pass -1 vers test 1\r\n"),
        // The passcode of N5CAL.
        say(2, "user N5CAL-1 pass 9671 vers test 1 filter t/m\r\n"),
    ];
    for number in 0..20 {
        let line = format!("N5CAL-1>APRS:>number {}\r\n", number / 2);
        steps.push(say(2, &line));
        steps.push(Step::Wait { ns: 300_000_000 });
    }
    steps.push(Step::Post { what: b"user N5CAL pass 9671\r\nN5CAL>APRS:>posted\r\n".to_vec() });
    steps.push(Step::Wait { ns: 30_000_000_000 });
    steps.push(Step::Close { conn: 2 });
    steps.push(Step::Wait { ns: 1_000_000_000 });
    steps
}

#[test]
fn recorded_day_is_the_same_again() {
    let (sent, journal, digest) = run(SEED, &a_day(), 7);
    assert!(sent.windows(10).any(|part| part == b"# logresp "), "{}", sent.escape_ascii());
    let mut written = 0;
    let got = replay(&journal[..], config(), &mut |_, action| {
        if let Action::Write { bytes, .. } = action {
            written += bytes.len() as u64;
        }
    })
    .unwrap();
    assert_eq!(got.difference, None);
    assert!(got.complete && got.events > 40, "{got:?}");
    assert_eq!((got.sent, &got.header), (digest, &header()));
    assert_eq!(written, digest.octets);
    assert!(got.span_ns > 37_000_000_000, "{got:?}");
}

/// From a file to a file, as the program does it.
#[test]
fn printed_replay_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("day.journal");
    let identity = Identity { software: "aprs-server".into(), version: "1.2.3".into() };
    let server = Server::new(config(), SEED, identity.clone(), STARTED);
    let journal = Journal::of(&server, &path, STARTED).unwrap();
    let mut worker = server.worker(0, Box::new(|| ()));
    let ns = play(&mut worker, &a_day(), &mut Kernel::default());
    journal.finish(now_at(ns)).unwrap();
    assert!(journal.finish(now_at(ns)).is_err(), "what comes later is not recorded");

    let mut printed = Vec::new();
    let file = std::fs::File::open(&path).unwrap();
    let replayed = print(file, config(), &mut printed).unwrap();
    let printed = String::from_utf8(printed).unwrap();
    assert!(
        printed.lines().any(|line| line.contains(" 1 # logresp N5CAL-2 unverified")),
        "{printed}"
    );
    assert!(replayed.summary().ends_with(": the same as recorded"), "{}", replayed.summary());

    let mut config = Config::clone(&config());
    config.workers = 2;
    let many = Server::new(Arc::new(config), SEED, identity, STARTED);
    let refused = Journal::of(&many, &path, STARTED);
    assert!(matches!(refused, Err(JournalError::Workers(2))));
}

/// A disk that is full ends the recording, and nothing else.
#[test]
fn full_disk_ends_the_recording() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let server = Server::new(
        config(),
        SEED,
        Identity { software: "aprs-server".into(), version: "1.2.3".into() },
        STARTED,
    );
    let mut worker = server.worker(0, Box::new(|| ()));
    let journal = Journal::new(Box::new(Full(2_000)), &header()).unwrap();
    worker.record_to(journal.clone());
    let mut kernel = Kernel::default();
    let ns = play(&mut worker, &a_day(), &mut kernel);
    assert_eq!(kernel.sent, run(SEED, &a_day(), 0).0, "clients see nothing of it");
    assert_eq!(kernel.errors, 1, "told once");
    assert!(journal.finish(now_at(ns)).is_err());
}

/// A program that would answer something else is found out, at the event where it does.
#[test]
fn another_output_is_a_difference() {
    let steps = a_day();
    let (_, journal, _) = run(SEED, &steps, 0);
    let text = b"user N5CAL-2 pass -1";
    let at = journal.windows(text.len()).position(|part| part == text).unwrap();
    let mut other = journal.clone();
    other[at + 11] = b'3';
    assert!(matches!(replayed(&other), Err(JournalError::Checksum { .. })));
    mend(&mut other, at);
    let got = replayed(&other).unwrap();
    let difference = got.difference.unwrap();
    assert!(difference.at >= frame_before(&other, at), "{difference:?}");
    assert!(difference.utc_ns >= STARTED.utc_ns);
}

/// Where the frame begins that octet `at` is in.
fn frame_before(journal: &[u8], at: usize) -> u64 {
    let (mut begin, mut next) = (0, MAGIC.len());
    while next <= at {
        begin = next;
        let len = u32::from_le_bytes(journal[begin..begin + 4].try_into().unwrap());
        next = begin + 8 + len as usize;
    }
    begin as u64
}

/// Makes the checksum of that frame right again.
fn mend(journal: &mut [u8], at: usize) {
    let begin = frame_before(journal, at) as usize;
    let len = u32::from_le_bytes(journal[begin..begin + 4].try_into().unwrap()) as usize;
    let crc = crc32fast::hash(&journal[begin + 8..begin + 8 + len]);
    journal[begin + 4..begin + 8].copy_from_slice(&crc.to_le_bytes());
}

#[test]
fn killed_program_leaves_a_journal_without_its_end() {
    let (_, journal, _) = run(SEED, &a_day(), 0);
    let header_len = frame_before(&journal, MAGIC.len() + 70) as usize;
    for len in (header_len..journal.len()).step_by(11) {
        let got = replayed(&journal[..len]).unwrap();
        assert!(!got.complete);
        assert_eq!(got.difference, None, "of {len} octets");
    }
}

#[test]
fn what_is_no_journal_of_this_server_is_refused() {
    let (_, journal, _) = run(SEED, &a_day(), 0);
    assert!(matches!(replayed(b"APRSJRN\x02rest"), Err(JournalError::NotAJournal(_))));
    assert!(matches!(replayed(&MAGIC), Err(JournalError::Order { at: 8, .. })));
    assert!(matches!(replayed(b"short"), Err(JournalError::Io(_))));
    let mut config = Config::clone(&config());
    config.q_protocol = b'O';
    let other = replay(&journal[..], Arc::new(config.clone()), &mut |_, _| ());
    assert!(matches!(other, Err(JournalError::OtherConfiguration { .. })));
    config.workers = 2;
    let other = replay(&journal[..], Arc::new(config), &mut |_, _| ());
    assert!(matches!(other, Err(JournalError::Workers(2))));
    let mut long = journal.clone();
    let at = frame_before(&journal, journal.len() - 1) as usize;
    long[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let at = at as u64;
    assert!(matches!(
        replayed(&long),
        Err(JournalError::Length { at: found, len: u32::MAX }) if found == at
    ));
}

/// The first octets of version 1 for ever.
#[test]
fn layout_of_version_1() {
    let mut body = Body::default();
    let now = Now { monotonic_ns: 1, utc_ns: -2 };
    let sent = Sent { octets: 3, crc: 4 };
    let input = Input::Received { conn: ConnId(5), bytes: b"#\r\n" };
    body.event(now, sent, &What::Input(input));
    let mut frame = Vec::new();
    body.write_to(&mut frame).unwrap();
    let want = [
        &[40, 0, 0, 0][..],
        &[0; 4],
        &[2 + 1],
        &[1, 0, 0, 0, 0, 0, 0, 0],
        &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        &[3, 0, 0, 0, 0, 0, 0, 0],
        &[4, 0, 0, 0],
        &[5, 0, 0, 0, 0, 0, 0, 0],
        b"#\r\n",
    ]
    .concat();
    frame[4..8].fill(0);
    assert_eq!(frame, want);
}

fn any_address() -> impl Strategy<Value = SocketAddr> {
    (any::<std::net::IpAddr>(), any::<u16>()).prop_map(SocketAddr::from)
}

fn any_step() -> impl Strategy<Value = Step> {
    let conn = 1_u64..4;
    let line = prop_oneof![
        Just("user N5CAL-1 pass 9671 vers test 1 filter p/SRC t/m\r\n"),
        Just("user N5CAL pass 9671 vers Oww/ 1\r\n"),
        Just("user NO1 pass -1\r\n"),
        Just("SRC>APRS,N5CAL-1,I:!6028.51N/02505.68E#one\r\n"),
        Just("SRC>APRS,qAR,N5CAL:!6028.51N/02505.68E#one  \r\n"),
        Just("SRC2>APRS:>two"),
        Just("\r\nSRC2>APRS::SRC      :message{1\r\n"),
        Just("#filter m/50\r\n"),
        Just("N5CAL-1>APRS::SERVER   :filter?\r\n"),
        Just("\n\n\0\r\n"),
    ];
    prop_oneof![
        2 => (conn.clone(), 0_usize..3).prop_map(|(conn, listener)| Step::Open { conn, listener }),
        8 => (conn.clone(), line).prop_map(|(conn, line)| {
            Step::Say { conn, what: line.as_bytes().to_vec() }
        }),
        1 => (conn.clone(), prop::collection::vec(any::<u8>(), 0..40))
            .prop_map(|(conn, what)| Step::Say { conn, what }),
        1 => conn.clone().prop_map(|conn| Step::Writable { conn }),
        1 => conn.prop_map(|conn| Step::Close { conn }),
        4 => (0_u64..4_000_000_000).prop_map(|ns| Step::Wait { ns }),
    ]
}

/// Connections are opened once each, as the seam promises.
fn once_each(steps: Vec<Step>) -> Vec<Step> {
    let mut names = [0_u64; 4];
    let mut count = 0;
    let mut renamed = Vec::new();
    for mut step in steps {
        match &mut step {
            Step::Open { conn, .. } => {
                count += 1;
                names[*conn as usize] = count;
                *conn = count;
            }
            Step::Say { conn, .. } | Step::Writable { conn } | Step::Close { conn } => {
                *conn = names[*conn as usize];
            }
            Step::Post { .. } | Step::Wait { .. } => {}
        }
        renamed.push(step);
    }
    renamed
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Equal inputs and instants make equal outputs, whatever the kernel takes; and so does the
    /// journal of them.
    #[test]
    fn output_depends_on_input_and_clock_alone(
        steps in prop::collection::vec(any_step(), 1..60),
        seed in any::<u64>(),
        short_every in 0_usize..5,
    ) {
        let steps = once_each(steps);
        let (sent, journal, digest) = run(seed, &steps, short_every);
        let (again, journal_again, _) = run(seed, &steps, short_every);
        prop_assert_eq!(sent.escape_ascii().to_string(), again.escape_ascii().to_string());
        prop_assert_eq!(&journal, &journal_again);
        let got = replayed(&journal).unwrap();
        prop_assert_eq!(got.difference, None);
        prop_assert_eq!((got.sent, got.complete), (digest, true));
    }

    #[test]
    fn inputs_come_back_as_they_were(
        conn in any::<u64>(),
        index in 0_usize..1000,
        remote in any_address(),
        local in any_address(),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        reason in ".{0,20}",
        call in prop::option::of("[A-Z0-9-]{1,9}"),
        flag in any::<bool>(),
        monotonic_ns in any::<u64>(),
        utc_ns in any::<i64>(),
    ) {
        let conn = ConnId(conn);
        let certificate = call.and_then(|call| Callsign::new(call.as_bytes()));
        let (bytes, reason) = (&bytes[..], reason.as_str());
        let now = Now { monotonic_ns, utc_ns };
        for input in [
            Input::Opened { conn, listener: index, remote, local, certificate },
            Input::UplinkOpened { conn, uplink: index, remote, local, certificate: flag },
            Input::Received { conn, bytes },
            Input::Writable { conn },
            Input::Closed { conn, reason },
            Input::Datagram { listener: index, from: remote, bytes },
            Input::PeerDatagram { group: index, from: remote, bytes },
            Input::Posted { from: remote, bytes },
        ] {
            let (sent, what) = (Sent { octets: 7, crc: 9 }, What::Input(input));
            let mut body = Body::default();
            body.event(now, sent, &what);
            let mut frame = Vec::new();
            body.write_to(&mut frame).unwrap();
            prop_assert_eq!(parse(&frame[8..], 0).unwrap(), Frame::Event { now, sent, what });
        }
    }

    #[test]
    fn any_octets_are_answered(body in prop::collection::vec(any::<u8>(), 0..80), kind in 0_u8..20) {
        let body = [&[kind][..], &body].concat();
        let _ = parse(&body, 0);
        let len = u32::try_from(body.len()).unwrap();
        let frame = [&len.to_le_bytes()[..], &crc32fast::hash(&body).to_le_bytes(), &body].concat();
        let mut journal = Vec::new();
        let mut first = Body::default();
        first.header(&header());
        journal.extend_from_slice(&MAGIC);
        first.write_to(&mut journal).unwrap();
        journal.extend_from_slice(&frame);
        let _ = replayed(&journal);
    }
}
