//! Benchmark of the time and cost of a scan of 300 and of 1000 hosts, beside net-snmp's own client.
//!
//! The hosts are loopback addresses at which real `snmpd`s answer, up to 100 addresses each, by
//! versions 2c and 3; and, so that 1000 hosts do not measure snmpd alone on a small machine, a
//! program of a few lines that answers for all of them by 2c from the same tables. All of them are
//! other processes: the scanner's CPU time is its own. Scans begin once a second. Aims: 300 hosts in
//! 0.5 s and with 5 % of a core, 1000 in 1 s. `--json` prints a line of JSON for each row.
#![allow(clippy::unwrap_used)]

#[path = "../tests/agent/mod.rs"]
mod agent;
#[path = "../tests/peers/mod.rs"]
mod peers;

use chronoscope_clock::{monotonic_ns, process_cpu_ns, sleep, sleep_until};
use chronoscope_net::rows::Outcome;
use chronoscope_net::scan::hosts;
use chronoscope_net::scan::scanner::{Options, Scanner};
use serde_json::json;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::{Command, Stdio};
use std::time::Duration;

const PORT: u16 = 16_161;
/// Addresses per daemon: net-snmp listens at 126 at most, and ignores further ones silently.
const PER_DAEMON: usize = 100;
const USER: &str = "createUser bench SHA long-password AES other-password\nrouser bench priv\n\
    rocommunity public";
const V3: &str = "by=snmp3 user=bench auth=sha:long-password priv=aes128:other-password";

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args.iter().any(|arg| arg == "--list") {
        return; // asked by a test runner
    }
    if let Some(at) = args.iter().position(|arg| arg == "--respond") {
        return respond(args[at + 1].parse().unwrap());
    }
    let asked = |flag: &str| args.iter().any(|arg| arg == flag);
    let extent = Extent { scans: if asked("--quick") { 3 } else { 20 }, as_json: asked("--json") };
    if !extent.as_json {
        println!(
            "{:<22} {:>5} {:>9} {:>9} {:>6}  {:>12} {:>6}  {:>10} {:>10}",
            "answering",
            "hosts",
            "ms/scan",
            "slowest",
            "of aim",
            "scanner's CPU",
            "of aim",
            "their CPU",
            "lost"
        );
    }
    if peers::installed("snmpd", "snmpd") {
        for count in [300, 1000] {
            let daemons = Daemons::start(count);
            measure("snmpd, version 2c", count, "", extent, || daemons.cpu_ms());
            measure("snmpd, version 3", count, V3, extent, || daemons.cpu_ms());
            if count == 300 && peers::installed("snmpbulkget", "snmp") {
                client(30, extent);
            }
        }
    }
    for count in [300, 1000] {
        let own = std::env::current_exe().unwrap();
        let mut child = Command::new(own);
        child.args(["--respond", &count.to_string()]).stdout(Stdio::null());
        let running = peers::Running(child.spawn().unwrap());
        sleep(Duration::from_millis(1000));
        let cpu_ms = || cpu_ms(running.0.id());
        measure("a program, version 2c", count, "", extent, cpu_ms);
    }
}

/// Extent of the measurement, and form of the output.
#[derive(Clone, Copy)]
struct Extent {
    scans: u32,
    as_json: bool,
}

/// 127.1.0.1 and so on, a hundred in each /24.
fn address(n: usize) -> SocketAddr {
    let octet = |n: usize| u8::try_from(n).unwrap();
    (Ipv4Addr::new(127, 1, octet(n / 100), octet(n % 100 + 1)), PORT).into()
}

