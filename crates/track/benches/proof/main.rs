//! Whether one pair of runs tells: no alarm where nothing changed, and no change missed.
//!
//! A server with threads (`examples/server.rs`) is built twice as it is and with 0.1 %, 0.3 % and
//! 1 % more work in one function. Rounds run the five in an order drawn by lot; a pair is two runs
//! of a round, judged as `chronoscope track compare` does without a history: every count of every
//! process by `compare::pair`, with the floor of programs with threads.
//!
//! `cargo bench -p chronoscope-track --bench proof -- [--quick | --pairs N,M] [--json] [--results
//! FILE] [--scenario FILE --process NAME --bin DIR [--changed DIR]...]`: 300 unchanged pairs and
//! 100 of each change; with `--quick` 30 and 10, with `--pairs` N and M. With a scenario the same
//! is done with its serialised replay and the floor of those; the folders have its programs as they
//! are and with changes in the program of one process: the others must not move. Runs are appended
//! to the results as they are made, so that a proof which was interrupted goes on where it was.
//! Exit code 1: an alarm without a change, or a change missed.

mod build_id;
mod counts;
mod replay;
mod report;
mod results;
mod server;
mod system;

use std::path::PathBuf;
use std::process::ExitCode;

use chronoscope_clock as clock;
use chronoscope_track::counters::Method;

use replay::Replay;
use results::Results;
use server::Server;
use system::System;

/// The requested measurement.
struct Request {
    rounds: usize,
    changed: usize,
    as_json: bool,
    results: PathBuf,
    scenario: Option<PathBuf>,
    process: String,
    bin: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let mut request = Request {
        rounds: 300,
        changed: 100,
        as_json: false,
        results: PathBuf::from("proof.jsonl"),
        scenario: None,
        process: String::new(),
        bin: Vec::new(),
        folders: Vec::new(),
    };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--list" => return ExitCode::SUCCESS, // asked by a test runner
            "--quick" => (request.rounds, request.changed) = (30, 10),
            "--json" => request.as_json = true,
            option => {
                let Some(value) = words.next() else { return usage() };
                match option {
                    "--pairs" => {
                        let Some(pairs) = pairs(&value) else { return usage() };
                        (request.rounds, request.changed) = pairs;
                    }
                    "--results" => request.results = value.into(),
                    "--scenario" => request.scenario = Some(value.into()),
                    "--process" => request.process = value,
                    "--bin" => request.bin = vec![value.into()],
                    "--changed" => request.folders.push(value.into()),
                    _ => return usage(),
                }
            }
        }
    }
    let whole = !request.process.is_empty() && !request.bin.is_empty();
    if request.scenario.is_some() && !whole {
        return usage();
    }
    match prove(&request) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("proof: {error}");
            ExitCode::from(2)
        }
    }
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: proof [--quick | --pairs N,M] [--json] [--results FILE] \
         [--scenario FILE --process NAME --bin DIR [--changed DIR]...]"
    );
    ExitCode::from(2)
}

/// `N,M`: unchanged pairs, and of each change, of which there are not more.
fn pairs(text: &str) -> Option<(usize, usize)> {
    let (unchanged, changed) = text.split_once(',')?;
    let (unchanged, changed) = (unchanged.parse().ok()?, changed.parse().ok()?);
    (unchanged > 0 && changed <= unchanged).then_some((unchanged, changed))
}

type Failure = Box<dyn std::error::Error>;

/// True when nothing was called changed that was not, and nothing missed.
fn prove(request: &Request) -> Result<bool, Failure> {
    let method = Method::best();
    let system = match &request.scenario {
        Some(scenario) => {
            let folders = [&request.bin[..], &request.folders[..]].concat();
            System::Replay(Box::new(Replay::new(scenario, &request.process, &folders)?))
        }
        None => System::Server(Server::build()?),
    };
    let mut results = Results::open(request.results.clone(), system.build_id(), request.rounds)?;
    let say = |line: String| {
        if !request.as_json {
            println!("{line}");
        }
    };
    say(format!("of       {}", system.title()));
    say(format!("machine  {}", machine()));
    say(format!("method   {}", how(&method)));
    say(format!("load     {} at the beginning", load()));
    let begin_ns = clock::monotonic_ns();
    for round in 0..request.rounds {
        let versions = if round < request.changed { 1 + system.changes().len() } else { 2 };
        for version in shuffled(versions, round as u64) {
            if results.get(round, version).is_none() {
                results.add(round, version, system.run(version, &method)?)?;
            }
        }
        if round % 10 == 9 {
            let s = (clock::monotonic_ns() - begin_ns) / 1_000_000_000;
            let of = request.rounds;
            eprintln!("proof: {} of {of} rounds after {s} s, load {}", round + 1, load());
        }
    }
    say(format!("load     {} at the end", load()));
    if request.as_json {
        let (document, right) = report::json(&system, &results, request, &how(&method))?;
        println!("{document:#}");
        return Ok(right);
    }
    Ok(report::print(&system, &results, request)?)
}

/// The first `count` numbers in an order that the seed decides.
fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut state = seed.wrapping_add(1);
    for last in (1..count).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(0x5bd1_e995);
        let draw = usize::try_from(state >> 33).unwrap_or(0) % (last + 1);
        order.swap(last, draw);
    }
    order
}

fn how(method: &Method) -> String {
    match method {
        Method::Hardware => "instructions:u of the processor".to_owned(),
        Method::Callgrind { because } => format!("Callgrind (no counters: {because})"),
    }
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

fn machine() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name"));
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let model = model.unwrap_or("?").trim_start_matches([' ', '\t', ':']);
    format!("{model}, {cores} cores, Linux {}", kernel.trim())
}
