//! Marks and named views: in the file beside a store of files, or in the table `annotations` of a
//! cluster, which all collectors before it share.

use chronoscope_annotations::{
    Annotations, AnnotationsError, ENTRIES_MAX, Mark, NamedView, NewMark,
};
use chronoscope_clickhouse::{Cluster, Register, RegisterEntry};
use chronoscope_clock as clock;
use chronoscope_query::StoreLocation;
use serde::Serialize;
use std::io;

/// Kinds of entries in the table.
const MARK: &str = "mark";
const VIEW: &str = "view";
/// Random bits of a mark's number, below the milliseconds: together fewer than the 53 that a number
/// of JavaScript keeps.
const RANDOM_BITS: u32 = 12;

/// The annotations of a server's store.
#[derive(Clone, Debug)]
pub enum StoreAnnotations {
    /// Beside files.
    File(Annotations),
    /// In a cluster, under the number of who writes there.
    Shared(Cluster, u64),
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct AllAnnotations {
    /// By their instant, then by their number.
    pub marks: Vec<Mark>,
    /// By their name.
    pub views: Vec<NamedView>,
    /// What could not be read, in words.
    pub damage: Vec<String>,
    /// Entries of kinds that a newer version knows.
    pub unknown: u64,
}

impl StoreAnnotations {
    /// Those of a store; a cluster has its tables already.
    pub fn of(store: &StoreLocation) -> Self {
        match store {
            StoreLocation::Files(dir) => Self::File(Annotations::beside(dir)),
            // Nobody looks for who wrote what.
            StoreLocation::Cluster(view) => Self::Shared(view.cluster().clone(), 0),
        }
    }

    /// Reads them.
    ///
    /// # Errors
    /// When the file cannot be read, or the cluster does not answer.
    pub fn read(&self) -> io::Result<AllAnnotations> {
        let cluster = match self {
            Self::File(file) => {
                let content = file.read()?;
                return Ok(AllAnnotations {
                    marks: content.marks,
                    views: content.views,
                    damage: content.damage.iter().map(ToString::to_string).collect(),
                    unknown: content.unknown,
                });
            }
            Self::Shared(cluster, _) => cluster,
        };
        let mut all = AllAnnotations::default();
        let entries = cluster.register(Register::Annotations);
        for RegisterEntry { kind, name, value } in entries.map_err(io::Error::other)? {
            let read = match kind.as_str() {
                MARK => serde_json::from_str(&value).map(|mark| all.marks.push(mark)),
                VIEW => serde_json::from_str(&value).map(|view| all.views.push(view)),
                _ => {
                    all.unknown += 1;
                    Ok(())
                }
            };
            if let Err(error) = read {
                all.damage.push(format!("table annotations, {kind} {name}: {error}"));
            }
        }
        all.marks.sort_by_key(|mark: &Mark| (mark.at_ns, mark.id));
        Ok(all)
    }

    /// Notes a mark.
    ///
    /// # Errors
    /// [`AnnotationsError`].
    pub fn add_mark(&self, new: NewMark) -> Result<Mark, AnnotationsError> {
        let shared = match self {
            Self::File(file) => return file.add_mark(new),
            Self::Shared(cluster, writer) => (cluster, *writer),
        };
        new.check()?;
        if self.read()?.marks.len() >= ENTRIES_MAX {
            return Err(AnnotationsError::Full { what: "marks" });
        }
        let mark = new.with_id(number()?);
        write(shared, MARK, &mark.id.to_string(), Some(&mark))?;
        Ok(mark)
    }

    /// Removes a mark; false where there is none of this number.
    ///
    /// # Errors
    /// [`AnnotationsError::Io`].
    pub fn remove_mark(&self, id: u64) -> Result<bool, AnnotationsError> {
        let shared = match self {
            Self::File(file) => return file.remove_mark(id),
            Self::Shared(cluster, writer) => (cluster, *writer),
        };
        let is_there = self.read()?.marks.iter().any(|mark| mark.id == id);
        if is_there {
            write(shared, MARK, &id.to_string(), None::<&Mark>)?;
        }
        Ok(is_there)
    }

    /// Gives a view its name, which another view may have had until now.
    ///
    /// # Errors
    /// [`AnnotationsError`].
    pub fn set_view(&self, view: NamedView) -> Result<(), AnnotationsError> {
        let shared = match self {
            Self::File(file) => return file.set_view(view),
            Self::Shared(cluster, writer) => (cluster, *writer),
        };
        view.check()?;
        let views = self.read()?.views;
        if views.len() >= ENTRIES_MAX && views.iter().all(|other| other.name != view.name) {
            return Err(AnnotationsError::Full { what: "named views" });
        }
        Ok(write(shared, VIEW, &view.name, Some(&view))?)
    }

    /// Removes a named view; false where none has this name.
    ///
    /// # Errors
    /// [`AnnotationsError::Io`].
    pub fn remove_view(&self, name: &str) -> Result<bool, AnnotationsError> {
        let shared = match self {
            Self::File(file) => return file.remove_view(name),
            Self::Shared(cluster, writer) => (cluster, *writer),
        };
        let is_there = self.read()?.views.iter().any(|view| view.name == name);
        if is_there {
            write(shared, VIEW, name, None::<&NamedView>)?;
        }
        Ok(is_there)
    }
}

/// Writes an entry, or ends it.
fn write<T: Serialize>(
    (cluster, writer): (&Cluster, u64),
    kind: &str,
    name: &str,
    value: Option<&T>,
) -> io::Result<()> {
    let value = value.map(serde_json::to_string).transpose()?.unwrap_or_default();
    let entry = RegisterEntry { kind: kind.to_owned(), name: name.to_owned(), value };
    let written = cluster.write_register(Register::Annotations, writer, &[entry]);
    written.map_err(io::Error::other)
}

/// A number for a mark that no other collector draws: milliseconds since 1970, and random bits.
fn number() -> io::Result<u64> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    let random = u64::from_le_bytes(random) >> (u64::BITS - RANDOM_BITS);
    let now_ms = clock::utc_now_ns().unsigned_abs() / 1_000_000;
    Ok((now_ms << RANDOM_BITS | random) & ((1 << 53) - 1))
}
