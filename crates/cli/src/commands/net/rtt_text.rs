//! Round trips in words, and as a picture.

use super::rtt_measured::Measured;
use crate::text::{Table, bar, count, duration};
use chronoscope_net::probe::rounds::Probed;
use chronoscope_net::probe::{Prober, Summary};
use chronoscope_statistics::{Quantile, nearest_rank};
use std::fmt::Write;

/// Lines of a histogram at most.
const LINES_MAX: usize = 16;
/// Cells of its longest bar.
const BAR_CELLS: usize = 50;

/// One line for each target.
pub(super) fn table(measured: &Measured) -> String {
    let heading = ["target", "first", "best", "p50", "p90", "p99", "max", "steady", "lost"];
    let mut table = Table::new(&heading);
    for (prober, probed, summary) in &measured.targets {
        let time = |ns: Option<u64>| ns.map_or("–".to_owned(), |ns| duration(ns as f64));
        table.row(vec![
            prober.target().to_string(),
            time(summary.first_ns),
            time(summary.best_ns),
            time(summary.p50_ns),
            time(summary.p90_ns),
            time(summary.p99_ns),
            time(summary.max_ns),
            count(summary.count),
            count(probed.losses.values().sum()),
        ]);
    }
    table.to_string()
}

/// Remarks on the figures.
pub(super) fn notes(measured: &Measured) -> String {
    let mut text = String::new();
    for (prober, probed, summary) in &measured.targets {
        about(&mut text, prober, probed, summary);
    }
    let timer = measured.timer;
    let _ = writeln!(
        text,
        "clock: its smallest step is {}, reading it takes {}",
        duration(timer.step_ns as f64),
        duration(timer.read_ns)
    );
    let loads = measured.targets.iter().map(|(prober, _, summary)| {
        let octets = summary.per_second * prober.octets() as f64;
        (summary.per_second, octets)
    });
    let most = loads
        .fold((0.0_f64, 0.0_f64), |(r, o), (requests, octets)| (r.max(requests), o.max(octets)));
    let _ = writeln!(
        text,
        "load: at most {:.0} requests and {:.0} octets a second, asked of each target",
        most.0, most.1
    );
    text
}

fn about(text: &mut String, prober: &Prober, probed: &Probed, summary: &Summary) {
    let target = prober.target();
    if let Some(error) = &probed.error {
        let _ = writeln!(text, "{target}: {error}");
    }
    for (loss, times) in &probed.losses {
        let _ = writeln!(text, "{target}: {} lost: {loss}", count(*times));
    }
    if summary.count > 0 && probed.missed > 0 {
        let _ = writeln!(
            text,
            "{target}: {} turns were missed while a late reply was awaited: who asks without \
             waiting for replies sees more of the long ones",
            count(probed.missed)
        );
    }
    if probed.sat_out > 0 {
        let _ = writeln!(
            text,
            "{target}: left out of {} rounds, so that the others need not wait for it",
            count(probed.sat_out)
        );
    }
    if let Some(around_ns) = nearest_rank(&probed.around_ns, Quantile::P50) {
        let _ = writeln!(
            text,
            "{target}: measured by the program; the way to it and back takes {} beside (p50)",
            duration(around_ns as f64)
        );
    }
    if target.keeps_connection() && prober.connections() > 1 {
        let again = prober.connections() - 1;
        let _ = writeln!(text, "{target}: connected again {} times", count(again));
    }
}

/// Histograms of the steady round trips.
pub(super) fn histograms(measured: &Measured) -> String {
    let mut text = String::new();
    for (prober, probed, _) in &measured.targets {
        let all = probed.series.ascending();
        if !all.is_empty() {
            let _ = write!(text, "\n{}\n{}", prober.target(), histogram(&all));
        }
    }
    text
}

/// Histogram of ascending values in nanoseconds. The bounds of each line have the same ratio.
fn histogram(ascending: &[u64]) -> String {
    let (Some(&least), Some(&most)) = (ascending.first(), ascending.last()) else {
        return String::new();
    };
    let least = least.max(1) as f64;
    // Tenths of a power of ten, or as much more as keeps it on a screen.
    let mut steps_per_decade = 10.0;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most 200
    let index = |ns: u64, steps: f64| ((ns.max(1) as f64 / least).log10() * steps) as usize;
    while index(most, steps_per_decade) >= LINES_MAX {
        steps_per_decade /= 1.25;
    }
    let mut lines = vec![0_u64; index(most, steps_per_decade) + 1];
    for ns in ascending {
        lines[index(*ns, steps_per_decade)] += 1;
    }
    let largest = lines.iter().copied().max().unwrap_or(0);
    let mut table = Table::new(&["from", "count", ""]);
    for (at, times) in lines.iter().enumerate() {
        let from = least * 10_f64.powf(at as f64 / steps_per_decade);
        let bar = bar(*times, largest, BAR_CELLS);
        table.row(vec![duration(from), count(*times), format!("{bar:<BAR_CELLS$}")]);
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_has_everything_and_fits_a_screen() {
        let values: Vec<u64> = (0..40).map(|i| 1000 * 3_u64.pow(i / 3)).collect();
        let text = histogram(&values);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() <= LINES_MAX + 1, "{text}");
        let counts = lines[1..].iter().map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words[2].parse::<u64>().unwrap()
        });
        assert_eq!(counts.sum::<u64>(), 40, "{text}");
        assert!(lines[1].starts_with("1.00 µs"), "{text}");
    }

    #[test]
    fn of_equal_values_one_line() {
        assert_eq!(histogram(&[500, 500]).lines().count(), 2);
        assert_eq!(histogram(&[0]).lines().count(), 2);
        assert_eq!(histogram(&[]), "");
    }
}
