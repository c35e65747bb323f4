//! The file: reading all of it, and one durable line at a time.

use crate::entry::Entry;
use crate::error::{AnnotationsError, ENTRIES_MAX};
use crate::{Mark, NamedView, NewMark};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineDamage {
    /// Number of the line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl std::fmt::Display for LineDamage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "annotations.log, line {}: {}", self.line, self.reason)
    }
}

/// The annotations at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// By their instant, then by their number.
    pub marks: Vec<Mark>,
    /// By their name.
    pub views: Vec<NamedView>,
    /// Lines that could not be read.
    pub damage: Vec<LineDamage>,
    /// Entries of kinds that a newer version knows.
    pub unknown: u64,
    /// Larger than every number in the file.
    next_id: u64,
}

/// The file of annotations beside a store. Cheap to make: it is opened for each use.
#[derive(Clone, Debug)]
pub struct Annotations {
    path: PathBuf,
}

impl Annotations {
    /// The annotations in a data folder; the file need not exist.
    pub fn beside(data_dir: &Path) -> Self {
        Self { path: data_dir.join("annotations.log") }
    }

    /// Reads all annotations; none where there is no file.
    ///
    /// # Errors
    /// When the file cannot be read. A damaged line is no error: [`Content::damage`].
    pub fn read(&self) -> io::Result<Content> {
        match File::open(&self.path) {
            Ok(file) => Ok(Content::of(&octets(file)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Content::of(b"")),
            Err(error) => Err(error),
        }
    }

    /// Notes a mark.
    ///
    /// # Errors
    /// [`AnnotationsError`].
    pub fn add_mark(&self, new: NewMark) -> Result<Mark, AnnotationsError> {
        new.check()?;
        self.write(|content| {
            if content.marks.len() >= ENTRIES_MAX {
                return Err(AnnotationsError::Full { what: "marks" });
            }
            let mark = new.with_id(content.next_id);
            Ok((Some(Entry::Mark(mark.clone())), mark))
        })
    }

    /// Removes a mark; false where there is none of this number.
    ///
    /// # Errors
    /// [`AnnotationsError::Io`].
    pub fn remove_mark(&self, id: u64) -> Result<bool, AnnotationsError> {
        self.write(|content| {
            let is_there = content.marks.iter().any(|mark| mark.id == id);
            Ok((is_there.then_some(Entry::MarkRemoved { id }), is_there))
        })
    }

    /// Gives a view its name, which another view may have had until now.
    ///
    /// # Errors
    /// [`AnnotationsError`].
    pub fn set_view(&self, view: NamedView) -> Result<(), AnnotationsError> {
        view.check()?;
        self.write(|content| {
            let is_new = content.views.iter().all(|other| other.name != view.name);
            if is_new && content.views.len() >= ENTRIES_MAX {
                return Err(AnnotationsError::Full { what: "named views" });
            }
            Ok((Some(Entry::View(view)), ()))
        })
    }

    /// Removes a named view; false where none has this name.
    ///
    /// # Errors
    /// [`AnnotationsError::Io`].
    pub fn remove_view(&self, name: &str) -> Result<bool, AnnotationsError> {
        self.write(|content| {
            let is_there = content.views.iter().any(|view| view.name == name);
            let entry = is_there.then(|| Entry::ViewRemoved { name: name.to_owned() });
            Ok((entry, is_there))
        })
    }

    /// Appends the entry that `decide` makes of what the file has, while nobody else writes.
    fn write<T>(
        &self,
        decide: impl FnOnce(&Content) -> Result<(Option<Entry>, T), AnnotationsError>,
    ) -> Result<T, AnnotationsError> {
        let folder = self.path.parent().unwrap_or(&self.path);
        let is_new = !self.path.exists();
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600 | group_reads(folder)?)
            .open(&self.path)?;
        file.lock()?;
        let before = octets(&mut file)?;
        let (entry, answer) = decide(&Content::of(&before))?;
        if let Some(entry) = entry {
            // Behind a line that was cut off the entry begins a new one.
            let cut_off = before.last().is_some_and(|last| *last != b'\n');
            let line = format!("{}{}", if cut_off { "\n" } else { "" }, entry.line()?);
            file.write_all(line.as_bytes())?;
            file.sync_data()?;
        }
        if is_new {
            File::open(folder)?.sync_all()?;
        }
        Ok(answer) // closing the file gives the lock back
    }
}

/// The right of a folder's group to read, for a new file in it.
fn group_reads(folder: &Path) -> io::Result<u32> {
    Ok(std::fs::metadata(folder)?.mode() & 0o040)
}

fn octets(mut file: impl Read) -> io::Result<Vec<u8>> {
    let mut octets = Vec::new();
    file.read_to_end(&mut octets)?;
    Ok(octets)
}

