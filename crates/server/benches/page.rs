//! The page's questions over ten million stored chains: from the request to the last byte of the
//! answer, over HTTP, from a server that was just started (files in the page cache) and again.
//!
//! The chains are invented, of the shape of the radar chain: five hops, one in twenty with a sixth,
//! log-normal waits and works, 62 hosts, ids as our recorder gives them. What is measured is how
//! long questions about them take.
//!
//! `cargo bench -p chronoscope-server --bench page -- [--chains N] [--dir DIR] [--browser SCRIPT]`:
//! the store is made once and kept in DIR (by default `out/page-store`); SCRIPT
//! (`page/tools/picture.mjs`) opens the embedded page in a browser. On a loaded machine compare
//! processor times, not elapsed times.

use chronoscope_model::{
    Batch, ClassId, ClassName, NO_PROCESS_CPU, Names, PathId, ProcessId, ProcessName, Record,
    TransactionId,
};
use chronoscope_server::{Server, ServerOptions};
use chronoscope_statistics::Random;
use chronoscope_store::{Append, MINUTE_NS, Options, Snapshot, Store};
use std::error::Error;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// 2026-11-21T00:00 UTC.
const BEGIN_NS: i64 = 1_795_219_200_000_000_000;
/// Chains of a minute: ten million are some ten hours.
const MINUTE_CHAINS: i64 = 16_000;
/// Chains in one append.
const APPEND_CHAINS: u64 = 20_000;
/// Targets in milliseconds: the first picture, and all questions of a brush.
const AIMS_MS: (f64, f64) = (1000.0, 300.0);
/// Median wait before, and work of, each hop; in nanoseconds.
const HOPS: [(&str, &str, f64, f64); 6] = [
    ("MRTS", "decodePlots", 0.0, 300e3),
    ("MRTS", "Correlate", 200e3, 150e3),
    ("MRTS", "Filter", 300e3, 90e3), // of one chain in twenty
    ("MSG", "TrackStore_updateTrack", 4e6, 80e3),
    ("CWP", "TrackStore_updateTrack", 5e6, 120e3),
    ("CWP", "TargetView_redraw", 2e6, 900e3),
];

/// Log-normal around a median, in nanoseconds.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most seconds
fn log_normal_ns(random: &mut Random, median_ns: f64) -> u64 {
    random.log_normal(median_ns, 0.6) as u64
}

struct Generator {
    random: Random,
    classes: [ClassId; HOPS.len()],
    hosts: Vec<ProcessId>,
    names: Names,
    next_id: u64,
}

impl Generator {
    fn new() -> Self {
        let mut names = Names::default();
        let classes = HOPS.map(|(application, class, ..)| {
            names.add_class(ClassName { application: application.into(), class: class.into() });
            ClassId::of(application, class)
        });
        for with_filter in [false, true] {
            let hops = (0..HOPS.len()).filter(|hop| *hop != 2 || with_filter);
            let path: Vec<ClassId> = hops.map(|hop| classes[hop]).collect();
            for length in 1..=path.len() {
                names.add_path(PathId::of(&path[..length]), path[..length].to_vec());
            }
        }
        let mut hosts = Vec::new();
        for number in 0..62 {
            let (application, host) = ("CWP".to_owned(), format!("host-{number:02}"));
            let process = ProcessName { application, host, pid: 1000, start_ns: 1 };
            hosts.push(process.id());
            names.add_process(process);
        }
        Self { random: Random(42), classes, hosts, names, next_id: 1 << 40 }
    }

    fn push(&mut self, root_start_ns: i64, batch: &mut Batch) {
        let with_filter = self.random.bits().is_multiple_of(20);
        let display = 2 + usize::try_from(self.random.bits() % 60).unwrap_or(0);
        let (chain_high, chain_low) = (0x5eed, self.next_id);
        let mut path: Vec<ClassId> = Vec::new();
        let (mut start_ns, mut parent) = (root_start_ns, TransactionId::NONE);
        for (hop, (_, _, wait_ns, work_ns)) in HOPS.iter().enumerate() {
            if hop == 2 && !with_filter {
                continue;
            }
            path.push(self.classes[hop]);
            let id = PathId::of(&path);
            let wait_ns = log_normal_ns(&mut self.random, *wait_ns);
            let elapsed_ns = log_normal_ns(&mut self.random, *work_ns);
            start_ns = start_ns.saturating_add_unsigned(wait_ns);
            self.next_id += 1;
            let process = self.hosts[[0, 0, 0, 1, display, display][hop]];
            let record = Record {
                start_ns,
                elapsed_ns,
                cpu_ns: elapsed_ns / 2,
                process_cpu_ns: NO_PROCESS_CPU,
                chain_high,
                chain_low,
                id: TransactionId(self.next_id),
                parent,
                class: self.classes[hop],
                path: id,
                root_start_ns,
                root_process: self.hosts[0],
                process,
                level: u16::try_from(path.len() - 1).unwrap_or(u16::MAX),
                thread: 7,
                ..Record::default()
            };
            batch.push(record, b"");
            parent = record.id;
        }
    }
}

