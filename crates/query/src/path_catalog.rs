//! The catalog of classes and paths by their text, with what a question selects of them. Each text is
//! judged once.

use crate::question::{DurationKind, Question};
use chronoscope_chain::{ClassSelector, Meaning, Selection};
use chronoscope_model::{ClassId, ClassName, Names};
use std::collections::{HashMap, HashSet};

/// The parsed text of a path.
#[derive(Clone, Debug)]
pub(crate) struct CatalogPath {
    /// Root first; [`ClassId::NONE`] stands for ancestors that are not known.
    pub(crate) classes: Vec<ClassId>,
}

/// The classes and paths of a store by their text, and the selection that a question makes.
#[derive(Debug)]
pub(crate) struct PathCatalog {
    classes: HashMap<ClassId, ClassName>,
    paths: HashMap<String, CatalogPath>,
    root: ClassSelector,
    leaf: Option<ClassSelector>,
    /// The question's selection among the classes met so far.
    pub(crate) selection: Selection,
}

impl PathCatalog {
    pub(crate) fn new(names: &Names, question: &Question) -> Self {
        let leaf = question.leaf.clone().filter(|_| question.kind == DurationKind::Acpd);
        let mut catalog = Self {
            classes: HashMap::new(),
            paths: HashMap::new(),
            root: question.root.clone(),
            selection: Selection {
                roots: HashSet::new(),
                leaves: leaf.as_ref().map(|_| HashSet::new()),
                level: question.level,
                root_start_ns: question.start_ns.clone(),
            },
            leaf,
        };
        for (id, name) in names.classes() {
            catalog.add_class(id, name.clone());
        }
        // Texts are looked up rather than taken apart: names may contain the separators.
        for (id, classes) in names.paths() {
            catalog.paths.insert(names.path_text(id), CatalogPath { classes: classes.to_vec() });
        }
        catalog
    }

    fn add_class(&mut self, id: ClassId, name: ClassName) {
        if self.root.selects(&name) {
            self.selection.roots.insert(id);
        }
        if let (Some(leaf), Some(leaves)) = (&self.leaf, &mut self.selection.leaves)
            && leaf.selects(&name)
        {
            leaves.insert(id);
        }
        self.classes.insert(id, name);
    }

    /// The class of these words. Where nobody named it, its number stands in the words.
    pub(crate) fn class(&mut self, application: &str, class: &str) -> ClassId {
        let number = || u64::from_str_radix(class.strip_prefix('?')?, 16).ok().map(ClassId);
        let id = Some(class).filter(|_| application.is_empty()).and_then(|_| number());
        let id = id.unwrap_or_else(|| ClassId::of(application, class));
        if !self.classes.contains_key(&id) {
            let name = ClassName { application: application.into(), class: class.into() };
            self.add_class(id, name);
        }
        id
    }

    /// The classes of a path's text, root first.
    pub(crate) fn path(&mut self, text: &str) -> &CatalogPath {
        if !self.paths.contains_key(text) {
            let words = text.split('/').filter(|word| !word.is_empty());
            let words: Vec<&str> = words.collect();
            let classes = words.into_iter().map(|word| match word.split_once("::") {
                _ if word == "…" => ClassId::NONE,
                Some((application, class)) => self.class(application, class),
                None => self.class("", word),
            });
            let classes = classes.collect();
            self.paths.insert(text.to_owned(), CatalogPath { classes });
        }
        &self.paths[text]
    }

    /// Meaning of a path for the ACPD; `None` where it depends on the row's level, because
    /// ancestors were dropped on the way.
    pub(crate) fn meaning(&mut self, text: &str) -> Option<Meaning> {
        let classes = self.path(text).classes.clone();
        let level = classes.len().checked_sub(1).and_then(|level| u16::try_from(level).ok());
        if classes.contains(&ClassId::NONE) {
            let none = self.selection.meaning(&classes, None) == Meaning::None;
            return none.then_some(Meaning::None);
        }
        Some(self.selection.meaning(&classes, level))
    }

    /// Whether a class is a root that is asked for.
    pub(crate) fn is_root(&self, class: ClassId) -> bool {
        self.selection.roots.contains(&class)
    }

    /// A path in words.
    pub(crate) fn text(&self, classes: &[ClassId]) -> String {
        let words = classes.iter().map(|class| match self.classes.get(class) {
            _ if class.is_none() => "…".to_owned(),
            Some(name) if name.application.is_empty() => name.class.clone(),
            Some(name) => name.to_string(),
            None => format!("?{class}"),
        });
        words.collect::<Vec<_>>().join("/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_chain::LeafLevel;

    #[test]
    fn a_path_is_looked_up_before_it_is_taken_apart() {
        let mut names = Names::default();
        let name = ClassName { application: "WEB".into(), class: "GET /a".into() };
        let (get, db) = (ClassId::of("WEB", "GET /a"), ClassId::of("DB", "query"));
        names.add_class(name);
        names.add_class(ClassName { application: "DB".into(), class: "query".into() });
        let id = chronoscope_model::PathId::of(&[get, db]);
        names.add_path(id, vec![get, db]);
        let mut catalog = PathCatalog::new(&names, &Question::acpd("GET /a", "DB::query"));
        assert_eq!(catalog.path("WEB::GET /a/DB::query").classes, [get, db]);
        let meaning = Meaning::Below { steps: 1, from_top: true };
        assert_eq!(catalog.meaning("WEB::GET /a/DB::query"), Some(meaning));
        assert_eq!(catalog.text(&[get, ClassId::NONE, db]), "WEB::GET /a/…/DB::query");
    }

    #[test]
    fn words_without_names_are_taken_apart() {
        let question = Question { level: LeafLevel::Exactly(1), ..Question::acpd("A::x", "z") };
        let mut catalog = PathCatalog::new(&Names::default(), &question);
        let unknown = ClassId(0xabc);
        let text = format!("A::x/?{unknown}/B::z");
        let expected = [ClassId::of("A", "x"), unknown, ClassId::of("B", "z")];
        assert_eq!(catalog.path(&text).classes, expected);
        assert_eq!(catalog.meaning(&text), Some(Meaning::None), "two steps, one is asked for");
        assert_eq!(catalog.meaning("A::x/…/B::z"), None, "its level decides");
        assert_eq!(catalog.meaning("A::x/…/B::y"), Some(Meaning::None));
        assert_eq!(catalog.text(&expected), text);
    }
}
