//! Known spreads of unchanged programs: executions of one program, compared with each other (A/A
//! tests).

use chronoscope_statistics::median;
use std::collections::BTreeMap;

use crate::compare::{Exactness, Threshold};
use crate::run::{Measured, Process, Record};

/// The figures that are judged, the one without interrupts last.
pub(super) const JUDGED: [&str; 2] = ["instructions", "corrected"];

/// Item, process and figure.
type Key = (String, String, String);

/// Spreads of figures that were measured while nothing changed.
///
/// Executions of the same executable, by its digest, form one group, whichever runs they are from;
/// without a digest those of one run. Values of a group are divided by their median, so that groups
/// of several versions can be combined.
#[derive(Clone, Debug, Default)]
pub struct Unchanged {
    values: BTreeMap<Key, Vec<f64>>,
}

impl Unchanged {
    /// The spreads in these runs, of those that were measured like `like`: on the same machine, by
    /// the same method.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a Record>, like: &Record) -> Unchanged {
        let mut groups = BTreeMap::<(Key, String), Vec<f64>>::new();
        for record in records.into_iter().filter(|record| alike(record, like)) {
            for (item, process) in processes(record) {
                for figure in JUDGED {
                    let key = (item.name.clone(), process.name.clone(), figure.to_owned());
                    let group = same(process).unwrap_or_else(|| record.id.clone());
                    let values = process.values(figure);
                    groups.entry((key, group)).or_default().extend(values);
                }
            }
        }
        let mut unchanged = Unchanged::default();
        for ((key, _), values) in groups {
            let median = median(values.iter().copied()).filter(|median| *median > 0.0);
            // A single value has no difference.
            if let Some(median) = median.filter(|_| values.len() > 1) {
                let parts = values.iter().map(|value| value / median);
                unchanged.values.entry(key).or_default().extend(parts);
            }
        }
        unchanged
    }

    /// The threshold for a figure: from measurements where there are enough, else the floor.
    pub(super) fn threshold(&self, key: [&str; 3], exactness: Exactness) -> Threshold {
        let key = key.map(str::to_owned).into();
        let values = self.values.get(&key).map_or(&[][..], Vec::as_slice);
        // Values without a ratio, or too few of them, tell nothing about noise.
        Threshold::from_unchanged(values, exactness).unwrap_or_else(|_| Threshold::floor(exactness))
    }
}

/// Whether what both count can be held against each other.
pub(crate) fn alike(one: &Record, other: &Record) -> bool {
    let callgrind = |record: &Record| !matches!(record.method, crate::counters::Method::Hardware);
    callgrind(one) == callgrind(other)
        && one.suite == other.suite
        && one.system.differences(&other.system, callgrind(one)).is_empty()
}

fn processes(record: &Record) -> impl Iterator<Item = (&Measured, &Process)> {
    record.items.iter().flat_map(|item| item.processes.iter().map(move |process| (item, process)))
}

/// Group of a process: executions of one group differ by noise only.
fn same(process: &Process) -> Option<String> {
    let digest = process.program_sha256.as_deref()?;
    Some(format!("{digest} {:?} {:?}", process.command, process.environment))
}
