//! Elements of SVG: tags are balanced and text is escaped by construction.
//!
//! ```
//! use chronoscope_figures::svg::{Element, document};
//! let mut svg = document(100.0, 20.0);
//! svg.push(Element::new("text").set("x", 4.0).set("y", 12.5).text("a < b"));
//! assert!(svg.to_string().contains(r#"<text x="4" y="12.5">a &lt; b</text>"#));
//! ```

use std::fmt::{self, Write as _};

/// An element with its attributes and what is within it.
#[derive(Clone, Debug)]
pub struct Element {
    name: &'static str,
    attributes: String,
    inside: String,
}

/// The value of an attribute.
#[derive(Clone, Debug)]
pub enum Value {
    /// Text as it is; escaped when written.
    Text(String),
    /// A number; written to a hundredth.
    Number(f64),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl Element {
    /// An element without attributes.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self { name, attributes: String::new(), inside: String::new() }
    }

    /// Sets an attribute. Each name is set once only.
    #[must_use]
    pub fn set(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        let value = match value.into() {
            Value::Text(text) => chronoscope_escape::xml(&text),
            Value::Number(value) => number(value),
        };
        let _ = write!(self.attributes, " {name}=\"{value}\""); // a String takes everything
        self
    }

    /// Adds text.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.inside += &chronoscope_escape::xml(text);
        self
    }

    /// Adds an element within this one.
    #[must_use]
    pub fn with(mut self, element: Self) -> Self {
        self.push(element);
        self
    }

    /// Adds an element within this one.
    pub fn push(&mut self, element: Self) {
        let _ = write!(self.inside, "{element}"); // a String takes everything
    }
}

impl Extend<Element> for Element {
    fn extend<I: IntoIterator<Item = Element>>(&mut self, elements: I) {
        for element in elements {
            self.push(element);
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, attributes, inside } = self;
        match inside.is_empty() {
            true => write!(f, "<{name}{attributes}/>"),
            false => write!(f, "<{name}{attributes}>{inside}</{name}>"),
        }?;
        // Lines help a reader; within text they would be spaces.
        if *name == "tspan" || *name == "title" { Ok(()) } else { f.write_str("\n") }
    }
}

/// A number to a hundredth, without trailing zeros: `4`, `12.5`.
#[must_use]
pub fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_owned(),
        short => short.to_owned(),
    }
}

/// A document that stands alone, with its size in pixels.
#[must_use]
pub fn document(width: f64, height: f64) -> Element {
    sized(Element::new("svg").set("xmlns", "http://www.w3.org/2000/svg"), width, height)
}

/// A picture within an HTML page, with its size in pixels and a title for who cannot see it.
#[must_use]
pub fn inline(title: &str, width: f64, height: f64) -> Element {
    sized(Element::new("svg").set("role", "img").set("aria-label", title), width, height)
}

fn sized(element: Element, width: f64, height: f64) -> Element {
    let view = format!("0 0 {} {}", number(width), number(height));
    element.set("width", width).set("height", height).set("viewBox", view)
}

/// The `d` of a path through points.
#[must_use]
pub fn path(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut d = String::new();
    for (x, y) in points {
        d.push(if d.is_empty() { 'M' } else { 'L' });
        d += &format!("{} {}", number(x), number(y));
    }
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_escaped() {
        let element = Element::new("g").set("id", "a\"<\u{1b}").text("b & c");
        assert_eq!(element.to_string(), "<g id=\"a&quot;&lt;\u{fffd}\">b &amp; c</g>\n");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([4.0, 12.5, -0.001, 0.126, 1e3].map(number), ["4", "12.5", "0", "0.13", "1000"]);
        assert_eq!(path([(0.0, 1.0), (2.5, 3.0)]), "M0 1L2.5 3");
    }
}
