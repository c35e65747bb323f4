//! Benchmark of the APRS-IS server under load: cost and delay of a delivered packet, the largest
//! rate, and the cost of clients.
//!
//! The server is a process of its own on loopback; all clients are in this one, in one thread, and
//! share the machine's cores with it. Every line carries its sender, its number and its instant:
//! every run detects missing, misordered and doubled packets, and figures of a run with losses are
//! marked. CPU time is the server process's, as the scheduler counts it.
//!
//! Beside ours stand figures of aprsc 2.1.21 that were measured on another day, on a machine of the
//! same kind with other load on it; and of the paper, on a machine of 2007. No package registry
//! offers aprsc, so none of these come from the same run, and the tables say so.

mod filters;
mod limit;
mod load;
mod packets;
mod passcode;
mod server;
mod soak;
mod table;

use anyhow::Result;
use chronoscope_clock as clock;
use clap::{Parser, ValueEnum};
use load::{Outcome, Plan, Trouble};
use serde_json::{Value, json};
use server::{Server, Settings};
use table::Table;

/// The APRS-IS server under load
#[derive(Parser)]
struct Arguments {
    /// Series to run [default: all]
    series: Vec<Series>,
    /// Use short windows and fewer points
    #[arg(long)]
    quick: bool,
    /// Number of the server's worker threads
    #[arg(long, default_value_t = 1)]
    workers: usize,
    /// Duration of the series `soak`, in minutes; it runs only when it is named
    #[arg(long, default_value_t = 30.0)]
    minutes: f64,
    /// Print JSON in one line
    #[arg(long)]
    json: bool,
}

/// Table of results.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Series {
    /// 1000 lines a second to 50 … 640 full feeds, in each way of batching
    FullFeed,
    /// The paper's run: 640 full feeds
    Paper,
    /// The paper's real clients: 150, with filters, at today's rate
    Live,
    /// More and more lines to 400 full feeds
    Ceiling,
    /// 20,000 … 100,000 lines a second to 5 full feeds
    Input,
    /// Memory of clients that do nothing, and 5000 logins at once
    Clients,
    /// 100 … 10,000 clients with filters
    Filters,
    /// Effect on others of a stuck client, a flooding one, and hundreds of half logged in ones
    Trouble,
    /// Cost of the writes in the kernel alone
    Limit,
    /// The recorder on and off
    Recorder,
    /// Half an hour with restless clients, reloads and live upgrades
    Soak,
}

const ALL: [Series; 10] = [
    Series::Limit,
    Series::FullFeed,
    Series::Paper,
    Series::Live,
    Series::Ceiling,
    Series::Input,
    Series::Clients,
    Series::Filters,
    Series::Trouble,
    Series::Recorder,
];

/// Lines that were sent before, as in the paper's run: 252 of 1024 a second.
const DUPLICATES: f64 = 0.25;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    // A client of the generator is an open file.
    let (soft, hard) = nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE)?;
    if soft < hard {
        nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE, hard, hard)?;
    }
    let wanted = if arguments.series.is_empty() { &ALL[..] } else { &arguments.series };
    let mut results = serde_json::Map::new();
    for series in wanted {
        let name = series.to_possible_value().map_or(String::new(), |v| v.get_name().to_owned());
        eprintln!("aprs: {name}");
        let result = match series {
            Series::FullFeed => full_feed(&arguments)?,
            Series::Paper => paper(&arguments)?,
            Series::Live => live(&arguments)?,
            Series::Ceiling => ceiling(&arguments)?,
            Series::Input => input(&arguments)?,
            Series::Clients => clients(&arguments)?,
            Series::Filters => filtered(&arguments)?,
            Series::Trouble => trouble(&arguments)?,
            Series::Limit => limits(&arguments)?,
            Series::Recorder => recorder(&arguments)?,
            Series::Soak => soak::soak(&arguments, arguments.minutes)?,
        };
        results.insert(name, result);
    }
    if arguments.json {
        println!("{}", Value::Object(results));
    }
    Ok(())
}

