//! A history as a picture of characters, for a terminal.

use chronoscope_figures::numbers;
use std::fmt::Write;

use super::chart::percent;
use super::scale::Scale;
use super::series::Series;
use crate::report::figure;

/// Rows of the picture.
const ROWS: usize = 8;

/// The picture, at most `width` values wide (the last ones), and the steps below it.
pub fn picture(series: &Series, width: usize) -> String {
    let mut page = String::new();
    // Writing into a string cannot fail.
    let _ = write_page(&mut page, series, width.max(8));
    page
}

fn write_page(page: &mut String, series: &Series, width: usize) -> std::fmt::Result {
    let (name, runs) = (series.name(), series.points.len());
    writeln!(page, "{name}: {} over {runs} runs", series.figure)?;
    let first = series.points.len().saturating_sub(width);
    let values: Vec<f64> = series.points[first..].iter().map(|point| point.value).collect();
    let scale = Scale::of(&values, series.floor);
    let marks: Vec<usize> =
        series.changes.iter().filter_map(|step| step.index.checked_sub(first)).collect();
    for row in (0..ROWS).rev() {
        let label = match row {
            0 => figure(&series.figure, scale.low),
            r if r == ROWS - 1 => figure(&series.figure, scale.high),
            _ => String::new(),
        };
        let cells = values.iter().enumerate().map(|(index, value)| match row_of(&scale, *value) {
            at if at == row => '●',
            _ if marks.contains(&index) => '│',
            _ => ' ',
        });
        let cells: String = cells.collect();
        writeln!(page, "{label:>18} ┤{}", cells.trim_end())?;
    }
    if series.changes.is_empty() {
        return writeln!(page, "  no step of more than {}", numbers::percent(series.floor, 4));
    }
    for step in &series.changes {
        let (before, after) =
            (figure(&series.figure, step.before), figure(&series.figure, step.after));
        let change = percent(step.change);
        writeln!(page, "  {change}  {before} -> {after}  at {}  {}", step.run, step.title)?;
    }
    Ok(())
}

fn row_of(scale: &Scale, value: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to ROWS-1")]
    let row = (scale.part(value) * (ROWS - 1) as f64).round() as usize;
    row
}

#[cfg(test)]
mod tests {
    use super::super::{ChangePoint, Point};
    use super::*;
    use crate::compare::Exactness;

    #[test]
    fn a_step_is_seen_and_named() {
        let values = [1000.0, 1000.0, 1001.0, 1100.0, 1100.0];
        let point = |value: &f64| Point {
            run: "r".into(),
            title: "t".into(),
            started_ns: 0,
            value: *value,
        };
        let step = ChangePoint {
            index: 3,
            run: "4-abc".into(),
            title: "abc slower".into(),
            before: 1000.0,
            after: 1100.0,
            change: 0.1,
        };
        let series = Series {
            item: "sort".into(),
            process: "bench".into(),
            figure: "instructions".into(),
            exactness: Exactness::Serialised,
            floor: 1e-5,
            points: values.iter().map(point).collect(),
            changes: vec![step],
            noise: Some(0.0),
        };
        let page = picture(&series, 80);
        let lines: Vec<&str> = page.lines().collect();
        assert_eq!(lines[0], "sort/bench: instructions over 5 runs");
        assert_eq!(lines[1], "             1,100 ┤   ●●");
        assert_eq!(lines[8], "             1,000 ┤●●●│");
        assert_eq!(lines[9], "  +10.0000 %  1,000 -> 1,100  at 4-abc  abc slower");
        // Only the last values fit; the step's mark is where it was.
        let narrow = picture(
            &Series {
                points: [&series.points[..], &series.points, &series.points].concat(),
                ..series
            },
            8,
        );
        assert!(narrow.contains("over 15 runs"), "{narrow}");
    }
}
