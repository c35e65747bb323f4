//! The documents' own arithmetic: printed figures that follow from other printed figures.
#![allow(clippy::unwrap_used)]

use chronoscope_published::Published;

/// Whether two numbers agree within a part of the first.
fn agree(printed: f64, computed: f64, within: f64) -> bool {
    (printed - computed).abs() <= printed.abs() * within
}

/// ETFMS, slide 2: 20 persons, 6 months, a change of 1 % each a month.
#[test]
fn a_hundred_and_twenty_changes_of_one_percent() {
    let published = Published::read().unwrap();
    let of = |figure: &str| published.number("etfms.target", figure).unwrap();
    let changes = 6 * 20;
    assert!(agree(of("slower_optimistic"), 1.0 + f64::from(changes) * 0.01, 1e-9));
    assert!(agree(of("slower_pessimistic"), 1.01_f64.powi(changes), 0.01));
}

/// CSTS, slide 14: octets and durations give the rates, and the number of CLTUs the time of each.
#[test]
fn the_rates_of_the_space_link_follow_from_its_durations() {
    let published = Published::read().unwrap();
    let rows = published.rows("csts.table5").unwrap();
    assert_eq!(rows.len(), 11);
    for row in rows {
        let of = |column: usize| row[column].number().unwrap();
        let [octets, cltus, data, seconds] = [of(2), of(3), of(4), of(5)];
        assert!(agree(data, octets * cltus, 1e-9), "{row:?}");
        assert!(agree(of(6), data * 8.0 / seconds / 1e6, 1e-3), "{row:?}");
        assert!(agree(of(7), seconds * 1e3 / cltus, 2e-3), "{row:?}");
        assert!(agree(of(8), cltus / seconds, 1e-4), "{row:?}");
    }
}
