//! The map as the page draws it: places in degrees.

use super::airspace::{AIRWAYS, FIXES, SECTORS, fix};
use super::map::MapLayers;
use super::map_data::{AIRPORTS, BORDERS, GERMANY, OTHER_LAND};
use crate::geodesy::Wgs84;
use serde::Serialize;

/// Latitude and longitude in degrees.
type Place = (f32, f32);

/// A name at a place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Name of the point.
    pub name: String,
    /// Latitude and longitude in degrees.
    pub at: (f64, f64),
}

/// A sector.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sector {
    /// Name of the sector.
    pub name: &'static str,
    /// Lower and upper flight level.
    pub levels: (u16, u16),
    /// Latitude and longitude of its corners in degrees, closed.
    pub boundary: &'static [Place],
}

/// An airway.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Airway {
    /// Name of the airway.
    pub name: &'static str,
    /// Latitude and longitude of its fixes in degrees.
    pub line: Vec<Place>,
}

/// Map data under the targets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chart {
    /// Format of this; raised when a field changes its meaning.
    pub version: u32,
    /// Initial centre of the page: latitude and longitude in degrees.
    pub centre: (f64, f64),
    /// Initial height of the shown area, NM.
    pub height_nm: f64,
    /// Centre of the range rings, if there are any.
    pub rings: Option<(f64, f64)>,
    /// The home country, closed.
    pub home: &'static [Place],
    /// Other land, each closed.
    pub land: &'static [&'static [Place]],
    /// Borders on it.
    pub borders: &'static [&'static [Place]],
    /// Sectors of the airspace.
    pub sectors: Vec<Sector>,
    /// Airways of the airspace.
    pub airways: Vec<Airway>,
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
        let point =
            |name: &str, lat: f64, lon: f64| Point { name: name.to_owned(), at: (lat, lon) };
        let known = |&(name, lat, lon): &(&str, f32, f32)| point(name, lat.into(), lon.into());
        Self {
            version: 1,
            centre: (centre.lat_deg, centre.lon_deg),
            height_nm,
            rings: layers.rings,
            home: GERMANY,
            land: OTHER_LAND,
            borders: BORDERS,
            sectors: SECTORS
                .iter()
                .map(|s| Sector { name: s.name, levels: s.levels, boundary: s.boundary })
                .collect(),
            airways: AIRWAYS
                .iter()
                .map(|(name, over)| Airway {
                    name,
                    line: over.iter().filter_map(|f| fix(f)).collect(),
                })
                .collect(),
            fixes: FIXES.iter().map(known).collect(),
            airports: AIRPORTS.iter().map(known).collect(),
            radars: layers.radars.iter().map(|(name, lat, lon)| point(name, *lat, *lon)).collect(),
            composed: "Coasts and borders are coarse; sectors, fixes and airways are made up.",
        }
    }
}
