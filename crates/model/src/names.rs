//! Dictionary of the names behind the numbers in records.

use crate::context::{self, ContextEntry};
use crate::{ClassId, PathId, ProcessId, Record};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Largest context of a process, in bytes: what a ring has room for.
pub const PROCESS_CONTEXT_MAX_BYTES: usize = 3072;

/// The full name of a class.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassName {
    /// The application that declares it.
    pub application: String,
    /// The class's own name.
    pub class: String,
}

impl fmt::Display for ClassName {
    /// `application::class`, as in `MRTS::decodePlots`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}::{}", self.application, self.class))
    }
}

/// Identity of a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProcessName {
    /// The application that the process runs.
    pub application: String,
    /// The host that the process runs on.
    pub host: String,
    /// Process id on that host.
    pub pid: u32,
    /// Start time of the process: UTC, nanoseconds since 1970.
    pub start_ns: i64,
}

impl ProcessName {
    /// The process's id.
    pub fn id(&self) -> ProcessId {
        ProcessId::of(&self.host, self.pid, self.start_ns)
    }
}

/// A dictionary of classes, paths and processes. Entries are added and never change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    classes: HashMap<ClassId, ClassName>,
    paths: HashMap<PathId, Vec<ClassId>>,
    processes: HashMap<ProcessId, ProcessName>,
    /// What processes run in, as [`context`] encodes it; of few processes.
    process_contexts: HashMap<ProcessId, Arc<[u8]>>,
}

impl Names {
    /// Adds a class under its id; returns whether it was new.
    pub fn add_class(&mut self, name: ClassName) -> bool {
        let id = ClassId::of(&name.application, &name.class);
        self.classes.insert(id, name).is_none()
    }

    /// Adds a path, root first. [`ClassId::NONE`] marks middle ancestors that were dropped on the
    /// way; the id then cannot be computed from the classes. A complete list replaces one with such
    /// a gap. Returns whether the dictionary changed.
    pub fn add_path(&mut self, id: PathId, classes: Vec<ClassId>) -> bool {
        let complete = |classes: &[ClassId]| !classes.contains(&ClassId::NONE);
        match self.paths.get(&id) {
            Some(known) if complete(known) || !complete(&classes) => false,
            _ => {
                self.paths.insert(id, classes);
                true
            }
        }
    }

    /// Adds a process under its id; returns whether it was new.
    pub fn add_process(&mut self, name: ProcessName) -> bool {
        self.processes.insert(name.id(), name).is_none()
    }

    /// Adds the context of a process: properties that all of its rows have, such as its container
    /// and pod. The first one stays; one that is empty or above [`PROCESS_CONTEXT_MAX_BYTES`] is
    /// not taken. Returns whether it was new.
    pub fn add_process_context(&mut self, id: ProcessId, context: &[u8]) -> bool {
        let fits = (1..=PROCESS_CONTEXT_MAX_BYTES).contains(&context.len());
        if !fits || self.process_contexts.contains_key(&id) {
            return false;
        }
        self.process_contexts.insert(id, context.into());
        true
    }

    /// Adds what another dictionary has of a process: its name and its context.
    pub fn add_process_of(&mut self, other: &Self, id: ProcessId) {
        if let Some(name) = other.processes.get(&id) {
            self.processes.insert(id, name.clone());
        }
        if let Some(context) = other.process_contexts.get(&id) {
            self.process_contexts.entry(id).or_insert_with(|| context.clone());
        }
    }

    /// Removes the processes that are not `wanted`: they are the only names whose number grows for
    /// ever.
    pub fn retain_processes(&mut self, wanted: impl Fn(ProcessId) -> bool) {
        self.processes.retain(|id, _| wanted(*id));
        self.process_contexts.retain(|id, _| wanted(*id));
    }

    /// Adds all entries of another dictionary; returns whether anything was new.
    pub fn merge(&mut self, other: &Self) -> bool {
        let mut learnt = false;
        for name in other.classes.values() {
            learnt |= self.add_class(name.clone());
        }
        for (id, classes) in &other.paths {
            learnt |= self.add_path(*id, classes.clone());
        }
        for name in other.processes.values() {
            learnt |= self.add_process(name.clone());
        }
        for (id, context) in &other.process_contexts {
            if !self.process_contexts.contains_key(id) {
                self.process_contexts.insert(*id, context.clone());
                learnt = true;
            }
        }
        learnt
    }

    /// The class with this id.
    pub fn class(&self, id: ClassId) -> Option<&ClassName> {
        self.classes.get(&id)
    }

    /// The classes on this path, root first.
    pub fn path(&self, id: PathId) -> Option<&[ClassId]> {
        self.paths.get(&id).map(Vec::as_slice)
    }

