//! Benchmark of the coordinator: time and its own CPU for each grant and each input, beside the
//! cost of two processes that only pass a packet to and fro, the lower bound of any coordinator.
//!
//! `cargo bench -p chronoscope-replay --bench coordinator [-- --quick]`

#![allow(clippy::unwrap_used)] // a bench stops where it stands

use chronoscope_clock as clock;
use chronoscope_replay::capture::CaptureWriter;
use chronoscope_replay::scenario::{Count, Options, Report, Scenario};
use chronoscope_replay::schedule::ScheduleMode;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Takes datagrams and does nothing with them; with other ports it sends each on to them.
const SINK: &str = r#"
#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
int main(int count, char **ports) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  char octets[65536];
  int in = socket(AF_INET, SOCK_DGRAM, 0);
  at.sin_port = htons(atoi(ports[1]));
  if (bind(in, (struct sockaddr *)&at, sizeof at)) return 1;
  for (;;) {
    struct pollfd p = {in, POLLIN, 0};
    poll(&p, 1, -1);
    ssize_t n = recv(in, octets, sizeof octets, 0);
    for (int i = 2; n > 0 && i < count; i++) {
      at.sin_port = htons(atoi(ports[i]));
      sendto(in, octets, n, 0, (struct sockaddr *)&at, sizeof at);
    }
  }
}
"#;

fn main() {
    // A test runner that lists tests asks benches too.
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let inputs =
        if std::env::args().any(|argument| argument == "--quick") { 5_000 } else { 100_000 };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("sink.c"), SINK).unwrap();
    let out = folder.join("sink");
    let mut cc = std::process::Command::new("cc");
    let status = cc.args(["-O2", "-o"]).arg(&out).arg(folder.join("sink.c")).status().unwrap();
    assert!(status.success(), "the C compiler is needed");
    record(folder, inputs);
    println!("load {}", std::fs::read_to_string("/proc/loadavg").unwrap().trim());
    let floor_ns = ping_pong(inputs);
    println!("limit: a packet to another process and back: {floor_ns:.0} ns");
    println!(
        "{:<34} {:>10} {:>9} {:>12} {:>14} {:>14} {:>9}",
        "", "grants/s", "ns/grant", "times limit", "own CPU/grant", "own CPU/input", "factor"
    );
    for (name, mode, sinks) in [
        ("serial, one process", ScheduleMode::Serial, 1),
        ("serial, a chain of three", ScheduleMode::Serial, 3),
        ("parallel, one process, 1 s steps", ScheduleMode::Parallel, 1),
        ("parallel, chain of three, 1 s steps", ScheduleMode::Parallel, 3),
    ] {
        let report = replay(folder, mode, sinks);
        assert_eq!(report.failure, None, "{:?}", report.remarks);
        assert_eq!(report.inputs[0].inputs, inputs);
        let (grants, real) = (report.grants as f64, report.real_ns as f64);
        let cpu = report.coordinator_cpu_ns as f64;
        println!(
            "{name:<34} {:>10.0} {:>9.0} {:>12.1} {:>11.0} ns {:>11.0} ns {:>9.0}",
            grants / real * 1e9,
            real / grants,
            real / grants / floor_ns,
            cpu / grants,
            cpu / inputs as f64,
            report.factor
        );
    }
    println!(
        "bound by: waking the process and being woken by it (the limit's own work); what the\n\
         coordinator itself does is in \"own CPU\", its player's sending included"
    );
}

/// Records one datagram every tenth of a second.
fn record(folder: &Path, inputs: u64) {
    let file = std::fs::File::create(folder.join("day.pcapng")).unwrap();
    let mut out = CaptureWriter::new(std::io::BufWriter::new(file)).unwrap();
    let [from, to] = ["10.0.0.1:4001", "10.0.0.9:8600"].map(|at| at.parse().unwrap());
    for n in 0..inputs {
        let at_ns = 1_600_000_000_000_000_000 + n * 100_000_000;
        out.datagram(at_ns, from, to, b"forty octets, about as long as one plot.").unwrap();
    }
    out.finish().unwrap();
}

fn replay(folder: &Path, mode: ScheduleMode, sinks: usize) -> Report {
    let mut text = "version = 1\nname = \"bench\"\n[ports]\n".to_owned();
    for n in 0..sinks {
        text += &format!("p{n} = \"udp\"\n");
    }
    for n in 0..sinks {
        let next = if n + 1 < sinks { format!(", \"{{port.p{}}}\"", n + 1) } else { String::new() };
        text += &format!(
            "[[process]]\nname = \"sink{n}\"\ncommand = [\"{{bin}}/sink\", \"{{port.p{n}}}\"{next}]\n"
        );
    }
    text += "[[input]]\nname = \"plots\"\njournal = \"day.pcapng\"\nto = \"p0\"\n";
    let path = folder.join("bench.toml");
    std::fs::write(&path, text).unwrap();
    let out = folder.join("out");
    let options = Options { mode, count: Count::None, ..Options::new(folder, &out) };
    let report = Scenario::read(&path).unwrap().run(&options, &mut |_| {}).unwrap();
    std::fs::remove_dir_all(out).unwrap();
    report
}

/// Real time of one octet to another process and back, ns.
fn ping_pong(rounds: u64) -> f64 {
    let (mut here, there) = UnixStream::pair().unwrap();
    let mut cat = std::process::Command::new("cat");
    let input = std::os::fd::OwnedFd::from(there.try_clone().unwrap());
    let mut child =
        cat.arg("-u").stdin(input).stdout(std::os::fd::OwnedFd::from(there)).spawn().unwrap();
    drop(cat);
    let mut octet = [7];
    let mut round = || {
        here.write_all(&octet).unwrap();
        here.read_exact(&mut octet).unwrap();
    };
    (0..100).for_each(|_| round());
    let start_ns = clock::monotonic_ns();
    (0..rounds).for_each(|_| round());
    let ns = (clock::monotonic_ns() - start_ns) as f64 / rounds as f64;
    drop(here);
    child.wait().unwrap();
    ns
}
