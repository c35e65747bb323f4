//! PNG from SVG by one renderer.
//!
//! ```
//! let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20">
//!   <text x="2" y="15" font-family="sans-serif" font-size="12">p99</text></svg>"#;
//! let png = chronoscope_figures::png(svg)?;
//! assert!(png.starts_with(b"\x89PNG"));
//! # Ok::<(), chronoscope_figures::PngError>(())
//! ```
//!
//! Text is drawn in Ubuntu Light, which is compiled in: pictures are the same on every machine, and
//! no font has to be installed.

use crate::lettering::outlined;
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{self, Options, Tree};
use ttf_parser::{Face, FaceParsingError};

/// Most pixels on a side of a picture.
const SIDE_MAX: u32 = 16_384;

/// Why there is no PNG.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The document is no SVG.
    #[error("the picture is not an SVG that can be drawn: {0}")]
    Svg(#[from] usvg::Error),
    /// The font that is compiled in cannot be read.
    #[error("the font of the program cannot be read: {0}")]
    Font(#[from] FaceParsingError),
    /// No memory can be had for so many pixels.
    #[error("a picture of {0} by {1} pixels is too large: at most {SIDE_MAX} on a side")]
    Size(u32, u32),
    /// The pixels cannot be written as PNG.
    #[error("the picture cannot be written as PNG: {0}")]
    Encode(String),
}

/// Renders an SVG document on white, one pixel a unit.
///
/// # Errors
/// When the document is no SVG, or too large.
pub fn png(svg: &str) -> Result<Vec<u8>, PngError> {
    // All text is in one font, whatever family a document names.
    let font = Face::parse(epaint_default_fonts::UBUNTU_LIGHT, 0)?;
    let svg = outlined(svg, &font).map_err(usvg::Error::ParsingFailed)?;
    let tree = Tree::from_str(&svg, &Options::default())?;
    let size = tree.size().to_int_size();
    let (width, height) = (size.width(), size.height());
    let too_large = || PngError::Size(width, height);
    if width > SIDE_MAX || height > SIDE_MAX {
        return Err(too_large());
    }
    let mut pixels = Pixmap::new(width, height).ok_or_else(too_large)?;
    pixels.fill(Color::WHITE);
    resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PngError::Encode(error.to_string()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may panic

    use super::*;

    fn pixels(svg: &str) -> Pixmap {
        Pixmap::decode_png(&png(svg).unwrap()).unwrap()
    }

    fn document(inside: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"200\" height=\"40\">{inside}</svg>"
        )
    }

    #[test]
    fn a_document_is_drawn_on_white() {
        let drawn = pixels(&document(
            "<rect x=\"10\" y=\"5\" width=\"20\" height=\"8\" fill=\"#1F6FB4\"/>",
        ));
        assert_eq!((drawn.width(), drawn.height()), (200, 40));
        let at = |x, y| {
            let pixel = drawn.pixel(x, y).unwrap();
            [pixel.red(), pixel.green(), pixel.blue(), pixel.alpha()]
        };
        assert_eq!([at(20, 8), at(150, 30)], [[0x1f, 0x6f, 0xb4, 255], [255; 4]]);
    }

    /// Also where the document names a family that nobody has.
    #[test]
    fn text_is_drawn_without_any_font_of_the_machine() {
        for family in ["sans-serif", "Helvetica, Arial", "no such font"] {
            let text = format!(
                "<text x=\"5\" y=\"30\" font-family=\"{family}\" font-size=\"24\">99.7 % µs ±</text>"
            );
            let drawn = pixels(&document(&text));
            let dark = drawn.pixels().iter().filter(|pixel| pixel.red() < 128).count();
            assert!(dark > 150, "{family}: {dark}");
        }
    }

    #[test]
    fn what_is_no_picture_is_refused() {
        assert!(matches!(png("<html>"), Err(PngError::Svg(_))));
        let huge = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"90000\" height=\"90000\"/>";
        assert!(matches!(png(huge), Err(PngError::Size(90_000, 90_000))));
    }
}
