//! Limit of the names of classes and paths that agents may bring in.
//!
//! A name is kept for ever by all that stands above the rows: memory of the collector, dictionaries
//! of the files, lists over HTTP. A program that puts a number into every name would fill them all.
//! Beyond the bounds a row is of the class [`OTHER`], on a path of that name with as many steps as
//! its own; it is counted, and loses nothing but its name.

use chronoscope_model::{Batch, ClassId, ClassName, Names, PathId};
use chronoscope_store::{StreamId, wire};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// Application and class of a row whose name was one too many.
pub(crate) const OTHER: &str = "(other)";
/// Senders whose names are counted apart; those of further ones are counted together.
const SOURCES_MAX: usize = 4096;

/// Looks at the names that are known where rows go.
pub(crate) type NamesLookup<'a> = dyn Fn(&mut dyn FnMut(&Names)) + 'a;

/// Bounds of new names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Classes, and as many paths, that one sender may bring in.
    pub(crate) of_source: usize,
    /// The same of all of them together.
    pub(crate) of_all: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { of_source: 16_384, of_all: 131_072 }
    }
}

/// The names that agents brought in since the start.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    bounds: Bounds,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    sources: HashMap<Option<StreamId>, Count>,
    all: Count,
}

/// Number of names.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    classes: usize,
    paths: usize,
    /// Whether a name was not taken: only then rows of names that are not known are looked for.
    is_over: bool,
}

/// Result of admitting a message's names.
#[derive(Debug)]
pub(crate) struct Admitted {
    /// The message with other names; `None` where all were admitted.
    pub(crate) renamed: Option<Renamed>,
    /// Names that the store did not know, for [`Vocabulary::count`].
    pub(crate) new: Count,
}

/// A message whose surplus names are [`OTHER`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Renamed {
    pub(crate) batch: Batch,
    pub(crate) names: Names,
    /// Rows that are of another class or path now.
    pub(crate) rows: u64,
}

impl Vocabulary {
    #[cfg(test)]
    pub(crate) fn with(bounds: Bounds) -> Self {
        Self { bounds, table: Mutex::default() }
    }

    /// Admits the names of a message as far as there is room. `known` looks at the names that are
    /// known where its rows go.
    pub(crate) fn admit(
        &self,
        known: &NamesLookup<'_>,
        source: StreamId,
        message: &wire::Message,
    ) -> Admitted {
        let (names, heard) = (Names::default(), &message.names);
        let mut taken = Taken { names, count: Count::default(), is_whole: true };
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let Table { sources, all } = &mut *table;
        let is_told_apart = sources.len() < SOURCES_MAX || sources.contains_key(&Some(source));
        let own = sources.entry(is_told_apart.then_some(source)).or_default();
        let room = |max: fn(&Count) -> usize| {
            let of_source = self.bounds.of_source.saturating_sub(max(own));
            of_source.min(self.bounds.of_all.saturating_sub(max(all)))
        };
        let room = (room(|count| count.classes), room(|count| count.paths));
        known(&mut |names| taken.take(names, heard, room));
        own.is_over |= !taken.is_whole;
        let new = taken.count;
        if !own.is_over {
            return Admitted { renamed: None, new };
        }
        drop(table);
        heard.processes().for_each(|(id, _)| taken.names.add_process_of(heard, id));
        let (taken, mut under_others) = (taken.names, None);
        known(&mut |names| under_others = Some(renamed(&message.batch, names, taken.clone())));
        Admitted { renamed: under_others, new }
    }

    /// Counts the names of a message that the store took: one that comes again brings nothing new.
    pub(crate) fn count(&self, source: StreamId, new: Count) {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let Table { sources, all } = &mut *table;
        let key = sources.contains_key(&Some(source)).then_some(source);
        for count in [sources.entry(key).or_default(), all] {
            count.classes += new.classes;
            count.paths += new.paths;
        }
    }
}

/// The names of a message that were taken.
struct Taken {
    names: Names,
    /// Number of names among them that are new to the store.
    count: Count,
    is_whole: bool,
}

impl Taken {
    fn take(&mut self, known: &Names, heard: &Names, (classes, paths): (usize, usize)) {
        for (id, name) in heard.classes() {
            let is_new = known.class(id).is_none();
            if is_new && self.count.classes >= classes {
                self.is_whole = false;
                continue;
            }
            self.count.classes += usize::from(is_new);
            self.names.add_class(name.clone());
        }
        for (id, hops) in heard.paths() {
            let is_new = known.path(id).is_none();
            let is_named = |hop: &ClassId| {
                hop.is_none() || known.class(*hop).is_some() || self.names.class(*hop).is_some()
            };
            // A path whose classes have not come yet is none of ours to judge.
            let has_refused = hops.iter().any(|hop| !is_named(hop) && heard.class(*hop).is_some());
            if is_new && (self.count.paths >= paths || has_refused) {
                self.is_whole = false;
                continue;
            }
            self.count.paths += usize::from(is_new);
            self.names.add_path(id, hops.to_vec());
        }
    }
}

