//! Map data of the operator: GeoJSON (RFC 7946), for anywhere on Earth.
//!
//! A `FeatureCollection`, one `Feature` or a geometry. The property `layer` says what a feature is
//! ([`MapLayer`]); without it a polygon is an area, a line is a line and a point is a fix. `name` is
//! its name; `from_fl` and `to_fl` are the flight levels of a sector or an area. All other properties
//! are ignored, and so are third coordinates.
//!
//! Inhibited areas hold conflict alerts back, proximity and minimum areas raise alerts of their own
//! (`stca` and `areas`).

use super::geojson::shapes;
pub use super::geojson::{Place, Shape};
use serde_json::Value;

/// Largest file, octets.
pub const OCTETS_MAX: u64 = 64 << 20;
/// Most positions of a map: what a browser draws at once.
const POSITIONS_MAX: usize = 500_000;

/// Kind of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MapLayer {
    /// Land, in place of the coasts that the page has.
    Land,
    /// A border, with land of one's own.
    Border,
    /// A sector.
    Sector,
    /// An airway or another route.
    Airway,
    /// A fix.
    Fix,
    /// An airport.
    Airport,
    /// A radar site.
    Radar,
    /// An area without a meaning to alerts.
    Area,
    /// A line without a meaning.
    Line,
    /// An area in which conflicts of two aircraft are not alerted.
    Inhibit,
    /// An area, such as a danger area, whose entry is alerted.
    Proximity,
    /// An area below whose `to_fl` aircraft are alerted: terrain and obstacles.
    Minimum,
}

/// A feature: a geometry of several parts is several features.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// What it is.
    pub layer: MapLayer,
    /// Its name; may be empty.
    pub name: String,
    /// Lower and upper flight level, in [0, 999]; all levels unless given.
    pub levels: (u16, u16),
    /// Its shape.
    pub shape: Shape,
}

/// A map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MapFile {
    /// Its features, in the order of the file.
    pub features: Vec<Feature>,
}

/// Reasons why a file is no map.
#[derive(Debug, thiserror::Error)]
pub enum MapError {
    /// It is not JSON.
    #[error("not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// It is not GeoJSON.
    #[error("not GeoJSON: type {0:?}; a FeatureCollection, a Feature or a geometry is read")]
    Type(String),
    /// A feature cannot be read.
    #[error("feature {index} (from 0): {why}")]
    Feature {
        /// Position in the file, from 0.
        index: usize,
        /// Reason.
        why: String,
    },
    /// There is too much of it.
    #[error(
        "{positions} positions, at most {POSITIONS_MAX} are drawn: simplify the lines, for example \
         with `npx mapshaper FILE -simplify 10% -o SMALLER`"
    )]
    TooMany {
        /// Number of positions.
        positions: usize,
    },
}

/// Reads a map.
///
/// # Errors
/// [`MapError`] with the feature that is wrong.
pub fn read(text: &str) -> Result<MapFile, MapError> {
    let json: Value = serde_json::from_str(text)?;
    let kind = json["type"].as_str().unwrap_or_default().to_owned();
    let features: Vec<&Value> = match (kind.as_str(), &json["features"]) {
        ("FeatureCollection", Value::Array(features)) => features.iter().collect(),
        ("Feature", _) => vec![&json],
        _ if json["coordinates"].is_array() || json["geometries"].is_array() => vec![&json],
        _ => return Err(MapError::Type(kind)),
    };
    let mut map = MapFile::default();
    for (index, one) in features.into_iter().enumerate() {
        feature(one, &mut map.features).map_err(|why| MapError::Feature { index, why })?;
    }
    let positions = map.features.iter().map(|feature| feature.shape.positions()).sum();
    if positions > POSITIONS_MAX {
        return Err(MapError::TooMany { positions });
    }
    Ok(map)
}

impl MapFile {
    /// Features of a layer.
    pub fn of(&self, layer: MapLayer) -> impl Iterator<Item = &Feature> {
        self.features.iter().filter(move |feature| feature.layer == layer)
    }
}

fn feature(json: &Value, out: &mut Vec<Feature>) -> Result<(), String> {
    let (geometry, properties) = match json["type"].as_str() {
        Some("Feature") => (&json["geometry"], &json["properties"]),
        _ => (json, &Value::Null),
    };
    // A feature may be without a place (RFC 7946, 3.2).
    if geometry.is_null() {
        return Ok(());
    }
    let layer: Option<MapLayer> = match &properties["layer"] {
        Value::Null => None,
        given => Some(serde_json::from_value(given.clone()).map_err(|e| format!("layer: {e}"))?),
    };
    let name = properties["name"].as_str().unwrap_or_default();
    let levels = (level(properties, "from_fl", 0)?, level(properties, "to_fl", 999)?);
    if levels.0 >= levels.1 {
        return Err(format!("from_fl {} is not below to_fl {}", levels.0, levels.1));
    }
    let mut parts = Vec::new();
    shapes(geometry, &mut parts)?;
    for shape in parts {
        let layer = layer.unwrap_or(match shape {
            Shape::Point(_) => MapLayer::Fix,
            Shape::Line(_) => MapLayer::Line,
            Shape::Area(_) => MapLayer::Area,
        });
        fits(layer, &shape)?;
        out.push(Feature { layer, name: name.to_owned(), levels, shape });
    }
    Ok(())
}

