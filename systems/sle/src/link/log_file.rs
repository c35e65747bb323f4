//! The journal of a forward link: one file, which is replaced when it is long.
//!
//! The file is the journal of a transfer without an end (`journal`): indices, and with them CLTU
//! identifications, go on from association to association and from file to file.

use crate::journal::{
    JournalError, JournalWriter, SendPlan, SessionEntry, TransferIdentity, TransferJournal,
    TransferState,
};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// CLTUs of a journal at most: CLTU identifications have 32 bits, and fates need half of them.
const CLTUS_MAX: u64 = 1 << 31;
/// A file that is longer is replaced by a new one when the next session begins.
const OCTETS_MAX: u64 = 16 << 20;

/// Where the journal of a link is.
#[derive(Debug)]
pub(super) struct LinkJournal {
    path: PathBuf,
    identity: TransferIdentity,
    octets_max: u64,
}

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub(super) enum LinkJournalError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{}: all {CLTUS_MAX} indices are used: name another file", .0.display())]
    Full(PathBuf),
}

impl LinkJournal {
    pub(super) fn new(path: &Path, instance: &str) -> Self {
        let identity = TransferIdentity {
            instance: instance.to_owned(),
            source: "sle-user link".to_owned(),
            cltus: CLTUS_MAX,
        };
        Self { path: path.to_owned(), identity, octets_max: OCTETS_MAX }
    }

    fn with(&self, end: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(end);
        name.into()
    }

    /// Opens the file, or makes it.
    pub(super) fn open(&self) -> Result<TransferJournal, LinkJournalError> {
        let next = self.with(".next");
        if !self.path.exists() && next.exists() {
            // A kill between the two renames of a replacement.
            fs::rename(&next, &self.path)
                .map_err(|error| LinkJournalError::Io { path: next, error })?;
        }
        Ok(if self.path.exists() {
            TransferJournal::resume(&self.path, &self.identity)?
        } else {
            TransferJournal::create(&self.path, &self.identity)?
        })
    }

    /// Begins a session behind all indices that were used: its writer, and its first index, which is also
    /// the CLTU identification of START.
    pub(super) fn begin(
        &self,
        journal: TransferJournal,
    ) -> Result<(JournalWriter, u64), LinkJournalError> {
        let first = journal.state().next_index();
        let plan = SendPlan::from(first..CLTUS_MAX);
        let Some(number) = u32::try_from(first).ok().filter(|_| !plan.is_empty()) else {
            return Err(LinkJournalError::Full(self.path.clone()));
        };
        let session = SessionEntry { first: number, plan };
        let length = fs::metadata(&self.path).map_or(0, |file| file.len());
        if length <= self.octets_max {
            return Ok((JournalWriter::begin(Some(journal), CLTUS_MAX, session)?, first));
        }
        let (next, last) = (self.with(".next"), self.with(".1"));
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| LinkJournalError::Io { path, error }
        };
        match fs::remove_file(&next) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(failed(&next)(error));
            }
            _ => {}
        }
        let new = TransferJournal::create(&next, &self.identity)?;
        let writer = JournalWriter::begin(Some(new), CLTUS_MAX, session)?;
        fs::rename(&self.path, &last).map_err(failed(&last))?;
        fs::rename(&next, &self.path).map_err(failed(&next))?;
        drop(journal);
        Ok((writer, first))
    }

    /// What the journal knows, at the start of the program.
    pub(super) fn state(&self) -> Result<TransferState, LinkJournalError> {
        Ok(self.open()?.state().clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{GivenEntry, JournalEntry};

    /// Writes a session of so many CLTUs; the first index.
    fn session(journal: &LinkJournal, cltus: u64) -> u64 {
        let (writer, first) = journal.begin(journal.open().unwrap()).unwrap();
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| writer.run(|_| {}));
            let given = (0..cltus).map(|at| JournalEntry::Given(GivenEntry::new(at, 7, b"cltu")));
            writer.reserve_exact(cltus, given.collect()).unwrap();
            writer.close(cltus);
            writing.join().unwrap().unwrap();
        });
        first
    }

    #[test]
    fn indices_go_on_from_session_to_session_and_from_file_to_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("uplink.journal");
        let mut journal = LinkJournal::new(&path, "cltu1");
        assert_eq!(session(&journal, 3), 0);
        assert_eq!(session(&journal, 2), 3);
        journal.octets_max = 100;
        assert_eq!(session(&journal, 4), 5, "in a new file");
        let state = journal.state().unwrap();
        assert_eq!(state.references().map(|(index, _)| index).collect::<Vec<_>>(), [5, 6, 7, 8]);
        // Killed between the two renames.
        fs::rename(&path, folder.path().join("uplink.journal.next")).unwrap();
        assert_eq!(journal.state().unwrap().next_index(), 9);
        assert!(folder.path().join("uplink.journal.1").exists());
    }
}
