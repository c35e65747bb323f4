//! File of radars: sites, precisions, known errors.
//!
//! CSV with a header and a line for each radar. The columns `radar,lat_deg,lon_deg,height_m`
//! (SAC/SIC in decimal, degrees, metres over the ellipsoid) have to be there; any of [`COLUMNS`] may
//! follow, in any order, and a field may be empty.

use super::sensors::Precision;
use crate::asterix::{DataSource, cat021};
use crate::geodesy::Wgs84;
use std::collections::BTreeMap;

/// The first line of a file with the columns that were always there.
pub const HEADER: &str = "radar,lat_deg,lon_deg,height_m,range_sigma_m,azimuth_sigma_deg";

/// Columns that have to be there.
const SITE: [&str; 4] = ["radar", "lat_deg", "lon_deg", "height_m"];

/// Columns that may be there, and what they mean. Errors are reported values less true ones.
pub const COLUMNS: [(&str, &str); 12] = [
    ("range_sigma_m", "standard deviation of ranges, of one that has the next column too"),
    ("azimuth_sigma_deg", "standard deviation of azimuths"),
    ("range_error_m", "known error of slant ranges"),
    ("azimuth_error_deg", "known error of azimuths, clockwise"),
    ("time_error_s", "known error of stamps, positive when they are late"),
    ("east_error_m", "known error of lat_deg and lon_deg: the station is so much further west"),
    ("north_error_m", "the same: so much further south"),
    ("turn_s", "time of a turn, until the radar tells its own"),
    ("monitor_lat_deg", "latitude of its field monitor or test target"),
    ("monitor_lon_deg", "longitude of that"),
    ("monitor_height_m", "height of that over the ellipsoid"),
    ("adsb_edition", "of a station of ADS-B: 2, 0.26 or 0.23, instead of that of the settings"),
];

/// Errors of a radar that are known beforehand: what it reports less what is true.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Known {
    /// Of slant ranges, m.
    pub range_m: f64,
    /// Of azimuths, degrees, clockwise.
    pub azimuth_deg: f64,
    /// Of stamps, s; positive when they are late.
    pub time_s: f64,
    /// Of its site to the east, m.
    pub east_m: f64,
    /// Of its site to the north, m.
    pub north_m: f64,
}

/// A radar that is known beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadarSite {
    /// Data source in its plots.
    pub source: DataSource,
    /// Position of its antenna.
    pub at: Wgs84,
    /// Precision of the radar; `None` for the one that is estimated.
    pub precision: Option<Precision>,
    /// Errors that are known.
    pub known: Known,
    /// Time of a turn, s.
    pub turn_s: Option<f64>,
    /// Position of its field monitor or test target, with which its errors are found.
    pub monitor: Option<Wgs84>,
    /// Edition of its records of category 021, where it is another one than that of the settings.
    pub adsb_edition: Option<cat021::Edition>,
}

impl RadarSite {
    /// A radar of which nothing is known but its site.
    #[must_use]
    pub fn new(source: DataSource, at: Wgs84) -> Self {
        let known = Known::default();
        Self { source, at, precision: None, known, turn_s: None, monitor: None, adsb_edition: None }
    }
}

/// Reasons why a file is not a file of sites.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SiteError {
    /// The first line is not a header.
    #[error("line 1: not a file of radars, expected the header {HEADER}, or other columns: {0}")]
    Header(String),
    /// A line has another form.
    #[error("line {line}: {text:?}: {why}")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// Text of the line.
        text: String,
        /// Reason for the refusal.
        why: String,
    },
}

/// Reads a file; empty lines count for nothing.
///
/// # Errors
/// [`SiteError`] with the line.
pub fn read(text: &str) -> Result<Vec<RadarSite>, SiteError> {
    let mut lines = text.lines().map(str::trim_end);
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').map(str::trim).collect();
    let is_column = |name: &&str| COLUMNS.iter().any(|(column, _)| column == name);
    if let Some(missing) = SITE.iter().find(|column| !header.contains(column)) {
        return Err(SiteError::Header(format!("{missing} is missing")));
    }
    if let Some(other) = header.iter().find(|name| !SITE.contains(name) && !is_column(name)) {
        return Err(SiteError::Header(format!("{other:?} is none")));
    }
    let lines = lines.enumerate().filter(|(_, text)| !text.is_empty());
    lines
        .map(|(index, text)| {
            site(&header, text).map_err(|why| SiteError::Line {
                line: index + 2,
                text: text.to_owned(),
                why,
            })
        })
        .collect()
}