/// Whether a shape can be of a layer.
fn fits(layer: MapLayer, shape: &Shape) -> Result<(), String> {
    use MapLayer::{Airport, Airway, Area, Border, Fix, Inhibit, Land, Line, Minimum};
    use MapLayer::{Proximity, Radar, Sector};
    let needed = match layer {
        Fix | Airport | Radar => "a Point",
        Airway | Line | Border => "a LineString",
        Land | Sector | Area | Inhibit | Proximity | Minimum => "a Polygon",
    };
    let given = match shape {
        Shape::Point(_) => "a Point",
        Shape::Line(_) => "a LineString",
        Shape::Area(_) => "a Polygon",
    };
    if needed == given {
        Ok(())
    } else {
        Err(format!("layer {layer:?} needs {needed}, not {given}"))
    }
}

fn level(properties: &Value, key: &str, otherwise: u16) -> Result<u16, String> {
    let given = &properties[key];
    if given.is_null() {
        return Ok(otherwise);
    }
    let level = given.as_u64().and_then(|level| u16::try_from(level).ok());
    level.filter(|level| *level <= 999).ok_or(format!("{key}: {given} is no level from 0 to 999"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rfc_7946_has_is_read() {
        let map = read(
            r#"{"type":"FeatureCollection","features":[
            {"type":"Feature","properties":{"name":"PILUT"},
             "geometry":{"type":"Point","coordinates":[151.2,-33.9,12]}},
            {"type":"Feature","properties":{"layer":"inhibit","name":"R1","from_fl":50,"to_fl":95},
             "geometry":{"type":"Polygon","coordinates":[[[150,-34],[151,-34],[151,-33],[150,-34]]]}},
            {"type":"Feature","properties":null,"geometry":{"type":"MultiLineString",
             "coordinates":[[[1,2],[3,4]],[[5,6],[7,8],[9,10]]]}},
            {"type":"Feature","properties":{},"geometry":null}]}"#,
        )
        .unwrap();
        assert_eq!(map.features.len(), 4);
        let fix = &map.features[0];
        assert_eq!((fix.layer, fix.name.as_str()), (MapLayer::Fix, "PILUT"));
        assert_eq!(fix.shape, Shape::Point((-33.9, 151.2)), "longitude first");
        assert_eq!(map.features[1].levels, (50, 95));
        let ring = vec![(-34.0, 150.0), (-34.0, 151.0), (-33.0, 151.0)];
        assert_eq!(map.features[1].shape, Shape::Area(vec![ring]));
        assert_eq!(map.of(MapLayer::Line).count(), 2);
        let bare = read(r#"{"type":"LineString","coordinates":[[0,0],[1,1]]}"#).unwrap();
        assert_eq!(bare.features[0].layer, MapLayer::Line);
    }

    #[test]
    fn refusals_say_which_feature_and_why() {
        let one = |properties: &str, geometry: &str| {
            let text = format!(
                r#"{{"type":"FeatureCollection","features":[{{"type":"Feature","properties":{{}},"geometry":null}},
                {{"type":"Feature","properties":{properties},"geometry":{geometry}}}]}}"#
            );
            read(&text).unwrap_err().to_string()
        };
        let point = r#"{"type":"Point","coordinates":[8,50]}"#;
        for (properties, geometry, why) in [
            (r#"{"layer":"lake"}"#, point, "layer: unknown variant `lake`"),
            (r#"{"layer":"sector"}"#, point, "layer Sector needs a Polygon, not a Point"),
            (r#"{"from_fl":300,"to_fl":200}"#, point, "from_fl 300 is not below to_fl 200"),
            (r#"{"to_fl":"high"}"#, point, "to_fl: \"high\" is no level"),
            ("{}", r#"{"type":"Point","coordinates":[50,98]}"#, "longitude comes first"),
            ("{}", r#"{"type":"Point","coordinates":["8","50"]}"#, "no position"),
            ("{}", r#"{"type":"Circle","coordinates":[8,50]}"#, "\"Circle\" is none of GeoJSON's"),
            ("{}", r#"{"type":"LineString","coordinates":[[8,50]]}"#, "at least 2 are needed"),
            (
                "{}",
                r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}"#,
                "has to be its first",
            ),
        ] {
            let message = one(properties, geometry);
            assert!(message.starts_with("feature 1 (from 0): "), "{message}");
            assert!(message.contains(why), "{message}");
        }
        assert!(read("[]").unwrap_err().to_string().contains("not GeoJSON"));
        assert!(read("{").unwrap_err().to_string().contains("not JSON"));
    }
}
