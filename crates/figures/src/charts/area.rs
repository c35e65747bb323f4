//! Rectangles of a document that a chart or a part of it takes.

/// Area of a chart within a document, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// The left edge.
    pub x: f64,
    /// The upper edge.
    pub y: f64,
    /// To the right edge.
    pub width: f64,
    /// To the lower edge.
    pub height: f64,
}

impl Area {
    /// The right edge.
    pub(super) fn right(&self) -> f64 {
        self.x + self.width
    }

    /// The lower edge.
    pub(super) fn bottom(&self) -> f64 {
        self.y + self.height
    }
}
