//! The area between the axes, the axes around it, and the marks across it.

use super::area::Area;
use super::axis::{Axis, Fitted};
use super::shapes::{LETTERS, MARGIN, MARGIN_RIGHT, TITLE, label, line, text_width};
use crate::svg::{self, Element};
use crate::theme::{Colour, Theme};

/// A line across a chart.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Whether the line stands at a value of x; otherwise it lies at a value of y.
    pub upright: bool,
    /// The value.
    pub at: f64,
    /// Text beside the line; empty: none.
    pub label: String,
}

/// Values that the axes have to have room for.
pub(super) struct Values {
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
}

/// The area between the axes, and where values are in it.
pub(super) struct Frame {
    pub(super) plot: Area,
    outer: Area,
    theme: Theme,
    pub(super) x: Fitted,
    pub(super) y: Fitted,
}

impl Frame {
    /// The frame of a chart: the axes x and y, with room for these values.
    pub(super) fn new(
        titled: bool,
        axes: [&Axis; 2],
        values: &Values,
        outer: Area,
        theme: Theme,
    ) -> Self {
        let [x, y] = axes;
        let top = if titled { TITLE + MARGIN } else { 0.0 };
        let below = LETTERS + 10.0 + if x.label.is_empty() { 0.0 } else { LETTERS + 6.0 };
        let height = (outer.height - 2.0 * MARGIN - top - below).max(10.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few")]
        let fitted_y = y.fit(values.y.iter().copied(), (height / 38.0).clamp(2.0, 10.0) as usize);
        let widest = fitted_y.ticks.iter().map(|(_, text)| text_width(text)).fold(0.0, f64::max);
        let beside = widest + 10.0 + if y.label.is_empty() { 0.0 } else { LETTERS + 8.0 };
        let plot = Area {
            x: outer.x + MARGIN + beside,
            y: outer.y + MARGIN + top,
            width: (outer.width - MARGIN - MARGIN_RIGHT - beside).max(10.0),
            height,
        };
        let fitted_x = x.fit_within(values.x.iter().copied(), plot.width);
        Self { plot, outer, theme, x: fitted_x, y: fitted_y }
    }

    /// The pixel of a value of x; outside values are at the edge.
    pub(super) fn x(&self, value: f64) -> f64 {
        self.plot.x + self.x.part(value) * self.plot.width
    }

    /// The pixel of a value of y; outside values are at the edge.
    pub(super) fn y(&self, value: f64) -> f64 {
        self.plot.bottom() - self.y.part(value) * self.plot.height
    }

    /// A colour of the theme.
    pub(super) fn paint(&self, colour: Colour) -> String {
        self.theme.paint(colour)
    }

    /// Grid, ticks with their labels, and the names of the axes.
    pub(super) fn axes(&self, x_label: &str, y_label: &str) -> Element {
        let (plot, soft) = (self.plot, self.paint(Colour::Soft));
        let mut group = Element::new("g").set("font-size", LETTERS);
        for (value, text) in &self.x.ticks {
            let (x, bottom) = (self.x(*value), plot.bottom());
            group.push(line([x, plot.y], [x, bottom], self.paint(Colour::Grid), 1.0));
            let text = label(x, bottom + LETTERS + 5.0, text, soft.clone());
            group.push(text.set("text-anchor", "middle"));
        }
        for (value, text) in &self.y.ticks {
            let y = self.y(*value);
            group.push(line([plot.x, y], [plot.right(), y], self.paint(Colour::Grid), 1.0));
            let text = label(plot.x - 8.0, y + LETTERS * 0.36, text, soft.clone());
            group.push(text.set("text-anchor", "end"));
        }
        let corner = [plot.x, plot.bottom()];
        group.push(line(corner, [plot.right(), plot.bottom()], soft.clone(), 1.0));
        group.push(line([plot.x, plot.y], corner, soft, 1.0));
        let (ink, middle) = (self.paint(Colour::Ink), "middle");
        if !x_label.is_empty() {
            let (x, y) = (plot.x + plot.width / 2.0, self.outer.bottom() - MARGIN + 2.0);
            group.push(label(x, y, x_label, ink.clone()).set("text-anchor", middle));
        }
        if !y_label.is_empty() {
            let (x, y) = (self.outer.x + MARGIN + LETTERS * 0.7, plot.y + plot.height / 2.0);
            let turned = format!("rotate(-90 {} {})", svg::number(x), svg::number(y));
            let text = label(x, y, y_label, ink).set("text-anchor", middle);
            group.push(text.set("transform", turned));
        }
        group
    }

    /// A mark within the axes; one beyond them is not drawn.
    pub(super) fn mark(&self, mark: &Mark) -> Option<Element> {
        let axis = if mark.upright { &self.x } else { &self.y };
        if !axis.holds(mark.at) {
            return None;
        }
        let (plot, colour) = (self.plot, self.paint(Colour::Limit));
        let mut group = Element::new("g").set("class", "mark").set("font-size", LETTERS);
        let (at, room) = (self.x(mark.at), text_width(&mark.label) + 10.0);
        if mark.upright {
            group.push(line([at, plot.y], [at, plot.bottom()], colour.clone(), 1.5));
            let before = at + room > self.outer.right();
            let x = if before { at - 5.0 } else { at + 5.0 };
            let text = label(x, plot.y + LETTERS, &mark.label, colour);
            group.push(text.set("text-anchor", if before { "end" } else { "start" }));
        } else {
            let y = self.y(mark.at);
            group.push(line([plot.x, y], [plot.right(), y], colour.clone(), 1.5));
            let down = if y - plot.y < LETTERS + 6.0 { LETTERS + 2.0 } else { -5.0 };
            let text = label(plot.right() - 4.0, y + down, &mark.label, colour);
            group.push(text.set("text-anchor", "end"));
        }
        Some(group)
    }
}
