//! The words that a segment's rows need, each once, with a number for every id.

use crate::rows::Rows;
use arrow_array::StringArray;
use chronoscope_model::{ClassId, Names, PathId, ProcessId, Record, Status};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// Ids are hashes already: hashing them again costs time and gains nothing.
#[derive(Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = id;
    }
}

pub(crate) type IdMap<V> = HashMap<u64, V, BuildHasherDefault<IdHasher>>;

/// One column's dictionary: texts, each once, in the order of their coming.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    keys: HashMap<String, i32>,
    texts: Vec<String>,
}

impl Dictionary {
    /// The key of a text.
    pub(crate) fn key(&mut self, text: &str) -> i32 {
        if let Some(key) = self.keys.get(text) {
            return *key;
        }
        // Far fewer words than rows, and rows are fewer than 2^31.
        let key = i32::try_from(self.texts.len()).unwrap_or(i32::MAX);
        self.keys.insert(text.to_owned(), key);
        self.texts.push(text.to_owned());
        key
    }

    /// The texts by their keys.
    pub(crate) fn values(&self) -> Arc<StringArray> {
        Arc::new(StringArray::from_iter_values(&self.texts))
    }
}

/// Dictionary keys of a class id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassWords {
    pub(crate) application: i32,
    pub(crate) class: i32,
}

/// Dictionary keys of a process id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessWords {
    pub(crate) host: i32,
    pub(crate) root_host: i32,
    pub(crate) pid: u32,
}

/// Dictionary keys of a path id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathWords {
    pub(crate) path: i32,
    pub(crate) root: Option<ClassWords>,
    /// Position of its text among all texts: rows of one path stand together in this order.
    pub(crate) rank: u32,
}

/// All words of a segment.
#[derive(Debug, Default)]
pub(crate) struct Dictionaries {
    pub(crate) classes: IdMap<ClassWords>,
    pub(crate) processes: IdMap<ProcessWords>,
    pub(crate) paths: IdMap<PathWords>,
    pub(crate) application: Dictionary,
    pub(crate) class: Dictionary,
    pub(crate) host: Dictionary,
    pub(crate) status: Dictionary,
    pub(crate) path: Dictionary,
    pub(crate) root_application: Dictionary,
    pub(crate) root_class: Dictionary,
    pub(crate) root_host: Dictionary,
}

impl Dictionaries {
    /// The words that `rows` need. What `names` does not know stays a number, as
    /// [`Names::class_text`] spells it.
    pub(crate) fn of(rows: &Rows, names: &Names) -> Self {
        let mut words = Self::default();
        for status in Status::ALL {
            words.status.key(status.name());
        }
        let mut last = (ClassId::NONE, PathId::NONE, ProcessId::NONE, ProcessId::NONE);
        for (index, record) in rows.records.iter().enumerate() {
            let Record { class, path, process, root_process, .. } = *record;
            let this = (class, path, process, root_process);
            if index > 0 && this == last {
                continue;
            }
            last = this;
            words.add_class(class, names);
            words.add_path(path, names);
            words.add_process(process, names);
            words.add_process(root_process, names);
        }
        words.rank_paths();
        words
    }

    fn add_class(&mut self, id: ClassId, names: &Names) {
        if !self.classes.contains_key(&id.0) {
            let (application, class) = class_texts(id, names);
            let application = self.application.key(&application);
            let class = self.class.key(&class);
            self.classes.insert(id.0, ClassWords { application, class });
        }
    }

    fn add_path(&mut self, id: PathId, names: &Names) {
        if self.paths.contains_key(&id.0) {
            return;
        }
        let path = self.path.key(&names.path_text(id));
        let root = names.path(id).and_then(<[_]>::first).map(|root| {
            let (application, class) = class_texts(*root, names);
            ClassWords {
                application: self.root_application.key(&application),
                class: self.root_class.key(&class),
            }
        });
        self.paths.insert(id.0, PathWords { path, root, rank: 0 });
    }

    fn add_process(&mut self, id: ProcessId, names: &Names) {
        if self.processes.contains_key(&id.0) {
            return;
        }
        let name = names.process(id);
        let text = name.map_or_else(|| format!("?{id}"), |name| name.host.clone());
        let text = if id.is_none() { "" } else { &text };
        let host = self.host.key(text);
        let root_host = self.root_host.key(text);
        let pid = name.map_or(0, |name| name.pid);
        self.processes.insert(id.0, ProcessWords { host, root_host, pid });
    }

    fn rank_paths(&mut self) {
        let mut order: Vec<(&str, u64)> = self
            .paths
            .iter()
            .filter_map(|(id, words)| {
                let text = self.path.texts.get(usize::try_from(words.path).ok()?)?;
                Some((text.as_str(), *id))
            })
            .collect();
        order.sort_unstable();
        let ranks: Vec<u64> = order.into_iter().map(|(_, id)| id).collect();
        for (id, rank) in ranks.into_iter().zip(0..) {
            if let Some(words) = self.paths.get_mut(&id) {
                words.rank = rank;
            }
        }
    }
}

/// Application and class in words; nobody's name becomes its number.
fn class_texts(id: ClassId, names: &Names) -> (String, String) {
    match names.class(id) {
        Some(name) => (name.application.clone(), name.class.clone()),
        None => (String::new(), format!("?{id}")),
    }
}
