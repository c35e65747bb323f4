//! Likely causes of contradictory rows. They are printed beside a remark, so that a reader knows
//! where to look.

use chronoscope_model::{ClassName, Transaction};
use std::collections::BTreeMap;

/// Smallest number of rows of a source that shows the resolution of its clock: by chance 20 stamps
/// of a finer clock end in whole milliseconds once in 10^60.
const ROWS_MIN: u64 = 20;
const MILLISECOND_NS: i64 = 1_000_000;

/// A remark about rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remark {
    /// Rows have the same id.
    RepeatedId,
    /// A row starts before its parent, and both are of one host.
    BeforeParentOnOneHost,
    /// A row starts before its parent, which is of another host.
    BeforeParentAcrossHosts,
}

/// The likely cause of a remark, as the end of a sentence.
pub(crate) const fn likely(remark: Remark) -> &'static str {
    match remark {
        Remark::RepeatedId => "likely a batch that was sent twice by an exporter without a key",
        Remark::BeforeParentOnOneHost => {
            "likely a source that stamps at reduced resolution, or two clocks within one host \
             (container, virtual machine)"
        }
        Remark::BeforeParentAcrossHosts => "likely clocks of two hosts that disagree",
    }
}

/// Whether a row and its parent are of one host, as far as both are known.
pub(crate) fn before_parent(row: &Transaction, parent: &Transaction) -> Remark {
    let host = |t: &Transaction| t.process.as_ref().map(|process| process.host.clone());
    match host(row).filter(|host| !host.is_empty()) {
        Some(own) if host(parent) == Some(own.clone()) => Remark::BeforeParentOnOneHost,
        _ => Remark::BeforeParentAcrossHosts,
    }
}

/// Start stamps by source (an application), to find those whose clock has whole milliseconds.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    sources: BTreeMap<String, Resolution>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Resolution {
    rows: u64,
    is_finer: bool,
}

impl Stamps {
    /// Collects the stamps of rows.
    pub(crate) fn of<'a>(rows: impl IntoIterator<Item = &'a Transaction>) -> Self {
        let mut stamps = Self::default();
        for row in rows {
            stamps.add(&row.class, row.start_ns);
        }
        stamps
    }

    /// Takes the start of a row: UTC, nanoseconds since 1970.
    pub(crate) fn add(&mut self, class: &ClassName, start_ns: i64) {
        if !self.sources.contains_key(&class.application) {
            self.sources.insert(class.application.clone(), Resolution::default());
        }
        if let Some(source) = self.sources.get_mut(&class.application) {
            source.rows += 1;
            source.is_finer |= start_ns % MILLISECOND_NS != 0;
        }
    }

    /// A sentence for each source whose stamps are whole milliseconds.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let coarse = self.sources.iter().filter(|(_, s)| !s.is_finer && s.rows >= ROWS_MIN);
        let sentence = |source: &str| {
            format!(
                "stamps of {source} have a resolution of 1 ms: durations below that say nothing"
            )
        };
        coarse.map(|(source, _)| sentence(source)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::{Names, ProcessName, Record};

    fn row(host: &str) -> Transaction {
        let mut row = Transaction::from_record(&Record::default(), b"", &Names::default());
        let application = "shop".to_owned();
        row.process = Some(ProcessName { application, host: host.into(), pid: 1, start_ns: 0 });
        row
    }

    #[test]
    fn a_leaf_before_its_parent_on_one_host_has_another_cause_than_across_hosts() {
        let of = |own: &str, parent: &str| likely(before_parent(&row(own), &row(parent)));
        assert!(of("a", "a").contains("reduced resolution, or two clocks within one host"));
        assert!(of("a", "b").contains("clocks of two hosts"));
        assert_eq!(of("", ""), of("a", "b"), "hosts that nobody named may be two");
    }

    #[test]
    fn whole_milliseconds_of_twenty_rows_are_a_coarse_clock() {
        let class = |application: &str| ClassName {
            application: application.into(),
            class: "checkout".into(),
        };
        let mut stamps = Stamps::default();
        for n in 0..20 {
            stamps.add(&class("browser"), n * MILLISECOND_NS);
            stamps.add(&class("server"), n * MILLISECOND_NS + i64::from(n == 7));
        }
        (0..19).for_each(|n| stamps.add(&class("few"), n * MILLISECOND_NS));
        assert_eq!(
            stamps.remarks(),
            ["stamps of browser have a resolution of 1 ms: durations below that say nothing"]
        );
    }
}
