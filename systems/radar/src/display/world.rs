//! Land of the whole Earth for a picture in memory: Natural Earth at 1:50,000,000 (public domain), the file in
//! TopoJSON that the page has (package world-atlas).
//!
//! Not here: what a browser draws, which reads the file itself; and land so far from the picture's centre
//! that its projection is not finite.

use super::browser::embedded;
use super::map_file::{Feature, MapFile, MapLayer, Place, Shape};
use crate::geodesy::Wgs84;
use flate2::read::GzDecoder;
use serde_json::Value;
use std::io::Read as _;

/// Begin of the file's name in the page.
const FILE: &str = "assets/countries-50m";
/// Land all of which is farther from the centre is left out, m.
const NEAR_M: f64 = 6_000_000.0;
/// Land with a place that is farther from the centre is left out, m: the antipode is at infinity.
const FAR_M: f64 = 15_000_000.0;

/// The land around `centre`, as a map; `None` where the program was built without the page.
#[must_use]
pub fn around(centre: Wgs84) -> Option<MapFile> {
    let mut text = String::new();
    GzDecoder::new(embedded(FILE)?).read_to_string(&mut text).ok()?;
    land(&serde_json::from_str(&text).ok()?, centre)
}

/// The countries of a topology, each part as an area; `None` where it is no topology.
fn land(topology: &Value, centre: Wgs84) -> Option<MapFile> {
    let arcs = arcs(topology)?;
    let mut map = MapFile::default();
    for country in topology["objects"]["countries"]["geometries"].as_array()? {
        let parts = match country["type"].as_str() {
            Some("Polygon") => std::slice::from_ref(&country["arcs"]),
            Some("MultiPolygon") => country["arcs"].as_array()?,
            _ => continue,
        };
        for part in parts {
            let rings = part.as_array()?.iter().map(|ring| joined(ring, &arcs));
            let rings = rings.collect::<Option<Vec<_>>>()?;
            if is_near(&rings, centre) {
                let shape = Shape::Area(rings);
                let (name, levels) = (String::new(), (0, 999));
                map.features.push(Feature { layer: MapLayer::Land, name, levels, shape });
            }
        }
    }
    Some(map)
}

/// Lines of places: in the file each is the difference to the one before, in steps of the transform.
fn arcs(topology: &Value) -> Option<Vec<Vec<Place>>> {
    let pair = |value: &Value| Some((value[0].as_f64()?, value[1].as_f64()?));
    let transform = &topology["transform"];
    let (scale, from) = (pair(&transform["scale"])?, pair(&transform["translate"])?);
    let line = |arc: &Value| {
        let (mut x, mut y) = (0.0, 0.0);
        let place = |step: &Value| {
            let (dx, dy) = pair(step)?;
            (x, y) = (x + dx, y + dy);
            Some((y * scale.1 + from.1, x * scale.0 + from.0))
        };
        arc.as_array()?.iter().map(place).collect::<Option<Vec<Place>>>()
    };
    topology["arcs"].as_array()?.iter().map(line).collect()
}

/// A ring of arcs; one with a number below zero is taken backwards, whose complement is meant.
fn joined(ring: &Value, arcs: &[Vec<Place>]) -> Option<Vec<Place>> {
    let mut all: Vec<Place> = Vec::new();
    for index in ring.as_array()? {
        let index = index.as_i64()?;
        let arc = arcs.get(usize::try_from(if index < 0 { !index } else { index }).ok()?)?;
        // The first place of an arc is the last one of the arc before.
        all.pop();
        if index < 0 {
            all.extend(arc.iter().rev());
        } else {
            all.extend(arc);
        }
    }
    Some(all)
}

fn is_near(rings: &[Vec<Place>], centre: Wgs84) -> bool {
    let away = |&(lat, lon): &Place| Wgs84::new(lat, lon, 0.0).ground_distance_m(centre);
    let outer = rings.first().map_or(&[][..], Vec::as_slice);
    let (least, most) = outer
        .iter()
        .map(away)
        .fold((f64::INFINITY, 0.0_f64), |(least, most), m| (least.min(m), most.max(m)));
    least < NEAR_M && most < FAR_M
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::map::{MapLayers, draw};
    use crate::display::{View, map};
    use std::sync::Arc;

    /// Two countries of 10° by 10° beside each other, south of the equator, that share a border.
    const TOPOLOGY: &str = r#"{
        "type": "Topology",
        "transform": { "scale": [0.5, 0.25], "translate": [20, -40] },
        "arcs": [
            [[20, 0], [0, 40]],
            [[20, 40], [-20, 0], [0, -40], [20, 0]],
            [[20, 0], [20, 0], [0, 40], [-20, 0]]
        ],
        "objects": { "countries": { "type": "GeometryCollection", "geometries": [
            { "type": "Polygon", "arcs": [[0, 1]] },
            { "type": "MultiPolygon", "arcs": [[[2, -1]]] },
            { "type": null }
        ] } }
    }"#;

    #[test]
    fn countries_are_drawn_around_the_centre_and_no_others() {
        let topology = serde_json::from_str(TOPOLOGY).unwrap();
        let centre = Wgs84::new(-35.0, 30.0, 0.0);
        let map = land(&topology, centre).unwrap();
        let Shape::Area(rings) = &map.features[1].shape else { panic!("{map:?}") };
        assert_eq!(
            rings[0],
            [(-40.0, 30.0), (-40.0, 40.0), (-30.0, 40.0), (-30.0, 30.0), (-40.0, 30.0)]
        );
        assert_eq!(map.features.len(), 2);
        let view = View::new(300, 324, centre, 1_000.0);
        let land_of = |file| draw(&view, &MapLayers { file, ..MapLayers::default() });
        let (with, without) = (land_of(Some(Arc::new(map))), land_of(Some(Arc::default())));
        let land = |frame: &crate::display::raster::Frame| {
            frame.octets().chunks(4).filter(|pixel| pixel[..3] != map::SEA).count()
        };
        // 600 NM of the 1,000 NM from north to south, and almost all from west to east.
        let (drawn, nothing) = (land(&with), land(&without));
        assert!((50_000..58_000).contains(&drawn) && nothing == 0, "{drawn} {nothing}");
        assert!(self::land(&topology, Wgs84::new(50.0, -150.0, 0.0)).unwrap().features.is_empty());
        assert!(self::land(&Value::Null, centre).is_none());
    }
}