/// Makes the store, unless it is there.
fn fill(dir: &Path, chains: u64) -> Result<(), Box<dyn Error>> {
    if dir.join("made").exists() {
        let made = std::fs::read_to_string(dir.join("made"))?;
        if made.trim() == chains.to_string() {
            return Ok(());
        }
        return Err(format!("{} has {} chains: remove it", dir.display(), made.trim()).into());
    }
    std::fs::create_dir_all(dir)?;
    let store = Store::open(dir, Options::default(), BEGIN_NS)?;
    let (mut generator, mut batch, mut now_ns) = (Generator::new(), Batch::default(), BEGIN_NS);
    store.append(&Append { names: Some(&generator.names), ..Append::default() }, now_ns)?;
    for chain in 1..=chains {
        generator.push(now_ns, &mut batch);
        let jitter = i64::try_from(generator.random.bits() % 4_000_000)? - 2_000_000;
        now_ns += MINUTE_NS / MINUTE_CHAINS + jitter.max(-MINUTE_NS / MINUTE_CHAINS);
        if chain.is_multiple_of(APPEND_CHAINS) || chain == chains {
            store.append(&Append { batch: Some(&batch), ..Append::default() }, now_ns)?;
            batch.clear();
            while store.maintain(now_ns)?.again {}
            eprint!("\rpage: {chain} chains stored ");
        }
    }
    store.sync()?;
    store.seal_all(now_ns)?;
    eprintln!();
    std::fs::write(dir.join("made"), chains.to_string())?;
    Ok(())
}

/// Milliseconds from the request to the last byte, and the bytes of the answer.
fn get(address: SocketAddr, path: &str) -> Result<(f64, usize), String> {
    let began_ns = chronoscope_clock::monotonic_ns();
    let answer = fetch(address, path).map_err(|error| format!("{path}: {error}"))?;
    let ms = (chronoscope_clock::monotonic_ns() - began_ns) as f64 / 1e6;
    if !answer.starts_with(b"HTTP/1.1 200") {
        let words = String::from_utf8_lossy(&answer);
        return Err(format!("{path}: {}", words.chars().take(600).collect::<String>()));
    }
    Ok((ms, answer.len()))
}

fn fetch(address: SocketAddr, path: &str) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET /api/v1/{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(answer)
}

/// Asks all at the same moment, as the page does: each with its milliseconds and bytes.
fn at_once(server: &Server, questions: &[String]) -> Result<Vec<(f64, usize)>, Box<dyn Error>> {
    let address = server.address();
    std::thread::scope(|scope| {
        let asked: Vec<_> =
            questions.iter().map(|path| scope.spawn(move || get(address, path))).collect();
        let answers =
            asked.into_iter().map(|one| one.join().unwrap_or_else(|_| Err("panic".into())));
        Ok(answers.collect::<Result<Vec<_>, String>>()?)
    })
}

fn report(what: &str, ms: f64, aim_ms: Option<f64>) {
    let aim = aim_ms.map(|aim| format!("  (aim {aim:.0} ms, ratio {:.2})", ms / aim));
    println!("{what:44} {ms:8.1} ms{}", aim.unwrap_or_default());
}

/// Asks all at once, and reports each and the last of them.
fn together(
    server: &Server,
    what: &str,
    questions: &[String],
    aim_ms: Option<f64>,
) -> Result<f64, Box<dyn Error>> {
    let began_ns = chronoscope_clock::process_cpu_ns();
    let answers = at_once(server, questions)?;
    let cpu_ms = (chronoscope_clock::process_cpu_ns() - began_ns) as f64 / 1e6;
    for (question, (ms, bytes)) in questions.iter().zip(&answers) {
        let name = question.split('?').next().unwrap_or_default();
        println!("  {name:42} {ms:8.1} ms  {bytes:9} bytes");
    }
    let last = answers.iter().map(|(ms, _)| *ms).fold(0.0, f64::max);
    report(what, last, aim_ms);
    println!("  {:42} {cpu_ms:8.1} ms", "processor time");
    Ok(last)
}

/// Resident memory of this process, in bytes.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

