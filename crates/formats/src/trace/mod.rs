//! Transactions as a Chrome trace (JSON array format), for ui.perfetto.dev and chrome://tracing.
//! Format: `docs/formats/perfetto.md`. It is a picture: nothing reads it back.
//!
//! ```
//! use chronoscope_formats::trace;
//! # use chronoscope_model::{ClassId, Names, Record, Transaction};
//! # let transaction = Transaction::from_record(&Record::default(), b"", &Names::default());
//! let mut json = Vec::new();
//! trace::write(&mut [transaction], &mut json)?;
//! assert!(json.starts_with(b"{\"displayTimeUnit\":\"ns\""));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Limits: all transactions at once, because slices of one track have to nest: those that overlap
//! otherwise go onto tracks of their own. [`TRANSACTIONS_MAX`] is what viewers can bear.

mod lanes;

use chronoscope_model::{ChainId, Flags, ProcessName, Transaction, TransactionId};
use lanes::Lanes;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io::{self, Write};

/// Largest useful number of transactions in one trace.
pub const TRANSACTIONS_MAX: usize = 1_000_000;

const DAY_NS: i64 = 86_400_000_000_000;

/// Writes a trace, and sorts the transactions by time for it.
///
/// # Errors
/// When `out` cannot be written.
pub fn write(transactions: &mut [Transaction], out: &mut impl Write) -> io::Result<()> {
    // A parent before its children, also where they start at once.
    transactions.sort_by_key(|t| (t.start_ns, std::cmp::Reverse(t.elapsed_ns), t.level));
    // Viewers count in double-precision microseconds: from midnight they keep the nanoseconds.
    let first = transactions.first().map_or(0, |t| t.start_ns);
    let origin_ns = first.div_euclid(DAY_NS).saturating_mul(DAY_NS);
    let mut tracks = Tracks::default();
    let places: Vec<(u64, u64)> = transactions.iter().map(|t| tracks.place(t)).collect();
    let by_id: HashMap<(ChainId, TransactionId), usize> =
        transactions.iter().enumerate().map(|(row, t)| ((t.chain, t.id), row)).collect();
    write!(
        out,
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"origin_ns\":\"{origin_ns}\"}},\
         \"traceEvents\":["
    )?;
    let mut events = Events { out, any: false, origin_ns };
    let mut processes: Vec<_> = tracks.pids.iter().collect();
    processes.sort_unstable_by_key(|(_, pid)| **pid);
    for (process, pid) in processes {
        events.process(process.as_ref(), *pid)?;
    }
    for track in &tracks.tracks {
        events.thread(track)?;
    }
    let mut flows = Flows::default();
    for (row, t) in transactions.iter().enumerate() {
        let parent = (!t.parent.is_none()).then(|| by_id.get(&(t.chain, t.parent))).flatten();
        // Only where the work continued in another thread: calls inside a thread show by nesting.
        let hop = parent.filter(|parent| **parent != row && places[**parent].1 != places[row].1);
        if let Some(parent) = hop {
            flows.add(*parent, row);
        }
    }
    for (row, t) in transactions.iter().enumerate() {
        events.slice(t, places[row])?;
        for child in flows.from.get(&row).into_iter().flatten() {
            events.flow("s", *child, t, places[row])?;
        }
        if flows.into.contains_key(&row) {
            events.flow("f", row, t, places[row])?;
        }
        events.counters(t, places[row])?;
    }
    out.write_all(b"\n]}\n")?;
    out.flush()
}

/// Hops between tracks, by the rows of parents and children; a flow is called as its child's row.
#[derive(Default)]
struct Flows {
    from: HashMap<usize, Vec<usize>>,
    into: HashMap<usize, usize>,
}

impl Flows {
    fn add(&mut self, parent: usize, child: usize) {
        self.from.entry(parent).or_default().push(child);
        self.into.insert(child, parent);
    }
}

/// A thread of the trace: a thread of a process, or a further one for slices that do not nest.
struct Track {
    pid: u64,
    tid: u64,
    name: String,
}

/// Numbers for processes and threads: the systems' own may be the same on two hosts.
#[derive(Default)]
struct Tracks {
    pids: HashMap<Option<ProcessName>, u64>,
    lanes: HashMap<(u64, u32), Lanes>,
    tids: HashMap<(u64, u32, usize), u64>,
    tracks: Vec<Track>,
}

