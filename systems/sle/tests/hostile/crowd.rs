//! Peers by the thousand, and peers that want a provider to keep much: its memory, measured, and
//! those who work meanwhile.

use crate::peer::{CONTEXT, End, FORWARD, PATIENCE, Peer, RETURN, framed, get};
use crate::station::{Neighbour, Station, until};
use bytes::Bytes;
use chronoscope_sle::association::BIND_BYTES_MAX;
use chronoscope_sle::client::frames::{FrameSettings, FrameUser};
use chronoscope_sle::config::Config;
use chronoscope_sle::pdu::Pdu;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

/// A provider in a process of its own.
struct Program {
    _folder: tempfile::TempDir,
    child: Child,
    address: SocketAddr,
    config: Config,
}

impl Program {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "[provider]\nid = \"STATION\"\nlisten = [\"127.0.0.1:0\"]\n[user]\nid = \"MCC\"\n\
             [[instance]]\nid = \"{FORWARD}good\"\n[[instance]]\nid = \"{FORWARD}cltu1\"\n\
             [[instance]]\nid = \"{RETURN}onlc1\"\n[instance.return.generator]\noctets = 1000\n"
        );
        let file = folder.path().join("sle.toml");
        fs::write(&file, &text).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_sle-provider"))
            .arg("-qc")
            .arg(&file)
            .env("CHRONOSCOPE_RECORD", "off")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let said = lines.next().unwrap().unwrap();
        let address = said.strip_prefix("listening ").unwrap().parse().unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), "ready");
        Self { _folder: folder, child, address, config: Config::parse(&text).unwrap() }
    }

    /// The most memory that it ever had, in octets.
    fn peak(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_ascii_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    }

    fn threads(&self) -> usize {
        fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap().count()
    }

    fn settings(&self, instance: &str) -> chronoscope_sle::client::ClientSettings {
        let of = chronoscope_sle::client::ClientSettings::of(&self.config, Some(instance));
        let mut settings = of.unwrap();
        settings.address = self.address.to_string();
        settings
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// 64 connections are allowed, and 16 of those who have not bound.
#[test]
fn who_connects_and_says_nothing_holds_nobody_up() {
    let station = Station::new();
    let neighbour = Neighbour::start(&station);
    let mut silent: Vec<Peer> = Vec::new();
    for _ in 0..10 {
        // More than there are places for, all from one address, and none of them goes.
        silent.extend((0..20).map(|_| Peer::user(station.address())));
        station.serves("cltu1");
    }
    // The oldest were reset to make room.
    assert_eq!(silent[0].end(), (vec![], End::Reset));
    neighbour.noticed_nothing();
}

/// Those who come to the port of CSTS are bounded together with the others, and so are their PDUs.
#[test]
fn strangers_of_csts_hold_nobody_up() {
    let station = Station::new();
    let neighbour = Neighbour::start(&station);
    let address = station.running.addresses_csts()[0];
    let mut silent: Vec<Peer> = (0..20).map(|_| Peer::user(address)).collect();
    assert_eq!(silent[0].end(), (vec![], End::Reset));
    let mut settings = FrameSettings::of(&station.config, Some("ff1")).unwrap();
    settings.address = address.to_string();
    let user = FrameUser::connect(settings).unwrap();
    user.bind().unwrap();
    let mut long = Peer::silent(address);
    let announced = framed(&vec![0x30; BIND_BYTES_MAX as usize + 1]);
    long.octets(&[&CONTEXT[..], &announced[..8]].concat());
    assert_eq!(long.end(), (vec![], End::Abort(129)));
    // Who has bound is held to no such length.
    user.start(0).unwrap();
    user.process(Bytes::from(vec![1; 2 * BIND_BYTES_MAX as usize])).unwrap();
    user.drain(PATIENCE).unwrap();
    user.stop().unwrap();
    user.unbind().unwrap();
    neighbour.noticed_nothing();
}

#[test]
fn thousands_of_connections_cost_bounded_memory() {
    let program = Program::start();
    let neighbour = Neighbour::with(program.settings("good"));
    let before = program.peak();
    let long = BIND_BYTES_MAX as usize;
    let mut kept: Vec<Peer> = Vec::new();
    for number in 0..2000 {
        let mut peer = Peer::silent(program.address);
        let octets = match number % 4 {
            0 => CONTEXT.to_vec(),
            1 => [&CONTEXT[..], &framed(&vec![0x30; long])[..long]].concat(),
            2 => vec![0x55; 100_000],
            _ => Vec::new(),
        };
        // Those who are reset meanwhile cannot be written to.
        let _ = peer.try_octets(&octets);
        // The newest 100 stay, the others go without a word.
        if kept.len() == 100 {
            kept.remove(0);
        }
        kept.push(peer);
    }
    let grown = program.peak() - before;
    eprintln!("2000 strangers: {} kB more than {} kB", grown >> 10, before >> 10);
    assert!(grown < 32 << 20, "{grown} octets");
    drop(kept);
    neighbour.noticed_nothing();
    until(|| program.threads() < 16);
}

/// Somebody who is bound may send long PDUs, and let answers lie: so much, and no more.
#[test]
fn a_bound_user_has_bounded_memory_too() {
    let program = Program::start();
    let neighbour = Neighbour::with(program.settings("good"));
    let before = program.peak();
    // A PDU as long as may be, of which the last octet never comes.
    let mut long = Peer::user(program.address);
    assert!(matches!(long.bind(&format!("{FORWARD}cltu1")), Pdu::BindReturn(_)));
    let most = framed(&vec![0x30; 8 << 20]);
    long.octets(&most[..most.len() - 1]);
    // Questions without end, whose answers nobody reads: until nothing more is taken.
    let mut asking = Peer::narrow(program.address);
    asking.octets(&CONTEXT);
    assert!(matches!(asking.bind(&format!("{RETURN}onlc1")), Pdu::BindReturn(_)));
    asking.stream.set_nonblocking(true).unwrap();
    let questions: Vec<u8> =
        (0..1000).flat_map(|id| framed(&asking.encoded(None, get(id)))).collect();
    let (mut at, mut full) = (0, 0);
    while full < 200 {
        match asking.stream.write(&questions[at..]) {
            Ok(written) => (at, full) = ((at + written) % questions.len(), 0),
            Err(_) => {
                full += 1;
                chronoscope_clock::sleep(std::time::Duration::from_millis(5));
            }
        }
    }
    let grown = program.peak() - before;
    eprintln!("two greedy users: {} kB more than {} kB", grown >> 10, before >> 10);
    // 8 MiB of a PDU, 8 MiB of answers, and as much again while vectors grow.
    assert!(grown < 64 << 20, "{grown} octets");
    neighbour.noticed_nothing();
}
