//! Pictures of profiles: bars by class or host, before and after; lines over periods.

use crate::times::Zone;
use chronoscope_track::profile::{Comparison, Demand, Growth, HostDemand, Period};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::path::Path;

const WIDTH: u32 = 1200; // pixels
const BAR: u32 = 34; // pixels for a class with both bars
const HEAD: u32 = 64; // pixels
const FOOT: u32 = 60; // pixels
const LINES_HEIGHT: u32 = 700; // pixels
const LABEL: i32 = 380; // pixels left of the bars
const LINES_MAX: usize = 8;
const INK: RGBColor = RGBColor(0x20, 0x26, 0x2e);
const BEFORE: RGBColor = RGBColor(0xa8, 0xb4, 0xc0);
const AFTER: RGBColor = RGBColor(0x1f, 0x6f, 0xb4);
const DIFFERS: RGBColor = RGBColor(0xc4, 0x2b, 0x2b);
const COLOURS: [RGBColor; LINES_MAX] = [
    AFTER,
    DIFFERS,
    RGBColor(0x2f, 0x8f, 0x4e),
    RGBColor(0xd9, 0x8a, 0x1f),
    RGBColor(0x7a, 0x4f, 0xa3),
    RGBColor(0x3a, 0xa6, 0xa6),
    RGBColor(0x8c, 0x5a, 0x3c),
    RGBColor(0x60, 0x68, 0x70),
];

/// A bar, or two.
struct Bar {
    label: String,
    before: Option<f64>,
    after: f64,
    differs: bool,
}

