//! Benchmark from rings over a connection into durable files: transactions per second, and the cost
//! on either side.
//!
//! Two threads record until their rings are full and end. Then either a collector reads the rings
//! (the limit: no spool, no connection), or an agent reads them and delivers to a collector in
//! another process, over loopback, plain or with TLS. No other program uses the machine's cores, so
//! the measurement is their work. Sealing continues in the collector.

mod roles;

use anyhow::{Context, Result, ensure};
use chronoscope_bench::rings::{record_rows, seconds_since, spawn_recorder};
use chronoscope_clock as clock;
use chronoscope_collect::Status;
use clap::Parser;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Longest that a measurement may take.
const WITHIN_S: f64 = 120.0;

/// Transactions a second from rings through an agent into a collector's durable files
#[derive(Parser)]
struct Arguments {
    /// Number of rows that two threads together leave in their rings
    #[arg(long, default_value_t = 4_000_000)]
    rows: u64,
    /// Rows a second of the recording program; 0: as fast as possible
    #[arg(long, default_value_t = 0)]
    rate: u64,
    /// Folder for spool and store during the run
    #[arg(long, default_value = "/tmp")]
    dir: PathBuf,
    /// Print JSON in one line
    #[arg(long)]
    json: bool,
    /// Internal: be the program that records this many rows in each of two threads
    #[arg(long, hide = true)]
    record: Option<u64>,
    /// Internal: be the collector with this data folder, and the folder of rings in the next
    /// argument
    #[arg(long, hide = true, num_args = 2)]
    collect: Option<Vec<PathBuf>>,
    /// Listen with this certificate and key
    #[arg(long, hide = true, num_args = 2)]
    tls: Option<Vec<PathBuf>>,
    /// Internal: be the agent with this spool, and the folder of rings in the next argument
    #[arg(long, hide = true, num_args = 2)]
    agent: Option<Vec<PathBuf>>,
    /// Deliver to this URL
    #[arg(long, hide = true)]
    to: Option<String>,
    /// Trust this certificate authority
    #[arg(long, hide = true)]
    ca: Option<PathBuf>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(rows) = arguments.record {
        record_rows(rows, arguments.rate / 2);
        return Ok(());
    }
    if let Some([data, rings]) = arguments.collect.as_deref() {
        return roles::collect(data, rings, arguments.tls.as_deref());
    }
    if let (Some([spool, rings]), Some(to)) = (arguments.agent.as_deref(), &arguments.to) {
        return roles::agent(spool, rings, to, arguments.ca.as_deref());
    }
    let local = measure(&arguments, None)?;
    let plain = measure(&arguments, Some(false))?;
    let tls = measure(&arguments, Some(true))?;
    let ratio = |value: &Value| {
        let rate = |value: &Value| value["rows_per_second"].as_f64().unwrap_or(f64::NAN);
        rate(value) / rate(&local)
    };
    let ratios = json!({ "plain": ratio(&plain), "tls": ratio(&tls) });
    let result = json!({ "local": local, "plain": plain, "tls": tls, "rate_to_local": ratios });
    if arguments.json {
        println!("{result}");
    } else {
        println!("{result:#}");
    }
    Ok(())
}

/// Fills rings and has them read; `tls` is the kind of connection, `None` is no connection.
fn measure(arguments: &Arguments, tls: Option<bool>) -> Result<Value> {
    let rings = tempfile::tempdir_in("/dev/shm").context("the rings' folder")?;
    let empty = tempfile::tempdir_in("/dev/shm").context("another folder of rings")?;
    let dir = tempfile::tempdir_in(&arguments.dir)?;
    let (data, spool) = (dir.path().join("data"), dir.path().join("spool"));
    let rows_each = (arguments.rows / 2).min(1 << 22);
    let mut recorder = spawn_recorder(rings.path(), rows_each, arguments.rate, rows_each)?;
    if arguments.rate == 0 {
        ensure!(recorder.wait()?.success(), "the recording program failed");
    }
    let expected = rows_each / 2 * 2 * 2;
    let begin_ns = clock::monotonic_ns();
    let measured = match tls {
        None => {
            let collector = Role::start(&["--collect"], &[&data, rings.path()], &[])?;
            let seconds = wait_for(&data, expected, begin_ns)?;
            json!({ "seconds": seconds, "collector_cpu_ns_per_row": collector.cpu_ns(expected)? })
        }
        Some(tls) => {
            let certificates = tls.then(|| roles::certificates(dir.path())).transpose()?;
            let mut more: Vec<&Path> = Vec::new();
            if let Some((_, certificate, key)) = &certificates {
                more = vec![Path::new("--tls"), certificate, key];
            }
            let mut collector = Role::start(&["--collect"], &[&data, empty.path()], &more)?;
            let address = collector.line()?;
            let scheme = if tls { "https" } else { "http" };
            let to = format!("{scheme}://{address}");
            let authority = certificates.as_ref().map(|(authority, ..)| authority);
            let more: Vec<&Path> = authority
                .map(|authority| vec![Path::new("--ca"), authority.as_path()])
                .unwrap_or_default();
            let begin_ns = clock::monotonic_ns();
            let agent = Role::start(&["--to", &to, "--agent"], &[&spool, rings.path()], &more)?;
            let seconds = wait_for(&data, expected, begin_ns)?;
            json!({
                "seconds": seconds,
                "agent_cpu_ns_per_row": agent.cpu_ns(expected)?,
                "collector_cpu_ns_per_row": collector.cpu_ns(expected)?,
            })
        }
    };
    ensure!(recorder.wait()?.success(), "the recording program failed");
    let mut measured = measured;
    let seconds = measured["seconds"].as_f64().unwrap_or(f64::NAN);
    measured["rows"] = expected.into();
    measured["rows_per_second"] = (expected as f64 / seconds).into();
    Ok(measured)
}

/// Waits until all rows are durable in the store; seconds since `begin_ns`.
fn wait_for(data: &Path, rows: u64, begin_ns: u64) -> Result<f64> {
    loop {
        let seconds = seconds_since(begin_ns);
        let status = Status::read(data)?.unwrap_or_default();
        ensure!(status.lost_rows == 0, "{} rows are lost", status.lost_rows);
        if status.durable_rows >= rows {
            ensure!(status.durable_rows == rows, "rows are doubled");
            return Ok(seconds);
        }
        ensure!(seconds < WITHIN_S, "{} of {rows} rows after {WITHIN_S} s", status.durable_rows);
        clock::sleep(Duration::from_millis(2));
    }
}

/// This program in another role; killed when dropped.
struct Role(Child);

impl Role {
    fn start(arguments: &[&str], paths: &[&Path], more: &[&Path]) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(arguments).args(paths).args(more).stdout(Stdio::piped());
        Ok(Self(command.spawn()?))
    }

    /// First line of its output.
    fn line(&mut self) -> Result<String> {
        let out = self.0.stdout.as_mut().context("its output")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }

    /// CPU nanoseconds that it has used, for each of so many rows: user and system time, in
    /// hundredths of a second (`proc_pid_stat(5)`).
    fn cpu_ns(&self, rows: u64) -> Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id()))?;
        let (_, fields) = stat.rsplit_once(')').context("stat")?;
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
        let ticks = ticks.sum::<Result<u64, _>>()?;
        Ok(ticks as f64 * 1e7 / rows as f64)
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
