//! The symbols, drawn once as masks with smooth edges.

use super::raster::Mask;
use super::target_style::{HISTORY_DOTS, SYMBOL_HALF, TargetStyle};
use tiny_skia::{Color, FillRule, Paint, PathBuilder, Pixmap, Stroke, Transform};

/// Masks of all symbols.
#[derive(Clone, Debug)]
pub struct Symbols {
    correlated: Mask,
    uncorrelated: Mask,
    coasting: Mask,
    emergency: Mask,
    dots: [Mask; HISTORY_DOTS],
}

impl Symbols {
    /// Draws all symbols once.
    pub fn new() -> Self {
        let c = 6.5; // the middle of a mask
        Self {
            // A square with its middle marked: secondary radar, identified.
            correlated: drawn(|b| {
                polygon(
                    b,
                    &[
                        (c - 4.0, c - 4.0),
                        (c + 4.0, c - 4.0),
                        (c + 4.0, c + 4.0),
                        (c - 4.0, c + 4.0),
                    ],
                );
                b.push_circle(c, c, 0.8);
            }),
            // A triangle: an aircraft without identity.
            uncorrelated: drawn(|b| {
                polygon(b, &[(c, c - 5.0), (c + 4.5, c + 3.5), (c - 4.5, c + 3.5)]);
            }),
            // A cross: the expected position.
            coasting: drawn(|b| {
                for (dx, dy) in [(4.0, 4.0), (4.0, -4.0)] {
                    b.move_to(c - dx, c - dy);
                    b.line_to(c + dx, c + dy);
                }
            }),
            emergency: drawn(|b| {
                b.push_circle(c, c, 5.2);
                b.push_circle(c, c, 2.6);
                b.push_circle(c, c, 1.0);
            }),
            dots: std::array::from_fn(dot),
        }
    }

    /// The mask of a look.
    pub fn of(&self, look: TargetStyle) -> &Mask {
        match look {
            TargetStyle::Correlated => &self.correlated,
            TargetStyle::Uncorrelated => &self.uncorrelated,
            TargetStyle::Coasting => &self.coasting,
            TargetStyle::Emergency => &self.emergency,
        }
    }

    /// The history dot of an age, 0 the latest; older ones are fainter.
    pub fn dot(&self, age: usize) -> &Mask {
        &self.dots[age.min(HISTORY_DOTS - 1)]
    }
}

impl Default for Symbols {
    fn default() -> Self {
        Self::new()
    }
}

fn polygon(builder: &mut PathBuilder, corners: &[(f32, f32)]) {
    for (index, &(x, y)) in corners.iter().enumerate() {
        if index == 0 {
            builder.move_to(x, y);
        } else {
            builder.line_to(x, y);
        }
    }
    builder.close();
}

/// Strokes a path into a mask of the symbols' size.
fn drawn(shape: impl FnOnce(&mut PathBuilder)) -> Mask {
    let side = 2 * SYMBOL_HALF + 1;
    let mut mask = Mask::new(side, side);
    let mut builder = PathBuilder::new();
    shape(&mut builder);
    let size = side.unsigned_abs();
    if let (Some(path), Some(mut picture)) = (builder.finish(), Pixmap::new(size, size)) {
        let mut paint = Paint { anti_alias: true, ..Paint::default() };
        paint.set_color(Color::WHITE);
        let stroke = Stroke { width: 1.3, ..Stroke::default() };
        picture.stroke_path(&path, &paint, &stroke, Transform::identity(), None);
        mask.coverage = picture.pixels().iter().map(|p| p.alpha()).collect();
    }
    mask
}

fn dot(age: usize) -> Mask {
    let mut mask = Mask::new(3, 3);
    let mut builder = PathBuilder::new();
    builder.push_circle(1.5, 1.5, 1.2);
    if let (Some(path), Some(mut picture)) = (builder.finish(), Pixmap::new(3, 3)) {
        let mut paint = Paint { anti_alias: true, ..Paint::default() };
        #[allow(clippy::cast_precision_loss)] // a handful
        paint.set_color(
            Color::from_rgba(1.0, 1.0, 1.0, 1.0 - 0.13 * age.min(7) as f32).unwrap_or(Color::WHITE),
        );
        picture.fill_path(&path, &paint, FillRule::Winding, Transform::identity(), None);
        mask.coverage = picture.pixels().iter().map(|p| p.alpha()).collect();
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_look_has_its_own_symbol_and_dots_fade() {
        let symbols = Symbols::new();
        let all = [
            TargetStyle::Correlated,
            TargetStyle::Uncorrelated,
            TargetStyle::Coasting,
            TargetStyle::Emergency,
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(symbols.of(*a).coverage.iter().any(|&c| c > 128));
            for b in &all[i + 1..] {
                assert_ne!(symbols.of(*a), symbols.of(*b));
            }
        }
        let middle = |age| symbols.dot(age).coverage[4];
        assert!(middle(0) > middle(3) && middle(3) > middle(5));
    }
}
