//! Paths in words taken apart into classes.
//!
//! A path's text joins its classes with `/`, and a class's text its application and name with `::`.
//! Both may stand in names as well (`WEB::GET /a`), so a text alone may be read in several ways.
//! The reading that needs fewest unknown classes is taken; whatever it is, putting it into words
//! again gives the same text.

use chronoscope_model::{ClassId, ClassName, Names, PathId};
use std::collections::HashMap;

/// Largest number of pieces between `/` that are read in the best way; a longer text is cut at
/// every `/`.
const PIECES_MAX: usize = 1024;

/// Largest number of pieces in one class.
const PIECES_OF_CLASS_MAX: usize = 16;

/// Costs: of an unknown class, of a further `::` in it, and of a class without any.
const UNKNOWN: u64 = 1;
const FURTHER: u64 = 2;
const STRANGE: u64 = 10;

/// Distinct texts of paths, each with the class it ends in.
#[derive(Debug, Default)]
pub(super) struct Texts {
    numbers: HashMap<String, Vec<(ClassId, u32)>>,
    count: u32,
}

impl Texts {
    /// The number of a text; the same text of another class has another one.
    pub(super) fn number(&mut self, text: &str, class: ClassId) -> u32 {
        let known = self.numbers.get(text).into_iter().flatten();
        if let Some((_, number)) = known.clone().find(|(of, _)| *of == class) {
            return *number;
        }
        let number = self.count;
        self.count += 1;
        self.numbers.entry(text.to_owned()).or_default().push((class, number));
        number
    }

    /// Ids of the paths; their classes are added to `names`.
    pub(super) fn resolve(&self, names: &mut Names) -> Vec<PathId> {
        let classes = names.classes().map(|(id, name)| (name.to_string(), id)).collect();
        let mut known = Known(classes);
        let mut paths = vec![PathId::NONE; self.count as usize];
        for (text, ends) in &self.numbers {
            for (class, number) in ends {
                paths[*number as usize] = resolve(text, *class, &mut known, names);
            }
        }
        paths
    }
}

/// Classes by their texts.
struct Known(HashMap<String, ClassId>);

fn resolve(text: &str, own: ClassId, known: &mut Known, names: &mut Names) -> PathId {
    if names.class_text(own) != text
        && let Some(id) = number(text)
    {
        return PathId(id); // nobody named this path
    }
    let own_text = names.class_text(own);
    // A path that ends in its own class is unambiguous at its end.
    let above = text.strip_suffix(own_text.as_str());
    let mut classes = match above {
        Some("") => Vec::new(),
        Some(above) if above.ends_with('/') => known.split(&above[..above.len() - 1], names),
        _ => {
            let classes = known.split(text, names);
            return add(classes, names);
        }
    };
    classes.push(own);
    add(classes, names)
}

fn add(classes: Vec<ClassId>, names: &mut Names) -> PathId {
    // Where ancestors were dropped the recorder's id cannot be computed; this one serves the same
    // purpose.
    let path = PathId::of(&classes);
    names.add_path(path, classes);
    path
}

impl Known {
    /// The classes of a text, in the cheapest reading.
    fn split(&mut self, text: &str, names: &mut Names) -> Vec<ClassId> {
        let mut ends: Vec<usize> = text.match_indices('/').map(|(at, _)| at).collect();
        ends.push(text.len());
        let pieces_of_class = if ends.len() > PIECES_MAX { 1 } else { PIECES_OF_CLASS_MAX };
        let start = |piece: usize| if piece == 0 { 0 } else { ends[piece - 1] + 1 };
        // best[n]: the cost of the first n pieces, and where their last class begins.
        let mut best: Vec<(u64, usize)> = vec![(0, 0)];
        for (last, end) in ends.iter().enumerate() {
            let first = (last + 1).saturating_sub(pieces_of_class);
            let readings = (first..=last).map(|from| {
                let cost = self.cost(&text[start(from)..*end]);
                (best[from].0.saturating_add(cost), from)
            });
            best.push(readings.min().unwrap_or((0, last)));
        }
        let mut classes = Vec::new();
        let mut piece = ends.len();
        while piece > 0 {
            let from = best[piece].1;
            classes.push(self.class(&text[start(from)..ends[piece - 1]], names));
            piece = from;
        }
        classes.reverse();
        classes
    }

    fn cost(&self, word: &str) -> u64 {
        if word == "…" || number(word).is_some() || self.0.contains_key(word) {
            return 0;
        }
        match word.matches("::").count() as u64 {
            0 => STRANGE,
            several => UNKNOWN + FURTHER * (several - 1),
        }
    }

    fn class(&mut self, word: &str, names: &mut Names) -> ClassId {
        if word == "…" {
            return ClassId::NONE;
        }
        if let Some(id) = number(word) {
            return ClassId(id);
        }
        if let Some(id) = self.0.get(word) {
            return *id;
        }
        let (application, class) = word.split_once("::").unwrap_or(("", word));
        let id = ClassId::of(application, class);
        names.add_class(ClassName { application: application.into(), class: class.into() });
        self.0.insert(word.to_owned(), id);
        id
    }
}

/// The id of a class without a name, whose text is its id.
pub(super) fn unnamed(application: &str, class: &str) -> Option<ClassId> {
    application.is_empty().then(|| number(class)).flatten().map(ClassId)
}

/// Reads the text of an id without a name: `?` and sixteen hexadecimal digits.
fn number(word: &str) -> Option<u64> {
    let digits = word.strip_prefix('?')?;
    let id = u64::from_str_radix(digits, 16).ok()?;
    (format!("{id:016x}") == digits && id != 0).then_some(id)
}