impl Arguments {
    fn settings(&self, batching: &'static str) -> Settings {
        Settings { workers: self.workers, batching, record: true }
    }

    fn plan(&self, filters: Vec<String>, rate: f64) -> Plan {
        let (warm_s, window_s) = if self.quick { (0.7, 1.5) } else { (3.0, 10.0) };
        let trouble = Trouble::None;
        Plan { filters, rate, duplicates: DUPLICATES, warm_s, window_s, trouble }
    }

    fn show(&self, table: &Table) {
        if !self.json {
            table.print();
        }
    }
}

/// Full feeds for so many clients.
fn feeds(client_count: usize) -> Vec<String> {
    vec![String::new(); client_count]
}

/// Every run has a server of its own: none starts with another's memory.
fn measure(settings: &Settings, plan: &Plan) -> Result<Outcome> {
    let server = Server::start(settings)?;
    let outcome = load::run(&server, plan)?;
    eprintln!(
        "aprs: {} clients, {:.0} lines/s: {:.0} delivered/s, p99 {:.1} ms, {} missing",
        plan.filters.len(),
        outcome.rate,
        outcome.delivered_per_s,
        outcome.p99_ms,
        outcome.missing
    );
    Ok(outcome)
}

/// Whether all packets reached all clients, in order and once.
fn complete(outcome: &Outcome) -> String {
    match (outcome.missing, outcome.misordered, outcome.cut) {
        (0, 0, 0) => "yes".to_owned(),
        (missing, misordered, cut) => {
            format!("{missing} missing, {misordered} misordered, {cut} cut")
        }
    }
}

fn full_feed(arguments: &Arguments) -> Result<Value> {
    // aprsc: median CPU-s a million, p50/p90/p99 ms, as measured elsewhere.
    let theirs = [
        (50, "2.23", "24/44/57"),
        (100, "1.62", "26/45/61"),
        (200, "1.37", "27/47/64"),
        (400, "1.30", "32/59/78"),
        (640, "–", "–"),
    ];
    let mut table = Table::new(
        "1000 lines/s, a quarter repeated; full feeds (aprsc: another run, none repeated)",
        &[
            "clients",
            "batching",
            "delivered/s",
            "CPU",
            "CPU-s/M",
            "p50/p90/p99/max ms",
            "RSS MB",
            "complete",
            "aprsc CPU-s/M",
            "aprsc p50/90/99",
        ],
    );
    let mut rows = Vec::new();
    for (clients, cpu, latency) in theirs {
        if arguments.quick && ![50, 400].contains(&clients) {
            continue;
        }
        for batching in ["adaptive", "latency", "throughput"] {
            let plan = arguments.plan(feeds(clients), 1000.0);
            let outcome = measure(&arguments.settings(batching), &plan)?;
            table.row(&[
                clients.to_string(),
                batching.to_owned(),
                format!("{:.0}", outcome.delivered_per_s),
                format!("{:.1} %", outcome.cpu * 100.0),
                format!("{:.3}", outcome.cpu_s_per_million),
                latencies(&outcome),
                format!("{:.1}", megabytes(outcome.rss_kb)),
                complete(&outcome),
                cpu.to_owned(),
                latency.to_owned(),
            ]);
            rows.push(json!({ "clients": clients, "batching": batching, "outcome": outcome }));
        }
    }
    arguments.show(&table);
    Ok(Value::Array(rows))
}

