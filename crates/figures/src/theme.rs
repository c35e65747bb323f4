//! Colours of charts.

/// Purpose of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// The background.
    Paper,
    /// Titles and labels.
    Ink,
    /// Labels of ticks, and axes.
    Soft,
    /// Grid lines.
    Grid,
    /// A limit, and whatever is worse than before.
    Limit,
    /// The base of a comparison: the state before.
    Before,
    /// A series by its number. After the last colour the first one follows.
    Series(usize),
}

/// Series that have a colour of their own.
pub const SERIES: usize = 8;

/// The colours of one background, as `#rrggbb`.
#[derive(Clone, Copy, Debug)]
pub struct Palette {
    /// The background.
    pub paper: &'static str,
    /// Titles and labels.
    pub ink: &'static str,
    /// Labels of ticks, and axes.
    pub soft: &'static str,
    /// Grid lines.
    pub grid: &'static str,
    /// More of what costs, and limits.
    pub more: &'static str,
    /// Less of what costs.
    pub less: &'static str,
    /// The state before.
    pub before: &'static str,
    /// Of series.
    pub series: [&'static str; SERIES],
}

/// Colours on white.
pub const LIGHT: Palette = Palette {
    paper: "#ffffff",
    ink: "#20262e",
    soft: "#5b6673",
    grid: "#dde2e8",
    more: "#b3261e",
    less: "#1b6e44",
    before: "#a8b4c0",
    series: [
        "#1f6fb4", "#c42b2b", "#2e8b57", "#8a5ab0", "#d0841a", "#3aa6a6", "#8c5a3c", "#606870",
    ],
};

/// Colours on a dark background.
pub const DARK: Palette = Palette {
    paper: "#14181d",
    ink: "#e6e9ee",
    soft: "#a3adb9",
    grid: "#333b45",
    more: "#ff8a80",
    less: "#6fd19c",
    before: "#5b6673",
    series: [
        "#6cb4f5", "#ff8a80", "#6fd19c", "#c9a2f0", "#f0b35e", "#6fd3d3", "#d0a487", "#a3adb9",
    ],
};

/// Source of a chart's colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// The colours of [`LIGHT`].
    Light,
    /// CSS variables of the page around: `--paper`, `--ink`, `--soft`, `--grid`, and `--c0` to
    /// `--c4` for series; `--c1` is the limit.
    Page,
}

/// Colours of series that a page has.
const PAGE_SERIES: usize = 5;

impl Theme {
    /// The value of a `fill` or `stroke`.
    #[must_use]
    pub fn paint(self, colour: Colour) -> String {
        match self {
            Self::Light => LIGHT.of(colour).to_owned(),
            Self::Page => format!("var(--{})", variable(colour)),
        }
    }
}

fn variable(colour: Colour) -> String {
    match colour {
        Colour::Paper => "paper".to_owned(),
        Colour::Ink => "ink".to_owned(),
        Colour::Soft | Colour::Before => "soft".to_owned(),
        Colour::Grid => "grid".to_owned(),
        Colour::Limit => "c1".to_owned(),
        Colour::Series(number) => format!("c{}", number % PAGE_SERIES),
    }
}

impl Palette {
    /// The colour for a purpose.
    #[must_use]
    pub fn of(&self, colour: Colour) -> &'static str {
        match colour {
            Colour::Paper => self.paper,
            Colour::Ink => self.ink,
            Colour::Soft => self.soft,
            Colour::Grid => self.grid,
            Colour::Limit => self.more,
            Colour::Before => self.before,
            Colour::Series(number) => self.series[number % SERIES],
        }
    }
}

/// A style sheet that is light or dark as its reader's system is: `rules` of both palettes.
#[must_use]
pub fn by_system(rules: impl Fn(&Palette) -> String) -> String {
    let (light, dark) = (rules(&LIGHT), rules(&DARK));
    format!("{light}@media (prefers-color-scheme:dark){{{dark}}}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may panic

    use super::*;

    /// Relative luminance of `#rrggbb`, WCAG 2.1.
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let part = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if part <= 0.039_28 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    /// WCAG 2.1 §1.4.3 asks for 4.5 between text and its background.
    #[test]
    fn text_can_be_read_on_both_backgrounds() {
        for palette in [LIGHT, DARK] {
            let texts = [palette.ink, palette.soft, palette.more, palette.less, palette.series[0]];
            for text in texts {
                let (one, other) = (luminance(text), luminance(palette.paper));
                let contrast = (one.max(other) + 0.05) / (one.min(other) + 0.05);
                assert!(contrast >= 4.5, "{text} on {}: {contrast:.2}", palette.paper);
            }
        }
    }

    #[test]
    fn a_page_lends_its_variables() {
        let colours = [Colour::Ink, Colour::Limit, Colour::Series(6)];
        assert_eq!(colours.map(|c| Theme::Page.paint(c)), ["var(--ink)", "var(--c1)", "var(--c1)"]);
        assert_eq!(Theme::Light.paint(Colour::Series(9)), LIGHT.series[1]);
        let css = by_system(|palette| format!(".ink{{fill:{}}}", palette.ink));
        assert!(css.starts_with(".ink{fill:#20262e}@media (prefers-color-scheme:dark){.ink{"));
    }
}
