//! Filters and groups by attributes, as questions and rules name them. `docs/glossary.md`
//! ("Attributes") has the definitions.

use std::fmt;
use std::str::FromStr;

/// Largest number of filters of a question.
pub const FILTERS_MAX: usize = 16;
/// Largest number of keys to group by.
pub const BY_MAX: usize = 2;

/// The transactions of a duration at which an attribute is looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AttributePlace {
    /// The leaf, else the root, else the nearest to the leaf between them.
    #[default]
    Any,
    /// The root alone: `root.KEY`.
    Root,
    /// The leaf alone: `leaf.KEY`.
    Leaf,
}

/// The key of an attribute, and where it is looked up. Displays as it is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttributeKey {
    /// Where it is looked up.
    pub place: AttributePlace,
    /// The key, 1 to 255 octets.
    pub key: String,
}

/// The condition of a filter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AttributeTest {
    /// The attribute is there.
    Exists,
    /// It has this value.
    Is(String),
    /// It does not have this value, or is not there.
    IsNot(String),
}

/// A condition on an attribute. Displays as it is written: `KEY`, `KEY=VALUE`, `KEY!=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AttributeFilter {
    /// The attribute.
    pub key: AttributeKey,
    /// The condition.
    pub test: AttributeTest,
}

/// Filters, which must all hold, and keys to group by.
///
/// ```
/// use chronoscope_chain::AttributeSelection;
///
/// let selection = AttributeSelection::parse(&["tenant=acme", "leaf.error"], &["region"])?;
/// assert_eq!(selection.filters()[1].to_string(), "leaf.error");
/// assert!(AttributeSelection::parse(&["=acme"], &[]).is_err());
/// # Ok::<(), chronoscope_chain::AttributeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AttributeSelection {
    filters: Vec<AttributeFilter>,
    by: Vec<AttributeKey>,
}

/// Why filters or keys are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttributeError {
    /// A key without a letter.
    #[error("{text:?} has no key; expected KEY, KEY=VALUE or KEY!=VALUE")]
    NoKey {
        /// The filter or key as given.
        text: String,
    },
    /// A key that no attribute can have.
    #[error("the key has {octets} octets; at most 255 are stored")]
    LongKey {
        /// Its length.
        octets: usize,
    },
    /// Too many filters.
    #[error("{count} filters; at most {FILTERS_MAX} are possible")]
    Filters {
        /// Their number.
        count: usize,
    },
    /// Too many keys to group by.
    #[error("{count} keys to group by; at most {BY_MAX} are possible")]
    By {
        /// Their number.
        count: usize,
    },
}

impl AttributeSelection {
    /// Reads filters and keys as people write them.
    ///
    /// # Errors
    /// [`AttributeError`]: one has no key or too long a one, or there are too many.
    pub fn parse<T: AsRef<str>>(filters: &[T], by: &[T]) -> Result<Self, AttributeError> {
        let filters = filters.iter().map(|text| text.as_ref().parse());
        let by = by.iter().map(|text| text.as_ref().parse());
        Self::new(filters.collect::<Result<_, _>>()?, by.collect::<Result<_, _>>()?)
    }

    /// Filters, and keys to group by.
    ///
    /// # Errors
    /// [`AttributeError::Filters`] or [`AttributeError::By`]: there are too many.
    pub fn new(
        filters: Vec<AttributeFilter>,
        by: Vec<AttributeKey>,
    ) -> Result<Self, AttributeError> {
        if filters.len() > FILTERS_MAX {
            return Err(AttributeError::Filters { count: filters.len() });
        }
        if by.len() > BY_MAX {
            return Err(AttributeError::By { count: by.len() });
        }
        Ok(Self { filters, by })
    }

    /// Groups by one key.
    pub fn by_key(key: AttributeKey) -> Self {
        Self { filters: Vec::new(), by: vec![key] }
    }

    /// The filters, at most [`FILTERS_MAX`].
    pub fn filters(&self) -> &[AttributeFilter] {
        &self.filters
    }

    /// The keys to group by, at most [`BY_MAX`].
    pub fn by(&self) -> &[AttributeKey] {
        &self.by
    }

    /// The same with one more filter, and without groups: the durations of one group.
    ///
    /// # Errors
    /// [`AttributeError::Filters`]: there are too many then.
    pub fn of_group(&self, filter: AttributeFilter) -> Result<Self, AttributeError> {
        let filters = self.filters.iter().cloned().chain([filter]).collect();
        Self::new(filters, Vec::new())
    }

