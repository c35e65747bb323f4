//! Benchmark of the APRS-IS server under load: cost and latency of a delivered packet, the largest
//! rate, and the cost of clients.
//!
//! The server is a process of its own on loopback; all clients are in this one, in one thread, and
//! share the machine's cores with it. Every line carries its sender, its number and its instant:
//! every run detects missing, misordered and doubled packets, and figures of a run with losses are
//! marked. CPU time is the server process's, as the scheduler counts it. The server's own counters
//! are read from its `status.json`, and must agree with the clients'.
//!
//! Beside ours stand figures of the paper, of a machine of 2007. No package registry offers aprsc:
//! nothing here is of the same run, and the tables say so.

mod filters;
mod load;
mod packets;
mod passcode;
mod process;
mod recording;
mod series;
mod server;
mod status;
mod table;

use anyhow::{Result, anyhow};
use clap::{Parser, ValueEnum};
use load::{Plan, Trouble};
use recording::Recording;
use serde_json::Value;
use server::Settings;
use std::path::PathBuf;
use std::sync::Arc;
use table::Table;

/// The APRS-IS server under load
#[derive(Parser)]
struct Arguments {
    /// Series to run [default: all but `soak`, and `recorded` only with a recording]
    series: Vec<Series>,
    /// Use short windows and fewer points
    #[arg(long)]
    quick: bool,
    /// Number of the server's worker threads [default: 1; frontier, most and clients 2, as the
    /// server's own]
    #[arg(long)]
    workers: Option<usize>,
    /// Duration of the series `soak`, in minutes; it runs only when it is named
    #[arg(long, default_value_t = 30.0)]
    minutes: f64,
    /// Recorded packets for the series `recorded`, a line each with its time in front
    /// (`2020-05-30 11:04:52.431806: SOURCE>DESTINATION,qAS,IGATE:payload`; tools/packets fetches
    /// such a file)
    #[arg(long, value_name = "FILE")]
    recording: Option<PathBuf>,
    /// Print JSON in one line
    #[arg(long)]
    json: bool,
}

/// Table of results.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Series {
    /// Cost of the writes in the kernel alone, by octets and sockets
    Limit,
    /// CPU against latency over intervals of writing, beside the kernel alone at the same rate
    Frontier,
    /// The most lines a second that 400 full feeds get whole
    Most,
    /// 1000 lines a second to 50 … 640 full feeds, in each way of batching
    FullFeed,
    /// The paper's run: 640 full feeds, and the server's status page
    Paper,
    /// The paper's real clients: 150, with filters, at the rate of 2012
    Live,
    /// More and more lines to 400 full feeds
    Ceiling,
    /// 20,000 … 100,000 lines a second to 5 full feeds
    Input,
    /// Memory of clients that do nothing, and their logins at once
    Clients,
    /// 100 … 10,000 clients with filters; no line is repeated
    Filters,
    /// 1 … 8 worker threads: CPU and context switches
    Workers,
    /// Crowds of clients that come, send a few packets and leave, beside a steady load
    Bursts,
    /// Age up to which a repeated packet is dropped; 35 s, beside the other series
    DupeWindow,
    /// Recorded packets at their own rate, to full feeds and to clients with filters
    Recorded,
    /// Effect on others of a stuck client, a flooding one, and hundreds of half logged in ones
    Trouble,
    /// The recorder on and off
    Recorder,
    /// Half an hour with restless clients, reloads and live upgrades
    Soak,
}

impl Series {
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    fn run(self, arguments: &Arguments) -> Result<Value> {
        match self {
            Self::Limit => series::limit::limits(arguments),
            Self::Frontier => series::frontier::frontier(arguments),
            Self::Most => series::most::most(arguments),
            Self::FullFeed => series::feeds::full_feed(arguments),
            Self::Paper => series::feeds::paper(arguments),
            Self::Live => series::feeds::live(arguments),
            Self::Ceiling => series::rates::ceiling(arguments),
            Self::Input => series::rates::input(arguments),
            Self::Clients => series::clients::clients(arguments),
            Self::Filters => series::filtered::filtered(arguments),
            Self::Workers => series::workers::workers(arguments),
            Self::Bursts => series::bursts::bursts(arguments),
            Self::DupeWindow => series::dupe_window::dupe_window(arguments),
            Self::Recorded => series::recorded::recorded(arguments),
            Self::Trouble => series::others::trouble(arguments),
            Self::Recorder => series::others::recorder(arguments),
            Self::Soak => series::soak::soak(arguments, arguments.minutes),
        }
    }
}

/// Lines that were sent before, as in the paper's run: 252 of 1024 a second.
const DUPLICATES: f64 = 0.25;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    // A client of the generator is an open file.
    let (soft, hard) = nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE)?;
    if soft < hard {
        nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE, hard, hard)?;
    }
    let results = run(&arguments)?;
    if arguments.json {
        println!("{}", Value::Object(results));
    }
    Ok(())
}

/// One series after the other; the duplicate window's, which sleeps, beside them.
fn run(arguments: &Arguments) -> Result<serde_json::Map<String, Value>> {
    let wanted = arguments.wanted();
    let mut results = serde_json::Map::new();
    std::thread::scope(|scope| {
        let sleeping = wanted.contains(&Series::DupeWindow).then(|| {
            eprintln!("aprs: {} begins", Series::DupeWindow.name());
            scope.spawn(|| Series::DupeWindow.run(arguments))
        });
        for series in wanted.iter().filter(|series| **series != Series::DupeWindow) {
            eprintln!("aprs: {}", series.name());
            results.insert(series.name(), series.run(arguments)?);
        }
        if let Some(thread) = sleeping {
            let result =
                thread.join().map_err(|_| anyhow!("the thread of dupe-window panicked"))??;
            results.insert(Series::DupeWindow.name(), result);
        }
        Ok(results)
    })
}

impl Arguments {
    /// The series that are named, or all for which everything is there.
    fn wanted(&self) -> Vec<Series> {
        if !self.series.is_empty() {
            return self.series.clone();
        }
        let all = Series::value_variants().iter().copied();
        all.filter(|series| match series {
            Series::Soak => false,
            Series::Recorded => self.recording.is_some(),
            _ => true,
        })
        .collect()
    }

    fn settings(&self, batching: &str) -> Settings {
        let workers = self.workers.unwrap_or(1);
        Settings { workers, batching: batching.to_owned(), record: true }
    }

    /// Those of a server whose file has nothing about threads.
    fn default_settings(&self, batching: &str) -> Settings {
        Settings { workers: self.workers.unwrap_or(2), ..self.settings(batching) }
    }

    fn plan(&self, filters: Vec<String>, rate: f64) -> Plan {
        let (warm_s, window_s) = self.either((0.7, 1.5), (3.0, 10.0));
        Plan {
            filters,
            sinks: 0,
            rate,
            duplicates: DUPLICATES,
            warm_s,
            window_s,
            recording: None,
            trouble: Trouble::None,
            others: false,
            bursting: Arc::default(),
        }
    }

    /// The recorded packets, where a file of them was given.
    fn recorded(&self) -> Result<Option<Arc<Recording>>> {
        self.recording.as_ref().map(|path| Recording::read(path).map(Arc::new)).transpose()
    }

    /// The value of the short form, or that of the long one.
    fn either<T>(&self, quick: T, long: T) -> T {
        if self.quick { quick } else { long }
    }

    fn show(&self, table: &Table) {
        if !self.json {
            table.print();
        }
    }
}
