//! Pictures of profiles: bars by class or host, before and after; lines over periods.

use crate::times::Zone;
use chronoscope_figures::charts::{Axis, BarRow, Bars, Chart, Series, Style};
use chronoscope_figures::theme::{Colour, SERIES as LINES_MAX, Theme};
use chronoscope_track::profile::{ClassChange, Comparison, Demand, Growth, HostDemand, Period};
use std::path::Path;

const WIDTH: f64 = 1200.0; // pixels
const LINES_HEIGHT: f64 = 700.0; // pixels

enum Drawn {
    Bars(Vec<BarRow>),
    /// Names with their values by period, and the periods' words.
    Lines(Vec<(String, Vec<f64>)>, Vec<String>),
}

/// Contents of a picture.
pub(super) struct Picture {
    title: String,
    drawn: Drawn,
}

impl Picture {
    /// Shares of all CPU.
    pub(super) fn of_profile(found: &Comparison, top: usize) -> Self {
        let row = |class: &ClassChange| bar(&class.class, None, class.other.share * 100.0, false);
        let bars = found.classes.iter().take(top).map(row).collect();
        Self { title: "share of all CPU in percent".to_owned(), drawn: Drawn::Bars(bars) }
    }

    /// Shares of all CPU, before and after.
    pub(super) fn of_comparison(found: &Comparison, top: usize) -> Self {
        let row = |class: &ClassChange| {
            let (before, after) = (class.base.share * 100.0, class.other.share * 100.0);
            bar(&class.class, Some(before), after, class.differs())
        };
        let bars = found.classes.iter().take(top).map(row).collect();
        let title = "share of all CPU in percent: base grey, other blue, red where a class differs";
        Self { title: title.to_owned(), drawn: Drawn::Bars(bars) }
    }

    /// Cores in the busiest hour, now and then.
    pub(super) fn of_capacity(all: Demand, hosts: &[HostDemand], top: usize) -> Self {
        let row = |name: &str, demand: Demand| {
            bar(name, Some(demand.busiest), demand.busiest_then, false)
        };
        let mut bars = vec![row("all hosts", all)];
        bars.extend(hosts.iter().take(top).map(|host| row(&host.host, host.cores)));
        let title = "cores in the busiest hour: now grey, then blue";
        Self { title: title.to_owned(), drawn: Drawn::Bars(bars) }
    }

    /// Rates by period.
    pub(super) fn of_growth(
        found: &[Growth],
        periods: &[Period],
        period_s: u64,
        zone: &Zone,
    ) -> Self {
        let hours = period_s as f64 / 3600.0;
        let line = |growth: &Growth| {
            let rates = growth.loads.iter().map(|load| load.count as f64 / hours).collect();
            (growth.class.clone(), rates)
        };
        let lines = found.iter().take(LINES_MAX).map(line).collect();
        let days = periods.iter().map(|p| zone.instant(p.start_ns).chars().take(10).collect());
        let title = "transactions an hour, by period: the classes that use most CPU";
        Self { title: title.to_owned(), drawn: Drawn::Lines(lines, days.collect()) }
    }

    /// Whether there is nothing to draw.
    pub(super) fn is_empty(&self) -> bool {
        match &self.drawn {
            Drawn::Bars(bars) => bars.is_empty(),
            Drawn::Lines(lines, _) => lines.is_empty(),
        }
    }

    fn svg(&self) -> String {
        let document = match &self.drawn {
            Drawn::Bars(rows) => {
                Bars { title: self.title.clone(), rows: rows.clone() }.document(WIDTH, Theme::Light)
            }
            Drawn::Lines(lines, periods) => {
                self.lines(lines, periods).document(WIDTH, LINES_HEIGHT, Theme::Light)
            }
        };
        document.to_string()
    }

    /// Writes the picture as SVG.
    pub(super) fn write_svg(&self, path: &Path) -> anyhow::Result<()> {
        Ok(std::fs::write(path, self.svg())?)
    }

    /// Writes the picture as PNG.
    pub(super) fn write_png(&self, path: &Path) -> anyhow::Result<()> {
        Ok(std::fs::write(path, chronoscope_figures::png(&self.svg())?)?)
    }

    fn lines(&self, lines: &[(String, Vec<f64>)], periods: &[String]) -> Chart {
        let days = periods.iter().enumerate().map(|(at, day)| (at as f64, day.clone()));
        let last = periods.len().saturating_sub(1).max(1) as f64;
        let series = lines.iter().enumerate().map(|(number, (name, values))| {
            let points = values.iter().enumerate().map(|(at, value)| (at as f64, *value));
            Series::new(name, Style::Line, points).coloured(Colour::Series(number))
        });
        Chart {
            series: series.collect(),
            ..Chart::new(
                &self.title,
                Axis::linear("").within(0.0, last).labelled(days),
                Axis::linear(""),
            )
        }
    }
}

/// A row of the picture: red where the class differs.
fn bar(name: &str, before: Option<f64>, value: f64, differs: bool) -> BarRow {
    let text = match before {
        Some(before) => format!("{before:.3} to {value:.3}"),
        None => format!("{value:.3}"),
    };
    let colour = if differs { Colour::Limit } else { Colour::Series(0) };
    BarRow { name: name.to_owned(), before, value, text, colour }
}
