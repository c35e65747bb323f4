//! Pixels: rectangles, a frame, and the three ways to mark it (mask, line, block).
//!
//! Every mark takes a clip rectangle, and its effect on a pixel depends on nothing outside that
//! pixel. So drawing the same things in the same order inside a clip gives exactly the pixels that
//! drawing everything would: the incremental picture rests on this.

/// A colour: red, green, blue.
pub type Rgb = [u8; 3];

/// A rectangle of pixels; `x1` and `y1` are one past the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rect {
    /// Leftmost column.
    pub x0: i32,
    /// Topmost row.
    pub y0: i32,
    /// One past the rightmost column.
    pub x1: i32,
    /// One past the lowest row.
    pub y1: i32,
}

impl Rect {
    /// A rectangle by its upper left corner and its size.
    pub fn new(x: i32, y: i32, width: i32, height: i32) -> Self {
        Self { x0: x, y0: y, x1: x + width, y1: y + height }
    }

    /// Whether it has no pixels.
    pub fn is_empty(self) -> bool {
        self.x0 >= self.x1 || self.y0 >= self.y1
    }

    /// Number of pixels.
    pub fn area(self) -> i64 {
        if self.is_empty() {
            return 0;
        }
        i64::from(self.x1 - self.x0) * i64::from(self.y1 - self.y0)
    }

    /// Intersection of both rectangles.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        Self {
            x0: self.x0.max(other.x0),
            y0: self.y0.max(other.y0),
            x1: self.x1.min(other.x1),
            y1: self.y1.min(other.y1),
        }
    }

    /// Whether they share a pixel.
    pub fn touches(self, other: Self) -> bool {
        !self.intersect(other).is_empty()
    }

    /// The smallest rectangle that covers both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        if self.is_empty() {
            return other;
        }
        if other.is_empty() {
            return self;
        }
        Self {
            x0: self.x0.min(other.x0),
            y0: self.y0.min(other.y0),
            x1: self.x1.max(other.x1),
            y1: self.y1.max(other.y1),
        }
    }
}

/// Coverage of a small shape: 0 nothing, 255 all of the pixel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mask {
    /// Number of columns.
    pub width: i32,
    /// Number of rows.
    pub height: i32,
    /// Row by row.
    pub coverage: Vec<u8>,
}

impl Mask {
    /// An empty mask of a size, each in `[0, 4096]`.
    pub fn new(width: i32, height: i32) -> Self {
        let count = usize::try_from(width.clamp(0, 4096) * height.clamp(0, 4096)).unwrap_or(0);
        Self { width, height, coverage: vec![0; count] }
    }
}

/// An opaque picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    width: i32,
    height: i32,
    pixels: Vec<[u8; 4]>,
}

impl Frame {
    /// A frame of one colour.
    pub fn new(width: u16, height: u16, colour: Rgb) -> Self {
        let [r, g, b] = colour;
        Self {
            width: i32::from(width),
            height: i32::from(height),
            pixels: vec![[r, g, b, 255]; usize::from(width) * usize::from(height)],
        }
    }

    /// A frame from opaque RGBA pixels, row by row; `None` unless there are `width` × `height`.
    pub fn from_pixels(width: u16, height: u16, pixels: Vec<[u8; 4]>) -> Option<Self> {
        (pixels.len() == usize::from(width) * usize::from(height)).then_some(Self {
            width: i32::from(width),
            height: i32::from(height),
            pixels,
        })
    }

    /// All of it.
    pub fn bounds(&self) -> Rect {
        Rect::new(0, 0, self.width, self.height)
    }

    /// The pixels as octets: red, green, blue, 255, row by row.
    pub fn octets(&self) -> &[u8] {
        self.pixels.as_flattened()
    }

    /// Copies `area` from a frame of the same size.
    pub fn copy_from(&mut self, other: &Self, area: Rect) {
        let area = area.intersect(self.bounds()).intersect(other.bounds());
        if area.is_empty() || self.width != other.width {
            return;
        }
        for y in area.y0..area.y1 {
            let span = self.span(y, area.x0, area.x1);
            self.pixels[span.clone()].copy_from_slice(&other.pixels[span]);
        }
    }

    /// Fills `area` with a colour of opacity `alpha` in `[0, 255]`.
    pub fn fill(&mut self, area: Rect, colour: Rgb, alpha: u8) {
        let area = area.intersect(self.bounds());
        if area.is_empty() {
            return;
        }
        let [r, g, b] = colour;
        for y in area.y0..area.y1 {
            let span = self.span(y, area.x0, area.x1);
            if alpha == 255 {
                self.pixels[span].fill([r, g, b, 255]);
                continue;
            }
            for pixel in &mut self.pixels[span] {
                blend(pixel, colour, alpha);
            }
        }
    }

