//! Charts, tables and numbers: one way to draw and to write each.
//!
//! ```
//! use chronoscope_figures::charts::{Axis, Chart, Series, Style};
//! use chronoscope_figures::{numbers, theme::Theme};
//!
//! let latency = Series::new("p99", Style::Line, [(10.0, 1.2), (20.0, 1.9), (30.0, 4.0)]);
//! let chart = Chart {
//!     series: vec![latency],
//!     ..Chart::new("Latency", Axis::linear("load in %"), Axis::linear("ms"))
//! };
//! let svg = chart.document(820.0, 380.0, Theme::Light).to_string();
//! assert!(svg.contains("load in %"));
//! assert_eq!(numbers::grouped(277_000_u32), "277,000");
//! ```
//!
//! Every chart is an SVG document. With the feature `png` a document is rendered to pixels; a
//! program without the feature does not contain the renderer. All text in documents and tables is
//! escaped.
//!
//! Not here: statistics of what is drawn (`statistics`), and the page's own charts, which are drawn
//! in the browser.

pub mod charts;
#[cfg(feature = "png")]
mod lettering;
pub mod numbers;
#[cfg(feature = "png")]
mod png;
pub mod svg;
pub mod tables;
pub mod theme;

#[cfg(feature = "png")]
pub use png::{PngError, png};