    /// Whether nothing is filtered or grouped.
    pub fn is_empty(&self) -> bool {
        self.filters.is_empty() && self.by.is_empty()
    }

    /// The filters alone.
    #[must_use]
    pub fn without_groups(&self) -> Self {
        Self { filters: self.filters.clone(), by: Vec::new() }
    }

    /// Whether the root's own attributes decide what passes the filters: then it is known also of
    /// roots that have no leaf.
    pub fn filters_roots(&self) -> bool {
        self.filters.iter().all(|filter| filter.key.place == AttributePlace::Root)
    }

    /// Whether the leaf's own attributes decide.
    pub fn is_of_leaf(&self) -> bool {
        let filters = self.filters.iter().map(|filter| filter.key.place);
        filters
            .chain(self.by.iter().map(|key| key.place))
            .all(|place| place == AttributePlace::Leaf)
    }
}

impl FromStr for AttributeKey {
    type Err = AttributeError;

    fn from_str(text: &str) -> Result<Self, AttributeError> {
        let (place, key) = match (text.strip_prefix("root."), text.strip_prefix("leaf.")) {
            (Some(key), _) => (AttributePlace::Root, key),
            (_, Some(key)) => (AttributePlace::Leaf, key),
            (None, None) => (AttributePlace::Any, text),
        };
        if key.is_empty() {
            return Err(AttributeError::NoKey { text: text.to_owned() });
        }
        if key.len() > 255 {
            return Err(AttributeError::LongKey { octets: key.len() });
        }
        Ok(Self { place, key: key.to_owned() })
    }
}

impl FromStr for AttributeFilter {
    type Err = AttributeError;

    fn from_str(text: &str) -> Result<Self, AttributeError> {
        let (key, test) = match text.split_once('=') {
            None => (text, AttributeTest::Exists),
            Some((key, value)) => match key.strip_suffix('!') {
                Some(key) => (key, AttributeTest::IsNot(value.to_owned())),
                None => (key, AttributeTest::Is(value.to_owned())),
            },
        };
        if key.is_empty() {
            return Err(AttributeError::NoKey { text: text.to_owned() });
        }
        Ok(Self { key: key.parse()?, test })
    }
}

impl fmt::Display for AttributeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.place {
            AttributePlace::Any => "",
            AttributePlace::Root => "root.",
            AttributePlace::Leaf => "leaf.",
        };
        write!(f, "{place}{}", self.key)
    }
}

impl fmt::Display for AttributeFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.test {
            AttributeTest::Exists => write!(f, "{}", self.key),
            AttributeTest::Is(value) => write!(f, "{}={value}", self.key),
            AttributeTest::IsNot(value) => write!(f, "{}!={value}", self.key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn filters_are_written_as_people_write_them() {
        let key = |place, key: &str| AttributeKey { place, key: key.to_owned() };
        let read = |text: &str| text.parse::<AttributeFilter>().unwrap();
        let filter = read("tenant=a=b");
        assert_eq!(filter.key, key(AttributePlace::Any, "tenant"));
        assert_eq!(filter.test, AttributeTest::Is("a=b".to_owned()), "a value may have an =");
        assert_eq!(read("root.x!=").test, AttributeTest::IsNot(String::new()));
        assert_eq!(read("root.x!=").key, key(AttributePlace::Root, "x"));
        assert_eq!(read("leaf.leaf.x").key, key(AttributePlace::Leaf, "leaf.x"));
        for text in ["tenant=a=b", "root.x!=", "leaf.leaf.x", "otel.kind=server"] {
            assert_eq!(read(text).to_string(), text);
        }
    }

    #[test]
    fn what_names_no_attribute_is_refused() {
        let refused = |filters: &[&str], by: &[&str]| {
            AttributeSelection::parse(filters, by).unwrap_err().to_string()
        };
        for text in ["", "=acme", "!=acme", "leaf.", "root.=1"] {
            assert!(refused(&[text], &[]).contains("has no key"), "{text:?}");
        }
        assert!(refused(&[], &[&"k".repeat(256)]).contains("256 octets"));
        assert!(refused(&["a"; 17], &[]).starts_with("17 filters"));
        assert!(refused(&[], &["a"; 3]).starts_with("3 keys"));
    }

    proptest! {
        #[test]
        fn a_filter_reads_back(text in "(root\\.|leaf\\.)?[a-z.]{1,9}(!?=[a-z=!]{0,5})?") {
            if let Ok(filter) = text.parse::<AttributeFilter>() {
                prop_assert_eq!(filter.to_string().parse(), Ok(filter));
            }
        }
    }
}
