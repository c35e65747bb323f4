//! Output of a replay: every file with its digest, and the differences between two replays.

use super::report::{OutputReport, Report};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Sizes of files by their path in the output folder, octets.
pub(super) type Sizes = BTreeMap<String, u64>;

/// Files of the output folder that programs wrote, without measurements, with their digests;
/// `lead_in`: their sizes when the window began.
pub(super) fn outputs(out: &Path, lead_in: Option<&Sizes>) -> io::Result<Vec<OutputReport>> {
    let mut outputs = Vec::new();
    for (path, name) in files(out)? {
        let (bytes, digest) = digest(&path, 0)?;
        let lead_in_bytes = lead_in.map(|sizes| sizes.get(&name).copied().unwrap_or(0));
        // A file that became shorter was written anew.
        let from = lead_in_bytes.map(|before| if before > bytes { 0 } else { before });
        let window_digest = from.map(|from| self::digest(&path, from)).transpose()?;
        outputs.push(OutputReport {
            path: name,
            bytes,
            digest,
            lead_in_bytes: from,
            window_digest: window_digest.map(|(_, digest)| digest),
        });
    }
    outputs.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(outputs)
}

/// Sizes of these files now. One that cannot be read has none.
pub(super) fn sizes(out: &Path) -> Sizes {
    let all = files(out).unwrap_or_default().into_iter();
    all.filter_map(|(path, name)| Some((name, path.metadata().ok()?.len()))).collect()
}

/// Paths of these files, and their names in the output folder.
fn files(out: &Path) -> io::Result<Vec<(PathBuf, String)>> {
    let mut files = Vec::new();
    let mut folders = vec![out.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder)?.collect::<io::Result<Vec<_>>>()?;
        for entry in entries {
            let path = entry.path();
            let kind = entry.file_type()?;
            let name = path.strip_prefix(out).unwrap_or(&path);
            let ours = ["bin", "callgrind", Report::RINGS, Report::FILE]
                .iter()
                .any(|own| *own == name.as_os_str());
            if ours {
                continue;
            }
            let name = name.display().to_string();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                files.push((path, name));
            }
        }
    }
    Ok(files)
}

/// Length of a file, and digest of its octets from `from` on.
fn digest(path: &Path, from: u64) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut bytes = from;
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            break;
        }
        hash.update(&buffer[..length]);
        bytes += length as u64;
    }
    let mut text = String::new();
    for octet in hash.finalize() {
        let _ = write!(text, "{octet:02x}"); // to a String, which cannot fail
    }
    Ok((bytes, text))
}

/// Difference between two replays.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case", tag = "what")]
pub enum Difference {
    /// A file is not the same, or only one replay has it.
    Output {
        /// Path in the output folder.
        path: String,
        /// Size in octets in each; `None` where it is missing.
        bytes: [Option<u64>; 2],
        /// First octet that differs, where both could be compared.
        position: Option<u64>,
    },
    /// A count of a process is not the same.
    Count {
        /// Name of the process.
        process: String,
        /// Name of the count.
        count: String,
        /// Value in each.
        values: [u64; 2],
    },
    /// The replays have different numbers of processes.
    Processes {
        /// Number of processes of each.
        count: [usize; 2],
    },
}

/// Parts in a million by which instruction counts of two serialised replays may differ.
pub const INSTRUCTIONS_PPM_MAX: f64 = 10.0;

/// Compares two replays: outputs octet for octet, system calls, waits, grants and reads of the
/// clock exactly, instructions within [`INSTRUCTIONS_PPM_MAX`]. The folders are those of the
/// reports, to find the first octet that differs.
#[must_use]
pub fn differences(reports: [&Report; 2], folders: [&Path; 2]) -> Vec<Difference> {
    let mut all = Vec::new();
    let files = reports.map(|report| {
        report.outputs.iter().map(|o| (o.path.as_str(), o)).collect::<BTreeMap<_, _>>()
    });
    let mut paths: Vec<&str> = files.iter().flat_map(BTreeMap::keys).copied().collect();
    paths.sort_unstable();
    paths.dedup();
    for path in paths {
        let [a, b] = [0, 1].map(|at| files[at].get(path));
        if a.map(|o| &o.digest) != b.map(|o| &o.digest) {
            let bytes = [a, b].map(|o| o.map(|o| o.bytes));
            let position = first_difference(folders.map(|folder| folder.join(path)));
            all.push(Difference::Output { path: path.to_owned(), bytes, position });
        }
    }
    let count = reports.map(|report| report.processes.len());
    if count[0] != count[1] {
        all.push(Difference::Processes { count });
    }
    for (a, b) in reports[0].processes.iter().zip(&reports[1].processes) {
        for (count, values) in [
            ("grants", [a.grants, b.grants]),
            ("clock reads", [a.clock_reads, b.clock_reads]),
            ("system calls", [a.syscalls, b.syscalls]),
            ("waits", [a.waits, b.waits]),
        ] {
            if values[0] != values[1] {
                let (process, count) = (a.name.clone(), count.to_owned());
                all.push(Difference::Count { process, count, values });
            }
        }
        let counted = [a, b].map(super::ProcessReport::comparable_instructions);
        if let [Some(x), Some(y)] = counted
            && x.abs_diff(y) as f64 * 1e6 > INSTRUCTIONS_PPM_MAX * x.max(y) as f64
        {
            let (process, count) = (a.name.clone(), "instructions".to_owned());
            all.push(Difference::Count { process, count, values: [x, y] });
        }
    }
    all
}

/// Files of which two replays of a window wrote other octets within it, as when their lead-ins have
/// not made the same state. Programs that write a summary at their end differ in that.
#[must_use]
pub fn window_differences(reports: [&Report; 2]) -> Vec<String> {
    let [a, b] = reports.map(|report| {
        let outputs = report.outputs.iter();
        outputs.map(|o| (o.path.as_str(), o.window_digest.as_ref())).collect::<BTreeMap<_, _>>()
    });
    let paths: BTreeSet<&str> = a.keys().chain(b.keys()).copied().collect();
    let differ = paths.into_iter().filter(|path| a.get(path) != b.get(path));
    differ.map(str::to_owned).collect()
}

fn first_difference(paths: [std::path::PathBuf; 2]) -> Option<u64> {
    let [a, b] = paths.map(|path| File::open(path).map(io::BufReader::new));
    let (a, b) = (a.ok()?.bytes(), b.ok()?.bytes());
    let mut position = 0;
    for (a, b) in a.zip(b) {
        if a.ok()? != b.ok()? {
            return Some(position);
        }
        position += 1;
    }
    Some(position)
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Output { path, bytes: [Some(_), Some(_)], position } => {
                write!(f, "{path} differs")?;
                position.map_or(Ok(()), |at| write!(f, " from octet {at} on"))
            }
            Self::Output { path, bytes: [a, _], .. } => {
                write!(
                    f,
                    "{path} is only in the {} replay",
                    if a.is_some() { "first" } else { "second" }
                )
            }
            Self::Count { process, count, values: [a, b] } => {
                let ppm = (*b as f64 - *a as f64) / (*a).max(1) as f64 * 1e6;
                write!(f, "{process}: {a} and {b} {count} ({ppm:+.1} ppm)")
            }
            Self::Processes { count: [a, b] } => write!(f, "{a} and {b} processes took part"),
        }
    }
}
