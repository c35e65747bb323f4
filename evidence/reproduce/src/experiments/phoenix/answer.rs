//! Queries to a store of chains, and pictures of the answers.

use super::super::chain::Ran;
use super::super::number;
use crate::outcome::ItemResults;
use crate::picture::{Axis, Chart, Mark, Picture, Series, Style};
use crate::run::Run;
use anyhow::Result;
use chronoscope_chain::LeafLevel;
use chronoscope_query::StoreLocation;
use chronoscope_query::{Clocks, Limits, Point, Question};
use chronoscope_statistics::{Bins, Grid};
use serde_json::Value;

/// The requirement, in ms.
pub(super) const LIMIT_MS: f64 = 1000.0;
const BINS: usize = 90;
/// Cells of a scattergram.
const CELLS: [usize; 2] = [150, 70];

/// A queried part of the chain.
#[derive(Clone, Copy)]
pub(super) struct ChainPart {
    root: &'static str,
    leaf: &'static str,
    level: Option<u16>,
}

pub(super) const MAIN: ChainPart =
    ChainPart { root: "decodePlots", leaf: "TargetView_redraw", level: None };
pub(super) const NORMAL: ChainPart = ChainPart { level: Some(4), ..MAIN };
pub(super) const MPA: ChainPart = ChainPart { level: Some(5), ..MAIN };
pub(super) const TO_MESSAGES: ChainPart = ChainPart { leaf: "MSG::TrackStore_updateTrack", ..MAIN };
pub(super) const TO_DISPLAY: ChainPart = ChainPart { root: "MSG::TrackStore_updateTrack", ..MAIN };
/// Normal mode, in steps from this part's own root.
pub(super) const TO_DISPLAY_NORMAL: ChainPart = ChainPart { level: Some(2), ..TO_DISPLAY };

/// Answer for one part: the program's output, and every duration for pictures.
pub(super) struct Answer {
    pub(super) json: Value,
    points: Vec<Point>,
    pub(super) durations_ns: Vec<u64>,
}

impl Answer {
    pub(super) fn ask(run: &mut Run<'_>, ran: &Ran, part: ChainPart) -> Result<Self> {
        let mut call =
            run.call("chronoscope")?.args(["chains", "--json", "--limit", "1s", "--data"]);
        call = call.arg(&ran.data).args(["--root", part.root, "--leaf", part.leaf]);
        if let Some(level) = part.level {
            call = call.arg("--level").arg(level.to_string());
        }
        if ran.apart {
            call = call.arg("--correct-clocks");
        }
        // 3: there is no such chain, which the figures then say.
        let json: Value = call.accept(3).json()?;
        let level = part.level.map_or(LeafLevel::Any, LeafLevel::Exactly);
        let clocks = if ran.apart { Clocks::Corrected } else { Clocks::Raw };
        let question =
            Question { level, clocks, points: true, ..Question::acpd(part.root, part.leaf) };
        let source = StoreLocation::Files(ran.data.clone());
        let answer = source.ask(&question, &Limits::default())?;
        Ok(Self { json, points: answer.points, durations_ns: answer.durations_ns })
    }

    pub(super) fn count(&self) -> f64 {
        self.durations_ns.len() as f64
    }

    /// A time of the distribution, in ms.
    pub(super) fn ms(&self, key: &str) -> Result<f64> {
        Ok(number(&self.json, &format!("/chains/distribution/{key}"))? / 1e6)
    }

    pub(super) fn mean_ms(&self) -> f64 {
        self.ms("mean_ns").unwrap_or(f64::NAN)
    }

    /// The figures that the document does not print for this.
    pub(super) fn rest(&self, found: &mut ItemResults) {
        for (what, key) in [
            ("median", "median_ns"),
            ("standard deviation", "sd_ns"),
            ("99 % within", "quantiles_ns/p99"),
            ("99.73 % within", "quantiles_ns/p99.73"),
            ("longest", "max_ns"),
        ] {
            if let Ok(ms) = self.ms(key) {
                found.own(what, "ms", ms);
            }
        }
    }

    /// Up to a little beyond the 99.9 % quantile.
    pub(super) fn histogram(&self, title: &str) -> Picture {
        let shown = self.durations_ns.get(self.durations_ns.len().saturating_sub(1) * 999 / 1000);
        let shown = shown.copied().unwrap_or(1);
        let bins = Bins::of_ascending(&self.durations_ns, 0..shown + shown / 20 + 1, BINS);
        let ms = |index| bins.edge_ns(index) as f64 / 1e6;
        let bars = bins.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let bars = bars.map(|(index, count)| (ms(index), *count as f64));
        let beyond = match bins.above {
            0 => String::new(),
            above => format!(" ({above} beyond the edge)"),
        };
        Picture::Chart(Chart {
            title: format!("Histogram: {title}"),
            x: Axis::new(&format!("duration in ms{beyond}")).within(0.0, ms(BINS)),
            y: Axis::new("chains"),
            series: vec![Series::new("", Style::Bars(ms(1)), bars.collect::<Vec<_>>())],
            marks: limit(true, ms(BINS)),
        })
    }

    /// Every chain at its start and duration, counted into cells.
    pub(super) fn scattergram(&self, title: &str) -> Picture {
        let starts = || self.points.iter().map(|point| point.start_ns);
        let (first, last) = (starts().min().unwrap_or(0), starts().max().unwrap_or(0));
        let longest = self.durations_ns.last().copied().unwrap_or(0);
        let (starts, durations) = (first..last + 1, 0..longest + longest / 25 + 1);
        let [columns, rows] = CELLS;
        let width_s = (last - first + 1) as f64 / 1e9 / columns as f64;
        let height_ms = durations.end as f64 / 1e6 / rows as f64;
        let mut grid = Grid::new(starts, durations.clone(), columns, rows);
        for point in &self.points {
            grid.add(point.start_ns, point.duration_ns);
        }
        let cells = (0..rows).flat_map(|row| {
            let counts = grid.row(row).iter().enumerate().filter(|(_, count)| **count > 0);
            let y = row as f64 * height_ms;
            counts.map(move |(at, count)| [at as f64 * width_s, y, f64::from(*count)])
        });
        let cells = Series {
            name: String::new(),
            style: Style::Cells(width_s, height_ms),
            points: cells.collect(),
        };
        let top_ms = durations.end as f64 / 1e6;
        Picture::Chart(Chart {
            title: format!("Scattergram: {title}"),
            x: Axis::new("time in s").within(0.0, width_s * columns as f64),
            y: Axis::new("duration in ms").within(0.0, top_ms),
            series: vec![cells],
            marks: limit(false, top_ms),
        })
    }
}

/// The requirement, where it is within the picture.
fn limit(upright: bool, most_ms: f64) -> Vec<Mark> {
    let shown = 0.0..most_ms;
    let label = "requirement: 1 s".to_owned();
    let mark = Mark { upright, at: LIMIT_MS, label };
    if shown.contains(&LIMIT_MS) { vec![mark] } else { Vec::new() }
}
