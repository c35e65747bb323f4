//! Cost of transactions by path, host and time: the data of a profile.

use chronoscope_model::schema::column;
use chronoscope_model::{ClassName, Load, Names};
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile};
use chronoscope_store::{Damage, Minute, Segment, Slot, Snapshot, StoreError};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::time::Duration;

/// Cost of the transactions of one path on one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathLoads {
    /// The classes from the chain's root to the transactions', which is the last. Of foreign
    /// chains only that.
    pub path: Vec<ClassName>,
    /// The host they ran on.
    pub host: String,
    /// By the beginning of the bin, UTC ns since 1970: a multiple of the bin's length.
    pub bins: BTreeMap<i64, Load>,
}

/// Loads by path and host, ascending, in bins of whole minutes (at least one); and what could not
/// be read.
///
/// `start_ns` (UTC, nanoseconds since 1970) is cut at whole minutes of root starts, as in
/// [`classes`](crate::classes()). Rows that are not sealed yet are counted too. Memory: the rows of
/// a minute, 48 octets each, and a [`Load`] for each path, host and bin.
///
/// # Errors
/// [`StoreError::Io`] with [`StoreError::is_missing`] when a segment has been removed since the
/// snapshot was taken: take a new one.
pub fn loads(
    snapshot: &Snapshot,
    start_ns: &Range<i64>,
    bin: Duration,
) -> Result<(Vec<PathLoads>, Vec<Damage>), StoreError> {
    let minutes = i64::try_from(bin.as_secs() / 60).unwrap_or(i64::MAX).max(1);
    let bin_ns = minutes.saturating_mul(60_000_000_000);
    let mut catalog = PathCatalog::new(snapshot.names());
    let mut damage = snapshot.damage().to_vec();
    let mut segments: BTreeMap<Minute, Vec<&Segment>> = BTreeMap::new();
    for segment in snapshot.segments() {
        segments.entry(segment.slot.minute).or_default().push(segment);
    }
    let mut unsealed: BTreeMap<Minute, Vec<usize>> = BTreeMap::new();
    for (index, record) in snapshot.unsealed().records().iter().enumerate() {
        unsealed.entry(Slot::of(record).minute).or_default().push(index);
    }
    let mut all: Vec<Minute> = segments.keys().chain(unsealed.keys()).copied().collect();
    all.sort_unstable();
    all.dedup();
    for minute in all.into_iter().filter(|minute| start_ns.contains(&minute.start_ns())) {
        let mut rows = Vec::new();
        for segment in segments.get(&minute).into_iter().flatten() {
            let read = SegmentFile::open(segment);
            match read.and_then(|file| read_rows(&file, &mut catalog, &mut rows)) {
                Ok(()) => {}
                Err(error) if error.is_missing() => return Err(error),
                Err(error) => damage.push(Damage {
                    path: segment.path.clone(),
                    position: 0,
                    reason: error.to_string(),
                    rows_lost: segment.row_count,
                }),
            }
        }
        for index in unsealed.get(&minute).into_iter().flatten() {
            rows.push(catalog.row_of(snapshot, *index));
        }
        let bin = minute.start_ns().div_euclid(bin_ns).saturating_mul(bin_ns);
        catalog.count(&mut rows, bin);
    }
    Ok((catalog.into_loads(), damage))
}

/// The classes of a path that nobody named, as far as its words tell them.
pub(crate) fn taken_apart(path: &str, class: ClassName) -> Vec<ClassName> {
    let ancestors = path.strip_suffix(&class.to_string()).unwrap_or("");
    let named = ancestors.split('/').filter_map(|word| word.split_once("::"));
    let name = |(application, class): (&str, &str)| ClassName {
        application: application.to_owned(),
        class: class.to_owned(),
    };
    named.map(name).chain([class]).collect()
}

/// One transaction, as far as it is counted.
struct Row {
    /// Host, process and thread: who can only do one thing at a time.
    who: (u32, u32, u32),
    start_ns: i64,
    elapsed_ns: u64,
    cpu_ns: u64,
    /// Path and host, as a number of the book's.
    kind: u32,
}

impl Row {
    fn end_ns(&self) -> i64 {
        self.start_ns.saturating_add_unsigned(self.elapsed_ns)
    }
}

/// The words of rows, as numbers, and what was counted.
struct PathCatalog {
    /// The classes of a path by its words.
    paths: HashMap<String, Vec<ClassName>>,
    hosts: HashMap<String, u32>,
    kinds: HashMap<(Vec<ClassName>, u32), u32>,
    bins: Vec<BTreeMap<i64, Load>>,
}