enum Drawn {
    Bars(Vec<Bar>),
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
        let bar = |class: &chronoscope_track::profile::ClassChange| Bar {
            label: class.class.clone(),
            before: None,
            after: class.other.share * 100.0,
            differs: false,
        };
        let bars = found.classes.iter().take(top).map(bar).collect();
        Self { title: "share of all CPU in percent".to_owned(), drawn: Drawn::Bars(bars) }
    }

    /// Shares of all CPU, before and after.
    pub(super) fn of_comparison(found: &Comparison, top: usize) -> Self {
        let bar = |class: &chronoscope_track::profile::ClassChange| Bar {
            label: class.class.clone(),
            before: Some(class.base.share * 100.0),
            after: class.other.share * 100.0,
            differs: class.differs(),
        };
        let bars = found.classes.iter().take(top).map(bar).collect();
        let title = "share of all CPU in percent: base grey, other blue, red where a class differs";
        Self { title: title.to_owned(), drawn: Drawn::Bars(bars) }
    }

    /// Cores in the busiest hour, now and then.
    pub(super) fn of_capacity(all: Demand, hosts: &[HostDemand], top: usize) -> Self {
        let bar = |label: &str, demand: Demand| Bar {
            label: label.to_owned(),
            before: Some(demand.busiest),
            after: demand.busiest_then,
            differs: false,
        };
        let mut bars = vec![bar("all hosts", all)];
        bars.extend(hosts.iter().take(top).map(|host| bar(&host.host, host.cores)));
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

    fn size(&self) -> (u32, u32) {
        match &self.drawn {
            Drawn::Bars(bars) => {
                (WIDTH, HEAD + FOOT + BAR * u32::try_from(bars.len()).unwrap_or(1).min(1000))
            }
            Drawn::Lines(..) => (WIDTH, LINES_HEIGHT),
        }
    }

    fn svg(&self) -> anyhow::Result<String> {
        let mut svg = String::new();
        self.draw(&SVGBackend::with_string(&mut svg, self.size()).into_drawing_area())?;
        // Names of classes may have letters that no XML has.
        Ok(chronoscope_escape::xml_text(&svg))
    }

    /// Writes the picture as SVG.
    pub(super) fn write_svg(&self, path: &Path) -> anyhow::Result<()> {
        Ok(std::fs::write(path, self.svg()?)?)
    }

    /// Writes the picture as PNG.
    pub(super) fn write_png(&self, path: &Path) -> anyhow::Result<()> {
        Ok(std::fs::write(path, chronoscope_figures::png(&self.svg()?)?)?)
    }

    fn draw<B: DrawingBackend>(&self, root: &DrawingArea<B, Shift>) -> anyhow::Result<()> {
        let drawn = match &self.drawn {
            Drawn::Bars(bars) => self.bars(root, bars),
            Drawn::Lines(lines, periods) => self.lines(root, lines, periods),
        };
        drawn.map_err(|error| anyhow::anyhow!("{error}"))
    }

    fn bars<B: DrawingBackend>(
        &self,
        root: &DrawingArea<B, Shift>,
        bars: &[Bar],
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        root.fill(&WHITE)?;
        root.draw_text(&self.title, &("sans-serif", 20).into_font().color(&INK), (24, 20))?;
        let largest = bars.iter().map(|bar| bar.after.max(bar.before.unwrap_or(0.0)));
        let largest = largest.fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let small = ("sans-serif", 14).into_font().color(&INK);
        let room = f64::from(WIDTH) - f64::from(LABEL) - 140.0;
        #[expect(clippy::cast_possible_truncation, reason = "pixels within the picture")]
        let length = |value: f64| (value / largest * room) as i32;
        let mut y = i32::try_from(HEAD).unwrap_or(0);
        for bar in bars {
            let label: String = bar.label.chars().take(52).collect();
            root.draw_text(&label, &small, (24, y + 6))?;
            let colour = if bar.differs { DIFFERS } else { AFTER };
            let box_of = |top: i32, value: f64| [(LABEL, top), (LABEL + length(value), top + 12)];
            let mut top = y + 2;
            let mut words = format!("{:.3}", bar.after);
            if let Some(before) = bar.before {
                root.draw(&Rectangle::new(box_of(top, before), BEFORE.filled()))?;
                words = format!("{before:.3} → {words}");
                top += 13;
            }
            root.draw(&Rectangle::new(box_of(top, bar.after), colour.filled()))?;
            let end = LABEL + length(bar.after.max(bar.before.unwrap_or(0.0))) + 8;
            root.draw_text(&words, &small, (end, y + 6))?;
            y += i32::try_from(BAR).unwrap_or(0);
        }
        root.present()
    }

    fn lines<B: DrawingBackend>(
        &self,
        root: &DrawingArea<B, Shift>,
        lines: &[(String, Vec<f64>)],
        periods: &[String],
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        root.fill(&WHITE)?;
        let last = periods.len().saturating_sub(1).max(1) as f64;
        let largest = lines.iter().flat_map(|(_, values)| values.iter().copied());
        let largest = largest.fold(0.0, f64::max).max(f64::MIN_POSITIVE) * 1.08;
        let mut chart = ChartBuilder::on(root)
            .caption(&self.title, ("sans-serif", 20).into_font().color(&INK))
            .margin(24)
            .x_label_area_size(40)
            .y_label_area_size(90)
            .build_cartesian_2d(0.0..last, 0.0..largest)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        let label = |at: &f64| {
            let whole = (at - at.round()).abs() < 1e-6;
            let word = periods.get(at.round().max(0.0) as usize).filter(|_| whole);
            word.cloned().unwrap_or_default()
        };
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_labels(periods.len().clamp(2, 12))
            .label_style(("sans-serif", 14).into_font().color(&INK))
            .x_label_formatter(&label)
            .draw()?;
        for ((name, values), colour) in lines.iter().zip(COLOURS) {
            let points = values.iter().enumerate().map(|(x, y)| (x as f64, *y));
            chart
                .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
                .label(name.as_str())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour));
        }
        chart
            .configure_series_labels()
            .background_style(WHITE.mix(0.8))
            .label_font(("sans-serif", 14).into_font().color(&INK))
            .draw()?;
        root.present()
    }
}
