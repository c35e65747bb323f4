//! Areas of the operator's map that matter to alerts.
//!
//! * In an inhibited area two aircraft are not alerted of each other: airfields' circuits, military
//!   areas.
//! * A proximity area (area proximity warning, APW) alerts of aircraft within its levels, or that will be
//!   within [`AHEAD_S`].
//! * A minimum area (minimum safe altitude warning, MSAW) alerts of aircraft below its upper level, or
//!   that will be: the terrain and obstacles below it are given as areas, because no elevation data are
//!   here. Levels are flight levels: without the pressure of the day a level is off by 27 ft a
//!   hectopascal, which the operator's margin has to hold.

use super::map_file::{Feature, MapFile, MapLayer, Shape};
use super::stca::Motion;
use crate::geodesy::{Plane, Stereographic, Wgs84};

/// Look-ahead time of area alerts, s.
pub const AHEAD_S: f64 = 60.0;
/// Step of the look-ahead, s: an airliner flies 1.2 km in it.
const STEP_S: f64 = 5.0;
/// Most inhibited areas: a bit for each.
const INHIBITED_MAX: usize = 64;

/// An aircraft that is in an area, or will be.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct AreaAlert {
    /// Track number (I062/040).
    pub track: u16,
    /// Name of the area.
    pub area: String,
    /// Proximity or minimum.
    pub kind: MapLayer,
    /// Seconds until it is in it, in steps of 5; 0 when it is.
    pub in_s: f64,
}

#[derive(Clone, Debug)]
struct Zone {
    name: String,
    kind: MapLayer,
    /// Heights, ft.
    from_ft: f64,
    to_ft: f64,
    places: Vec<Vec<(f64, f64)>>,
    /// The same in the plane.
    rings: Vec<Vec<Plane>>,
    /// Bounds of the outer ring: least x and y, largest x and y.
    bounds: [f64; 4],
}

/// The areas that matter to alerts.
#[derive(Clone, Debug, Default)]
pub struct Zones {
    inhibited: Vec<Zone>,
    alerted: Vec<Zone>,
}

/// There are more inhibited areas than can be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{count} inhibited areas (layer inhibit), at most {INHIBITED_MAX}: join those that touch")]
pub struct TooManyInhibited {
    /// Number of them.
    pub count: usize,
}

impl Zones {
    /// The areas of a map, in the plane.
    ///
    /// # Errors
    /// [`TooManyInhibited`].
    pub fn new(map: &MapFile, plane: &Stereographic) -> Result<Self, TooManyInhibited> {
        let of = |layers: &[MapLayer]| -> Vec<Zone> {
            let wanted = map.features.iter().filter(|feature| layers.contains(&feature.layer));
            wanted.filter_map(|feature| Zone::new(feature, plane)).collect()
        };
        let zones = Self {
            inhibited: of(&[MapLayer::Inhibit]),
            alerted: of(&[MapLayer::Proximity, MapLayer::Minimum]),
        };
        match zones.inhibited.len() {
            count if count > INHIBITED_MAX => Err(TooManyInhibited { count }),
            _ => Ok(zones),
        }
    }

    /// Lays them into another plane.
    pub fn project(&mut self, plane: &Stereographic) {
        let zones = self.inhibited.iter_mut().chain(&mut self.alerted);
        zones.for_each(|zone| zone.project(plane));
    }

    /// Inhibited areas in which an aircraft is: a bit for each.
    #[must_use]
    pub fn inhibited(&self, motion: &Motion) -> u64 {
        let inside = self.inhibited.iter().enumerate().filter(|(_, zone)| zone.holds(motion));
        inside.fold(0, |bits, (index, _)| bits | 1 << index)
    }

    /// Aircraft in areas, or on their way into them. Each with the number of its area.
    #[must_use]
    pub fn alerts(&self, all: &[Motion]) -> Vec<(usize, AreaAlert)> {
        let mut found = Vec::new();
        for (index, zone) in self.alerted.iter().enumerate() {
            found.extend(all.iter().filter_map(|motion| Some((index, zone.alert(motion)?))));
        }
        found
    }
}

impl Zone {
    fn new(feature: &Feature, plane: &Stereographic) -> Option<Self> {
        let Shape::Area(places) = &feature.shape else { return None };
        let (from, to) = feature.levels;
        let mut zone = Self {
            name: feature.name.clone(),
            kind: feature.layer,
            // Below a minimum there is no level that is safe.
            from_ft: if feature.layer == MapLayer::Minimum {
                f64::MIN
            } else {
                f64::from(from) * 100.0
            },
            to_ft: f64::from(to) * 100.0,
            places: places.clone(),
            rings: Vec::new(),
            bounds: [0.0; 4],
        };
        zone.project(plane);
        Some(zone)
    }

    fn project(&mut self, plane: &Stereographic) {
        let place = |&(lat, lon): &(f64, f64)| plane.project(Wgs84::new(lat, lon, 0.0));
        self.rings = self.places.iter().map(|ring| ring.iter().map(place).collect()).collect();
        let outer = self.rings.first().into_iter().flatten();
        self.bounds = outer
            .fold([f64::MAX, f64::MAX, f64::MIN, f64::MIN], |[x0, y0, x1, y1], at| {
                [x0.min(at.x_m), y0.min(at.y_m), x1.max(at.x_m), y1.max(at.y_m)]
            });
    }

