//! Synchronous durations: every row is asked for itself, whatever its chain.

use crate::attributes::AttributeReader;
use crate::minutes::Minutes;
use crate::scan::scan;
use crate::series::{DurationDetail, DurationExtras, Findings, Point};
use crate::task::Task;
use chronoscope_chain::{HostIndex, RowAttributes};
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
        self.ask_records(unsealed.chain(&minutes.foreign_unsealed), &mut findings);
        Ok(findings)
    }

    /// Asks rows that no segment holds yet, each for itself.
    pub(crate) fn ask_records<'r>(
        &self,
        records: impl Iterator<Item = &'r &'r Record>,
        findings: &mut Findings,
    ) {
        let mut attributes = self.shared.attributes.as_ref().map(AttributeReader::rows);
        for record in records {
            let of_row = attributes.as_mut().map(|attributes| attributes.record(record));
            self.ask_record(record, of_row, findings);
        }
    }

    fn ask_record(
        &self,
        record: &Record,
        attributes: Option<RowAttributes>,
        findings: &mut Findings,
    ) {
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
        let group = self.shared.group_of_row(attributes.as_ref());
        if let Some(group) = group.filter(|_| wanted) {
            let series = findings.series_of(&[record.class]);
            let foreign = record.flags().contains(Flags::FOREIGN);
            let whole = DurationExtras { links: 0, foreign, host, error_ns: None, row: None };
            findings.keep_whole(series, record.start_ns, elapsed, whole);
            findings.counts.count(elapsed, 0, foreign);
            findings.push(series, record.start_ns, elapsed.unsigned_abs());
            let point = Point { start_ns: record.start_ns, duration_ns: elapsed.unsigned_abs() };
            self.shared.note_group(findings, group, point);
        }
    }
}

fn merged(states: Vec<Findings>, keep: DurationDetail) -> Findings {
    let mut findings = Findings::new(keep);
    states.into_iter().for_each(|state| findings.merge(state));
    findings
}