fn limits(arguments: &Arguments) -> Result<Value> {
    let mut table = Table::new(
        "The kernel alone: 750 packets/s of 82 octets to 400 sockets in one write each interval",
        &["interval ms", "writes/s", "CPU-s/M"],
    );
    let mut rows = Vec::new();
    for interval_ms in [4.0, 8.0, 24.0, 50.0, 100.0] {
        let seconds = if arguments.quick { 1.5 } else { 5.0 };
        let cpu_s = limit::write_only(400, interval_ms, 750.0, seconds)?;
        let writes = format!("{:.0}", 400.0 * 1e3 / interval_ms);
        table.row(&[interval_ms.to_string(), writes, format!("{cpu_s:.3}")]);
        rows.push(json!({ "interval_ms": interval_ms, "cpu_s_per_million": cpu_s }));
    }
    arguments.show(&table);
    Ok(Value::Array(rows))
}

fn latencies(outcome: &Outcome) -> String {
    let Outcome { p50_ms, p90_ms, p99_ms, max_ms, .. } = outcome;
    format!("{p50_ms:.1}/{p90_ms:.1}/{p99_ms:.1}/{max_ms:.1}")
}

#[allow(clippy::cast_precision_loss)]
fn megabytes(kilobytes: u64) -> f64 {
    kilobytes as f64 / 1000.0
}

#[allow(clippy::cast_precision_loss)]
fn paper(arguments: &Arguments) -> Result<Value> {
    let plan = arguments.plan(feeds(640), 1024.0);
    let outcome = measure(&arguments.settings("adaptive"), &plan)?;
    let repeated = outcome.rate * outcome.repeated as f64 / outcome.sent as f64;
    let mut table = Table::new(
        "The paper's run: 640 full feeds (its page, of a 2007 Xeon)",
        &["", "paper", "ours"],
    );
    let mut row = |what: &str, paper: &str, ours: f64| {
        table.row(&[what.to_owned(), paper.to_owned(), format!("{ours:.0}")]);
    };
    row("packets received/s", "1024", outcome.rate);
    row("duplicates dropped/s", "252", repeated);
    row("unique packets/s", "794", outcome.rate - repeated);
    row("packets sent/s", "507803", outcome.delivered_per_s);
    row("octets sent/s", "45819041", outcome.octets_per_s);
    row("CPU, % of a core", "a picture", outcome.cpu * 100.0);
    table.row(&["complete".into(), "–".into(), complete(&outcome)]);
    arguments.show(&table);
    Ok(json!(outcome))
}

/// 150 clients at 50 lines a second, as the paper's were; which threads the server has meanwhile.
fn live(arguments: &Arguments) -> Result<Value> {
    let server = Server::start(&arguments.settings("adaptive"))?;
    let plan = arguments.plan(filters::mixed(150), 50.0);
    let middle = std::time::Duration::from_secs_f64(plan.warm_s + plan.window_s / 2.0);
    let (threads, outcome) = std::thread::scope(|scope| {
        let load = scope.spawn(|| load::run(&server, &plan));
        clock::sleep(middle);
        (server.threads(), load.join())
    });
    let outcome = outcome.map_err(|_| anyhow::anyhow!("the clients' thread panicked"))??;
    let threads = threads?;
    let mut table = Table::new(
        "150 clients with filters at 50 lines/s (the paper: real clients, four CPUs of 3 GHz)",
        &["", "javAPRSSrvr", "aprsc", "ours"],
    );
    let mut row = |what: &str, theirs: [&str; 2], ours: String| {
        table.row(&[what.to_owned(), theirs[0].to_owned(), theirs[1].to_owned(), ours]);
    };
    row("resident memory, MB", ["125", "29"], format!("{:.1}", megabytes(outcome.rss_kb)));
    row("CPU, % of one core", ["16.8", "1.2"], format!("{:.2}", outcome.cpu * 100.0));
    row("threads", ["367", "7"], threads.len().to_string());
    arguments.show(&table);
    Ok(json!({ "clients": 150, "threads": threads, "outcome": outcome }))
}

