//! Histories as pictures for a browser: SVG that stands alone, light or dark as its reader is.

use chronoscope_statistics::median;
use std::fmt::Write;

use super::scale::Scale;
use super::{Change, Histories, Series};
use crate::report::figure;
use crate::xml::escaped;

/// Width in pixels.
pub(super) const WIDTH: f64 = 960.0;
const LEFT: f64 = 130.0;
const RIGHT: f64 = 90.0;
const PLOT: f64 = WIDTH - LEFT - RIGHT;
/// Rows for the words above steps.
const ROWS: usize = 3;
const ROW: f64 = 16.0;
const TOP: f64 = ROWS as f64 * ROW + 8.0;
const HEIGHT: f64 = 180.0;
const BOTTOM: f64 = 32.0;
/// A panel with its words.
pub(super) const PANEL: f64 = TOP + HEIGHT + BOTTOM;
/// Width of the label above a step.
const WORDS: f64 = 100.0;

/// Colours of the pictures and the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Colours {
    pub(super) paper: &'static str,
    pub(super) ink: &'static str,
    pub(super) soft: &'static str,
    pub(super) grid: &'static str,
    pub(super) data: &'static str,
    pub(super) more: &'static str,
    pub(super) less: &'static str,
}

pub(super) const LIGHT: Colours = Colours {
    paper: "#ffffff",
    ink: "#20262e",
    soft: "#5b6673",
    grid: "#dde2e8",
    data: "#1f6fb4",
    more: "#b3261e",
    less: "#1b6e44",
};

pub(super) const DARK: Colours = Colours {
    paper: "#14181d",
    ink: "#e6e9ee",
    soft: "#a3adb9",
    grid: "#333b45",
    data: "#6cb4f5",
    more: "#ff8a80",
    less: "#6fd19c",
};

impl Colours {
    /// Plain colours by class without variables: programs that support only this much CSS in SVG
    /// show them too.
    fn style(&self) -> String {
        let Colours { paper, ink, soft, grid, data, more, less } = self;
        format!(
            ".paper{{fill:{paper}}}.ink{{fill:{ink}}}.soft{{fill:{soft}}}\
             .grid{{stroke:{grid}}}.level{{stroke:{data};fill:none;stroke-width:2}}\
             .point{{fill:{data}}}.more{{fill:{more}}}.less{{fill:{less}}}\
             .mark{{stroke-dasharray:4 3}}.mark.more{{stroke:{more}}}.mark.less{{stroke:{less}}}"
        )
    }
}

/// The style of all pictures.
pub(super) fn style() -> String {
    let (light, dark) = (LIGHT.style(), DARK.style());
    format!("{light}@media (prefers-color-scheme:dark){{{dark}}}")
}

/// All histories below each other, each with its labelled steps.
pub fn svg(histories: &Histories) -> String {
    let heights = histories.series.iter().map(|series| 28.0 + PANEL + words_height(series));
    let height: f64 = 16.0 + heights.sum::<f64>();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <style>{}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
        style()
    );
    let mut at = 8.0;
    for series in &histories.series {
        // Writing into a string cannot fail.
        let _ = writeln!(
            svg,
            "<g transform=\"translate(0 {at})\">\n<text class=\"ink\" x=\"16\" y=\"20\" \
             font-size=\"15\">{}</text>\n<g transform=\"translate(0 28)\">\n{}</g>",
            escaped(&title(series)),
            panel(series),
        );
        for (row, line) in words(series).iter().enumerate() {
            let y = 28.0 + PANEL + (row as f64 + 0.7) * ROW;
            let line = escaped(line);
            let _ = writeln!(svg, "<text class=\"ink\" x=\"{LEFT}\" y=\"{y:.1}\">{line}</text>");
        }
        svg.push_str("</g>\n");
        at += 28.0 + PANEL + words_height(series);
    }
    svg + "</svg>\n"
}

/// One line that names a history's item, process and figure.
pub(super) fn title(series: &Series) -> String {
    format!("{}: {} over {} runs", series.name(), series.figure, series.points.len())
}

/// A change with sign, as a part in a hundred.
pub(super) fn percent(part: f64) -> String {
    format!("{:+.4} %", part * 100.0)
}

/// `more` or `less`: the class of what belongs to a step.
pub(super) fn way(change: &Change) -> &'static str {
    if change.change > 0.0 { "more" } else { "less" }
}

fn words_height(series: &Series) -> f64 {
    (words(series).len() + 1) as f64 * ROW
}

/// The steps in words, numbered as in the picture.
fn words(series: &Series) -> Vec<String> {
    if series.changes.is_empty() {
        return vec![format!("no step of more than {:.4} %", series.floor * 100.0)];
    }
    let steps = series.changes.iter().enumerate().map(|(index, step)| {
        let [before, after] = [step.before, step.after].map(|level| figure(&series.figure, level));
        let (number, change) = (index + 1, percent(step.change));
        format!("{number}.  {change}  {before} → {after}  at {}  {}", step.run, step.title)
    });
    steps.collect()
}

