//! The map as the page draws it: places in degrees.
//!
//! The page has coasts and borders of the whole Earth itself (Natural Earth). What lies on them comes
//! from the operator's file, or is composed airspace over Germany.

use super::airspace::{AIRWAYS, FIXES, SECTORS, fix};
use super::map::MapLayers;
use super::map_data::AIRPORTS;
use super::map_file::{Feature, MapFile, MapLayer, Place, Shape};
use crate::geodesy::Wgs84;
use serde::Serialize;

/// A name at a place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Name of the point.
    pub name: String,
    /// Latitude and longitude in degrees.
    pub at: Place,
}

/// A sector, or an area that raises alerts or holds them back.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Area {
    /// Name of the area.
    pub name: String,
    /// What it is.
    pub kind: MapLayer,
    /// Lower and upper flight level.
    pub levels: (u16, u16),
    /// Latitude and longitude of its corners in degrees, closed.
    pub boundary: Vec<Place>,
}

/// A line with a name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Name of the line.
    pub name: String,
    /// Latitude and longitude of its positions in degrees.
    pub line: Vec<Place>,
}

/// Map data under the targets.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Chart {
    /// Format of this; raised when a field changes its meaning.
    pub version: u32,
    /// Initial centre of the page: latitude and longitude in degrees.
    pub centre: Place,
    /// Whether the centre was given, by itself or by radars; else the page may look for the tracks.
    pub centre_is_given: bool,
    /// Initial height of the shown area, NM.
    pub height_nm: f64,
    /// Centre of the range rings, if there are any.
    pub rings: Option<Place>,
    /// Land of the operator's map, each closed; where there is none the page draws the Earth's.
    pub land: Vec<Vec<Place>>,
    /// Borders and other lines of the operator's map.
    pub lines: Vec<Vec<Place>>,
    /// Sectors of the airspace.
    pub sectors: Vec<Area>,
    /// Areas with and without alerts.
    pub areas: Vec<Area>,
    /// Airways of the airspace.
    pub airways: Vec<Line>,
    /// Fixes of the airspace.
    pub fixes: Vec<Point>,
    /// Airports on the map.
    pub airports: Vec<Point>,
    /// Radar sites on the map.
    pub radars: Vec<Point>,
    /// Parts of it that are composed, as text for people.
    pub composed: &'static str,
}

impl Chart {
    /// The map of this program, seen from `centre`.
    #[must_use]
    pub fn new(centre: Wgs84, height_nm: f64, layers: &MapLayers) -> Self {
        let mut chart = Self {
            version: 2,
            centre: (centre.lat_deg, centre.lon_deg),
            height_nm,
            rings: layers.rings,
            ..Self::default()
        };
        match &layers.file {
            Some(file) => chart.take(file),
            None => chart.compose(),
        }
        let radars = layers.radars.iter();
        chart.radars.extend(radars.map(|(name, lat, lon)| point(name, (*lat, *lon))));
        chart
    }

    /// Airspace over Germany that is made up.
    fn compose(&mut self) {
        let wide = |&(lat, lon): &(f32, f32)| (f64::from(lat), f64::from(lon));
        let known = |&(name, lat, lon): &(&str, f32, f32)| point(name, (lat.into(), lon.into()));
        self.sectors = SECTORS
            .iter()
            .map(|sector| Area {
                name: sector.name.to_owned(),
                kind: MapLayer::Sector,
                levels: sector.levels,
                boundary: sector.boundary.iter().map(wide).collect(),
            })
            .collect();
        let way = |(name, over): &(&str, &[&str])| Line {
            name: (*name).to_owned(),
            line: over.iter().filter_map(|f| fix(f)).map(|at| wide(&at)).collect(),
        };
        self.airways = AIRWAYS.iter().map(way).collect();
        self.fixes = FIXES.iter().map(known).collect();
        self.airports = AIRPORTS.iter().map(known).collect();
        self.composed = "Sectors, fixes and airways over Germany are made up.";
    }

    /// The operator's map, in place of the composed one.
    fn take(&mut self, file: &MapFile) {
        for feature in &file.features {
            match (&feature.shape, feature.layer) {
                (Shape::Point(at), MapLayer::Airport) => {
                    self.airports.push(point(&feature.name, *at));
                }
                (Shape::Point(at), MapLayer::Radar) => self.radars.push(point(&feature.name, *at)),
                (Shape::Point(at), _) => self.fixes.push(point(&feature.name, *at)),
                (Shape::Line(line), MapLayer::Airway) => {
                    self.airways.push(Line { name: feature.name.clone(), line: line.clone() });
                }
                (Shape::Line(line), _) => self.lines.push(line.clone()),
                (Shape::Area(rings), MapLayer::Land) => self.land.extend(rings.iter().cloned()),
                (Shape::Area(rings), MapLayer::Sector) => self.sectors.extend(area(feature, rings)),
                (Shape::Area(rings), _) => self.areas.extend(area(feature, rings)),
            }
        }
    }
}

fn point(name: &str, at: Place) -> Point {
    Point { name: name.to_owned(), at }
}

/// An area by its outer ring: holes are not drawn.
fn area(feature: &Feature, rings: &[Vec<Place>]) -> Option<Area> {
    let boundary = rings.first()?.clone();
    let Feature { name, layer, levels, .. } = feature;
    Some(Area { name: name.clone(), kind: *layer, levels: *levels, boundary })
}

#[cfg(test)]
mod tests {
    use super::super::map_file;
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_map_of_the_operator_takes_the_place_of_the_composed_one() {
        let centre = Wgs84::new(-33.9, 151.2, 0.0);
        let composed = Chart::new(centre, 300.0, &MapLayers::default());
        assert!(!composed.fixes.is_empty() && composed.composed.contains("made up"));
        let file = map_file::read(
            r#"{"type":"FeatureCollection","features":[
            {"type":"Feature","properties":{"name":"PILUT"},
             "geometry":{"type":"Point","coordinates":[151.2,-33.9]}},
            {"type":"Feature","properties":{"layer":"proximity","name":"D1","to_fl":95},
             "geometry":{"type":"Polygon","coordinates":[[[150,-34],[151,-34],[151,-33],[150,-34]]]}}]}"#,
        )
        .unwrap();
        let layers = MapLayers { file: Some(Arc::new(file)), ..MapLayers::default() };
        let chart = Chart::new(centre, 300.0, &layers);
        assert_eq!((chart.centre, chart.composed), ((-33.9, 151.2), ""));
        assert_eq!(chart.fixes, [point("PILUT", (-33.9, 151.2))]);
        assert!(chart.sectors.is_empty() && chart.airports.is_empty());
        assert_eq!((chart.areas[0].name.as_str(), chart.areas[0].levels), ("D1", (0, 95)));
        let json = serde_json::to_value(&chart).unwrap();
        assert_eq!(json["areas"][0]["kind"], "proximity");
    }
}
