//! Benchmark of our round trips beside those of others, on loopback: same machine, octets and pace.
//!
//! In turns of a hundred, so that whatever else the machine does meets all: our client of our echo
//! over UDP and TCP, a client in Python of the same echo, our ICMP echo and `ping`. The server is a
//! process of its own. Every one sleeps between requests, as a monitor does. `ping` takes the
//! kernel's stamp of a reply's arrival; with `-U` its own, after it was woken, as all others here.
#![allow(clippy::unwrap_used)]

use chronoscope_net::probe::{Load, ProbeOptions, Prober, Timer, echo, run};
use chronoscope_statistics::{Quantile, nearest_rank};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::process::{Command, Stdio};
use std::time::Duration;

const OCTETS: usize = 64;
const TURN: u32 = 100;
const EVERY: Duration = Duration::from_millis(5);

/// Asks as our client does, at the same pace, and prints nanoseconds.
const PYTHON: &str = r"
import socket, struct, sys, time
port, octets, count, every = (int(a) for a in sys.argv[1:])
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.connect(('127.0.0.1', port))
client.settimeout(1)
turn = time.perf_counter_ns()
for number in range(count + 1):
    request = b'CHRq' + struct.pack('>Q', number) + bytes(octets - 12)
    began = time.perf_counter_ns()
    client.send(request)
    reply = client.recv(octets)
    took = time.perf_counter_ns() - began
    assert reply[4:] == request[4:]
    if number:
        print(took)
    turn += every
    time.sleep(max(0, turn - time.perf_counter_ns()) / 1e9)
";

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args.iter().any(|arg| arg == "--list") {
        return; // asked by a test runner
    }
    if args.get(1).is_some_and(|arg| arg == "serve") {
        return serve();
    }
    let turns = if args.iter().any(|arg| arg == "--quick") { 1 } else { 10 };
    let mut server = Command::new(std::env::current_exe().unwrap())
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut port = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let port: u16 = port.trim().parse().unwrap();
    compare(port, turns);
    drop(server.stdin.take());
    server.wait().unwrap();
}

/// Body of the server: prints its port, and echoes until its input ends.
fn serve() {
    let (udp, tcp) = loop {
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address: SocketAddr = udp.local_addr().unwrap();
        if let Ok(tcp) = TcpListener::bind(address) {
            break (udp, tcp);
        }
    };
    println!("{}", udp.local_addr().unwrap().port());
    std::thread::spawn(move || while echo::answer(&udp, &mut [0; 2048]).is_ok() {});
    std::thread::spawn(move || {
        for stream in tcp.incoming() {
            let mut stream = stream.unwrap();
            stream.set_nodelay(true).unwrap();
            let mut frame = [0; echo::COUNT_OCTETS + OCTETS];
            while stream.read_exact(&mut frame).is_ok() {
                assert!(echo::reply(&mut frame[echo::COUNT_OCTETS..]));
                stream.write_all(&frame).unwrap();
            }
        }
    });
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

/// A method of measuring and its results.
struct Way {
    name: &'static str,
    measure: Box<dyn Fn() -> Result<Vec<u64>, String>>,
    all: Vec<u64>,
    missing: Option<String>,
}

fn compare(port: u16, turns: u32) {
    let ours = |target: String| move || probed(&target);
    let mut ways: Vec<Way> = Vec::new();
    let mut add = |name, measure: Box<dyn Fn() -> Result<Vec<u64>, String>>| {
        ways.push(Way { name, measure, all: Vec::new(), missing: None });
    };
    add("ours, udp echo", Box::new(ours(format!("udp:127.0.0.1:{port}"))));
    add("Python client, same udp echo", Box::new(move || python(port)));
    add("ours, tcp echo", Box::new(ours(format!("tcp:127.0.0.1:{port}"))));
    add("ours, icmp echo", Box::new(ours("icmp:127.0.0.1".to_owned())));
    add("ping -U", Box::new(|| ping(&["-U"])));
    add("ping", Box::new(|| ping(&[])));
    for _ in 0..turns {
        for way in &mut ways {
            match (way.measure)() {
                Ok(more) => way.all.extend(more),
                Err(error) => way.missing = Some(error),
            }
        }
    }
    let timer = Timer::measure();
    println!(
        "clock: smallest step {} ns, a reading {:.0} ns; {OCTETS} octets, every {EVERY:?}, in turns \
         of {TURN}",
        timer.step_ns, timer.read_ns
    );
    println!("{:<30} {:>7} {:>9} {:>9} {:>9} {:>9}", "µs", "count", "best", "p50", "p90", "p99");
    for way in &mut ways {
        way.all.sort_unstable();
        if let Some(missing) = &way.missing {
            println!("{:<30} {missing}", way.name);
            continue;
        }
        let at = |q| nearest_rank(&way.all, q).unwrap_or(0) as f64 / 1e3;
        println!(
            "{:<30} {:>7} {:>9.1} {:>9.1} {:>9.1} {:>9.1}",
            way.name,
            way.all.len(),
            way.all.first().map_or(0.0, |ns| *ns as f64 / 1e3),
            at(Quantile::P50),
            at(Quantile::P90),
            at(Quantile::P99)
        );
    }
    let median = |way: &Way| nearest_rank(&way.all, Quantile::P50).map(|ns| ns as f64);
    for (ours, other) in [(0, 1), (3, 4), (0, 4)] {
        if let (Some(a), Some(b)) = (median(&ways[ours]), median(&ways[other])) {
            println!("p50 of {} / {}: {:.2}", ways[ours].name, ways[other].name, a / b);
        }
    }
}

fn probed(target: &str) -> Result<Vec<u64>, String> {
    let load = Load { count: TURN, every: EVERY, ..Load::default() };
    let target = target.parse().map_err(|error| format!("{error}"))?;
    let mut prober =
        Prober::new(target, ProbeOptions { octets: OCTETS, ..ProbeOptions::default() });
    run(&load, |_| prober.ask()).map(|series| series.ascending()).map_err(|error| error.to_string())
}

fn python(port: u16) -> Result<Vec<u64>, String> {
    let numbers = [port.into(), OCTETS as u128, u128::from(TURN), EVERY.as_nanos()];
    let mut command = Command::new("python3");
    command.args(["-c", PYTHON]).args(numbers.map(|number| number.to_string()));
    let lines = lines_of(&mut command)?;
    lines.iter().map(|line| line.parse().map_err(|_| format!("{line:?} is no time"))).collect()
}

/// The figures that `ping` prints, which are in microseconds.
fn ping(flags: &[&str]) -> Result<Vec<u64>, String> {
    let mut command = Command::new("ping");
    let (octets, count) = (OCTETS.to_string(), (TURN + 1).to_string());
    command.args(flags).args(["-n", "-i", "0.005", "-s", &octets, "-c", &count, "127.0.0.1"]);
    let times: Vec<u64> = lines_of(&mut command)?
        .iter()
        .filter_map(|line| line.split_once("time=")?.1.split_once(" ms")?.0.parse::<f64>().ok())
        .filter_map(|ms| Duration::try_from_secs_f64(ms / 1e3).ok())
        .filter_map(|time| u64::try_from(time.as_nanos()).ok())
        .collect();
    if times.is_empty() {
        Err("no times in what it printed".to_owned())
    } else {
        Ok(times[1..].to_vec())
    }
}

fn lines_of(command: &mut Command) -> Result<Vec<String>, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}
