//! Values that many clients have in common, each in memory once.

use std::sync::Arc;

/// Most values that are remembered: clients choose some of them, and none may fill the memory.
const VALUES_MAX: usize = 64;

/// Values in use, the last ones that were new.
#[derive(Debug)]
pub(super) struct Shared<T>(Vec<Arc<T>>);

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: PartialEq> Shared<T> {
    /// The value, in the place where an equal one is, if one is remembered.
    pub(super) fn share(&mut self, value: T) -> Arc<T> {
        if let Some(known) = self.0.iter().find(|known| ***known == value) {
            return Arc::clone(known);
        }
        let value = Arc::new(value);
        self.0.retain(|known| Arc::strong_count(known) > 1);
        if self.0.len() < VALUES_MAX {
            self.0.push(Arc::clone(&value));
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::{Shared, VALUES_MAX};
    use std::sync::Arc;

    #[test]
    fn equal_values_are_one_and_none_stays_that_nobody_has() {
        let mut shared = Shared::default();
        let one = shared.share("one".to_owned());
        assert!(Arc::ptr_eq(&one, &shared.share("one".to_owned())));
        drop(one);
        let many: Vec<_> =
            (0..2 * VALUES_MAX).map(|number| shared.share(number.to_string())).collect();
        assert_eq!(shared.0.len(), VALUES_MAX);
        assert_eq!(*many[2 * VALUES_MAX - 1], (2 * VALUES_MAX - 1).to_string());
        drop(many);
        let two = shared.share("two".to_owned());
        assert_eq!(shared.0, [two]);
    }
}
