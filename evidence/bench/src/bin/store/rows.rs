//! Radar chains in the order in which their transactions end. Invented rows, not measured ones.

use chronoscope_bench::radar_names::RadarNames;
use chronoscope_model::context::{self, ContextEntry};
use chronoscope_model::{
    Batch, ClassId, Flags, NO_PROCESS_CPU, Names, PathId, ProcessId, Record, TransactionId,
};
use chronoscope_statistics::Random;

/// Begin of the rows, 2026-11-21T00:00 UTC.
pub(crate) const BEGIN_NS: i64 = 1_795_219_200_000_000_000;

/// Kind of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ids {
    /// As our recorder makes them: a random base for every thread, then counting.
    Recorder,
    /// At random, as OpenTelemetry does.
    Random,
}

pub(crate) struct Chains {
    pub(crate) names: Names,
    classes: Vec<ClassId>,
    paths: Vec<PathId>,
    processes: Vec<ProcessId>,
    /// Next id of every process's recording thread.
    next_ids: Vec<u64>,
    chain_high: u64,
    ids: Ids,
    random: Random,
    /// Every so many rows have a context; 0 for none.
    context_every: u64,
    /// Displays that a chain ends at.
    pub(crate) displays: usize,
    count: u64,
}

impl Chains {
    pub(crate) fn new(seed: u64, ids: Ids, context_every: u64) -> Self {
        let RadarNames { names, classes, paths, processes } = RadarNames::new(32);
        let mut chains = Self {
            names,
            classes,
            paths,
            next_ids: Vec::new(),
            processes,
            chain_high: 0,
            ids,
            random: Random(seed),
            context_every,
            displays: 4,
            count: 0,
        };
        chains.chain_high = chains.random.bits();
        chains.next_ids = (0..32).map(|_| chains.random.bits()).collect();
        chains
    }

    /// `rows` rows or a few more, with roots `every_ns` apart from `begin_ns` on, by their end.
    pub(crate) fn batch(&mut self, rows: usize, begin_ns: i64, every_ns: i64) -> Batch {
        let mut records = Vec::with_capacity(rows + 16);
        let mut root_start_ns = begin_ns;
        while records.len() < rows {
            self.chain(root_start_ns, &mut records);
            root_start_ns += every_ns;
        }
        records.sort_by_key(Record::end_ns);
        let mut batch = Batch::default();
        for record in records {
            self.count += 1;
            let mut bytes = [0; 64];
            let mut len = 0;
            if self.context_every > 0 && self.count.is_multiple_of(self.context_every) {
                let callsign = format!("DLH{}", record.id.0 % 500);
                let property = ContextEntry::Property("callsign", &callsign);
                len = context::append(&mut bytes, len, property).unwrap_or(len);
                let metric = ContextEntry::Metric("plots", (record.id.0 % 40) as f64);
                len = context::append(&mut bytes, len, metric).unwrap_or(len);
            }
            batch.push(record, &bytes[..len]);
        }
        batch
    }

    /// decodePlots → Correlate → MSG update → 4 × (CWP update → redraw): eleven rows with four
    /// displays.
    fn chain(&mut self, root_start_ns: i64, records: &mut Vec<Record>) {
        let chain = match self.ids {
            Ids::Recorder => (self.chain_high, self.next_ids[0]),
            Ids::Random => (self.random.bits(), self.random.bits()),
        };
        let root =
            self.row(0, 0, (TransactionId::NONE, root_start_ns), root_start_ns, chain, records);
        let correlate = self.row(1, 0, root, root_start_ns, chain, records);
        let message = self.row(2, 1, correlate, root_start_ns, chain, records);
        for _ in 0..self.displays {
            #[allow(clippy::cast_possible_truncation)] // below 30
            let display = 2 + (self.random.bits() % 30) as usize;
            let update = self.row(3, display, message, root_start_ns, chain, records);
            self.row(4, display, update, root_start_ns, chain, records);
        }
    }

    fn row(
        &mut self,
        step: usize,
        process: usize,
        parent: (TransactionId, i64),
        root_start_ns: i64,
        chain: (u64, u64),
        records: &mut Vec<Record>,
    ) -> (TransactionId, i64) {
        let id = match self.ids {
            Ids::Recorder => {
                self.next_ids[process] += 1;
                TransactionId(self.next_ids[process])
            }
            Ids::Random => TransactionId(self.random.bits() | 1),
        };
        let transit = if step == 0 { 0 } else { self.skewed(2_000_000) };
        let start_ns = parent.1.saturating_add_unsigned(transit);
        let elapsed_ns = self.skewed(400_000);
        records.push(Record {
            start_ns,
            elapsed_ns,
            cpu_ns: elapsed_ns - elapsed_ns / (2 + self.random.bits() % 64),
            process_cpu_ns: NO_PROCESS_CPU,
            chain_high: chain.0,
            chain_low: chain.1,
            id,
            parent: parent.0,
            class: self.classes[step],
            path: self.paths[step],
            root_start_ns,
            root_process: self.processes[0],
            process: self.processes[process],
            context_offset: 0,
            context_len: 0,
            level: u16::try_from(step).unwrap_or(0),
            thread: 5000 + u32::try_from(process).unwrap_or(0),
            status: u8::from(self.random.bits().is_multiple_of(1000)) * 2,
            flags: if step == 0 { 0 } else { Flags::ASYNCHRONOUS.0 },
            reserved: 0,
        });
        (id, start_ns)
    }

    /// Spread over two powers of ten around `middle`, most below it.
    fn skewed(&mut self, middle: u64) -> u64 {
        let shift = self.random.bits() % 4;
        (middle >> shift) + self.random.bits() % (middle >> shift)
    }
}
