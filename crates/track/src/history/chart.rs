//! Histories as pictures for a browser: SVG that stands alone, light or dark as its reader is.

use chronoscope_figures::charts::ticks;
use chronoscope_figures::numbers;
use chronoscope_figures::svg::{self, Element};
use chronoscope_figures::theme::{self, Colour, Palette};
use chronoscope_statistics::median;

use super::scale::Scale;
use super::series::{ChangePoint, Histories, Series};
use crate::report::figure;

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
/// Most round values at the left: their labels do not touch.
const TICKS_MAX: usize = 10;
/// A panel with its words.
pub(super) const PANEL: f64 = TOP + HEIGHT + BOTTOM;
/// Width of the label above a step.
const WORDS: f64 = 100.0;

/// Plain colours by class and no variables, so that programs which know no style sheets in
/// pictures but this much show them too.
fn rules(palette: &Palette) -> String {
    let Palette { paper, ink, soft, grid, more, less, .. } = palette;
    let data = palette.of(Colour::Series(0));
    format!(
        ".paper{{fill:{paper}}}.ink{{fill:{ink}}}.soft{{fill:{soft}}}\
         .grid{{stroke:{grid}}}.level{{stroke:{data};fill:none;stroke-width:2}}\
         .point{{fill:{data}}}.more{{fill:{more}}}.less{{fill:{less}}}\
         .mark{{stroke-dasharray:4 3}}.mark.more{{stroke:{more}}}.mark.less{{stroke:{less}}}"
    )
}

/// The style of all pictures.
pub(super) fn style() -> String {
    theme::by_system(rules)
}

/// All histories below each other, each with its labelled steps.
pub fn svg(histories: &Histories) -> String {
    let heights = histories.series.iter().map(|series| 28.0 + PANEL + words_height(series));
    let height: f64 = 16.0 + heights.sum::<f64>();
    let document = svg::document(WIDTH, height).set("font-family", "sans-serif");
    let ground = Element::new("rect").set("class", "paper");
    let mut document = document
        .set("font-size", "12")
        .with(Element::new("style").text(&style()))
        .with(ground.set("width", "100%").set("height", "100%"));
    let mut at = 8.0;
    for series in &histories.series {
        let moved = |y: f64| Element::new("g").set("transform", format!("translate(0 {y})"));
        let mut group = moved(at);
        let title = label("ink", [16.0, 20.0], &title(series)).set("font-size", "15");
        group.push(title);
        let mut drawn = moved(28.0);
        drawn.extend(panel(series));
        group.push(drawn);
        for (row, line) in words(series).iter().enumerate() {
            let y = 28.0 + PANEL + (row as f64 + 0.7) * ROW;
            group.push(label("ink", [LEFT, y], line));
        }
        document.push(group);
        at += 28.0 + PANEL + words_height(series);
    }
    document.to_string()
}

/// Text in a colour by its class.
fn label(class: &str, [x, y]: [f64; 2], text: &str) -> Element {
    Element::new("text").set("class", class).set("x", x).set("y", y).text(text)
}

/// One line that names a history's item, process and figure.
pub(super) fn title(series: &Series) -> String {
    format!("{}: {} over {} runs", series.name(), series.figure, series.points.len())
}

/// A change with sign, as a part in a hundred.
pub(super) fn percent(part: f64) -> String {
    numbers::signed_percent(part, 4)
}

/// `more` or `less`: the class of what belongs to a step.
pub(super) fn way(change: &ChangePoint) -> &'static str {
    if change.change > 0.0 { "more" } else { "less" }
}

fn words_height(series: &Series) -> f64 {
    (words(series).len() + 1) as f64 * ROW
}

/// The steps in words, numbered as in the picture.
fn words(series: &Series) -> Vec<String> {
    if series.changes.is_empty() {
        return vec![format!("no step of more than {}", numbers::percent(series.floor, 4))];
    }
    let steps = series.changes.iter().enumerate().map(|(index, step)| {
        let [before, after] = [step.before, step.after].map(|level| figure(&series.figure, level));
        let (number, change) = (index + 1, percent(step.change));
        format!("{number}.  {change}  {before} → {after}  at {}  {}", step.run, step.title)
    });
    steps.collect()
}