    /// Draws `mask` in one colour with its upper left corner at `(x, y)`, inside `clip`.
    pub fn mask(&mut self, mask: &Mask, x: i32, y: i32, colour: Rgb, clip: Rect) {
        let place = Rect::new(x, y, mask.width, mask.height);
        let area = place.intersect(clip).intersect(self.bounds());
        if area.is_empty() {
            return;
        }
        for row in area.y0..area.y1 {
            let span = self.span(row, area.x0, area.x1);
            let from = index(row - y, mask.width) + index(area.x0 - x, 1);
            let coverage = &mask.coverage[from..from + span.len()];
            // Most of a mask is nothing: looked at eight pixels at a time.
            for (pixels, alphas) in self.pixels[span].chunks_mut(8).zip(coverage.chunks(8)) {
                if alphas == [0; 8] {
                    continue;
                }
                for (pixel, &alpha) in pixels.iter_mut().zip(alphas) {
                    if alpha != 0 {
                        blend(pixel, colour, alpha);
                    }
                }
            }
        }
    }

    /// Draws a line one pixel wide with smooth edges (after Wu 1991), inside `clip`.
    pub fn line(&mut self, from: (f32, f32), to: (f32, f32), colour: Rgb, clip: Rect) {
        let clip = clip.intersect(self.bounds());
        let steep = (to.1 - from.1).abs() > (to.0 - from.0).abs();
        let turn = |p: (f32, f32)| if steep { (p.1, p.0) } else { p };
        let (mut a, mut b) = (turn(from), turn(to));
        if a.0 > b.0 {
            std::mem::swap(&mut a, &mut b);
        }
        let length = b.0 - a.0;
        if clip.is_empty() || !length.is_finite() || length > 10_000.0 {
            return;
        }
        let slope = if length > 0.0 { (b.1 - a.1) / length } else { 0.0 };
        let (first, end) = if steep { (clip.y0, clip.y1) } else { (clip.x0, clip.x1) };
        for main in round(a.0).max(first)..=round(b.0).min(end - 1) {
            #[allow(clippy::cast_precision_loss)] // screen coordinates
            let across = a.1 + slope * (main as f32 - a.0);
            let low = floor(across);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in [0, 255]
            #[allow(clippy::cast_precision_loss)] // screen coordinates
            let upper = ((across - low as f32) * 255.0) as u8;
            for (side, alpha) in [(low, 255 - upper), (low + 1, upper)] {
                let (x, y) = if steep { (side, main) } else { (main, side) };
                self.dot(x, y, colour, alpha, clip);
            }
        }
    }

    /// Marks one pixel if it is inside `clip`, itself inside the frame.
    fn dot(&mut self, x: i32, y: i32, colour: Rgb, alpha: u8, clip: Rect) {
        if x >= clip.x0 && x < clip.x1 && y >= clip.y0 && y < clip.y1 {
            blend(&mut self.pixels[index(y, self.width) + index(x, 1)], colour, alpha);
        }
    }

    fn span(&self, y: i32, x0: i32, x1: i32) -> std::ops::Range<usize> {
        let row = index(y, self.width);
        row + index(x0, 1)..row + index(x1, 1)
    }
}

/// `a * b` of coordinates already clipped to be non-negative.
fn index(a: i32, b: i32) -> usize {
    usize::try_from(a * b).unwrap_or(0)
}

/// Nearest pixel, halves away from 0; a value far outside the screen for infinities and NaN.
///
/// In plain conversions: the processors that this is compiled for have no instruction that rounds,
/// and calls of libm for coordinates were 8 % of a display's work.
pub(super) fn round(value: f32) -> i32 {
    // Exact in twice the precision; truncated below.
    let half = 0.5_f64.copysign(value.into());
    #[allow(clippy::cast_possible_truncation)] // saturates, and the bound keeps sums from overflow
    let rounded = (f64::from(value).clamp(-1e6, 1e6) + half) as i32;
    rounded
}

/// The pixel that a coordinate is in; within a million of the screen, as [`round`].
fn floor(value: f32) -> i32 {
    let value = value.clamp(-1e6, 1e6);
    #[allow(clippy::cast_possible_truncation)] // as in `round`
    let towards_0 = value as i32;
    #[allow(clippy::cast_precision_loss)] // below 2^24
    let above = towards_0 as f32 > value;
    towards_0 - i32::from(above)
}

