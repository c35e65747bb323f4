//! Faults for the status page.

use crate::status::Fault;

/// Most rows; a new one then takes the place of the oldest.
const FAULTS_MAX: usize = 64;

/// Current faults by name, in the order in which they first occurred.
#[derive(Debug, Default)]
pub(super) struct Faults {
    rows: Vec<Fault>,
}

impl Faults {
    /// Raises a fault, or counts one more occurrence of it.
    pub(super) fn raise(&mut self, name: &'static str, text: &str, utc_ns: i64) {
        if let Some(row) = self.rows.iter_mut().find(|row| row.name == name) {
            text.clone_into(&mut row.text);
            row.count += 1;
            return;
        }
        if self.rows.len() == FAULTS_MAX {
            self.rows.remove(0);
        }
        let text = text.to_owned();
        self.rows.push(Fault { name, text, since_utc_ns: utc_ns, count: 1 });
    }

    /// Removes a fault: its cause is gone.
    pub(super) fn over(&mut self, name: &str) {
        self.rows.retain(|row| row.name != name);
    }

    /// The latest first.
    pub(super) fn list(&self) -> Vec<Fault> {
        self.rows.iter().rev().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Faults;

    #[test]
    fn a_fault_is_one_row_until_it_is_over() {
        let mut faults = Faults::default();
        faults.raise("no_uplink", "connection refused", 10);
        faults.raise("log", "no space", 15);
        faults.raise("no_uplink", "timed out", 20);
        let rows = faults.list();
        assert_eq!((rows[0].name, rows.len()), ("log", 2));
        assert_eq!(
            (rows[1].text.as_str(), rows[1].count, rows[1].since_utc_ns),
            ("timed out", 2, 10)
        );
        faults.over("no_uplink");
        assert_eq!(faults.list().len(), 1);
    }
}