impl PathCatalog {
    fn new(names: &Names) -> Self {
        let mut paths = HashMap::new();
        for (id, classes) in names.paths() {
            let known: Option<Vec<_>> =
                classes.iter().map(|id| names.class(*id).cloned()).collect();
            if let Some(classes) = known {
                paths.insert(names.path_text(id), classes);
            }
        }
        Self { paths, hosts: HashMap::new(), kinds: HashMap::new(), bins: Vec::new() }
    }

    fn host(&mut self, name: &str) -> u32 {
        let next = u32::try_from(self.hosts.len()).unwrap_or(u32::MAX);
        match self.hosts.get(name) {
            Some(number) => *number,
            None => *self.hosts.entry(name.to_owned()).or_insert(next),
        }
    }

    fn kind(&mut self, path: &str, class: ClassName, host: u32) -> u32 {
        let known = self.paths.get(path).filter(|classes| classes.last() == Some(&class));
        let path = known.cloned().unwrap_or_else(|| taken_apart(path, class));
        let next = u32::try_from(self.bins.len()).unwrap_or(u32::MAX);
        let kind = *self.kinds.entry((path, host)).or_insert(next);
        if kind == next {
            self.bins.push(BTreeMap::new());
        }
        kind
    }

    fn row_of(&mut self, snapshot: &Snapshot, index: usize) -> Row {
        let (record, names) = (&snapshot.unsealed().records()[index], snapshot.names());
        let process = names.process(record.process);
        let host = self.host(process.map_or("", |process| &process.host));
        let unnamed =
            || ClassName { application: String::new(), class: format!("?{}", record.class) };
        let class = names.class(record.class).cloned().unwrap_or_else(unnamed);
        let path = if record.path.is_none() { String::new() } else { names.path_text(record.path) };
        Row {
            who: (host, process.map_or(0, |process| process.pid), record.thread),
            start_ns: record.start_ns,
            elapsed_ns: record.elapsed_ns,
            cpu_ns: record.cpu_ns,
            kind: self.kind(&path, class, host),
        }
    }

    /// Counts the rows of one minute into a bin.
    fn count(&mut self, rows: &mut [Row], bin: i64) {
        // Of two that begin together the longer encloses the other; of two equally long ones, the
        // one that used more CPU time.
        rows.sort_unstable_by_key(|row| {
            (row.who, row.start_ns, Reverse(row.end_ns()), Reverse(row.cpu_ns))
        });
        let mut inside = vec![0_u64; rows.len()]; // CPU of the rows directly inside
        let mut open: Vec<usize> = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            while let Some(last) = open.last().map(|last| &rows[*last]) {
                if last.who == row.who && last.end_ns() > row.start_ns {
                    break;
                }
                open.pop();
            }
            if let Some(last) = open.last().filter(|last| rows[**last].end_ns() >= row.end_ns()) {
                inside[*last] = inside[*last].saturating_add(row.cpu_ns);
            }
            // What took no CPU time encloses nothing that did: it was reported and not run here,
            // such as the time that a message took, and may overlap what its thread ran.
            if row.cpu_ns > 0 {
                open.push(index);
            }
        }
        for (row, inside) in rows.iter().zip(inside) {
            let bins = self.bins.get_mut(row.kind as usize);
            if let Some(bins) = bins {
                bins.entry(bin).or_default().add(&Load {
                    count: 1,
                    elapsed_ns: row.elapsed_ns,
                    cpu_ns: row.cpu_ns,
                    own_cpu_ns: row.cpu_ns.saturating_sub(inside),
                });
            }
        }
    }

    fn into_loads(mut self) -> Vec<PathLoads> {
        let hosts: HashMap<u32, String> =
            self.hosts.into_iter().map(|(name, number)| (number, name)).collect();
        let mut loads: Vec<PathLoads> = Vec::new();
        for ((path, host), kind) in self.kinds {
            let bins = self.bins.get_mut(kind as usize).map(std::mem::take).unwrap_or_default();
            if !bins.is_empty() {
                let host = hosts.get(&host).cloned().unwrap_or_default();
                loads.push(PathLoads { path, host, bins });
            }
        }
        loads.sort_by(|a, b| (&a.path, &a.host).cmp(&(&b.path, &b.host)));
        loads
    }
}

/// The columns that are read.
const COLUMNS: [&str; 9] = [
    column::APPLICATION,
    column::CLASS,
    column::PATH,
    column::HOST,
    column::PROCESS,
    column::THREAD,
    column::START,
    column::ELAPSED_NS,
    column::CPU_NS,
];

