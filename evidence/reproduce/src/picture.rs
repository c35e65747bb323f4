//! Pictures as data: stored with the results, drawn when the report is written.

use serde::{Deserialize, Serialize};

mod draw;
mod flow;

/// A picture of the report.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Picture {
    /// A chart of values.
    Chart(Chart),
    /// Processing steps and what passes between them.
    Flow(Flow),
    /// An image made by a program.
    Image(Image),
}

/// A chart of values over others.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Chart {
    /// Title of the picture.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// In the order in which they are drawn.
    pub series: Vec<Series>,
    /// Values of an axis that are marked by a line.
    pub marks: Vec<Mark>,
}

/// An axis of a picture.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Axis {
    /// With its unit.
    pub label: String,
    /// Logarithmic; values not above zero are left out.
    pub log: bool,
    /// Begin and end of the axis; otherwise the range of the values.
    pub range: Option<[f64; 2]>,
}

/// Values drawn in one colour.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Series {
    /// For the legend; empty: none.
    pub name: String,
    /// Style of drawing.
    pub style: Style,
    /// x and y; of cells a third: how many.
    pub points: Vec<[f64; 3]>,
}

/// Style of drawing a series.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// A line through points.
    Line,
    /// Points only.
    Points,
    /// Bars of this width, to the right of each x.
    Bars(f64),
    /// Cells of this width and height, the darker the more.
    Cells(f64, f64),
}

/// A line across.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Mark {
    /// Whether the mark is at a value of x; otherwise at one of y.
    pub upright: bool,
    /// The value.
    pub at: f64,
    /// Label beside the value.
    pub label: String,
}

/// Steps in columns, one for each application, and what passes between them.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Flow {
    /// Title of the picture.
    pub title: String,
    /// Columns from left to right: name, and its steps with what stands below their names.
    pub columns: Vec<(String, Vec<(String, String)>)>,
    /// Arrows from step to step (column, row), with labels.
    pub arrows: Vec<([usize; 2], [usize; 2], String)>,
}

/// A picture that a program made.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Image {
    /// Title of the picture.
    pub title: String,
    /// Media type, `image/png`.
    pub media: String,
    /// Data in Base64.
    pub data: String,
}

impl Picture {
    /// Title of the picture.
    #[must_use]
    pub fn title(&self) -> &str {
        match self {
            Self::Chart(chart) => &chart.title,
            Self::Flow(flow) => &flow.title,
            Self::Image(image) => &image.title,
        }
    }

    /// For an HTML page: SVG whose colours are the page's, or an image.
    #[must_use]
    pub fn html(&self) -> String {
        match self {
            Self::Chart(chart) => draw::svg(chart),
            Self::Flow(flow) => flow::svg(flow),
            Self::Image(image) => {
                let (title, Image { media, data, .. }) =
                    (chronoscope_escape::xml(&image.title), image);
                format!("<img alt=\"{title}\" src=\"data:{media};base64,{data}\"/>")
            }
        }
    }

    /// A PNG file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn png(title: &str, path: &std::path::Path) -> std::io::Result<Self> {
        use base64::Engine;
        let data = base64::engine::general_purpose::STANDARD.encode(std::fs::read(path)?);
        Ok(Self::Image(Image { title: title.to_owned(), media: "image/png".to_owned(), data }))
    }
}

impl Series {
    /// A line through points.
    #[must_use]
    pub fn line(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, Style::Line, points)
    }

    /// A series of points without lines.
    #[must_use]
    pub fn points(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, Style::Points, points)
    }

    /// With a style.
    #[must_use]
    pub fn new(name: &str, style: Style, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let points = points.into_iter().map(|(x, y)| [x, y, 0.0]).collect();
        Self { name: name.to_owned(), style, points }
    }
}

impl Axis {
    /// A linear axis.
    #[must_use]
    pub fn new(label: &str) -> Self {
        Self { label: label.to_owned(), log: false, range: None }
    }

    /// A logarithmic axis.
    #[must_use]
    pub fn log(label: &str) -> Self {
        Self { log: true, ..Self::new(label) }
    }

    /// The axis with this range.
    #[must_use]
    pub fn within(self, from: f64, to: f64) -> Self {
        Self { range: Some([from, to]), ..self }
    }
}
