//! What one ring has, as Protocol Buffers and rows.

use super::counts::{Counts, number};
use super::list_message::Entry;
use super::message::{
    HEAD_MAX, Packed, PackedRing, ROWS_MAX, RingMessageError, at_most, check_words, cut,
};
use super::report::{CLASSES_MAX, RingReport};
use crate::protocol::ProtocolError;
use chronoscope_model::{Batch, ClassId, ClassName, Names, Record, context};
use chronoscope_record::read::ClassStatistics;
use chronoscope_statistics::Histogram;
use chronoscope_store::wire;
use prost::Message;
use std::ops::Range;

/// The numbers of one ring.
#[derive(Clone, PartialEq, prost::Message)]
struct Head {
    #[prost(message, optional, tag = "1")]
    ring: Option<Entry>,
    #[prost(bool, tag = "2")]
    measures_cpu: bool,
    #[prost(message, repeated, tag = "3")]
    classes: Vec<ClassNumbers>,
    #[prost(uint64, tag = "4")]
    classes_left_out: u64,
    #[prost(uint32, tag = "5")]
    last: u32,
    #[prost(uint32, tag = "6")]
    open: u32,
    #[prost(string, repeated, tag = "7")]
    damage: Vec<String>,
}

/// Statistics of one class.
#[derive(Clone, PartialEq, prost::Message)]
struct ClassNumbers {
    #[prost(fixed64, tag = "1")]
    class: u64,
    #[prost(bool, tag = "2")]
    enabled: bool,
    #[prost(uint64, tag = "3")]
    count: u64,
    #[prost(uint64, tag = "4")]
    process_cpu_sum_ns: u64,
    #[prost(message, optional, tag = "5")]
    elapsed: Option<Counts>,
    #[prost(message, optional, tag = "6")]
    cpu: Option<Counts>,
    #[prost(uint32, tag = "7")]
    worst: u32,
    #[prost(uint32, tag = "8")]
    worst_cpu: u32,
}

impl PackedRing {
    /// Packs what a ring has; classes that do not fit are left out and counted. Contexts above
    /// [`context::MAX_BYTES`], which only links make, stay behind.
    ///
    /// # Errors
    /// [`ProtocolError`] when the compression fails.
    pub fn pack(mut report: RingReport) -> Result<Self, ProtocolError> {
        loop {
            let (head, rows) = parts(&report);
            match Packed::pack(&head.encode_to_vec(), HEAD_MAX) {
                Err(ProtocolError::TooLarge { .. }) if !report.classes.is_empty() => {
                    report.bound_classes(report.classes.len() / 2);
                }
                head => {
                    let rows = Packed::pack(&rows, ROWS_MAX)?;
                    return Ok(Self { head: Some(head?), rows: Some(rows) });
                }
            }
        }
    }

    /// What the ring has. Memory: what the parts may take before compression, and their rows.
    ///
    /// # Errors
    /// [`RingMessageError`] when it is no such answer.
    pub fn unpack(&self) -> Result<RingReport, RingMessageError> {
        let head = self.head.as_ref().ok_or(RingMessageError::Missing { part: "head" })?;
        let rows = self.rows.as_ref().ok_or(RingMessageError::Missing { part: "rows" })?;
        let head = Head::decode(head.unpack(HEAD_MAX)?.as_slice())?;
        let wire::Message { batch, names, .. } = wire::decode(&rows.unpack(ROWS_MAX)?)?;
        at_most("classes", head.classes.len(), CLASSES_MAX)?;
        check_words(&head.damage)?;
        let mut rest = Rest { batch: &batch, next: 0 };
        let (last, open) = (rest.take(head.last)?, rest.take(head.open)?);
        let classes = head.classes.iter().enumerate();
        let classes = classes.map(|(index, class)| class.statistics(index, &names, &mut rest));
        let classes = classes.collect::<Result<Vec<_>, _>>()?;
        let ring = head.ring.ok_or(RingMessageError::Missing { part: "ring" })?;
        Ok(RingReport {
            summary: ring.summary()?,
            measures_cpu: head.measures_cpu,
            classes,
            classes_left_out: head.classes_left_out,
            last,
            open,
            names,
            damage: head.damage,
        })
    }
}