fn read_rows(
    file: &SegmentFile,
    catalog: &mut PathCatalog,
    rows: &mut Vec<Row>,
) -> Result<(), StoreError> {
    let mut found = Vec::new();
    for batch in file.read(&COLUMNS, None, None)? {
        let batch = batch.map_err(file.unreadable())?;
        let columns = SegmentColumns { file, batch: &batch };
        let word = |name: &str| columns.words(name);
        let (applications, application_words) = word(column::APPLICATION)?;
        let (classes, class_words) = word(column::CLASS)?;
        let (paths, path_words) = word(column::PATH)?;
        let (hosts, host_words) = word(column::HOST)?;
        let (processes, threads) =
            (columns.numbers32(column::PROCESS)?, columns.numbers32(column::THREAD)?);
        let (starts, elapsed) =
            (columns.instants(column::START)?, columns.nanoseconds(column::ELAPSED_NS)?);
        let cpu = columns.nanoseconds(column::CPU_NS)?;
        let hosts_known: Vec<u32> = host_words.iter().map(|host| catalog.host(host)).collect();
        let mut kinds: HashMap<(i32, i32, i32, i32), u32> = HashMap::new();
        for row in 0..batch.num_rows() {
            let key = (applications[row], classes[row], paths[row], hosts[row]);
            let at = |index: i32| usize::try_from(index).unwrap_or(usize::MAX);
            let host =
                hosts_known.get(at(key.3)).ok_or_else(|| file.unexpected_column(column::HOST))?;
            let kind = match kinds.get(&key) {
                Some(kind) => *kind,
                None => {
                    let application = application_words.get(at(key.0));
                    let class = class_words.get(at(key.1));
                    let (application, class) = application
                        .zip(class)
                        .ok_or_else(|| file.unexpected_column(column::CLASS))?;
                    let class = ClassName {
                        application: (*application).to_owned(),
                        class: (*class).to_owned(),
                    };
                    let path = path_words.get(at(key.2)).copied().unwrap_or("");
                    let kind = catalog.kind(path, class, *host);
                    kinds.insert(key, kind);
                    kind
                }
            };
            found.push(Row {
                who: (*host, processes[row], threads[row]),
                start_ns: starts[row],
                elapsed_ns: u64::try_from(elapsed[row]).unwrap_or(0),
                cpu_ns: u64::try_from(cpu[row]).unwrap_or(0),
                kind,
            });
        }
    }
    // Only now: a file that breaks in its middle counts as a whole.
    rows.append(&mut found);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(thread: u32, start_ns: i64, elapsed_ns: u64, cpu_ns: u64, kind: u32) -> Row {
        Row { who: (0, 1, thread), start_ns, elapsed_ns, cpu_ns, kind }
    }

    /// a [0, 100) holds b [10, 50), which holds c [20, 30), and d [60, 70); e is on another thread
    /// at the same time; f overlaps a's end.
    #[test]
    fn what_is_inside_is_taken_off_once() {
        let mut catalog = PathCatalog::new(&Names::default());
        for name in ["a", "b", "c", "d", "e", "f"] {
            let class = ClassName { application: "x".to_owned(), class: name.to_owned() };
            catalog.kind("", class, 0);
        }
        let mut rows = vec![
            row(1, 20, 10, 7, 2),
            row(1, 0, 100, 90, 0),
            row(1, 90, 20, 5, 5),
            row(1, 10, 40, 30, 1),
            row(2, 20, 10, 9, 4),
            row(1, 60, 10, 10, 3),
        ];
        catalog.count(&mut rows, 0);
        let own: Vec<_> = catalog.bins.iter().map(|bins| bins[&0].own_cpu_ns).collect();
        assert_eq!(own, [50, 23, 7, 10, 9, 5]);
        let cpu: Vec<_> = catalog.bins.iter().map(|bins| bins[&0].cpu_ns).collect();
        assert_eq!(cpu, [90, 30, 7, 10, 9, 5]);
    }

    /// c [20, 30) is inside b [10, 50); r [15, 90), which was reported and took no CPU time, is around
    /// neither.
    #[test]
    fn what_was_reported_holds_nothing() {
        let mut catalog = PathCatalog::new(&Names::default());
        for name in ["b", "c", "r"] {
            let class = ClassName { application: "x".to_owned(), class: name.to_owned() };
            catalog.kind("", class, 0);
        }
        let mut rows = vec![row(1, 10, 40, 30, 0), row(1, 20, 10, 7, 1), row(1, 15, 75, 0, 2)];
        catalog.count(&mut rows, 0);
        let own: Vec<_> = catalog.bins.iter().map(|bins| bins[&0].own_cpu_ns).collect();
        assert_eq!(own, [23, 7, 0]);
    }
}
