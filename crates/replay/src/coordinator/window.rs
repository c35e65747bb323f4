//! What a replay had used when its window began: the lead-in's part, which results leave out.

use super::outcome::{LeadIn, Outcome, ProcessOutcome};
use crate::counters::Counts;
use crate::heap::NumberedHeap;
use crate::page::Activity;
use crate::process::Usage;
use std::time::Duration;

/// What one process had used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProcessBaseline {
    pub(super) usage: Usage,
    pub(super) counts: Option<Counts>,
    pub(super) activity: Activity,
    pub(super) grants: u64,
}

/// What all had used.
#[derive(Debug, Default)]
pub(super) struct Baseline {
    pub(super) elapsed: Duration,
    pub(super) real: Duration,
    pub(super) own_cpu: Duration,
    pub(super) grants: u64,
    pub(super) moves: u64,
    pub(super) processes: Vec<ProcessBaseline>,
    pub(super) heaps: Vec<NumberedHeap>,
}

impl Baseline {
    /// Leaves the lead-in out of an outcome.
    pub(super) fn subtract_from(&self, outcome: &mut Outcome) {
        outcome.elapsed = outcome.elapsed.saturating_sub(self.elapsed);
        outcome.real = outcome.real.saturating_sub(self.real);
        outcome.own_cpu = outcome.own_cpu.saturating_sub(self.own_cpu);
        outcome.grants -= self.grants;
        outcome.moves -= self.moves;
        let used = |one: &ProcessBaseline| one.usage.user_ns + one.usage.system_ns;
        outcome.lead_in = Some(LeadIn {
            elapsed: self.elapsed,
            real: self.real,
            cpu: Duration::from_nanos(self.processes.iter().map(used).sum()),
            grants: self.grants,
        });
        for (process, before) in outcome.processes.iter_mut().zip(&self.processes) {
            before.subtract_from(process);
        }
    }
}

impl ProcessBaseline {
    fn subtract_from(&self, process: &mut ProcessOutcome) {
        process.grants -= self.grants;
        let (all, before) = (&mut process.activity, &self.activity);
        all.clock_reads = all.clock_reads.saturating_sub(before.clock_reads);
        all.calls = all.calls.saturating_sub(before.calls);
        all.waits = all.waits.saturating_sub(before.waits);
        if let (Some(counts), Some(before)) = (&mut process.counts, &self.counts) {
            counts.instructions = counts.instructions.saturating_sub(before.instructions);
            counts.branches = counts.branches.saturating_sub(before.branches);
        }
        if let Some(usage) = &mut process.usage {
            usage.subtract(&self.usage);
        }
    }
}