/// The numbers of a report, and its rows as bytes.
fn parts(report: &RingReport) -> (Head, Vec<u8>) {
    let (mut batch, mut names) = (Batch::default(), Names::default());
    names.add_process(report.summary.process.clone());
    names.add_process_of(&report.names, report.summary.process.id());
    add(&mut batch, &mut names, &report.last, &report.names);
    add(&mut batch, &mut names, &report.open, &report.names);
    let mut classes = Vec::with_capacity(report.classes.len());
    for class in &report.classes {
        add(&mut batch, &mut names, &class.worst, &report.names);
        add(&mut batch, &mut names, &class.worst_cpu, &report.names);
        names.add_class(class.name.clone());
        classes.push(ClassNumbers {
            class: class.class.0,
            enabled: class.enabled,
            count: class.count,
            process_cpu_sum_ns: class.process_cpu_sum_ns,
            elapsed: Some(Counts::from(&class.elapsed)),
            cpu: Some(Counts::from(&class.cpu)),
            worst: number(class.worst.len()),
            worst_cpu: number(class.worst_cpu.len()),
        });
    }
    let head = Head {
        ring: Some(Entry::from(&report.summary)),
        measures_cpu: report.measures_cpu,
        classes,
        classes_left_out: report.classes_left_out,
        last: number(report.last.len()),
        open: number(report.open.len()),
        damage: report.damage.iter().map(|words| cut(words)).collect(),
    };
    (head, wire::encode(&batch, &names, &wire::Extras::default()))
}

/// Adds rows with the names of their classes.
fn add(batch: &mut Batch, names: &mut Names, rows: &Batch, known: &Names) {
    for record in rows.records() {
        let words = rows.context(record);
        let words = if words.len() > context::MAX_BYTES { &[] } else { words };
        // A scribbled ring may have anything there, and a message must not.
        batch.push(Record { reserved: 0, ..*record }, words);
        if names.class(record.class).is_none()
            && let Some(name) = known.class(record.class)
        {
            names.add_class(name.clone());
        }
    }
}

/// The rows that no part of an answer has taken yet.
struct Rest<'a> {
    batch: &'a Batch,
    next: usize,
}

impl Rest<'_> {
    fn take(&mut self, count: u32) -> Result<Batch, RingMessageError> {
        let range: Range<usize> = self.next..self.next.saturating_add(count as usize);
        let all = self.batch.records();
        let rows = all.get(range.clone()).ok_or(RingMessageError::TooMany {
            what: "rows in its head",
            count: range.end as u64,
            max: all.len() as u64,
        })?;
        self.next = range.end;
        let mut taken = Batch::default();
        rows.iter().for_each(|record| taken.push(*record, self.batch.context(record)));
        Ok(taken)
    }
}

impl ClassNumbers {
    fn statistics(
        &self,
        index: usize,
        names: &Names,
        rest: &mut Rest<'_>,
    ) -> Result<ClassStatistics, RingMessageError> {
        let class = ClassId(self.class);
        let unnamed = || ClassName { application: String::new(), class: format!("?{class}") };
        let histogram = |counts: &Option<Counts>| {
            let counts = counts.as_ref().map_or(Ok(Histogram::default()), Counts::histogram);
            counts.map_err(|what| RingMessageError::Histogram { index, what })
        };
        Ok(ClassStatistics {
            class,
            name: names.class(class).cloned().unwrap_or_else(unnamed),
            enabled: self.enabled,
            count: self.count,
            elapsed: histogram(&self.elapsed)?,
            cpu: histogram(&self.cpu)?,
            process_cpu_sum_ns: self.process_cpu_sum_ns,
            worst: rest.take(self.worst)?,
            worst_cpu: rest.take(self.worst_cpu)?,
        })
    }
}
