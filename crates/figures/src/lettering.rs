//! Text of a document as outlines of letters, for a renderer that has no text of its own.
//!
//! A renderer with text carries an engine for the scripts of the world: 2 MB of a program that draws
//! labels of charts. Here a letter follows the other at the widths of the font, from left to right,
//! without kerning and ligatures. Read are `x`, `y`, `font-size` and `text-anchor`, in pixels and as
//! attributes, the last two also of the elements around; all other attributes go to the outline.
//! Not here: attributes of `tspan`, whose text is a part of its `text`; styles of CSS.

use crate::svg::number;
use resvg::usvg::roxmltree::{Document, Error, Node};
use std::fmt::Write as _;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Size of letters where a document names none, in pixels.
const LETTERS: f64 = 12.0;

/// The document with a `path` in place of each `text`.
///
/// # Errors
/// When the document is no XML.
pub(crate) fn outlined(svg: &str, font: &Face<'_>) -> Result<String, Error> {
    let document = Document::parse(svg)?;
    let mut out = String::with_capacity(svg.len() * 4);
    let mut copied = 0;
    for text in document.descendants().filter(|node| node.has_tag_name("text")) {
        let range = text.range();
        out += &svg[copied..range.start];
        out += "<path";
        for attribute in text.attributes() {
            if !matches!(attribute.name(), "x" | "y" | "font-size" | "font-family" | "text-anchor")
            {
                let _ = write!(out, " {}", &svg[attribute.range()]); // into a String
            }
        }
        let _ = write!(out, " d=\"{}\"/>", Line::of(text, font).path()); // into a String
        copied = range.end;
    }
    Ok(out + &svg[copied..])
}

/// The letters of a text and where they stand.
struct Line<'a, 'font> {
    font: &'a Face<'font>,
    letters: Vec<GlyphId>,
    x: f64,
    y: f64,
    /// Pixels of a unit of the font.
    scale: f64,
}

impl<'a, 'font> Line<'a, 'font> {
    fn of(text: Node<'_, '_>, font: &'a Face<'font>) -> Self {
        let words = text.descendants().filter(Node::is_text).filter_map(|node| node.text());
        let words = words.collect::<String>();
        // Space is drawn as SVG says: one for many, none at the ends.
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        // What the font has no letter for is drawn as its box, which is letter 0.
        let letters = words.chars().map(|c| font.glyph_index(c).unwrap_or_default()).collect();
        let own = |name| text.attribute(name).and_then(|value| value.parse().ok());
        let size = inherited(text, "font-size").and_then(|size| size.parse().ok());
        let scale = size.unwrap_or(LETTERS) / f64::from(font.units_per_em());
        let (x, y) = (own("x").unwrap_or(0.0), own("y").unwrap_or(0.0));
        let mut line = Self { font, letters, x, y, scale };
        line.x -= match inherited(text, "text-anchor") {
            Some("middle") => line.width() / 2.0,
            Some("end") => line.width(),
            _ => 0.0,
        };
        line
    }

    /// Pixels from a letter to the next one.
    fn advance(&self, letter: GlyphId) -> f64 {
        f64::from(self.font.glyph_hor_advance(letter).unwrap_or(0)) * self.scale
    }

    fn width(&self) -> f64 {
        self.letters.iter().map(|letter| self.advance(*letter)).sum()
    }

    /// The `d` of the outlines.
    fn path(&self) -> String {
        let mut pen = Pen { d: String::new(), x: self.x, y: self.y, scale: self.scale };
        for letter in &self.letters {
            // Space has no outline.
            let _ = self.font.outline_glyph(*letter, &mut pen);
            pen.x += self.advance(*letter);
        }
        pen.d
    }
}

/// An attribute of an element or of the nearest one around that has it.
fn inherited<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.ancestors().find_map(|node| node.attribute(name))
}

/// Draws letters of the font, whose y points up, where the pen is.
struct Pen {
    d: String,
    x: f64,
    y: f64,
    scale: f64,
}