/// Scans, and prints a line.
fn measure(who: &str, count: usize, how: &str, extent: Extent, their_cpu_ms: impl Fn() -> f64) {
    let Extent { scans, as_json } = extent;
    let line = |n| format!("{} port={PORT} {how}\n", address(n).ip());
    let list: String = (0..count).map(line).collect();
    let mut scanner = Scanner::new(&hosts::read(&list).unwrap(), Options::default()).unwrap();
    scanner.scan().unwrap();
    let (begin_ns, cpu_ns, theirs_ms) = (monotonic_ns(), process_cpu_ns(), their_cpu_ms());
    let (mut took_ms, mut lost) = (Vec::new(), 0);
    for number in 1..=u64::from(scans) {
        let start_ns = monotonic_ns();
        let scanned = scanner.scan().unwrap();
        took_ms.push((monotonic_ns() - start_ns) as f64 / 1e6);
        lost += scanned
            .iter()
            .filter(|scanned| !matches!(scanned.row.outcome, Outcome::Counted { .. }))
            .count();
        sleep_until(begin_ns + number * 1_000_000_000);
    }
    let per_scan = |ms: f64| ms / f64::from(scans);
    let cpu_ms = per_scan((process_cpu_ns() - cpu_ns) as f64 / 1e6);
    let theirs_ms = per_scan(their_cpu_ms() - theirs_ms);
    took_ms.sort_by(f64::total_cmp);
    let (median, slowest) = (took_ms[took_ms.len() / 2], took_ms[took_ms.len() - 1]);
    let aim_ms = if count <= 300 { 500.0 } else { 1000.0 };
    // Of a core, at one scan a second; the aim is for 300 hosts.
    let share = cpu_ms / 10.0;
    if as_json {
        let row = json!({
            "who": who, "hosts": count, "scans": scans, "median_ms": median, "slowest_ms": slowest,
            "scanner_core_pct": share, "their_cpu_ms": theirs_ms, "lost": lost,
        });
        return println!("{row}");
    }
    let of_aim = if count <= 300 { format!("{:.2}", share / 5.0) } else { "–".to_owned() };
    println!(
        "{who:<22} {count:>5} {median:>9.1} {slowest:>9.1} {:>6.2}  {share:>10.2} % {of_aim:>6}  \
         {theirs_ms:>7.0} ms {lost:>5} of {}",
        median / aim_ms,
        count * scans as usize,
    );
}

/// net-snmp's client, a process for each host as scripts use it.
fn client(count: usize, extent: Extent) {
    let start_ns = monotonic_ns();
    for n in 0..count {
        let columns = ["31.1.1.1.6", "31.1.1.1.10", "31.1.1.1.7", "31.1.1.1.11"];
        let columns = columns.map(|column| format!("1.3.6.1.2.1.{column}"));
        let status = Command::new("snmpbulkget")
            .args(["-v2c", "-c", "public", "-Cr4", &address(n).to_string()])
            .args(columns)
            .stdout(Stdio::null())
            .status();
        assert!(status.unwrap().success());
    }
    let each_ms = (monotonic_ns() - start_ns) as f64 / 1e6 / count as f64;
    if extent.as_json {
        let row = json!({ "who": "snmpbulkget", "hosts": 300, "median_ms": each_ms * 300.0 });
        return println!("{row}");
    }
    println!(
        "{:<22} {:>5} {:>9.1}  ({each_ms:.1} ms a host, one after the other, measured with {count})",
        "snmpbulkget",
        300,
        each_ms * 300.0,
    );
}

/// The running snmpds and their folders.
struct Daemons(Vec<(peers::Running, tempfile::TempDir)>);

impl Daemons {
    fn start(count: usize) -> Self {
        let addresses: Vec<_> = (0..count).map(address).collect();
        let start = |addresses: &[SocketAddr]| {
            let dir = tempfile::tempdir().unwrap();
            (peers::snmpd(dir.path(), addresses, USER), dir)
        };
        Self(addresses.chunks(PER_DAEMON).map(start).collect())
    }

    fn cpu_ms(&self) -> f64 {
        self.0.iter().map(|(running, _)| cpu_ms(running.0.id())).sum()
    }
}

/// CPU time of a process, in milliseconds, as the kernel's ticks of 10 ms tell it.
fn cpu_ms(process: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, fields) = text.rsplit_once(')').unwrap();
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    [fields[11], fields[12]].iter().map(|ticks| ticks.parse::<f64>().unwrap() * 10.0).sum()
}

/// The program that answers for all hosts: a thread and a socket for each of them, as each of them
/// would have its own.
fn respond(count: usize) {
    let answer = |n: usize| {
        let socket = UdpSocket::bind(address(n)).unwrap();
        let mut scans = 0u64;
        let mut question = [0; 2048];
        while let Ok((len, from)) = socket.recv_from(&mut question) {
            scans += 1;
            let values = [100 + scans * 7; 8];
            let objects = agent::if_mib(scans * 100, true, &[("lo", values), ("eth0", values)]);
            if let Some(answer) = agent::answer(&question[..len], &objects) {
                let _ = socket.send_to(&answer, from);
            }
        }
    };
    std::thread::scope(|scope| {
        for n in 0..count {
            let thread = std::thread::Builder::new().stack_size(128 * 1024);
            thread.spawn_scoped(scope, move || answer(n)).unwrap();
        }
    });
}
