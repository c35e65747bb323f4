//! The file of a journal: made for a transfer, or read to continue one.

use super::entry::{JournalEntry, LineError, TransferIdentity};
use super::state::{EntryOutOfPlace, TransferState};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Why there is no journal, or no more of it.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file exists.
    #[error(
        "{} exists: continue its transfer with --resume, or name another file with --journal",
        .0.display()
    )]
    Exists(PathBuf),
    /// There is no file to continue.
    #[error("{} does not exist: there is nothing to continue", .0.display())]
    Missing(PathBuf),
    /// Another program uses the file.
    #[error("{} is used by another program, which sends its CLTUs", .0.display())]
    InUse(PathBuf),
    /// The file is the journal of another transfer.
    #[error(
        "{} is of another transfer: {what} was {was:?} and is {is:?}; give the same data and instance",
        path.display()
    )]
    OtherTransfer {
        /// The file.
        path: PathBuf,
        /// The part that differs.
        what: &'static str,
        /// Its value in the journal.
        was: String,
        /// Its value now.
        is: String,
    },
    /// A line that is not the last one cannot be read.
    #[error("{}, line {line}: {error}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        error: LineError,
    },
    /// A line contradicts the ones before it.
    #[error("{}, line {line}: {error}", path.display())]
    OutOfPlace {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        error: EntryOutOfPlace,
    },
    /// The operating system has refused it.
    #[error("{}: {error}; no further CLTU is sent without a journal", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        error: io::Error,
    },
}

/// The journal of a transfer, locked for this program.
#[derive(Debug)]
pub struct TransferJournal {
    pub(super) path: PathBuf,
    pub(super) file: File,
    pub(super) state: TransferState,
}