impl Content {
    fn of(octets: &[u8]) -> Self {
        let (mut marks, mut views) = (BTreeMap::new(), BTreeMap::new());
        let mut content = Self { next_id: 1, ..Self::default() };
        let lines = octets.split(|octet| *octet == b'\n').zip(1..);
        for (line, number) in lines.filter(|(line, _)| !line.is_empty()) {
            // A damaged line may have had a number of its own.
            content.next_id = content.next_id.max(number + 1);
            match Entry::of_line(line) {
                Ok(Entry::Mark(mark)) => {
                    content.next_id = content.next_id.max(mark.id.saturating_add(1));
                    marks.insert(mark.id, mark);
                }
                Ok(Entry::MarkRemoved { id }) => drop(marks.remove(&id)),
                Ok(Entry::View(view)) => drop(views.insert(view.name.clone(), view)),
                Ok(Entry::ViewRemoved { name }) => drop(views.remove(&name)),
                Ok(Entry::Unknown) => content.unknown += 1,
                Err(reason) => content.damage.push(LineDamage { line: number, reason }),
            }
        }
        content.marks = marks.into_values().collect();
        content.marks.sort_by_key(|mark| (mark.at_ns, mark.id));
        content.views = views.into_values().collect();
        content
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(text: &str, at_ns: i64) -> NewMark {
        NewMark { at_ns, text: text.to_owned(), ..NewMark::default() }
    }

    fn texts(annotations: &Annotations) -> Vec<String> {
        annotations.read().unwrap().marks.into_iter().map(|mark| mark.text).collect()
    }

    #[test]
    fn marks_are_kept_by_time_and_a_number_is_given_once() {
        let dir = tempfile::tempdir().unwrap();
        let annotations = Annotations::beside(dir.path());
        assert_eq!(annotations.read().unwrap(), Content::of(b""));
        let later = annotations.add_mark(noted("later", 9)).unwrap();
        annotations.add_mark(noted("earlier", 3)).unwrap();
        assert_eq!(texts(&annotations), ["earlier", "later"]);
        assert!(annotations.remove_mark(later.id).unwrap());
        assert!(!annotations.remove_mark(later.id).unwrap(), "it is gone");
        let again = annotations.add_mark(noted("again", 5)).unwrap();
        assert!(again.id > later.id);
        assert_eq!(texts(&annotations), ["earlier", "again"]);
    }

    #[test]
    fn a_write_that_was_cut_off_costs_only_itself_and_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let annotations = Annotations::beside(dir.path());
        annotations.add_mark(noted("first", 1)).unwrap();
        let whole = std::fs::read(&annotations.path).unwrap();
        for cut in 1..whole.len() - 1 {
            let mut octets = whole.clone();
            octets.extend(&whole[..cut]);
            std::fs::write(&annotations.path, &octets).unwrap();
            annotations.add_mark(noted("next", 2)).unwrap();
            let content = annotations.read().unwrap();
            assert_eq!(content.marks.len(), 2, "{cut}");
            assert_eq!(content.damage.len(), 1, "{cut}");
            assert_eq!(content.damage[0].line, 2);
        }
    }

    #[test]
    fn a_damaged_line_is_told_with_its_number() {
        let dir = tempfile::tempdir().unwrap();
        let annotations = Annotations::beside(dir.path());
        (0..3).for_each(|at_ns| drop(annotations.add_mark(noted("mark", at_ns)).unwrap()));
        let mut octets = std::fs::read(&annotations.path).unwrap();
        let middle = octets.len() / 2;
        octets[middle] ^= 1;
        std::fs::write(&annotations.path, octets).unwrap();
        let content = annotations.read().unwrap();
        assert_eq!(content.marks.len(), 2);
        assert!(content.damage[0].to_string().starts_with("annotations.log, line 2: "));
        assert_eq!(annotations.add_mark(noted("new", 9)).unwrap().id, 4, "no number twice");
    }

    #[test]
    fn a_name_leads_to_the_last_view_that_was_given_it() {
        let dir = tempfile::tempdir().unwrap();
        let annotations = Annotations::beside(dir.path());
        let view = |address: &str| NamedView {
            name: "slow".to_owned(),
            address: address.to_owned(),
            by: String::new(),
        };
        annotations.set_view(view("/scatter")).unwrap();
        annotations.set_view(view("/graph")).unwrap();
        assert_eq!(annotations.read().unwrap().views, [view("/graph")]);
        assert!(annotations.remove_view("slow").unwrap());
        assert!(!annotations.remove_view("slow").unwrap());
        assert!(annotations.read().unwrap().views.is_empty());
    }

    #[test]
    fn what_nobody_could_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let annotations = Annotations::beside(dir.path());
        let refused = |text: &str| annotations.add_mark(noted(text, 0)).unwrap_err().to_string();
        assert_eq!(refused(""), "text: it is empty");
        assert_eq!(refused("a\nb"), "text: it has a control character");
        assert_eq!(refused(&"ä".repeat(201)), "text: at most 200 characters");
        assert!(!annotations.path.exists(), "nothing is written of what is refused");
    }

    #[test]
    fn two_writers_do_not_mix_their_lines() {
        let dir = tempfile::tempdir().unwrap();
        let write = || {
            let annotations = Annotations::beside(dir.path());
            (0..50).for_each(|at_ns| drop(annotations.add_mark(noted("mark", at_ns)).unwrap()));
        };
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(write))));
        let content = Annotations::beside(dir.path()).read().unwrap();
        assert_eq!((content.marks.len(), content.damage.len()), (200, 0));
        let ids: std::collections::BTreeSet<u64> =
            content.marks.iter().map(|mark| mark.id).collect();
        assert_eq!(ids.len(), 200);
    }
}