    fn holds(&self, motion: &Motion) -> bool {
        let Plane { x_m, y_m } = motion.at;
        let [x0, y0, x1, y1] = self.bounds;
        (self.from_ft..self.to_ft).contains(&motion.height_ft)
            && (x0..=x1).contains(&x_m)
            && (y0..=y1).contains(&y_m)
            && self.rings.iter().filter(|ring| surrounds(ring, motion.at)).count() % 2 == 1
    }

    fn alert(&self, motion: &Motion) -> Option<AreaAlert> {
        let in_s = (0..)
            .map(|step| f64::from(step) * STEP_S)
            .take_while(|seconds| *seconds <= AHEAD_S)
            .find(|seconds| self.holds(&motion.after(*seconds)))?;
        Some(AreaAlert { track: motion.number, area: self.name.clone(), kind: self.kind, in_s })
    }
}

/// Whether a ring goes around a point.
fn surrounds(ring: &[Plane], at: Plane) -> bool {
    let mut inside = false;
    for (index, a) in ring.iter().enumerate() {
        let b = ring[(index + ring.len() - 1) % ring.len()];
        if (a.y_m > at.y_m) != (b.y_m > at.y_m)
            && at.x_m < (b.x_m - a.x_m) * (at.y_m - a.y_m) / (b.y_m - a.y_m) + a.x_m
        {
            inside = !inside;
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::super::map_file;
    use super::*;

    fn zones(layer: &str, from_fl: u16, to_fl: u16) -> Zones {
        // A square of a degree with a hole, south-west of Sydney.
        let map = map_file::read(&format!(
            r#"{{"type":"Feature","properties":{{"layer":"{layer}","name":"R5","from_fl":{from_fl},"to_fl":{to_fl}}},
            "geometry":{{"type":"Polygon","coordinates":[[[150,-35],[151,-35],[151,-34],[150,-34],[150,-35]],
            [[150.4,-34.6],[150.6,-34.6],[150.6,-34.4],[150.4,-34.4],[150.4,-34.6]]]}}}}"#
        ))
        .unwrap();
        Zones::new(&map, &plane()).unwrap()
    }

    fn plane() -> Stereographic {
        Stereographic::new(Wgs84::new(-34.0, 151.0, 0.0))
    }

    /// Over a place in degrees, flying east, at a flight level.
    fn motion(lat: f64, lon: f64, east_m_s: f64, level: f64, climb_ft_s: f64) -> Motion {
        Motion {
            number: 9,
            at: plane().project(Wgs84::new(lat, lon, 0.0)),
            x_m_s: east_m_s,
            y_m_s: 0.0,
            height_ft: level * 100.0,
            climb_ft_s,
            cleared_ft: None,
            inhibited: 0,
        }
    }

    #[test]
    fn an_area_holds_what_is_in_its_ring_and_levels_but_not_in_its_hole() {
        let zones = zones("inhibit", 50, 95);
        let inside = |lat, lon, level| zones.inhibited(&motion(lat, lon, 0.0, level, 0.0));
        assert_eq!(inside(-34.2, 150.2, 60.0), 1);
        assert_eq!([inside(-34.5, 150.5, 60.0), inside(-33.9, 150.2, 60.0)], [0, 0]);
        assert_eq!([inside(-34.2, 150.2, 49.0), inside(-34.2, 150.2, 95.0)], [0, 0]);
        assert!(zones.alerts(&[motion(-34.2, 150.2, 0.0, 60.0, 0.0)]).is_empty());
    }

    #[test]
    fn who_comes_into_an_area_is_alerted_before() {
        let zones = zones("proximity", 0, 95);
        let alert = |motion: Motion| zones.alerts(&[motion]).pop().map(|(_, alert)| alert.in_s);
        // 0.05° of longitude at 34° S are 4.6 km: 23 s at 200 m/s, found at 25 s.
        assert_eq!(alert(motion(-34.2, 149.95, 200.0, 60.0, 0.0)), Some(25.0));
        assert_eq!(alert(motion(-34.2, 149.95, -200.0, 60.0, 0.0)), None);
        assert_eq!(alert(motion(-34.2, 150.2, 0.0, 60.0, 0.0)), Some(0.0));
        // From above, 1,000 ft in 30 s.
        assert_eq!(alert(motion(-34.2, 150.2, 0.0, 104.9, -1000.0 / 30.0)), Some(30.0));
    }

    #[test]
    fn below_a_minimum_and_on_the_way_there_is_alerted() {
        let zones = zones("minimum", 0, 60);
        let alert = |motion: Motion| zones.alerts(&[motion]).pop().map(|(_, alert)| alert.in_s);
        assert_eq!(alert(motion(-34.2, 150.2, 0.0, 30.0, 0.0)), Some(0.0));
        assert_eq!(alert(motion(-34.2, 150.2, 0.0, 70.0, 0.0)), None);
        assert_eq!(alert(motion(-34.2, 150.2, 0.0, 70.0, -50.0)), Some(25.0));
        // Cleared to 6,500 ft it stays above.
        let cleared = Motion { cleared_ft: Some(6500.0), ..motion(-34.2, 150.2, 0.0, 70.0, -50.0) };
        assert_eq!(alert(cleared), None);
    }
}
