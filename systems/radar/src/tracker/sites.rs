//! File of radar sites and precisions.
//!
//! CSV with the header `radar,lat_deg,lon_deg,height_m,range_sigma_m,azimuth_sigma_deg` and a line
//! for each radar: SAC/SIC in decimal, degrees, metres over the ellipsoid, and the standard
//! deviations of range and azimuth. The last two columns may be empty, where the radar is like the
//! others.

use super::Precision;
use crate::asterix::DataSource;
use crate::geodesy::Wgs84;

/// The first line.
pub const HEADER: &str = "radar,lat_deg,lon_deg,height_m,range_sigma_m,azimuth_sigma_deg";

/// A radar that is known beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadarSite {
    /// Data source in its plots.
    pub source: DataSource,
    /// Position of its antenna.
    pub at: Wgs84,
    /// Precision of the radar; `None` for the common one.
    pub precision: Option<Precision>,
}

/// Reasons why a file is not a file of sites.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SiteError {
    /// The first line is not the header.
    #[error("line 1: not a file of radars, expected the header {HEADER}")]
    Header,
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
    if lines.next() != Some(HEADER) {
        return Err(SiteError::Header);
    }
    let lines = lines.enumerate().filter(|(_, text)| !text.is_empty());
    lines
        .map(|(index, text)| {
            site(text).map_err(|why| SiteError::Line {
                line: index + 2,
                text: text.to_owned(),
                why,
            })
        })
        .collect()
}

fn site(text: &str) -> Result<RadarSite, String> {
    let columns: Vec<&str> = text.split(',').collect();
    let &[source, lat, lon, height, range, azimuth] = columns.as_slice() else {
        return Err(format!("{} columns instead of 6", columns.len()));
    };
    let positive = |text: &str| match text.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err(format!("{text:?} is not a number above 0")),
    };
    let precision = match (range.trim(), azimuth.trim()) {
        ("", "") => None,
        (range, azimuth) => Some(Precision {
            range_sigma_m: positive(range)?,
            azimuth_sigma_deg: positive(azimuth)?,
        }),
    };
    Ok(RadarSite {
        source: source.parse().map_err(|e| format!("{e}"))?,
        at: format!("{lat},{lon},{height}").parse().map_err(|e| format!("{e}"))?,
        precision,
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
        assert_eq!((radars[1].at, radars[1].precision), (Wgs84::new(51.5, -1.25, 0.0), None));
    }

    #[test]
    fn refusals_name_the_line() {
        assert_eq!(read("25/7,50,8,300\n"), Err(SiteError::Header));
        for (line, why) in [
            ("25/7,50,8,300", "4 columns"),
            ("25,50,8,300,,", "SAC/SIC"),
            ("25/7,50,east,300,,", "LAT,LON"),
            ("25/7,50,8,300,0,0.1", "above 0"),
            ("25/7,50,8,300,70,", "above 0"),
        ] {
            let message = read(&format!("{HEADER}\n{line}\n")).unwrap_err().to_string();
            assert!(message.starts_with("line 2: ") && message.contains(why), "{message}");
        }
    }
}