impl Tracks {
    /// Process and track of a transaction. They have to come by their start.
    fn place(&mut self, t: &Transaction) -> (u64, u64) {
        let next = self.pids.len() as u64 + 1;
        let pid = match self.pids.get(&t.process) {
            Some(pid) => *pid,
            None => *self.pids.entry(t.process.clone()).or_insert(next),
        };
        let end_ns = t.start_ns.saturating_add_unsigned(t.elapsed_ns);
        let lane = self.lanes.entry((pid, t.thread)).or_default().place(t.start_ns, end_ns);
        let next = self.tracks.len() as u64 + 1;
        let tid = *self.tids.entry((pid, t.thread, lane)).or_insert(next);
        if tid == next {
            let name = match lane {
                0 => format!("thread {}", t.thread),
                lane => format!("thread {} ({})", t.thread, lane + 1),
            };
            self.tracks.push(Track { pid, tid, name });
        }
        (pid, tid)
    }
}

struct Events<'a, W> {
    out: &'a mut W,
    any: bool,
    origin_ns: i64,
}

impl<W: Write> Events<'_, W> {
    fn event(&mut self, event: &Value) -> io::Result<()> {
        self.out.write_all(if self.any { b",\n" } else { b"\n" })?;
        self.any = true;
        serde_json::to_writer(&mut self.out, event).map_err(io::Error::from)
    }

    /// Microseconds since the origin. A difference within days is exact in a double to a
    /// thousandth.
    fn us(&self, ns: i64) -> f64 {
        micros(i128::from(ns) - i128::from(self.origin_ns))
    }

    fn process(&mut self, process: Option<&ProcessName>, pid: u64) -> io::Result<()> {
        let name = process.map_or_else(
            || "unknown process".to_owned(),
            |p| format!("{} {}/{}", p.application, p.host, p.pid),
        );
        let args = json!({ "name": name });
        self.event(&json!({ "ph": "M", "name": "process_name", "pid": pid, "args": args }))
    }

    fn thread(&mut self, track: &Track) -> io::Result<()> {
        let (pid, tid) = (track.pid, track.tid);
        let args = json!({ "name": track.name });
        self.event(
            &json!({ "ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": args }),
        )
    }

    fn slice(&mut self, t: &Transaction, (pid, tid): (u64, u64)) -> io::Result<()> {
        let mut args = Map::new();
        let mut say = |key: &str, value: Value| args.insert(key.to_owned(), value);
        say("chain", t.chain.to_string().into());
        say("id", t.id.to_string().into());
        say("status", t.status.name().into());
        say("level", t.level.into());
        say("path", t.path.clone().into());
        if let Some(ns) = t.known_cpu_ns() {
            say("cpu_us", micros(i128::from(ns)).into());
        }
        if let Some(ns) = t.process_cpu_ns {
            say("process_cpu_us", micros(i128::from(ns)).into());
        }
        if let Some(ns) = t.root_start_ns {
            let end_ns = i128::from(t.start_ns) + i128::from(t.elapsed_ns);
            say("since_root_us", micros(end_ns - i128::from(ns)).into());
        }
        say("asynchronous", t.flags.contains(Flags::ASYNCHRONOUS).into());
        for (key, value) in &t.properties {
            say(&format!("property {key}"), value.clone().into());
        }
        for (key, value) in &t.metrics {
            // A number that JSON cannot represent is written as text.
            let number = serde_json::Number::from_f64(*value);
            say(
                &format!("metric {key}"),
                number.map_or_else(|| value.to_string().into(), Value::Number),
            );
        }
        self.event(&json!({
            "ph": "X", "name": t.class.class, "cat": t.class.application, "pid": pid, "tid": tid,
            "ts": self.us(t.start_ns), "dur": micros(i128::from(t.elapsed_ns)), "args": args,
        }))
    }

    /// A flow begins (`s`) or ends (`f`) in the slice that has just begun.
    fn flow(
        &mut self,
        phase: &str,
        child: usize,
        t: &Transaction,
        (pid, tid): (u64, u64),
    ) -> io::Result<()> {
        let mut event = json!({
            "ph": phase, "name": "hop", "cat": "hop", "id": child, "pid": pid, "tid": tid,
            "ts": self.us(t.start_ns),
        });
        if phase == "f" {
            event["bp"] = "e".into(); // it belongs to the slice around it, not to the next one
        }
        self.event(&event)
    }

    /// The metrics as curves.
    fn counters(&mut self, t: &Transaction, (pid, tid): (u64, u64)) -> io::Result<()> {
        for (key, value) in &t.metrics {
            let Some(value) = serde_json::Number::from_f64(*value) else { continue };
            let ts = self.us(t.start_ns.saturating_add_unsigned(t.elapsed_ns));
            let name = format!("{} {key}", t.class);
            self.event(&json!({
                "ph": "C", "name": name, "pid": pid, "tid": tid, "ts": ts,
                "args": { "value": value },
            }))?;
        }
        Ok(())
    }
}

#[allow(clippy::cast_precision_loss)] // days in nanoseconds: see `Events::us`
fn micros(ns: i128) -> f64 {
    ns as f64 / 1000.0
}

#[cfg(test)]
mod tests;