fn ceiling(arguments: &Arguments) -> Result<Value> {
    let mut table = Table::new(
        "More and more lines to 400 full feeds (aprsc, another run: 1.0 M/s sustained, 1.3 M/s at most)",
        &["lines/s", "delivered/s", "MB/s", "CPU", "CPU-s/M", "p50/p90/p99/max ms", "complete"],
    );
    let mut rows = Vec::new();
    let rates = [2500.0, 5000.0, 7500.0, 10_000.0, 12_500.0, 15_000.0];
    for rate in if arguments.quick { &rates[2..4] } else { &rates[..] } {
        let outcome = measure(&arguments.settings("adaptive"), &arguments.plan(feeds(400), *rate))?;
        table.row(&[
            format!("{:.0} of {rate:.0}", outcome.rate),
            format!("{:.0}", outcome.delivered_per_s),
            format!("{:.0}", outcome.octets_per_s / 1e6),
            format!("{:.0} %", outcome.cpu * 100.0),
            format!("{:.3}", outcome.cpu_s_per_million),
            latencies(&outcome),
            complete(&outcome),
        ]);
        rows.push(json!(outcome));
    }
    arguments.show(&table);
    Ok(Value::Array(rows))
}

fn input(arguments: &Arguments) -> Result<Value> {
    let mut table = Table::new(
        "Many lines to 5 full feeds (aprsc, another run: 40 k/s complete at 80 % CPU, 298 MB; 80 k/s not)",
        &["lines/s", "CPU", "us/line", "p50/p90/p99/max ms", "RSS MB", "complete"],
    );
    let mut rows = Vec::new();
    for rate in [20_000.0, 40_000.0, 80_000.0, 100_000.0] {
        if arguments.quick && rate < 100_000.0 {
            continue;
        }
        let outcome = measure(&arguments.settings("adaptive"), &arguments.plan(feeds(5), rate))?;
        table.row(&[
            format!("{:.0} of {rate:.0}", outcome.rate),
            format!("{:.0} %", outcome.cpu * 100.0),
            format!("{:.2}", outcome.cpu_s_per_million_in),
            latencies(&outcome),
            format!("{:.0}", megabytes(outcome.rss_kb)),
            complete(&outcome),
        ]);
        rows.push(json!(outcome));
    }
    arguments.show(&table);
    Ok(Value::Array(rows))
}

#[allow(clippy::cast_precision_loss)]
fn clients(arguments: &Arguments) -> Result<Value> {
    let mut table = Table::new(
        "Clients that are logged in (aprsc, another run: 17.9 kB full feed, 18.7 kB filtered; 5000 logins 0.42 s, 0.56 CPU-s)",
        &["clients", "port", "seconds", "CPU-s", "RSS MB", "kB each"],
    );
    let mut rows = Vec::new();
    for (port, filter) in [("full", ""), ("igate", "r/60.2/24.9/50")] {
        for client_count in [1000, 5000, 10_000] {
            let server = Server::start(&arguments.settings("adaptive"))?;
            let address = server.port(port)?;
            let before = server.usage()?;
            let (seconds, held) = load::burst(address, client_count, filter)?;
            let after = server.usage()?;
            let each = after.rss_kb.saturating_sub(before.rss_kb) as f64 / client_count as f64;
            table.row(&[
                client_count.to_string(),
                port.to_owned(),
                format!("{seconds:.2}"),
                format!("{:.2}", after.cpu_s - before.cpu_s),
                format!("{:.1}", megabytes(after.rss_kb)),
                format!("{each:.2}"),
            ]);
            rows.push(json!({
                "clients": client_count, "port": port, "seconds": seconds,
                "cpu_s": after.cpu_s - before.cpu_s, "rss_kb": after.rss_kb, "kb_each": each,
            }));
            drop(held);
        }
    }
    arguments.show(&table);
    Ok(Value::Array(rows))
}

