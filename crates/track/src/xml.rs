//! Text within SVG and HTML.

pub(crate) use chronoscope_escape::xml as escaped;
