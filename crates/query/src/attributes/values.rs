//! The values of a key, as numbers, within a bound.

use chronoscope_model::hash::hash_bytes;
use std::collections::HashMap;
use std::sync::Arc;

/// Number of a row without the attribute.
pub(crate) const NONE: u32 = 0;
/// Number of values that are not told apart.
pub(crate) const OTHERS: u32 = 1;

/// Numbers of a group's values, one for each key; [`NONE`] where there is no such key.
pub(crate) type GroupNumbers = [u32; 2];

/// Largest number of values of a key that are told apart.
pub const VALUES_MAX: usize = 65_536;
/// Longest value that is told apart, in octets.
pub const VALUE_BYTES_MAX: usize = 255;

/// The values of a key, numbered as they come.
///
/// Beyond the bound the values with the larger hashes are no longer told apart. Which values are
/// left depends on the set of values alone, not on the order in which threads find them: hashes
/// below 2⁶⁴⁻ᵏ stay, for the smallest `k` for which they are few enough.
#[derive(Debug)]
pub(crate) struct ValueTable {
    numbers: HashMap<Arc<str>, u32>,
    /// By number; `None` where the value is not told apart.
    texts: Vec<Option<Arc<str>>>,
    /// Leading zero bits that a hash has to have.
    zeros: u32,
    most: usize,
}

impl Default for ValueTable {
    fn default() -> Self {
        Self::new(VALUES_MAX)
    }
}

impl ValueTable {
    /// An empty table for `most` values.
    pub(crate) fn new(most: usize) -> Self {
        Self { numbers: HashMap::new(), texts: vec![None, None], zeros: 0, most }
    }

    /// The number of a value.
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        if text.len() > VALUE_BYTES_MAX || !self.stays(text) {
            return OTHERS;
        }
        let text: Arc<str> = text.into();
        let number = u32::try_from(self.texts.len()).unwrap_or(OTHERS);
        self.texts.push(Some(text.clone()));
        self.numbers.insert(text.clone(), number);
        while self.numbers.len() > self.most {
            self.zeros += 1;
            let zeros = self.zeros;
            let texts = &mut self.texts;
            self.numbers.retain(|text, number| {
                let stays = leading_zeros(text) >= zeros;
                if !stays && let Some(text) = texts.get_mut(*number as usize) {
                    *text = None;
                }
                stays
            });
        }
        self.numbers.get(&text).copied().unwrap_or(OTHERS)
    }

    fn stays(&self, text: &str) -> bool {
        self.zeros == 0 || leading_zeros(text) >= self.zeros
    }

    /// The value of a number; `None` where it is not told apart, and for [`NONE`].
    pub(crate) fn text(&self, number: u32) -> Option<&Arc<str>> {
        self.texts.get(number as usize)?.as_ref()
    }

    /// Whether there were more values than are told apart.
    pub(crate) fn is_cut(&self) -> bool {
        self.zeros > 0
    }
}

fn leading_zeros(text: &str) -> u32 {
    hash_bytes(text.as_bytes()).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_value_has_one_number_and_long_ones_have_none() {
        let mut table = ValueTable::default();
        let acme = table.number("acme");
        assert_eq!((table.number("acme"), table.text(acme).unwrap().as_ref()), (acme, "acme"));
        assert_ne!(table.number(""), acme);
        assert_eq!(table.number(&"v".repeat(256)), OTHERS);
        assert_eq!((table.text(OTHERS), table.text(NONE)), (None, None));
        assert!(!table.is_cut());
    }

    proptest! {
        /// The promise in the docs: the order does not decide which values are told apart.
        #[test]
        fn what_is_left_does_not_depend_on_the_order(
            values in prop::collection::hash_set(0u32..5000, 0..400),
            most in 1usize..100,
            turn in 0usize..400,
        ) {
            let mut values: Vec<String> = values.into_iter().map(|n| n.to_string()).collect();
            let left = |values: &[String]| {
                let mut table = ValueTable::new(most);
                let numbers: Vec<u32> = values.iter().map(|text| table.number(text)).collect();
                let texts = numbers.iter().filter_map(|number| table.text(*number));
                let mut texts: Vec<String> = texts.map(ToString::to_string).collect();
                texts.sort();
                texts.dedup();
                (texts, table.is_cut())
            };
            let first = left(&values);
            prop_assert!(first.0.len() <= most);
            prop_assert_eq!(first.1, values.len() > most);
            prop_assert!(first.1 || first.0.len() == values.len());
            let at = turn.min(values.len());
            values.rotate_left(at);
            prop_assert_eq!(left(&values), first);
        }
    }
}