#[allow(clippy::cast_precision_loss)]
fn filtered(arguments: &Arguments) -> Result<Value> {
    // aprsc: packets out a second, CPU-s a million in; both of another run.
    let theirs = [
        (100, "1.4 k", "61.6"),
        (400, "5.8 k", "113"),
        (1000, "15.9 k", "198"),
        (2000, "37.4 k", "421"),
        (4000, "76.8 k", "1172"),
        (10_000, "–", "–"),
    ];
    let mut table = Table::new(
        "1000 lines/s to clients with filters (aprsc: another run, none repeated)",
        &[
            "clients",
            "out/s",
            "CPU",
            "CPU-s/M in",
            "CPU-s/M out",
            "p50/p90/p99/max ms",
            "RSS MB",
            "aprsc out/s",
            "aprsc CPU-s/M in",
        ],
    );
    let mut rows = Vec::new();
    for (client_count, out, cpu) in theirs {
        if arguments.quick && ![400, 4000].contains(&client_count) {
            continue;
        }
        let plan = arguments.plan(filters::mixed(client_count), 1000.0);
        let outcome = measure(&arguments.settings("adaptive"), &plan)?;
        table.row(&[
            client_count.to_string(),
            format!("{:.0}", outcome.delivered_per_s),
            format!("{:.1} %", outcome.cpu * 100.0),
            format!("{:.0}", outcome.cpu_s_per_million_in),
            format!("{:.2}", outcome.cpu_s_per_million),
            latencies(&outcome),
            format!("{:.1}", megabytes(outcome.rss_kb)),
            out.to_owned(),
            cpu.to_owned(),
        ]);
        rows.push(json!({ "clients": client_count, "outcome": outcome }));
    }
    arguments.show(&table);
    Ok(Value::Array(rows))
}

fn trouble(arguments: &Arguments) -> Result<Value> {
    let mut table = Table::new(
        "100 full feeds at 1000 lines/s while others misbehave",
        &["who", "CPU", "p50/p90/p99/max ms", "p99 to none", "complete"],
    );
    let mut rows = Vec::new();
    let mut alone = f64::NAN;
    for trouble in [Trouble::None, Trouble::Stuck, Trouble::Flood, Trouble::SlowLogin] {
        let plan = Plan { trouble, ..arguments.plan(feeds(100), 1000.0) };
        let outcome = measure(&arguments.settings("adaptive"), &plan)?;
        if trouble == Trouble::None {
            alone = outcome.p99_ms;
        }
        table.row(&[
            format!("{trouble:?}"),
            format!("{:.1} %", outcome.cpu * 100.0),
            latencies(&outcome),
            format!("{:.2}", outcome.p99_ms / alone),
            complete(&outcome),
        ]);
        rows.push(json!({ "who": format!("{trouble:?}"), "outcome": outcome }));
    }
    arguments.show(&table);
    Ok(Value::Array(rows))
}

/// Pairs of runs, on and off in turn: both see the same machine.
fn recorder(arguments: &Arguments) -> Result<Value> {
    let pairs = if arguments.quick { 2 } else { 5 };
    let mut ratios = Vec::new();
    for pair in 0..pairs {
        let mut cpu = [0.0; 2];
        for turn in 0..2 {
            let on = (pair + turn) % 2;
            let settings = Settings { record: on == 1, ..arguments.settings("adaptive") };
            let plan = arguments.plan(feeds(100), 1000.0);
            cpu[on] = measure(&settings, &plan)?.cpu;
        }
        ratios.push(cpu[1] / cpu[0]);
    }
    ratios.sort_by(f64::total_cmp);
    let mut table = Table::new(
        "CPU with every packet recorded to CPU without, 100 full feeds at 1000 lines/s",
        &["pairs", "least", "median", "most"],
    );
    let cell = |ratio: f64| format!("{ratio:.4}");
    let median = ratios[pairs / 2];
    table.row(&[pairs.to_string(), cell(ratios[0]), cell(median), cell(ratios[pairs - 1])]);
    arguments.show(&table);
    Ok(json!({ "ratios": ratios, "median": median }))
}
