//! Numbers for the classes of a statement's rows, so that no words travel with each row.

use super::sql::quoted;
use arrow_array::types::UInt32Type;
use chronoscope_clickhouse::{ClickHouseError, Node, ResultRows};
use chronoscope_model::ClassName;
use std::collections::{BTreeSet, HashMap};

/// Classes with numbers by which a shard can find them in the columns of their words.
pub(super) struct ClassNumbers<'a> {
    applications: Vec<&'a str>,
    classes: Vec<&'a str>,
    /// The place of each class, as it was given, by its number.
    places: HashMap<u32, usize>,
}

impl<'a> ClassNumbers<'a> {
    /// Numbers classes, at least one, all different.
    pub(super) fn new(of: &'a [ClassName]) -> Self {
        let words = |word: fn(&ClassName) -> &str| -> Vec<&str> {
            of.iter().map(word).collect::<BTreeSet<_>>().into_iter().collect()
        };
        let (applications, classes) = (words(|name| &name.application), words(|name| &name.class));
        let place = |all: &[&str], word: &str| all.binary_search(&word).unwrap_or(0);
        let numbered = of.iter().enumerate().map(|(index, name)| {
            let application = place(&applications, &name.application);
            let number = application * classes.len() + place(&classes, &name.class);
            (u32::try_from(number).unwrap_or(u32::MAX), index)
        });
        let places = numbered.collect();
        Self { applications, classes, places }
    }

    /// The condition of their rows.
    pub(super) fn condition(&self) -> String {
        let listed = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            words.join(",")
        };
        let words = format!(
            "class IN ({}) AND application IN ({})",
            listed(&self.classes),
            listed(&self.applications)
        );
        match (self.column(), self.places.len() == self.applications.len() * self.classes.len()) {
            // Every pair of these words is one of them.
            (None, _) | (_, true) => words,
            (Some(number), false) => {
                let mut numbers: Vec<u32> = self.places.keys().copied().collect();
                numbers.sort_unstable();
                let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
                format!("{words} AND {number} IN ({})", numbers.join(","))
            }
        }
    }

    /// The number of a row's class; `None` where there is one class, so that none is needed.
    pub(super) fn column(&self) -> Option<String> {
        let number = |word: &str, all: &[&str]| {
            let words: Vec<String> = all.iter().map(|word| quoted(word)).collect();
            let numbers: Vec<String> = (0..all.len()).map(|number| number.to_string()).collect();
            let (words, numbers) = (words.join(","), numbers.join(","));
            format!("CAST(transform({word}, [{words}], [{numbers}], 0), 'UInt32')")
        };
        let (application, class) =
            (number("application", &self.applications), number("class", &self.classes));
        let count = self.classes.len();
        (self.places.len() > 1).then(|| format!("toUInt32({application} * {count} + {class})"))
    }

    /// The classes of the rows of an answer, by their column `number`.
    pub(super) fn read<'r>(
        &'r self,
        rows: &ResultRows<'r>,
    ) -> Result<RowClasses<'r>, ClickHouseError> {
        let numbers = match self.places.len() > 1 {
            true => Some(rows.numbers::<UInt32Type>("number")?),
            false => None,
        };
        Ok(RowClasses { numbers, places: &self.places, node: rows.node })
    }
}

/// The classes of the rows of an answer.
pub(super) struct RowClasses<'a> {
    numbers: Option<&'a [u32]>,
    places: &'a HashMap<u32, usize>,
    node: &'a Node,
}

impl RowClasses<'_> {
    /// The place of a row's class among those that were numbered.
    pub(super) fn of(&self, row: usize) -> Result<usize, ClickHouseError> {
        let Some(numbers) = self.numbers else { return Ok(0) };
        let place = numbers.get(row).and_then(|number| self.places.get(number)).copied();
        place.ok_or_else(|| self.node.unexpected_column("number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class((application, class): (&str, &str)) -> ClassName {
        ClassName { application: application.into(), class: class.into() }
    }

    #[test]
    fn one_class_needs_no_number() {
        let classes = [class(("A", "it's"))];
        let numbers = ClassNumbers::new(&classes);
        assert_eq!(numbers.column(), None);
        assert_eq!(numbers.condition(), "class IN ('it\\'s') AND application IN ('A')");
    }

    #[test]
    fn pairs_of_words_that_are_no_class_are_left_out() {
        let classes = [("B", "c"), ("A", "c"), ("A", "A::c")].map(class);
        let numbers = ClassNumbers::new(&classes);
        assert_eq!(numbers.places, HashMap::from([(3, 0), (1, 1), (0, 2)]));
        assert!(numbers.condition().ends_with(" IN (0,1,3)"), "{}", numbers.condition());
        let all = ClassNumbers::new(&classes[..2]);
        assert_eq!(all.condition(), "class IN ('c') AND application IN ('A','B')");
    }
}