impl TransferJournal {
    /// Makes a journal; nothing is sent yet.
    ///
    /// # Errors
    /// [`JournalError::Exists`], and those of the operating system.
    pub fn create(path: &Path, identity: &TransferIdentity) -> Result<Self, JournalError> {
        let io = io_at(path);
        let made = OpenOptions::new().append(true).create_new(true).open(path);
        let file = made.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => JournalError::Exists(path.to_owned()),
            _ => io(error),
        })?;
        lock(&file, path)?;
        let state = TransferState::new(identity.cltus);
        let mut journal = Self { path: path.to_owned(), file, state };
        journal.first_line(identity)?;
        // The name, too, is to be there after a crash.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = File::open(folder.unwrap_or(Path::new("."))).map_err(&io)?;
        folder.sync_all().map_err(&io)?;
        Ok(journal)
    }

    /// Continues a transfer. A last line that was written in part is removed.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn resume(path: &Path, identity: &TransferIdentity) -> Result<Self, JournalError> {
        let io = io_at(path);
        let opened = OpenOptions::new().read(true).append(true).open(path);
        let mut file = opened.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => JournalError::Missing(path.to_owned()),
            _ => io(error),
        })?;
        lock(&file, path)?;
        let mut octets = Vec::new();
        file.read_to_end(&mut octets).map_err(&io)?;
        let (entries, end) = entries(&octets, path)?;
        if end < octets.len() {
            file.set_len(end as u64).map_err(&io)?;
        }
        let state = TransferState::new(identity.cltus);
        let mut journal = Self { path: path.to_owned(), file, state };
        let mut lines = entries.into_iter().enumerate();
        match lines.next() {
            // It ended before the first line was durable: nothing was sent.
            None => journal.first_line(identity)?,
            Some((_, JournalEntry::Transfer(was))) => same(path, &was, identity)?,
            Some(_) => {
                let error = LineError::Unknown;
                return Err(JournalError::Damaged { path: path.to_owned(), line: 1, error });
            }
        }
        for (index, entry) in lines {
            journal.state.apply(&entry).map_err(|error| JournalError::OutOfPlace {
                path: path.to_owned(),
                line: index + 1,
                error,
            })?;
        }
        Ok(journal)
    }

    fn first_line(&mut self, identity: &TransferIdentity) -> Result<(), JournalError> {
        let line = JournalEntry::Transfer(identity.clone()).line() + "\n";
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(io_at(&self.path))
    }

    /// The fates of its CLTUs so far.
    #[must_use]
    pub fn state(&self) -> &TransferState {
        &self.state
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// An error of the operating system with the file.
pub(super) fn io_at(path: &Path) -> impl Fn(io::Error) -> JournalError {
    move |error| JournalError::Io { path: path.to_owned(), error }
}

/// The lock ends with the program, however it ends.
fn lock(file: &File, path: &Path) -> Result<(), JournalError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(JournalError::InUse(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(io_at(path)(error)),
    }
}

fn same(path: &Path, was: &TransferIdentity, is: &TransferIdentity) -> Result<(), JournalError> {
    let parts = [
        ("the instance", was.instance.clone(), is.instance.clone()),
        ("the data", was.source.clone(), is.source.clone()),
        ("the number of CLTUs", was.cltus.to_string(), is.cltus.to_string()),
    ];
    match parts.into_iter().find(|(_, was, is)| was != is) {
        None => Ok(()),
        Some((what, was, is)) => {
            Err(JournalError::OtherTransfer { path: path.to_owned(), what, was, is })
        }
    }
}

/// The entries, and where they end. A last line without its end, or one whose checksum is wrong, was
/// being written when the program or the host ended.
fn entries(octets: &[u8], path: &Path) -> Result<(Vec<JournalEntry>, usize), JournalError> {
    let mut entries = Vec::new();
    let mut end = 0;
    for line in octets.split_inclusive(|octet| *octet == b'\n') {
        let parsed = match line.strip_suffix(b"\n").map(str::from_utf8) {
            Some(Ok(text)) => JournalEntry::parse(text),
            _ => Err(LineError::Check),
        };
        match parsed {
            Ok(entry) => entries.push(entry),
            Err(LineError::Check) if end + line.len() == octets.len() => break,
            Err(error) => {
                let line = entries.len() + 1;
                return Err(JournalError::Damaged { path: path.to_owned(), line, error });
            }
        }
        end += line.len();
    }
    Ok((entries, end))
}

#[cfg(test)]
mod tests {
    use super::super::{FateEntry, FateWord, SendPlan, SessionEntry};
    use super::*;

    fn identity() -> TransferIdentity {
        let source = "generated, 8 octets each".to_owned();
        TransferIdentity { instance: "cltu1".to_owned(), source, cltus: 4 }
    }

    fn written(path: &Path) {
        let mut journal = TransferJournal::create(path, &identity()).unwrap();
        let plan = SendPlan::from(0..4);
        for entry in [
            JournalEntry::Session(SessionEntry { first: 0, plan }),
            JournalEntry::Reserved { until: 3 },
            JournalEntry::Fate(FateEntry {
                positions: 0..2,
                fate: FateWord::Radiated,
                diagnostic: None,
            }),
        ] {
            journal.file.write_all((entry.line() + "\n").as_bytes()).unwrap();
        }
    }

    /// Cut anywhere, it continues with no CLTU less reserved than its whole lines say.
    #[test]
    fn a_journal_that_was_cut_off_is_continued() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        written(&path);
        let whole = std::fs::read(&path).unwrap();
        for end in 0..=whole.len() {
            std::fs::write(&path, &whole[..end]).unwrap();
            let journal = TransferJournal::resume(&path, &identity()).unwrap();
            let lines = whole[..end].iter().filter(|octet| **octet == b'\n').count();
            let counts = [FateWord::NotSent, FateWord::Unknown, FateWord::Radiated]
                .map(|fate| journal.state().fates().count(fate));
            let expected = [[4, 0, 0], [4, 0, 0], [4, 0, 0], [1, 3, 0], [1, 1, 2]];
            assert_eq!(counts, expected[lines], "{end} octets");
            drop(journal);
            let kept = std::fs::read(&path).unwrap();
            assert!(kept.ends_with(b"\n"), "the part of a line is gone");
        }
    }

    #[test]
    fn what_is_no_continuation_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let said = |result: Result<TransferJournal, JournalError>| result.unwrap_err().to_string();
        assert!(said(TransferJournal::resume(&path, &identity())).ends_with("nothing to continue"));
        written(&path);
        let exists = said(TransferJournal::create(&path, &identity()));
        assert!(exists.contains("--resume"), "{exists}");
        let other = TransferIdentity { cltus: 5, ..identity() };
        let other = said(TransferJournal::resume(&path, &other));
        assert!(other.contains("the number of CLTUs was \"4\" and is \"5\""), "{other}");
        let holder = TransferJournal::resume(&path, &identity()).unwrap();
        assert!(said(TransferJournal::resume(&path, &identity())).contains("another program"));
        drop(holder);
        let mut octets = std::fs::read(&path).unwrap();
        let second = octets.iter().position(|octet| *octet == b'\n').unwrap() + 5;
        octets[second] ^= 1;
        std::fs::write(&path, octets).unwrap();
        let damaged = said(TransferJournal::resume(&path, &identity()));
        assert!(damaged.contains("line 2: the checksum"), "{damaged}");
    }
}
