//! Geometries of GeoJSON (RFC 7946, 3.1) as shapes.
//!
//! Not here: what a shape stands for (`map_file`).

use serde_json::Value;

/// Latitude and longitude in degrees.
pub type Place = (f64, f64);

/// Shape of a feature.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A position.
    Point(Place),
    /// A line.
    Line(Vec<Place>),
    /// An area: its outer ring, and rings of holes; each closed, without the repeated position.
    Area(Vec<Vec<Place>>),
}

impl Shape {
    /// Count of its positions.
    pub(super) fn positions(&self) -> usize {
        match self {
            Self::Point(_) => 1,
            Self::Line(line) => line.len(),
            Self::Area(rings) => rings.iter().map(Vec::len).sum(),
        }
    }
}

/// Adds the shapes of a geometry: one of several parts is several shapes.
pub(super) fn shapes(json: &Value, out: &mut Vec<Shape>) -> Result<(), String> {
    let at = &json["coordinates"];
    let each =
        |value: &Value| value.as_array().cloned().ok_or("coordinates: not a list".to_owned());
    match json["type"].as_str().unwrap_or_default() {
        "Point" => out.push(Shape::Point(place(at)?)),
        "MultiPoint" => {
            each(at)?.iter().try_for_each(|p| place(p).map(|p| out.push(Shape::Point(p))))?
        }
        "LineString" => out.push(Shape::Line(line(at, 2)?)),
        "MultiLineString" => {
            each(at)?.iter().try_for_each(|l| line(l, 2).map(|l| out.push(Shape::Line(l))))?;
        }
        "Polygon" => out.push(Shape::Area(rings(at)?)),
        "MultiPolygon" => {
            each(at)?.iter().try_for_each(|p| rings(p).map(|r| out.push(Shape::Area(r))))?;
        }
        "GeometryCollection" => {
            let parts = json["geometries"].as_array().ok_or("geometries: not a list")?;
            // One level deep: the specification advises against more (RFC 7946, 3.1.8).
            for part in parts.iter().filter(|part| part["type"] != "GeometryCollection") {
                shapes(part, out)?;
            }
        }
        other => return Err(format!("geometry: type {other:?} is none of GeoJSON's")),
    }
    Ok(())
}

fn rings(json: &Value) -> Result<Vec<Vec<Place>>, String> {
    let rings = json.as_array().filter(|rings| !rings.is_empty()).ok_or("polygon: no ring")?;
    rings
        .iter()
        .map(|ring| {
            let mut ring = line(ring, 4)?;
            if ring.first() != ring.last() {
                return Err("polygon: the last position of a ring has to be its first".to_owned());
            }
            ring.pop();
            Ok(ring)
        })
        .collect()
}

fn line(json: &Value, least: usize) -> Result<Vec<Place>, String> {
    let line = json.as_array().ok_or("coordinates: not a list of positions")?;
    if line.len() < least {
        return Err(format!("{} positions, at least {least} are needed", line.len()));
    }
    line.iter().map(place).collect()
}

/// A position: longitude first (RFC 7946, 3.1.1).
fn place(json: &Value) -> Result<Place, String> {
    let number = |index: usize| json.get(index).and_then(Value::as_f64);
    let (Some(lon), Some(lat)) = (number(0), number(1)) else {
        return Err(format!("{json} is no position [longitude, latitude]"));
    };
    if !(-90.0..=90.0).contains(&lat) || !(-360.0..=360.0).contains(&lon) {
        return Err(format!("[{lon}, {lat}] is not on Earth: longitude comes first"));
    }
    Ok((lat, lon))
}