/// The rows of a batch under names that are known or have just been taken.
fn renamed(batch: &Batch, known: &Names, mut names: Names) -> Renamed {
    let other = ClassName { application: OTHER.to_owned(), class: OTHER.to_owned() };
    let other_id = ClassId::of(OTHER, OTHER);
    let mut of_levels = HashSet::new();
    let mut rows = Batch::default();
    let mut count = 0;
    for record in batch.records() {
        let mut record = *record;
        let is_class = known.class(record.class).is_some() || names.class(record.class).is_some();
        let path = record.path;
        let is_path = path.is_none() || known.path(path).is_some() || names.path(path).is_some();
        if !is_class {
            record.class = other_id;
        }
        if !is_path || (!is_class && !path.is_none()) {
            let hops = (usize::from(record.level) + 1).min(wire::PATH_MAX_CLASSES);
            record.path = PathId::of(&vec![other_id; hops]);
            of_levels.insert(hops);
        }
        if !(is_class && is_path) {
            count += 1;
        }
        rows.push(record, batch.context(&record));
    }
    if count > 0 {
        names.add_class(other);
    }
    for hops in of_levels {
        let classes = vec![other_id; hops];
        names.add_path(PathId::of(&classes), classes);
    }
    Renamed { batch: rows, names, rows: count }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::{Record, TransactionId};
    use chronoscope_store::{Append, Options, Store};

    /// Rows of classes with these numbers, each below the class 0.
    fn message(numbers: std::ops::Range<u64>, with_names: bool) -> wire::Message {
        let mut message = wire::Message::default();
        let root = ClassId::of("A", "0");
        for number in numbers {
            let class = ClassId::of("A", &number.to_string());
            let hops = [root, class];
            if with_names {
                for number in [0, number] {
                    let class = number.to_string();
                    message.names.add_class(ClassName { application: "A".into(), class });
                }
                message.names.add_path(PathId::of(&hops), hops.to_vec());
            }
            let record = Record {
                id: TransactionId(number),
                class,
                path: PathId::of(&hops),
                level: 1,
                ..Record::default()
            };
            message.batch.push(record, b"words");
        }
        message
    }

    fn store(dir: &std::path::Path) -> Store {
        Store::open(dir, Options::default(), 0).unwrap()
    }

    fn names_of(store: &Store) -> impl Fn(&mut dyn FnMut(&Names)) {
        move |look| store.with_names(look)
    }

    fn take(store: &Store, vocabulary: &Vocabulary, source: u128, message: &wire::Message) -> u64 {
        // The first try did not get so far.
        vocabulary.admit(&names_of(store), StreamId(source), message);
        let Admitted { renamed, new } =
            vocabulary.admit(&names_of(store), StreamId(source), message);
        let (batch, names) = match &renamed {
            Some(renamed) => (&renamed.batch, &renamed.names),
            None => (&message.batch, &message.names),
        };
        assert_eq!(batch.len(), message.batch.len(), "no row is lost");
        let append = Append { batch: Some(batch), names: Some(names), ..Append::default() };
        store.append(&append, 0).unwrap();
        vocabulary.count(StreamId(source), new);
        renamed.map_or(0, |renamed| renamed.rows)
    }

    /// Ten million names took 1.85 GB.
    #[test]
    fn names_without_end_are_one_name_beyond_the_bound() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(dir.path());
        let vocabulary = Vocabulary::with(Bounds { of_source: 10, of_all: 15 });
        assert_eq!(take(&store, &vocabulary, 1, &message(1..6, true)), 0);
        let over: u64 = (1..10)
            .map(|from| take(&store, &vocabulary, 1, &message(from * 5..from * 5 + 5, true)))
            .sum();
        assert!(over >= 35, "{over} of 45, of which 1 is known");
        let count = |store: &Store| store.with_names(|names| names.classes().count());
        assert_eq!(count(&store), 10 + 1);
        assert!(store.with_names(|names| names.class(ClassId::of(OTHER, OTHER)).is_some()));
        // Names that were not taken come once; their rows later.
        assert_eq!(take(&store, &vocabulary, 1, &message(40..45, false)), 5);
        assert_eq!(take(&store, &vocabulary, 1, &message(1..2, false)), 0, "what is known stays");
        // Another sender has its own share, as far as there is one of all.
        take(&store, &vocabulary, 2, &message(100..110, true));
        assert_eq!(count(&store), 15 + 1);
    }

    #[test]
    fn a_renamed_row_has_a_path_with_as_many_steps() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(dir.path());
        let vocabulary = Vocabulary::with(Bounds { of_source: 0, of_all: 0 });
        let renamed =
            vocabulary.admit(&names_of(&store), StreamId(1), &message(1..2, true)).renamed.unwrap();
        let [record] = renamed.batch.records() else { panic!("one row is expected") };
        assert_eq!(renamed.names.path_text(record.path), "(other)::(other)/(other)::(other)");
        assert_eq!(renamed.batch.context(record), b"words");
    }
}