/// The picture of one history, [`WIDTH`] by [`PANEL`], to be within an `<svg>` with [`style`].
pub(super) fn panel(series: &Series) -> Vec<Element> {
    let values: Vec<f64> = series.points.iter().map(|point| point.value).collect();
    let panel = Panel { series, scale: Scale::of(&values, series.floor) };
    let mut drawn = panel.values();
    drawn.extend(panel.days());
    drawn.extend(panel.steps());
    drawn.push(panel.levels());
    drawn.extend(panel.points());
    drawn
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

    /// Round values at the left, their change since the first value at the right.
    fn values(&self) -> Vec<Element> {
        let first = self.series.points.first().map_or(0.0, |point| point.value);
        let mut drawn = Vec::new();
        for tick in ticks(self.scale.low, self.scale.high, TICKS_MAX) {
            let y = self.y(tick);
            let line = svg::path([(LEFT, y), (WIDTH - RIGHT, y)]);
            drawn.push(Element::new("path").set("class", "grid").set("d", line));
            let beside =
                |x: f64, text: &str| label("soft", [x, y + 4.0], text).set("text-anchor", "end");
            drawn.push(beside(LEFT - 8.0, &figure(&self.series.figure, tick)));
            if first > 0.0 {
                drawn.push(beside(WIDTH - 8.0, &percent(tick / first - 1.0)));
            }
        }
        drawn
    }

    /// Dates below: as many as fit, with the last one's room kept free.
    fn days(&self) -> Vec<Element> {
        let (y, count) = (TOP + HEIGHT + 18.0, self.series.points.len());
        let (mut free, mut drawn) = (0.0, Vec::new());
        for (index, point) in self.series.points.iter().enumerate() {
            let x = self.x(index);
            if x >= free && (index + 1 == count || x + WORDS <= self.x(count - 1)) {
                let text = label("soft", [x, y], &day(point.started_ns));
                drawn.push(text.set("text-anchor", "middle"));
                free = x + WORDS;
            }
        }
        drawn
    }

    /// A line at each step, with its number and size above where there is room.
    fn steps(&self) -> Vec<Element> {
        let (mut free, mut drawn) = ([0.0; ROWS], Vec::new());
        for (index, step) in self.series.changes.iter().enumerate() {
            let (x, class) = (self.left(step.index), way(step));
            let words = format!("{}. {}", index + 1, percent(step.change));
            let title = format!("{words} at {} {}", step.run, step.title);
            let line = svg::path([(x, TOP), (x, TOP + HEIGHT)]);
            let line = Element::new("path").set("class", format!("mark {class}")).set("d", line);
            let mut group = Element::new("g").with(Element::new("title").text(&title)).with(line);
            if let Some(row) = free.iter().position(|free| x - WORDS / 2.0 >= *free) {
                free[row] = x + WORDS / 2.0;
                let y = TOP - 6.0 - row as f64 * ROW;
                group.push(label(class, [x, y], &words).set("text-anchor", "middle"));
            }
            drawn.push(group);
        }
        drawn
    }

    /// The levels between steps; without any the median.
    fn levels(&self) -> Element {
        let steps = &self.series.changes;
        let mut level = match steps.first() {
            Some(step) => step.before,
            None => median(self.series.points.iter().map(|point| point.value)).unwrap_or(0.0),
        };
        let mut corners = vec![(LEFT, self.y(level))];
        for step in steps {
            let x = self.left(step.index);
            corners.extend([(x, self.y(level)), (x, self.y(step.after))]);
            level = step.after;
        }
        corners.push((WIDTH - RIGHT, self.y(level)));
        Element::new("path").set("class", "level").set("d", svg::path(corners))
    }

    fn points(&self) -> impl Iterator<Item = Element> + '_ {
        let radius = if self.series.points.len() > 150 { 1.5 } else { 3.0 };
        self.series.points.iter().enumerate().map(move |(index, point)| {
            let value = figure(&self.series.figure, point.value);
            let title = format!("{value} {} {}", point.run, point.title);
            let circle = Element::new("circle").set("class", "point").set("cx", self.x(index));
            let circle = circle.set("cy", self.y(point.value)).set("r", radius);
            circle.with(Element::new("title").text(&title))
        })
    }
}

/// The day of a time, UTC; a time that no calendar has is empty.
pub(super) fn day(at_ns: i64) -> String {
    let time = jiff::Timestamp::from_nanosecond(at_ns.into());
    time.map(|time| time.strftime("%Y-%m-%d").to_string()).unwrap_or_default()
}
