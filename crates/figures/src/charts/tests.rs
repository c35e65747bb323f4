//! Tests of charts.

#![allow(clippy::unwrap_used)] // a test may panic

use super::shapes::{LETTERS, MARGIN_RIGHT, text_width};
use super::*;
use crate::numbers;

fn chart() -> Chart {
    let cells = Series::cells(9.0, 1.0, vec![[200.0, 2.0, 7.0], [300.0, 2.0, 1.0]]);
    let mark = Mark { upright: false, at: 4.0, label: "limit".to_owned() };
    Chart {
        series: vec![
            Series::new("ours", Style::Line, [(100.0, 1.0), (1000.0, 10.0), (0.0, 5.0)]),
            Series::new("a<b\u{1b}", Style::Points, [(100.0, 0.5)]).coloured(Colour::Series(1)),
            Series::new("", Style::Bars(3.0), [(100.0, 0.5)]),
            cells,
        ],
        marks: vec![mark],
        ..Chart::new("Rates & more", Axis::log("octets"), Axis::linear("Mbit/s"))
    }
}

fn count(svg: &str, part: &str) -> usize {
    svg.matches(part).count()
}

/// The attribute of the first element whose text this is.
fn attribute(svg: &str, text: &str, name: &str) -> f64 {
    let end = svg.find(&format!(">{text}</text>")).unwrap();
    let tag = &svg[svg[..end].rfind("<text").unwrap()..end];
    let from = tag.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
    tag[from..].split('"').next().unwrap().parse().unwrap()
}

/// Two points of a line and one point; what has no logarithm is left out.
#[test]
fn each_value_is_an_element() {
    let svg = chart().document(820.0, 380.0, Theme::Light).to_string();
    assert_eq!([count(&svg, "<circle"), count(&svg, "fill-opacity=\"1\"")], [3, 1]);
    assert_eq!([count(&svg, "class=\"mark\""), count(&svg, "class=\"legend\"")], [1, 1]);
    for text in ["Rates &amp; more", "octets", "Mbit/s", "limit", "ours", "a&lt;b\u{fffd}"] {
        assert_eq!(count(&svg, &format!(">{text}</text>")), 1, "{text}");
    }
}

/// The first and the last tick are where the axis says, and equal ratios are equally long.
#[test]
fn ticks_are_at_their_values() {
    let lines = Series::new("", Style::Line, [(1.0, 0.0), (100.0, 8.0)]);
    let (x, y) = (Axis::log("n").within(1.0, 100.0), Axis::linear("ms").within(0.0, 8.0));
    let chart = Chart { series: vec![lines], ..Chart::new("", x, y) };
    let svg = chart.document(600.0, 300.0, Theme::Light).to_string();
    let at = |text: &str| attribute(&svg, text, "x");
    let ratio = (at("10") - at("1")) / (at("100") - at("10"));
    assert!(
        (ratio - 1.0).abs() < 1e-3 && (at("100") - (600.0 - MARGIN_RIGHT)).abs() < 0.1,
        "{svg}"
    );
    let down = |text: &str| attribute(&svg, text, "y");
    assert!(down("8") < down("4") && down("4") < down("0"), "{svg}");
}

/// Labels of large numbers get the room that they need, and those below do not overlap.
#[test]
fn no_label_is_cut_off() {
    let points = (0..50_u32).map(|n| (f64::from(n) * 1e7, f64::from(n) * 1e9));
    let series = vec![Series::new("", Style::Points, points)];
    let chart = Chart { series, ..Chart::new("", Axis::linear("x"), Axis::linear("y")) };
    let frame = chart.frame(Area { x: 0.0, y: 0.0, width: 400.0, height: 300.0 }, Theme::Light);
    let widest = frame.y.ticks.iter().map(|(_, text)| text_width(text)).fold(0.0, f64::max);
    assert!(frame.plot.x - 8.0 - widest > LETTERS, "{}", frame.plot.x);
    let ends: Vec<_> = frame
        .x
        .ticks
        .iter()
        .map(|(value, text)| {
            let half = text_width(text) / 2.0;
            (frame.x(*value) - half, frame.x(*value) + half)
        })
        .collect();
    assert!(ends.len() > 1 && ends.windows(2).all(|pair| pair[0].1 < pair[1].0), "{ends:?}");
}

/// A line that rises is met in the corners at its ends; the legend is in another one.
#[test]
fn the_legend_is_where_it_hides_least() {
    let place = |last: f64| {
        let line = Series::new("rate", Style::Line, [(0.0, 10.0 - last), (10.0, last)]);
        let chart =
            Chart { series: vec![line], ..Chart::new("", Axis::linear(""), Axis::linear("")) };
        let svg = chart.document(600.0, 300.0, Theme::Light).to_string();
        attribute(&svg, "rate", "x") > 300.0
    };
    assert_eq!([place(10.0), place(0.0)], [false, true]);
}

#[test]
fn a_page_lends_its_colours() {
    let svg = chart().draw(Area { x: 0.0, y: 0.0, width: 820.0, height: 380.0 }, Theme::Page);
    let svg = svg.to_string();
    assert!(svg.contains("var(--c0)") && svg.contains("var(--ink)") && !svg.contains("\"#"));
}

#[test]
fn times_are_labelled_as_they_are_named() {
    let minute = 60_000_000_000_i64;
    let x = Axis::time("start", [0, 10 * minute], 0, |ns| format!("12:{:02}", ns / minute));
    let chart = Chart::new("", x, Axis::linear(""));
    let svg = chart.document(900.0, 300.0, Theme::Light).to_string();
    assert!(svg.contains(">12:00</text>") && svg.contains(">12:10</text>"), "{svg}");
}

#[test]
fn nothing_is_drawn_as_axes_alone() {
    let empty = Chart { series: vec![Series::new("", Style::Line, [])], ..chart() };
    assert!(empty.document(820.0, 380.0, Theme::Light).to_string().contains("octets"));
    let same = Chart { series: vec![Series::new("", Style::Points, [(0.0, 0.0)])], ..chart() };
    assert!(!same.document(820.0, 380.0, Theme::Light).to_string().contains("NaN"));
}

#[test]
fn bars_are_as_long_as_their_values() {
    let row = |name: &str, before, value| BarRow {
        name: name.to_owned(),
        before,
        value,
        text: numbers::decimal(value, 3),
        colour: Colour::Series(0),
    };
    let rows = vec![row("a<b", Some(10.0), 20.0), row(&"long".repeat(40), None, 5.0)];
    let bars = Bars { title: "cores".to_owned(), rows };
    let svg = bars.document(1200.0, Theme::Light).to_string();
    let width = |part: &str| -> f64 { part.split('"').next().unwrap().parse().unwrap() };
    let widths: Vec<f64> = svg
        .split("<rect")
        .skip(2)
        .map(|rect| width(&rect[rect.find(" width=\"").unwrap() + 8..]))
        .collect();
    assert_eq!(widths.len(), 3);
    assert!(
        (widths[1] / widths[0] - 2.0).abs() < 0.01 && (widths[1] / widths[2] - 4.0).abs() < 0.1
    );
    assert!(svg.contains("…</text>") && svg.contains("a&lt;b") && svg.contains(">20.000<"));
}
