//! Log lines of something that fails again and again.

use std::fmt::Display;

/// Log lines of a failing resource: at the first failure, each time the number of failures doubles, and
/// when it works again.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    times: u64,
}

impl Trouble {
    /// It has failed; the line that is to be logged.
    pub(super) fn failed(&mut self, error: &impl Display) -> Option<String> {
        self.times += 1;
        self.times.is_power_of_two().then(|| match self.times {
            1 => format!("{error}"),
            times => format!("{error} ({times} times so far)"),
        })
    }

    /// It has worked; the line that is to be logged if it failed before.
    pub(super) fn is_over(&mut self) -> Option<String> {
        match std::mem::take(&mut self.times) {
            0 => None,
            1 => Some("works again".to_owned()),
            times => Some(format!("works again, after it failed {times} times")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Trouble;
    use std::io;

    #[test]
    fn a_source_that_fails_says_so_ever_less_often() {
        let mut trouble = Trouble::default();
        let mut say = || trouble.failed(&io::Error::other("no network"));
        let said: Vec<_> = (0..1000).filter_map(|_| say()).collect();
        assert_eq!(said.len(), 10, "{said:?}");
        assert_eq!(said[..2], ["no network", "no network (2 times so far)"]);
        assert_eq!(trouble.is_over().unwrap(), "works again, after it failed 1000 times");
        assert_eq!(trouble.is_over(), None);
        assert_eq!(trouble.failed(&io::Error::other("gone")).unwrap(), "gone");
        assert_eq!(trouble.is_over().unwrap(), "works again");
    }
}
