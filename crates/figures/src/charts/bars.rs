//! Bars beside their names, one or two a row: a ranking, or before and after.

use super::shapes::{LETTERS, MARGIN, TITLE, label, rectangle, text_width};
use crate::svg::{self, Element};
use crate::theme::{Colour, Theme};

const ROW: f64 = 34.0; // pixels
const BAR: f64 = 12.0; // pixels
const NAMES_MAX: f64 = 380.0; // pixels
const HEAD: f64 = TITLE + 2.0 * MARGIN + 8.0;

/// Horizontal bars.
#[derive(Clone, Debug)]
pub struct Bars {
    /// The line above them.
    pub title: String,
    /// From top to bottom.
    pub rows: Vec<BarRow>,
}

/// A row with its name.
#[derive(Clone, Debug)]
pub struct BarRow {
    /// At the left. A long name is shortened; its whole is the row's tooltip.
    pub name: String,
    /// The value of the upper bar, if there is one: the state before.
    pub before: Option<f64>,
    /// The value of the bar. Values below zero have no bar.
    pub value: f64,
    /// The text at the end of the bar.
    pub text: String,
    /// Of the bar.
    pub colour: Colour,
}

impl Bars {
    /// A document that stands alone; its height is that of the rows.
    #[must_use]
    pub fn document(&self, width: f64, theme: Theme) -> Element {
        let height = HEAD + self.rows.len() as f64 * ROW + MARGIN;
        let paper = rectangle(0.0, 0.0, width, height).set("fill", theme.paint(Colour::Paper));
        let mut group = Element::new("g").set("font-family", "sans-serif");
        let title = label(MARGIN, MARGIN + TITLE, &self.title, theme.paint(Colour::Ink));
        group.push(title.set("font-size", TITLE));
        let widest =
            |texts: &mut dyn Iterator<Item = &str>| texts.map(text_width).fold(0.0, f64::max);
        let names = widest(&mut self.rows.iter().map(|row| row.name.as_str())).min(NAMES_MAX);
        let texts = widest(&mut self.rows.iter().map(|row| row.text.as_str()));
        let left = MARGIN + names + 12.0;
        let room = (width - left - texts - 2.0 * MARGIN).max(10.0);
        let values = self.rows.iter().flat_map(|row| [row.value, row.before.unwrap_or(0.0)]);
        let scale = room / values.fold(f64::MIN_POSITIVE, f64::max);
        for (number, row) in self.rows.iter().enumerate() {
            let top = HEAD + number as f64 * ROW;
            group.push(row.draw((left, top), scale, theme));
        }
        svg::document(width, height).with(paper).with(group)
    }
}

impl BarRow {
    fn draw(&self, (left, top): (f64, f64), scale: f64, theme: Theme) -> Element {
        let mut group = Element::new("g").set("class", "row").set("font-size", LETTERS);
        group.push(Element::new("title").text(&self.name));
        let (ink, middle) = (theme.paint(Colour::Ink), top + ROW / 2.0 + LETTERS * 0.36);
        group.push(label(MARGIN, middle, &shortened(&self.name), ink.clone()));
        let length = |value: f64| (value * scale).max(0.0);
        let gap = (ROW - 2.0 * BAR) / 2.0;
        let mut bar = |top: f64, value: f64, colour: Colour| {
            let bar = rectangle(left, top, length(value), BAR);
            group.push(bar.set("fill", theme.paint(colour)));
        };
        match self.before {
            Some(before) => {
                bar(top + gap - 0.5, before, Colour::Before);
                bar(top + gap + BAR + 0.5, self.value, self.colour);
            }
            None => bar(top + gap + BAR / 2.0, self.value, self.colour),
        }
        let longest = length(self.value.max(self.before.unwrap_or(0.0)));
        group.push(label(left + longest + 8.0, middle, &self.text, ink));
        group
    }
}

/// As much of a name as there is room for.
fn shortened(name: &str) -> String {
    let mut short = name.to_owned();
    while text_width(&short) > NAMES_MAX {
        let letters = short.trim_end_matches('…').chars().count();
        short = short.chars().take(letters.saturating_sub(1)).collect::<String>() + "…";
    }
    short
}