struct Arguments {
    dir: PathBuf,
    chains: u64,
    /// A script that opens the page in a browser and reports its times.
    browser: Option<PathBuf>,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let dir = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../out/page-store"));
    let mut all = Arguments { dir, chains: 10_000_000, browser: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument}: of what?"));
        match argument.as_str() {
            "--dir" => all.dir = value()?.into(),
            "--chains" => all.chains = value()?.parse()?,
            "--browser" => all.browser = Some(value()?.into()),
            "--bench" => {} // cargo says so
            other => return Err(format!("{other} is not known here").into()),
        }
    }
    Ok(all)
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { dir, chains, browser } = arguments()?;
    fill(&dir, chains)?;
    let snapshot = Snapshot::open(&dir)?;
    let extent = snapshot.extent().ok_or("an empty store")?;
    println!(
        "{chains} chains, {} rows in {} segments; {} processors",
        snapshot.row_count(),
        snapshot.segments().len(),
        std::thread::available_parallelism()?
    );
    for segment in snapshot.segments() {
        std::fs::read(&segment.path)?; // into the page cache
        std::fs::read(&segment.sketch_path)?;
    }
    drop(snapshot);
    let start = || -> Result<Server, Box<dyn Error>> {
        Ok(Server::start(ServerOptions::new("127.0.0.1:0".parse()?, dir.clone()))?)
    };
    let before_bytes = resident_bytes();
    let server = start()?;
    let opened = opening(&server)?;
    report("first picture: all that opening asks", opened, Some(AIMS_MS.0));
    let server_bytes = resident_bytes().saturating_sub(before_bytes);
    brushes(&server, &extent)?;
    println!("{:44} {:8.0} MB", "memory that the first picture took", server_bytes as f64 / 1e6);
    println!("{:44} {:8.0} MB", "resident memory, bench and server", resident_bytes() as f64 / 1e6);
    server.stop();
    histograms(&start()?)?;
    if let Some(browser) = browser {
        in_browser(&start()?, &browser, &[])?;
        in_browser(&start()?, &browser, &["starting"])?;
    }
    Ok(())
}

/// The selection that every question uses.
const ALL: &str = "root=MRTS::decodePlots&leaf=CWP::TargetView_redraw";
/// The finest picture that the page asks for.
const RASTER: &str = "&width=800&height=420&scale=log";
/// The list beside a picture.
const LIST: &str = "&order=longest&limit=100";

/// The questions of the page when its scattergram is opened for the first time: the choices, then
/// the picture and the list of the slowest. Returns the total in milliseconds.
fn opening(server: &Server) -> Result<f64, Box<dyn Error>> {
    let choices = ["status".to_owned(), "paths".to_owned()];
    let choices = together(server, "opening: what there is", &choices, None)?;
    let pictures = [format!("scatter?{ALL}{RASTER}"), format!("chains?{ALL}{LIST}")];
    let picture = together(server, "opening: picture and list", &pictures, None)?;
    together(server, "the same again", &pictures, None)?;
    Ok(choices + picture)
}

/// The questions of the page when a rectangle is marked, and when it is zoomed into.
fn brushes(server: &Server, extent: &Range<i64>) -> Result<(), Box<dyn Error>> {
    let span = extent.end - extent.start;
    let middle = extent.start + span / 2;
    let (from, until) = (extent.start, extent.end);
    let brushes = [
        ("a band of long ones", (from, until), "min_ns=30000000&max_ns=900000000"),
        ("a minute, all lengths", (middle, middle + MINUTE_NS), "min_ns=1&max_ns=900000000"),
        (
            "a tenth of the time, the longer half",
            (middle, middle + span / 10),
            "min_ns=13000000&max_ns=900000000",
        ),
    ];
    for (name, (begin, end), lengths) in brushes {
        let inside = format!("{ALL}&from_ns={begin}&until_ns={end}&{lengths}");
        let context = format!("&context_from_ns={from}&context_until_ns={until}");
        let marked = [format!("hops?{inside}{context}"), format!("chains?{inside}{LIST}")];
        for round in ["", ", again"] {
            together(server, &format!("brush: {name}{round}"), &marked, Some(AIMS_MS.1))?;
        }
        let zoomed = [format!("scatter?{inside}{RASTER}"), format!("chains?{inside}{LIST}")];
        together(server, &format!("zoom: {name}"), &zoomed, Some(AIMS_MS.1))?;
    }
    Ok(())
}

/// The view of the distribution, opened cold and after the scattergram.
fn histograms(server: &Server) -> Result<(), Box<dyn Error>> {
    let histogram = [format!("histogram?{ALL}&bins=120&limit_ns=100000000")];
    together(server, "histogram, server just started", &histogram, Some(AIMS_MS.0))?;
    together(server, "histogram, again", &histogram, None)?;
    Ok(())
}

/// The page itself in a browser; the script's output is passed on.
fn in_browser(server: &Server, script: &Path, options: &[&str]) -> Result<(), Box<dyn Error>> {
    let url = format!("http://{}/scatter?{ALL}", server.address());
    let output = std::process::Command::new("node").arg(script).arg(&url).args(options).output()?;
    let said = String::from_utf8(output.stdout)?;
    if !output.status.success() {
        let problem = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {problem}", script.display()).into());
    }
    print!("{said}");
    Ok(())
}
