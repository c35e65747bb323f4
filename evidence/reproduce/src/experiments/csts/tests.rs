//! What the series prints becomes figures. `series.json` is the output of a short series on a loaded
//! machine: its form counts here, not its figures.

use super::items;
use crate::outcome::{ItemResults, Verdict};
use chronoscope_published::{Judge, Published, PublishedItem, Value};

fn printed() -> serde_json::Value {
    serde_json::from_str(include_str!("series.json")).unwrap()
}

fn found() -> Vec<ItemResults> {
    items(&printed()).unwrap()
}

fn judged(item: &PublishedItem) -> impl Iterator<Item = &chronoscope_published::Figure> {
    item.figures.iter().filter(|figure| figure.is_judged())
}

/// The value of a figure.
fn of(found: &[ItemResults], item: &str, figure: &str) -> f64 {
    let item = found.iter().find(|one| one.item == item).unwrap();
    match item.of(figure).unwrap().ours {
        Some(Value::Number(number)) => number,
        other => panic!("{figure}: {other:?}"),
    }
}

#[test]
fn every_judged_figure_is_measured_and_has_its_cause_beside() {
    let published = Published::read().unwrap();
    let found = found();
    let mut count = 0;
    for results in &found {
        let item = published.item(&results.item).unwrap();
        for figure in judged(item) {
            let row = results.of(&figure.id);
            let is_there = row.is_some_and(|row| row.ours.is_some());
            assert!(is_there, "{}: {} is not measured", results.item, figure.id);
            let note = row.map_or("", |row| &row.note);
            assert!(!note.contains("NaN"), "{}: {}: {note}", results.item, figure.id);
            count += 1;
        }
        assert_ne!(results.verdict(item).0, Verdict::Missing, "{}", results.item);
    }
    assert_eq!((found.len(), count), (15, 33));
}

#[test]
fn every_judged_figure_can_fail() {
    let published = Published::read().unwrap();
    for results in found() {
        let item = published.item(&results.item).unwrap();
        for figure in judged(item) {
            let wrong = if figure.judge == Judge::AtLeast { -1e9 } else { 1e9 };
            let mut changed = results.clone();
            for row in changed.rows.iter_mut().filter(|row| row.figure == figure.id) {
                row.ours = Some(Value::Number(wrong));
            }
            let (verdict, why) = changed.verdict(item);
            assert_eq!(verdict, Verdict::Differs, "{}: {}", results.item, figure.id);
            assert!(why.contains(&figure.what), "{why}");
        }
    }
}

/// By hand, from the rows of `series.json`.
#[test]
fn figures_are_of_their_rows() {
    let found = found();
    let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 0.01;
    // The rows without radiation reports count, of both windows the smaller factor.
    assert!(near(of(&found, "csts.target", "in_one"), 2_245_679.0 / 476_592.0));
    assert!(near(of(&found, "csts.measurement2", "linear"), 0.864));
    assert!(near(of(&found, "csts.measurement4", "transfer_factor"), 1657.6));
    assert!(near(of(&found, "csts.measurement5_2", "of_iperf_1000"), 0.953));
    assert!(near(of(&found, "csts.table5", "window_gain"), 148.7));
    assert!(near(of(&found, "csts.summary1", "nagle_factor"), 1.05));
    assert!(near(of(&found, "csts.step2", "buffers"), 0.89));
    assert!(near(of(&found, "csts.confirmed", "factor_8000"), 5669.67 / 20_200.47));
    assert!(near(of(&found, "csts.buffering", "four_to_one"), 5696.56 / 1228.85));
    assert!(near(of(&found, "csts.buffering", "concatenated_factor"), 1.016));
    assert_eq!(of(&found, "csts.buffering_graph", "falling"), 5.0);
    assert!(near(of(&found, "csts.asn1", "with_frames_pct"), 4.93));
}

#[test]
fn without_a_table_the_experiment_says_which() {
    let mut printed = printed();
    printed["steps"][5]["tables"] = serde_json::json!([]);
    let error = items(&printed).unwrap_err().to_string();
    assert_eq!(error, "the series has no table Encoding of the transfer buffer");
}