/// The picture of one history, [`WIDTH`] by [`PANEL`], to be within an `<svg>` with [`style`].
pub(super) fn panel(series: &Series) -> String {
    let values: Vec<f64> = series.points.iter().map(|point| point.value).collect();
    let panel = Panel { series, scale: Scale::of(&values, series.floor) };
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _ = panel.axes(&mut out);
    let _ = panel.steps(&mut out);
    let _ = panel.levels(&mut out);
    let _ = panel.points(&mut out);
    out
}

struct Panel<'a> {
    series: &'a Series,
    scale: Scale,
}

impl Panel<'_> {
    /// The middle of a value's column.
    fn x(&self, index: usize) -> f64 {
        self.left(index) + PLOT / self.series.points.len().max(1) as f64 / 2.0
    }

    /// The left edge of a value's column, where a step is.
    fn left(&self, index: usize) -> f64 {
        LEFT + PLOT * index as f64 / self.series.points.len().max(1) as f64
    }

    fn y(&self, value: f64) -> f64 {
        TOP + 6.0 + (HEIGHT - 12.0) * (1.0 - self.scale.part(value))
    }

    /// Axes: round values at the left, their ratio to the first value at the right, dates below.
    fn axes(&self, out: &mut String) -> std::fmt::Result {
        let first = self.series.points.first().map_or(0.0, |point| point.value);
        let right = WIDTH - RIGHT;
        for tick in self.scale.ticks() {
            let (y, label) = (self.y(tick), figure(&self.series.figure, tick));
            let down = y + 4.0;
            writeln!(out, "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/>")?;
            let anchor = "text-anchor=\"end\"";
            let x = LEFT - 8.0;
            writeln!(
                out,
                "<text class=\"soft\" {anchor} x=\"{x}\" y=\"{down:.1}\">{label}</text>"
            )?;
            if first > 0.0 {
                let (part, x) = (percent(tick / first - 1.0), WIDTH - 8.0);
                writeln!(
                    out,
                    "<text class=\"soft\" {anchor} x=\"{x}\" y=\"{down:.1}\">{part}</text>"
                )?;
            }
        }
        let y = TOP + HEIGHT + 18.0;
        let count = self.series.points.len();
        let mut free = 0.0;
        for (index, point) in self.series.points.iter().enumerate() {
            let x = self.x(index);
            // As many dates as fit; room for the last one is reserved.
            if x >= free && (index + 1 == count || x + WORDS <= self.x(count - 1)) {
                let day = day(point.started_ns);
                let anchor = "text-anchor=\"middle\"";
                writeln!(out, "<text class=\"soft\" {anchor} x=\"{x:.1}\" y=\"{y}\">{day}</text>")?;
                free = x + WORDS;
            }
        }
        Ok(())
    }

    /// A line at each step, with its number and size above where there is room.
    fn steps(&self, out: &mut String) -> std::fmt::Result {
        let mut free = [0.0; ROWS];
        for (index, step) in self.series.changes.iter().enumerate() {
            let (x, class) = (self.left(step.index), way(step));
            let words = format!("{}. {}", index + 1, percent(step.change));
            let bottom = TOP + HEIGHT;
            writeln!(
                out,
                "<g><title>{words} at {} {}</title>\
                 <path class=\"mark {class}\" d=\"M{x:.1} {TOP}V{bottom}\"/>",
                escaped(&step.run),
                escaped(&step.title)
            )?;
            if let Some(row) = free.iter().position(|free| x - WORDS / 2.0 >= *free) {
                free[row] = x + WORDS / 2.0;
                let y = TOP - 6.0 - row as f64 * ROW;
                writeln!(
                    out,
                    "<text class=\"{class}\" text-anchor=\"middle\" x=\"{x:.1}\" \
                     y=\"{y}\">{words}</text>"
                )?;
            }
            writeln!(out, "</g>")?;
        }
        Ok(())
    }

    /// The levels between steps; without any the median.
    fn levels(&self, out: &mut String) -> std::fmt::Result {
        let steps = &self.series.changes;
        let begin = match steps.first() {
            Some(step) => step.before,
            None => median(self.series.points.iter().map(|point| point.value)).unwrap_or(0.0),
        };
        write!(out, "<path class=\"level\" d=\"M{LEFT} {:.1}", self.y(begin))?;
        for step in steps {
            let (x, y) = (self.left(step.index), self.y(step.after));
            write!(out, "H{x:.1}V{y:.1}")?;
        }
        writeln!(out, "H{}\"/>", WIDTH - RIGHT)
    }

    fn points(&self, out: &mut String) -> std::fmt::Result {
        let radius = if self.series.points.len() > 150 { 1.5 } else { 3.0 };
        for (index, point) in self.series.points.iter().enumerate() {
            let (x, y) = (self.x(index), self.y(point.value));
            let (value, title) = (figure(&self.series.figure, point.value), escaped(&point.title));
            writeln!(
                out,
                "<circle class=\"point\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\">\
                 <title>{value} {} {title}</title></circle>",
                escaped(&point.run)
            )?;
        }
        Ok(())
    }
}

/// The day of a time, UTC; a time that no calendar has is empty.
pub(super) fn day(at_ns: i64) -> String {
    let time = jiff::Timestamp::from_nanosecond(at_ns.into());
    time.map(|time| time.strftime("%Y-%m-%d").to_string()).unwrap_or_default()
}
