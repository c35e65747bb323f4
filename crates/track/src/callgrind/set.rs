//! One run in several files: `NAME`, its parts `NAME.1`, `NAME.2`, its threads `NAME-01`.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use super::{Limits, Profile, ReadError, read};

/// The files of one run, summed.
#[derive(Clone, Debug)]
pub struct Set {
    /// Sum of all files.
    pub profile: Profile,
    /// The files that were read, sorted.
    pub files: Vec<PathBuf>,
    /// Files with a name of the set, of another process than the first: not read into the sum.
    pub strangers: Vec<PathBuf>,
}

/// Reason why a run cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// A file or its folder could not be opened.
    #[error("{path}: {source}")]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file is no profile.
    #[error("{path}: {source}")]
    Read {
        /// The path.
        path: PathBuf,
        /// The reader's error.
        source: ReadError,
    },
    /// Neither the file nor any part of it exists.
    #[error("{path}: no such profile, and no part (.1) or thread (-01) of it")]
    None {
        /// The requested path.
        path: PathBuf,
    },
    /// The sums of the files exceed 64 bits.
    #[error("{path}: with this file a sum exceeds 64 bits")]
    Overflow {
        /// The file.
        path: PathBuf,
    },
}

/// Reads `path` and what Callgrind writes beside it for parts (`--dump-before`, `callgrind_control
/// -d`) and threads (`--separate-threads`): names that go on with `.N`, `-N` or `.N-N`. Callgrind
/// leaves `path` itself empty beside threads, so empty files are left out when others are not.
///
/// # Errors
/// [`SetError`] for a file that cannot be read, and when there is none.
pub fn read_set(path: &Path, limits: Limits) -> Result<Set, SetError> {
    let mut files = files_of(path)?;
    let size = |file: &PathBuf| std::fs::metadata(file).map_or(0, |found| found.len());
    if files.iter().any(|file| size(file) > 0) {
        files.retain(|file| size(file) > 0);
    }
    let mut set = Set { profile: Profile::default(), files: Vec::new(), strangers: Vec::new() };
    let mut pid = None;
    for file in files {
        let open =
            File::open(&file).map_err(|source| SetError::Io { path: file.clone(), source })?;
        let profile = read(BufReader::new(open), limits)
            .map_err(|source| SetError::Read { path: file.clone(), source })?;
        let its = profile.parts.first().map(|part| part.pid);
        if *pid.get_or_insert(its) != its {
            set.strangers.push(file);
            continue;
        }
        set.profile.add(&profile).ok_or(SetError::Overflow { path: file.clone() })?;
        set.files.push(file);
    }
    if set.files.is_empty() {
        return Err(SetError::None { path: path.to_owned() });
    }
    Ok(set)
}

fn files_of(path: &Path) -> Result<Vec<PathBuf>, SetError> {
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let io = |source| SetError::Io { path: folder.to_owned(), source };
    let base = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let name = entry.map_err(io)?.file_name();
        if name.to_str().and_then(|name| name.strip_prefix(&base)).is_some_and(is_suffix) {
            files.push(folder.join(name));
        }
    }
    files.sort();
    Ok(files)
}

/// An empty suffix, `.N`, `-N`, or `.N-N`.
fn is_suffix(rest: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match rest.as_bytes().first() {
        None => true,
        Some(b'-') => digits(&rest[1..]),
        Some(b'.') => match rest[1..].split_once('-') {
            Some((part, thread)) => digits(part) && digits(thread),
            None => digits(&rest[1..]),
        },
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_threads_are_told_from_other_files() {
        assert!(["", ".1", "-01", ".12-03"].into_iter().all(is_suffix));
        assert!(!["x", ".", "-", ".1-", ".x", ".1.2", "-a", ".out"].into_iter().any(is_suffix));
    }
}