fn blend(pixel: &mut [u8; 4], colour: Rgb, alpha: u8) {
    // 255 becomes 256, so that full coverage gives the colour itself.
    let a = u32::from(alpha) + u32::from(alpha >> 7);
    // Two octets of a pixel at a time, each with an octet of room above it: a mean of octets in
    // 256ths never leaves that.
    const EVEN: u32 = 0x00ff_00ff;
    let [r, g, b] = colour;
    let (old, new) = (u32::from_le_bytes(*pixel), u32::from_le_bytes([r, g, b, 255]));
    let mixed = |shift: u32| (old >> shift & EVEN) * (256 - a) + (new >> shift & EVEN) * a;
    *pixel = (mixed(0) >> 8 & EVEN | mixed(8) & !EVEN).to_le_bytes();
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pixel(frame: &Frame, x: usize, y: usize) -> [u8; 3] {
        let at = (y * usize::try_from(frame.width).unwrap() + x) * 4;
        frame.octets()[at..at + 3].try_into().unwrap()
    }

    #[test]
    fn full_coverage_is_the_colour_and_none_leaves_the_ground() {
        let mut frame = Frame::new(4, 1, [10, 20, 30]);
        let mask = Mask { width: 3, height: 1, coverage: vec![255, 0, 128] };
        frame.mask(&mask, 0, 0, [250, 100, 0], frame.bounds());
        assert_eq!(pixel(&frame, 0, 0), [250, 100, 0]);
        assert_eq!(pixel(&frame, 1, 0), [10, 20, 30]);
        // (10·127 + 250·129) / 256
        assert_eq!(pixel(&frame, 2, 0), [130, 60, 14]);
        assert_eq!(pixel(&frame, 3, 0), [10, 20, 30]);
    }

    #[test]
    fn a_diagonal_goes_through_its_pixels() {
        let mut frame = Frame::new(8, 8, [0, 0, 0]);
        frame.line((1.0, 1.0), (6.0, 6.0), [255, 255, 255], frame.bounds());
        for i in 1..=6 {
            assert_eq!(pixel(&frame, i, i), [255, 255, 255]);
        }
        assert_eq!(pixel(&frame, 0, 0), [0, 0, 0]);
        assert_eq!(pixel(&frame, 3, 5), [0, 0, 0]);
    }

    #[test]
    fn the_alpha_of_a_pixel_stays_whole() {
        let mut frame = Frame::new(256, 1, [77, 0, 255]);
        let mask = Mask { width: 256, height: 1, coverage: (0..=255).collect() };
        frame.mask(&mask, 0, 0, [3, 200, 9], frame.bounds());
        assert!(frame.octets().chunks(4).all(|pixel| pixel[3] == 255));
    }

    proptest! {
        /// The same pixels as by libm, also next to halves and whole numbers.
        #[test]
        fn pixels_are_rounded_as_numbers_are(
            value in prop_oneof![any::<f32>(), -9000f32..9000.0, (-9000i32..9000).prop_map(|n| n as f32 / 2.0)],
            bits in -2i32..=2,
        ) {
            let value = f32::from_bits(value.to_bits().wrapping_add_signed(bits));
            let near = if value.is_nan() { 0.0 } else { value.clamp(-1e6, 1e6) };
            prop_assert_eq!(round(value) as f32, near.round(), "{}", value);
            prop_assert_eq!(floor(value) as f32, near.floor(), "{}", value);
        }

        /// What the whole picture rests on: a clip never changes the pixels inside it.
        #[test]
        fn a_clip_cuts_and_changes_nothing(
            ends in prop::array::uniform4(-20f32..60.0),
            at in (-20i32..60, -20i32..60),
            clip in (0i32..40, 0i32..40, 0i32..40, 0i32..40),
        ) {
            let clip = Rect::new(clip.0, clip.1, clip.2, clip.3);
            let mask = Mask { width: 9, height: 7, coverage: (0..63).map(|i| i * 4).collect() };
            let draw = |frame: &mut Frame, clip: Rect| {
                frame.line((ends[0], ends[1]), (ends[2], ends[3]), [200, 10, 90], clip);
                frame.mask(&mask, at.0, at.1, [1, 250, 77], clip);
            };
            let ground = Frame::new(40, 40, [9, 9, 9]);
            let (mut whole, mut part) = (ground.clone(), ground.clone());
            draw(&mut whole, ground.bounds());
            draw(&mut part, clip);
            let mut expected = ground;
            expected.copy_from(&whole, clip);
            prop_assert!(part == expected);
        }
    }
}
