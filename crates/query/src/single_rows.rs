//! Synchronous durations: every row is asked for itself, whatever its chain.

use crate::minutes::Minutes;
use crate::scan::scan;
use crate::series::{DurationDetail, DurationExtras, Findings};
use crate::task::Task;
use chronoscope_chain::HostIndex;
use chronoscope_model::{Flags, ProcessId, Record};
use chronoscope_store::segment_file::SegmentFile;
use chronoscope_store::{Segment, StoreError};

impl Task<'_> {
    /// Synchronous durations: every row for itself.
    pub(crate) fn ask_each(&self, minutes: &Minutes<'_>) -> Result<Findings, StoreError> {
        let native = minutes.native.values().flat_map(|minute| minute.parts.iter());
        let segments: Vec<&&Segment> = native.chain(&minutes.foreign).collect();
        let new = || Findings::new(self.shared.keep);
        let states = self.spread(&segments, new, |findings, segment| {
            let found = SegmentFile::open(segment).and_then(|file| {
                if self.is_outside(&file) {
                    return Ok(None);
                }
                scan(&file, self.shared, segment.slot.kind, &[])
            });
            if let Some(Some(found)) = self.or_damage(segment, found)? {
                findings.merge(found);
            }
            self.shared.progress.tick()
        })?;
        let mut findings = merged(states, self.shared.keep);
        let unsealed = minutes.native.values().flat_map(|minute| minute.unsealed.iter());
        for record in unsealed.chain(&minutes.foreign_unsealed) {
            self.ask_record(record, &mut findings);
        }
        Ok(findings)
    }

    pub(crate) fn ask_record(&self, record: &Record, findings: &mut Findings) {
        findings.rows += 1;
        let is_root = self.shared.catalog().is_root(record.class);
        let hosts = self.shared.clocks.as_ref();
        let host = hosts.map_or(HostIndex::UNKNOWN, |hosts| {
            hosts.hosts_by_id(self.shared.names, record.process, ProcessId::NONE).own
        });
        let elapsed = i64::try_from(record.elapsed_ns).unwrap_or(i64::MAX);
        let wanted = is_root
            && self.shared.question.start_ns.contains(&record.start_ns)
            && self.shared.wants(host, elapsed)
            && self.shared.wants_path(&[record.class]);
        if wanted {
            let series = findings.series_of(&[record.class]);
            let foreign = record.flags().contains(Flags::FOREIGN);
            let whole = DurationExtras { links: 0, foreign, host, error_ns: None, row: None };
            findings.keep_whole(series, record.start_ns, elapsed, whole);
            findings.counts.count(elapsed, 0, foreign);
            findings.push(series, record.start_ns, elapsed.unsigned_abs());
        }
    }
}

fn merged(states: Vec<Findings>, keep: DurationDetail) -> Findings {
    let mut findings = Findings::new(keep);
    states.into_iter().for_each(|state| findings.merge(state));
    findings
}
