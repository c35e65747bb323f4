//! A window of a recorded minute of a network (`tools/packets`): what clients get in it is the same
//! with half a minute before it, for which the server remembers duplicates.

use chronoscope_replay::capture::{CaptureWriter, ConnectionWriter};
use chronoscope_replay::scenario::{Options, Report, Scenario, Window};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// 2020-05-30T11:04:50Z, two seconds before the recording begins; ns since 1970.
const START_NS: u64 = 1_590_836_690_000_000_000;
/// One of so many recorded lines is taken.
const ONE_OF: usize = 8;
/// A second gateway heard every packet, too, and reports it so much later.
const AGAIN_NS: u64 = 20_000_000_000;

/// The recording; `None`, loudly, when it cannot be had.
fn recording() -> Option<String> {
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/packets");
    match Command::new(tool).output() {
        Ok(output) if output.status.success() => {
            let path = String::from_utf8(output.stdout).unwrap();
            Some(std::fs::read_to_string(path.trim()).unwrap())
        }
        other => {
            eprintln!("SKIPPED: no recorded packets, so no window of them is replayed: {other:?}");
            None
        }
    }
}

/// Recorded lines with the times at which they arrived, ns since 1970.
fn packets(recording: &str) -> Vec<(u64, &str)> {
    let packet = |line: &'_ str| -> Option<(u64, usize)> {
        let time = line.strip_prefix("2020-05-30 11:")?;
        let (minute, rest) = (time.get(..2)?, time.get(3..12)?);
        let s: f64 = rest.parse().ok()?;
        let since_ns = (minute.parse::<f64>().ok()? * 60.0 + s - 290.0) * 1e9;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a minute
        Some((START_NS + since_ns as u64, 28))
    };
    let all = recording.lines().filter_map(|line| {
        let (at_ns, skip) = packet(line)?;
        let packet = line.get(skip..)?;
        (!packet.starts_with('#')).then_some((at_ns, packet))
    });
    all.step_by(ONE_OF).collect()
}

/// A feed, a gateway that reports all of it again, and a client that gets everything.
fn write(path: &Path, packets: &[(u64, &str)]) {
    let file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    let mut out = ConnectionWriter::new(CaptureWriter::new(file).unwrap());
    let at = |number, port| SocketAddrV4::new(Ipv4Addr::new(10, 3, 0, number), port);
    let server = |port| SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), port);
    let clients = [("T2FEED", 1, 10_152), ("DB0TWO-10", 2, 14_580), ("N0FUL", 3, 10_152)];
    let ends = |number: u8, port| (at(number, 41_000 + u16::from(number)), server(port));
    for (call, number, port) in clients {
        let (from, to) = ends(number, port);
        let pass = chronoscope_aprs::passcode::of(call.as_bytes());
        let login = format!("user {call} pass {pass} vers recorded 1\r\n");
        out.open(START_NS + 1_000_000_000, from, to).unwrap();
        out.send(START_NS + 1_100_000_000, from, to, login.as_bytes()).unwrap();
    }
    let first = packets.iter().map(|(at_ns, packet)| (*at_ns, ends(1, 10_152), packet));
    let again = packets.iter().map(|(at_ns, packet)| (*at_ns + AGAIN_NS, ends(2, 14_580), packet));
    let mut all: Vec<_> = first.chain(again).collect();
    all.sort_by_key(|(at_ns, ..)| *at_ns);
    for (at_ns, (from, to), packet) in all {
        out.send(at_ns, from, to, format!("{packet}\r\n").as_bytes()).unwrap();
    }
    out.finish().unwrap();
}

struct Minute {
    folder: tempfile::TempDir,
}

impl Minute {
    fn new(packets: &[(u64, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("minute.pcapng"), packets);
        let text = std::fs::read_to_string(super::kept().join("server.toml")).unwrap();
        let text = text
            .replace("2026-07-01T12:00:00Z", "2020-05-30T11:04:50Z")
            .replace("205s", "62s")
            .replace("clients.pcapng", "minute.pcapng")
            .replace("kind = \"state\"", "kind = \"state\"\nlogin_lines = 1")
            .replace("\"state\"\nfill", &format!("{:?}\nfill", super::kept().join("state")));
        std::fs::write(folder.path().join("minute.toml"), text).unwrap();
        Self { folder }
    }

    /// Packets that the client got in the window.
    fn window(&self, name: &str, lead_in_s: Option<u64>) -> (Vec<String>, Report) {
        let scenario = Scenario::read(&self.folder.path().join("minute.toml")).unwrap();
        let out: PathBuf = self.folder.path().join(name);
        let bin = Path::new(super::SERVER).parent().unwrap();
        let at = |text: &str| text.parse().ok();
        let lead_in = lead_in_s.map(Duration::from_secs);
        let window = Window { from: at("11:05:35"), to: at("11:05:45"), lead_in };
        let options = Options { window: Some(window), ..Options::new(bin, &out) };
        let report = scenario.run(&options, &mut |_| {}).unwrap();
        assert_eq!(report.failure, None, "{report:#?}");
        let file = report.outputs.iter().find(|file| file.path == "answers/full.2").unwrap();
        let octets = std::fs::read(out.join("answers/full.2")).unwrap();
        let from = usize::try_from(file.lead_in_bytes.unwrap()).unwrap();
        // Lines of the server itself come at times that count from its start.
        let text = String::from_utf8_lossy(&octets[from..]).into_owned();
        let lines = text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned);
        (lines.collect(), report)
    }
}

#[test]
fn a_window_of_recorded_packets_needs_the_time_that_duplicates_are_known() {
    let Some(recording) = recording() else { return };
    let packets = packets(&recording);
    assert!(packets.len() > 10_000, "{} packets", packets.len());
    let minute = Minute::new(&packets);
    let (whole, all) = minute.window("whole", None);
    let (again, report) = minute.window("again", Some(31));
    let recorded = packets.iter().filter(|(at_ns, _)| {
        (START_NS + 45_000_000_000..START_NS + 55_000_000_000).contains(at_ns)
    });
    // Each once: the second gateway's are duplicates, and so are some of the first's.
    assert!(whole.len() > 1000 && whole.len() <= recorded.count(), "{}", whole.len());
    assert_eq!(whole, again);
    assert_eq!(all.inputs[0].inputs, report.inputs[0].inputs);
    assert!(report.inputs[0].skipped > 0 && all.inputs[0].skipped == 0, "{:#?}", report.inputs);
    // With less before it duplicates are not known, and pass.
    let (short, _) = minute.window("short", Some(5));
    assert!(short.len() > whole.len(), "{} and {}", short.len(), whole.len());
}
