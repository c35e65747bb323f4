//! Step 1, the slides' measurements 1 to 3: curves over the length of a CLTU, with the settings of
//! each slide, and what shape they have.

use super::optimisations::of_slide;
use super::{MEASURED, filled, measured_cells};
use crate::pair::Whose;
use crate::series::{Series, Step};
use crate::table::{Cell, Table, number, words};
use crate::test_path::TestPath;
use anyhow::Result;
use chronoscope_figures::numbers::decimal;
use chronoscope_statistics::{Line, exponent};

/// From NASA's frames to the longest data unit of the document, about doubling.
const LENGTHS: [u32; 7] = [100, 250, 500, 1000, 2000, 4000, 8000];

/// A point of a curve.
struct Point {
    octets: f64,
    /// Time for a CLTU: the inverse of the rate.
    us: f64,
    /// CPU of both processes for a CLTU; NaN where nobody measured it.
    cpu_us: f64,
}

pub(super) fn take(series: &Series, step: &mut Step, place: &TestPath) -> Result<()> {
    let mut columns = vec![
        number("slide", "measurement", 0),
        number("octets", "octets", 0),
        number("us_per_cltu", "µs/CLTU", 2),
        number("cpu_us", "CPU µs/CLTU", 2),
    ];
    columns.extend(MEASURED);
    let title =
        format!("Settings of the slides' measurements 1 to 3 over length; {}", place.name());
    let table = Table::new(title, &columns);
    let mut shapes = Table::new(
        "Shape over the length: exponents of throughput and of time, and time as a line",
        &[
            words("curve", "measurement"),
            number("lengths", "lengths", 0),
            number("from", "from", 0),
            number("to", "to octets", 0),
            number("exponent", "throughput ~ octets^", 3),
            number("cpu_exponent", "CPU ~ octets^", 3),
            number("fixed_us", "fixed µs", 2),
            number("ns_per_octet", "ns an octet", 3),
            number("equal_octets", "equal at octets", 0),
        ],
    );
    let filled = filled(step, table, |_, table| {
        for slide in 1..=3 {
            let mut points = Vec::new();
            for octets in LENGTHS {
                let work = of_slide(slide, octets);
                let what = format!("measurement {slide}, {octets} octets");
                let pair = [Whose::Ours, Whose::Ours];
                let measured = series.take(&what, place, pair, &work, series.stalling(&work))?;
                let us = measured.as_ref().map(|m| m.unit_us());
                let cpu_us = measured.as_ref().map(|m| m.cpu_us());
                points.extend(us.zip(cpu_us).map(|(us, cpu_us)| Point {
                    octets: f64::from(octets),
                    us,
                    cpu_us,
                }));
                let [a, b, c, d, e] = measured_cells(measured.as_ref());
                table.row([slide.into(), octets.into(), us.into(), cpu_us.into(), a, b, c, d, e]);
            }
            shape(&mut shapes, &slide.to_string(), &points);
        }
        Ok(())
    });
    shape(&mut shapes, "document", &published(series));
    step.words.extend(said(&shapes));
    step.tables.push(shapes);
    filled
}

/// The document's times for a CLTU without delay, at its three lengths: its curves have no figures.
fn published(series: &Series) -> Vec<Point> {
    let near = series.published.rtt.iter().filter(|row| row.rtt_ms < 1.0);
    let near = near.map(|row| (f64::from(row.cltu_octets), 1e6 / row.cltus_per_s));
    let confirmed = series.published.confirmed.iter().map(|row| {
        let octets = f64::from(row.octets);
        (octets, octets * 8.0 / row.cltu_mbit_per_s)
    });
    near.chain(confirmed).map(|(octets, us)| Point { octets, us, cpu_us: f64::NAN }).collect()
}

/// A row of what shape a curve has; nothing where it has too few points.
fn shape(table: &mut Table, curve: &str, points: &[Point]) {
    let of = |y: fn(&Point) -> f64| points.iter().map(|p| (p.octets, y(p))).collect::<Vec<_>>();
    let Some(line) = Line::fit_relative(&of(|p| p.us)) else { return };
    let octets = || points.iter().map(|point| point.octets);
    let equal = line.constant / line.slope;
    table.row([
        curve.into(),
        (points.len() as f64).into(),
        octets().fold(f64::INFINITY, f64::min).into(),
        octets().fold(0.0, f64::max).into(),
        exponent(&of(|p| p.octets / p.us)).into(),
        exponent(&of(|p| p.cpu_us)).into(),
        line.constant.into(),
        (line.slope * 1e3).into(),
        Some(equal).filter(|octets| *octets > 0.0).into(),
    ]);
}

/// The shapes in words.
fn said(shapes: &Table) -> Vec<String> {
    let rows = shapes.rows.iter().filter_map(|row| match (&row[0], &row[4], &row[6], &row[7]) {
        (Cell::Text(curve), Cell::Number(exponent), Cell::Number(fixed), Cell::Number(each)) => {
            let curve = match curve.as_str() {
                "document" => "document".to_owned(),
                slide => format!("measurement {slide}"),
            };
            Some(format!(
                "{curve}: throughput ~ octets^{exponent:.3}; a CLTU takes {} µs + {} ns an octet",
                decimal(*fixed, 2),
                decimal(*each, 3)
            ))
        }
        _ => None,
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time constant over the length: throughput linear in it.
    #[test]
    fn the_shape_of_a_constant_time_is_a_linear_throughput() {
        let mut table = Table::new("x", &[words("a", "a"); 9]);
        let points = LENGTHS.map(|octets| Point { octets: octets.into(), us: 300.0, cpu_us: 20.0 });
        shape(&mut table, "1", &points);
        let number = |at: usize| match &table.rows[0][at] {
            Cell::Number(number) => *number,
            other => panic!("{other:?}"),
        };
        assert_eq!([number(1), number(2), number(3)], [7.0, 100.0, 8000.0]);
        assert!((number(4) - 1.0).abs() < 1e-9 && number(5).abs() < 1e-9);
        assert!((number(6) - 300.0).abs() < 1e-6 && number(7).abs() < 1e-6);
        shape(&mut table, "too few", &points[..1]);
        assert_eq!(table.rows.len(), 1);
    }

    /// 5 µs and 1 ns an octet: both are the same at 5000 octets.
    #[test]
    fn a_cost_of_octets_is_found() {
        let mut table = Table::new("x", &[words("a", "a"); 9]);
        let us = |octets: f64| 5.0 + 0.001 * octets;
        let points = LENGTHS.map(|octets| Point {
            octets: octets.into(),
            us: us(octets.into()),
            cpu_us: 2.0 * us(octets.into()),
        });
        shape(&mut table, "3", &points);
        let Cell::Number(equal) = table.rows[0][8] else { panic!() };
        assert!((equal - 5000.0).abs() < 1e-3, "{equal}");
        let said = said(&table);
        assert!(said[0].contains("measurement 3") && said[0].contains("5.00 µs"), "{said:?}");
    }
}