    /// The process with this id.
    pub fn process(&self, id: ProcessId) -> Option<&ProcessName> {
        self.processes.get(&id)
    }

    /// The context of a process; empty when it has none.
    pub fn process_context(&self, id: ProcessId) -> &[u8] {
        self.process_contexts.get(&id).map_or(&[], |context| context)
    }

    /// The entries of a record with this context: its own, then those of its process.
    pub fn entries<'a>(
        &'a self,
        record: &Record,
        context: &'a [u8],
    ) -> impl Iterator<Item = ContextEntry<'a>> {
        context::entries(context).chain(context::entries(self.process_context(record.process)))
    }

    /// All classes.
    pub fn classes(&self) -> impl Iterator<Item = (ClassId, &ClassName)> {
        self.classes.iter().map(|(id, name)| (*id, name))
    }

    /// All paths.
    pub fn paths(&self) -> impl Iterator<Item = (PathId, &[ClassId])> {
        self.paths.iter().map(|(id, classes)| (*id, classes.as_slice()))
    }

    /// All processes.
    pub fn processes(&self) -> impl Iterator<Item = (ProcessId, &ProcessName)> {
        self.processes.iter().map(|(id, name)| (*id, name))
    }

    /// The contexts of all processes that have one.
    pub fn process_contexts(&self) -> impl Iterator<Item = (ProcessId, &[u8])> {
        self.process_contexts.iter().map(|(id, context)| (*id, &**context))
    }

    /// The class's name, as `MRTS::decodePlots`, or its number when the name is not known.
    pub fn class_text(&self, id: ClassId) -> String {
        self.class(id).map_or_else(|| format!("?{id}"), ClassName::to_string)
    }

    /// The path in names, root first: `MRTS::decodePlots/MRTS::Correlate`; `…` marks ancestors that
    /// are not known. Empty for [`PathId::NONE`].
    pub fn path_text(&self, id: PathId) -> String {
        if id.is_none() {
            return String::new();
        }
        let Some(classes) = self.path(id) else { return format!("?{id}") };
        let words = classes.iter().map(|class| match *class {
            ClassId::NONE => "…".to_owned(),
            class => self.class_text(class),
        });
        words.collect::<Vec<_>>().join("/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(application: &str, class: &str) -> ClassName {
        ClassName { application: application.into(), class: class.into() }
    }

    #[test]
    fn words_for_numbers() {
        let mut names = Names::default();
        assert!(names.add_class(class("MRTS", "decodePlots")));
        assert!(!names.add_class(class("MRTS", "decodePlots")));
        let (a, b) = (ClassId::of("MRTS", "decodePlots"), ClassId(7));
        let path = PathId::of(&[a, b]);
        assert_eq!(names.path_text(path), format!("?{path}"));
        names.add_path(path, vec![a, b]);
        assert_eq!(names.path_text(path), "MRTS::decodePlots/?0000000000000007");
    }

    #[test]
    fn a_row_has_what_it_says_and_what_its_process_says() {
        let (mut own, mut of_process) = ([0; 64], [0; 64]);
        let len = context::append(&mut own, 0, ContextEntry::Property("k", "own")).unwrap();
        let pod = ContextEntry::Property("otel.resource.k8s.pod.name", "p-1");
        let process_len = context::append(&mut of_process, 0, pod).unwrap();
        let record = Record { process: ProcessId(7), ..Record::default() };
        let mut names = Names::default();
        assert!(names.add_process_context(ProcessId(7), &of_process[..process_len]));
        assert!(!names.add_process_context(ProcessId(7), &of_process[..1]), "the first one stays");
        assert!(!names.add_process_context(ProcessId(8), &[0; PROCESS_CONTEXT_MAX_BYTES + 1]));
        let all: Vec<_> = names.entries(&record, &own[..len]).collect();
        assert_eq!(all, [ContextEntry::Property("k", "own"), pod]);
        let mut other = Names::default();
        other.add_process_of(&names, ProcessId(7));
        assert_eq!(other.process_context(ProcessId(7)), names.process_context(ProcessId(7)));
        other.retain_processes(|id| id != ProcessId(7));
        assert_eq!(other.entries(&record, &own[..len]).count(), 1);
        assert!(other.merge(&names) && !other.merge(&names));
    }

    #[test]
    fn a_complete_path_replaces_one_with_a_gap_and_stays() {
        let (a, b, c) = (ClassId(1), ClassId(2), ClassId(3));
        let id = PathId::of(&[a, b, c]);
        let mut names = Names::default();
        assert!(names.add_path(id, vec![a, ClassId::NONE, c]));
        assert!(names.add_path(id, vec![a, b, c]));
        assert!(!names.add_path(id, vec![a, ClassId::NONE, c]));
        assert_eq!(names.path(id), Some(&[a, b, c][..]));
    }
}