fn site(header: &[&str], text: &str) -> Result<RadarSite, String> {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    if fields.len() != header.len() {
        return Err(format!("{} columns instead of {}", fields.len(), header.len()));
    }
    let fields: BTreeMap<&str, &str> =
        header.iter().copied().zip(fields).filter(|(_, field)| !field.is_empty()).collect();
    let need = |name: &str| fields.get(name).copied().ok_or(format!("{name} is empty"));
    let number = |name: &str| match fields.get(name).map(|text| (text, text.parse::<f64>())) {
        None => Ok(None),
        Some((_, Ok(value))) if value.is_finite() => Ok(Some(value)),
        Some((text, _)) => Err(format!("{name}: {text:?} is not a number")),
    };
    let positive = |name: &str| match number(name)? {
        Some(value) if value <= 0.0 => Err(format!("{name}: {value} is not a number above 0")),
        value => Ok(value),
    };
    let both = |what: &str| format!("{what} are given together or not at all");
    let precision = match (positive("range_sigma_m")?, positive("azimuth_sigma_deg")?) {
        (None, None) => None,
        (Some(range_sigma_m), Some(azimuth_sigma_deg)) => {
            Some(Precision { range_sigma_m, azimuth_sigma_deg })
        }
        _ => return Err(both("range_sigma_m and azimuth_sigma_deg")),
    };
    let monitor = ["monitor_lat_deg", "monitor_lon_deg", "monitor_height_m"];
    let monitor = match monitor.map(|name| fields.get(name)) {
        [None, None, None] => None,
        [Some(lat), Some(lon), Some(height)] => {
            Some(format!("{lat},{lon},{height}").parse().map_err(|e| format!("{e}"))?)
        }
        _ => return Err(both("monitor_lat_deg, monitor_lon_deg and monitor_height_m")),
    };
    let error = |name: &str| number(name).map(|value| value.unwrap_or(0.0));
    let at = format!("{},{},{}", need("lat_deg")?, need("lon_deg")?, need("height_m")?);
    Ok(RadarSite {
        source: need("radar")?.parse().map_err(|e| format!("{e}"))?,
        at: at.parse().map_err(|e| format!("{e}"))?,
        precision,
        known: Known {
            range_m: error("range_error_m")?,
            azimuth_deg: error("azimuth_error_deg")?,
            time_s: error("time_error_s")?,
            east_m: error("east_error_m")?,
            north_m: error("north_error_m")?,
        },
        turn_s: positive("turn_s")?,
        monitor,
        adsb_edition: fields
            .get("adsb_edition")
            .map(|text| text.parse().map_err(|e| format!("adsb_edition: {e}")))
            .transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radars_with_and_without_their_own_precision() {
        let text = format!("{HEADER}\n25/7,50,8,300,40,0.06\n\n25/8,51.5,-1.25,0,,\n");
        let radars = read(&text).unwrap();
        assert_eq!(radars.len(), 2);
        assert_eq!(radars[0].source, DataSource { sac: 25, sic: 7 });
        let precision = Precision { range_sigma_m: 40.0, azimuth_sigma_deg: 0.06 };
        assert_eq!(radars[0].precision, Some(precision));
        let second = RadarSite::new(DataSource { sac: 25, sic: 8 }, Wgs84::new(51.5, -1.25, 0.0));
        assert_eq!(radars[1], second);
    }

    #[test]
    fn known_errors_and_a_monitor_are_columns() {
        let header = "radar,lat_deg,lon_deg,height_m,azimuth_error_deg,range_error_m,time_error_s,\
                      east_error_m,north_error_m,turn_s,monitor_lat_deg,monitor_lon_deg,\
                      monitor_height_m,adsb_edition";
        let radars = read(&format!(
            "{header}\n25/7,50,8,300,0.541,130,0.24,12,-8,4.8,50.1,8.1,350,0.26\n25/8,50,8,300,,,,,,,,,,\n"
        ))
        .unwrap();
        let known =
            Known { range_m: 130.0, azimuth_deg: 0.541, time_s: 0.24, east_m: 12.0, north_m: -8.0 };
        assert_eq!((radars[0].known, radars[0].turn_s), (known, Some(4.8)));
        assert_eq!(radars[0].monitor, Some(Wgs84::new(50.1, 8.1, 350.0)));
        assert_eq!((radars[1].known, radars[1].monitor), (Known::default(), None));
        let editions = [radars[0].adsb_edition, radars[1].adsb_edition];
        assert_eq!(editions, [Some(cat021::Edition::Early26), None]);
        let other = read("radar,lat_deg,lon_deg,height_m,adsb_edition\n25/7,50,8,300,0.2\n");
        assert!(other.unwrap_err().to_string().contains("no edition of category 021"));
    }

    #[test]
    fn refusals_name_the_line() {
        for header in ["25/7,50,8,300\n", "radar,lat_deg,lon_deg,height_m,azimuth\n"] {
            let message = read(header).unwrap_err().to_string();
            assert!(message.contains("not a file of radars"), "{message}");
        }
        for (line, why) in [
            ("25/7,50,8,300", "4 columns"),
            ("25,50,8,300,,", "SAC/SIC"),
            ("25/7,50,east,300,,", "LAT,LON"),
            ("25/7,50,8,,,", "height_m is empty"),
            ("25/7,50,8,300,0,0.1", "above 0"),
            ("25/7,50,8,300,70,", "together"),
            ("25/7,50,8,300,far,0.1", "not a number"),
        ] {
            let message = read(&format!("{HEADER}\n{line}\n")).unwrap_err().to_string();
            assert!(message.starts_with("line 2: ") && message.contains(why), "{message}");
        }
    }
}
