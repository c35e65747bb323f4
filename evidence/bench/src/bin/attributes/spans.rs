//! The spans of the benchmark, from a seed: chains of two, with attributes.
//!
//! A checkout and the reservation that it asks for, one chain after the other; ids at random (they
//! do not compress), times log-normal, values uniform. Invented spans, not measured ones: what is
//! measured is their size, and how long questions about them take.

use anyhow::Result;
use chronoscope_model::context::{self, ContextEntry};
use chronoscope_model::{
    Batch, ClassId, ClassName, Flags, NO_PROCESS_CPU, Names, PathId, ProcessId, ProcessName,
    Record, TransactionId,
};
use chronoscope_statistics::Random;
use chronoscope_store::{Append, MINUTE_NS, Options, Snapshot, Store};
use std::path::Path;

/// Begin of the spans, 2026-11-21T00:00 UTC.
const BEGIN_NS: i64 = 1_795_219_200_000_000_000;
/// Spans in one append.
const APPEND_ROWS: usize = 50_000;
/// Chains of a minute.
const MINUTE_CHAINS: i64 = 100_000;

/// Root and leaf: application, class and host.
pub(crate) const STEPS: [(&str, &str, &str); 2] =
    [("shop", "checkout", "host-of-shop"), ("stock", "reserve", "host-of-stock")];

/// One span.
pub(crate) struct Span {
    pub(crate) step: usize,
    pub(crate) chain: (u64, u64),
    pub(crate) id: u64,
    /// 0 for a root.
    pub(crate) parent: u64,
    pub(crate) start_ns: i64,
    pub(crate) elapsed_ns: u64,
    /// Number of the value of each attribute.
    pub(crate) values: Vec<u64>,
}

/// The key of an attribute.
pub(crate) fn key(attribute: usize) -> String {
    format!("app.attribute.{attribute}")
}

/// A value of an attribute.
pub(crate) fn value(number: u64) -> String {
    format!("value-{number:04}")
}

/// Gives the spans of so many chains to `each`: their attributes, and different values of each.
pub(crate) fn spans(
    (chains, attributes, values): (u64, usize, u64),
    mut each: impl FnMut(Span) -> Result<()>,
) -> Result<()> {
    let mut random = Random(42);
    let mut start_ns = BEGIN_NS;
    for _ in 0..chains {
        let chain = (random.bits(), random.bits());
        let (mut parent, mut begin_ns) = (0, start_ns);
        for step in 0..STEPS.len() {
            let id = random.bits() | 1;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // milliseconds
            let elapsed_ns = random.log_normal(2e6, 0.5) as u64;
            let values = (0..attributes).map(|_| random.bits() % values).collect();
            each(Span { step, chain, id, parent, start_ns: begin_ns, elapsed_ns, values })?;
            parent = id;
            begin_ns = begin_ns.saturating_add_unsigned(elapsed_ns / 3);
        }
        start_ns += MINUTE_NS / MINUTE_CHAINS;
    }
    Ok(())
}

/// Fills a store and seals it; its segments' size in bytes.
pub(crate) fn fill(dir: &Path, shape: (u64, usize, u64)) -> Result<u64> {
    std::fs::create_dir_all(dir)?;
    let store = Store::open(dir, Options::default(), BEGIN_NS)?;
    let (names, processes) = names();
    store.append(&Append { names: Some(&names), ..Append::default() }, BEGIN_NS)?;
    let (mut batch, mut now_ns) = (Batch::default(), BEGIN_NS);
    let keys: Vec<String> = (0..shape.1).map(key).collect();
    let append = |batch: &mut Batch, now_ns: i64| -> Result<()> {
        store.append(&Append { batch: Some(batch), ..Append::default() }, now_ns)?;
        batch.clear();
        while store.maintain(now_ns)?.again {}
        Ok(())
    };
    let mut buffer = vec![0; context::STORED_MAX_BYTES];
    spans(shape, |span| {
        let mut len = 0;
        for (key, number) in keys.iter().zip(&span.values) {
            let entry = ContextEntry::Property(key, &value(*number));
            len = context::append(&mut buffer, len, entry).unwrap_or(len);
        }
        now_ns = span.start_ns;
        batch.push(record(&span, &processes), &buffer[..len]);
        if batch.len() >= APPEND_ROWS { append(&mut batch, now_ns) } else { Ok(()) }
    })?;
    append(&mut batch, now_ns)?;
    store.sync()?;
    store.seal_all(now_ns)?;
    drop(store);
    Ok(Snapshot::open(dir)?.segments().iter().map(|segment| segment.size_bytes).sum())
}

fn names() -> (Names, [ProcessId; 2]) {
    let mut names = Names::default();
    let processes = STEPS.map(|(application, class, host)| {
        names.add_class(ClassName { application: application.into(), class: class.into() });
        let (application, host) = (application.to_owned(), host.to_owned());
        let process = ProcessName { application, host, pid: 7, start_ns: 1 };
        let id = process.id();
        names.add_process(process);
        id
    });
    (names, processes)
}

/// A span as a row.
fn record(span: &Span, processes: &[ProcessId; 2]) -> Record {
    let (application, class, _) = STEPS[span.step];
    Record {
        start_ns: span.start_ns,
        elapsed_ns: span.elapsed_ns,
        cpu_ns: 0,
        process_cpu_ns: NO_PROCESS_CPU,
        chain_high: span.chain.0,
        chain_low: span.chain.1,
        id: TransactionId(span.id),
        parent: TransactionId(span.parent),
        class: ClassId::of(application, class),
        path: PathId::NONE,
        root_start_ns: span.start_ns,
        root_process: ProcessId::NONE,
        process: processes[span.step],
        context_offset: 0,
        context_len: 0,
        level: 0,
        thread: 7,
        status: 0,
        flags: Flags::FOREIGN.0,
        reserved: 0,
    }
}