impl Pen {
    fn step(&mut self, command: char, points: &[(f32, f32)]) {
        self.d.push(command);
        for (x, y) in points {
            let (x, y) = (self.x + f64::from(*x) * self.scale, self.y - f64::from(*y) * self.scale);
            let _ = write!(self.d, "{} {} ", number(x), number(y)); // into a String
        }
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.step('M', &[(x, y)]);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.step('L', &[(x, y)]);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.step('Q', &[(x1, y1), (x, y)]);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.step('C', &[(x1, y1), (x2, y2), (x, y)]);
    }
    fn close(&mut self) {
        self.d.push('Z');
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may panic

    use super::*;

    fn font() -> Face<'static> {
        Face::parse(epaint_default_fonts::UBUNTU_LIGHT, 0).unwrap()
    }

    fn document(inside: &str) -> String {
        format!("<svg xmlns=\"http://www.w3.org/2000/svg\">{inside}</svg>")
    }

    /// Least and greatest x of the outline of a document's only text.
    fn columns(inside: &str) -> (f64, f64) {
        let svg = outlined(&document(inside), &font()).unwrap();
        let xml = Document::parse(&svg).unwrap();
        let path = xml.descendants().find(|node| node.has_tag_name("path")).unwrap();
        let numbers =
            path.attribute("d").unwrap().split(|c: char| !".-".contains(c) && !c.is_numeric());
        let numbers = numbers.filter_map(|n| n.parse::<f64>().ok()).collect::<Vec<_>>();
        let xs = numbers.chunks(2).map(|point| point[0]);
        xs.fold((f64::MAX, f64::MIN), |(least, most), x| (least.min(x), most.max(x)))
    }

    #[test]
    fn a_text_becomes_an_outline_and_everything_else_stays() {
        let before = "<rect width=\"3\"/><title>a text</title>";
        let text = "<text x=\"4\" y=\"9\" fill=\"#123\" transform=\"rotate(-90 1 2)\">l&lt;</text>";
        let svg = outlined(&document(&format!("{before}{text}<g/>")), &font()).unwrap();
        assert!(svg.starts_with(&document(before)[..70]), "{svg}");
        assert!(svg.contains("<path fill=\"#123\" transform=\"rotate(-90 1 2)\" d=\"M"), "{svg}");
        assert!(svg.ends_with("Z\"/><g/></svg>"), "{svg}");
        assert_eq!(svg.matches('Z').count(), 2, "a stroke and a sign: {svg}");
    }

    /// By `text-anchor`, which the group around may say, a text begins at, is centred on or ends at x.
    #[test]
    fn a_text_stands_where_its_anchor_says() {
        let at = |anchor| {
            columns(&format!("<g text-anchor=\"{anchor}\"><text x=\"100\" y=\"9\">HHHH</text></g>"))
        };
        let (start, middle, end) = (at("start"), at("middle"), at("end"));
        assert!(start.0 > 100.0 && end.1 < 100.0, "{start:?} {end:?}");
        assert!((middle.0 + middle.1 - 200.0).abs() < 0.1, "{middle:?}");
        assert!((start.1 - start.0 - (end.1 - end.0)).abs() < 0.1, "{start:?} {end:?}");
    }

    #[test]
    fn letters_have_the_size_that_is_nearest() {
        let width = |(least, most): (f64, f64)| most - least;
        let of = |text: &str| width(columns(&format!("<g font-size=\"40\">{text}</g>")));
        let (own, around) = (of("<text font-size=\"10\">mm</text>"), of("<text>mm</text>"));
        assert!((around / own - 4.0).abs() < 0.05, "{own} {around}");
    }

    /// Unlike a space a box is seen: a name in letters that the font lacks is not a gap.
    #[test]
    fn letters_that_the_font_lacks_are_boxes() {
        let (least, most) = columns("<text>\u{4e2d}\u{6587}</text>");
        assert!(most - least > 6.0, "{least} {most}");
        let svg = outlined(&document("<text> \n </text>"), &font()).unwrap();
        assert!(svg.contains("<path d=\"\"/>"), "{svg}");
    }
}
