//! The radars: where they are and what they can do.
//!
//! Sites of real German en-route and approach radars, from general knowledge and to about a
//! kilometre; antenna periods and ranges are typical for their kind, not those of the real radar.
//! SAC 98 (hexadecimal 62) is Germany's; the SICs are ours.

use crate::asterix::DataSource;
use crate::geodesy::Wgs84;

/// Site of a radar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Site {
    /// The place's name.
    pub name: &'static str,
    /// Data source in its messages.
    pub source: DataSource,
    /// Position of its antenna.
    pub position: Wgs84,
    /// Seconds of one turn of the antenna.
    pub period_s: f64,
    /// Instrumented range, in nautical miles.
    pub range_nm: f64,
}

const fn site(
    sic: u8,
    name: &'static str,
    (lat_deg, lon_deg, height_m): (f64, f64, f64),
    period_s: f64,
    range_nm: f64,
) -> Site {
    Site {
        name,
        source: DataSource { sac: 98, sic },
        position: Wgs84 { lat_deg, lon_deg, height_m },
        period_s,
        range_nm,
    }
}

/// In the order in which they are taken: the first five see all of the country at FL300.
pub const SITES: [Site; 14] = [
    site(1, "Neunkirchner Höhe", (49.72, 8.77, 620.0), 8.0, 180.0),
    site(2, "Deister", (52.25, 9.50, 420.0), 10.0, 180.0),
    site(3, "Großhaager Forst", (48.22, 12.22, 590.0), 10.0, 160.0),
    site(4, "Schmooksberg", (53.86, 12.43, 160.0), 12.0, 180.0),
    site(5, "Auersberg", (50.46, 12.65, 1040.0), 10.0, 180.0),
    site(6, "Lüdenscheid", (51.24, 7.65, 470.0), 10.0, 180.0),
    site(7, "Gosheim", (48.14, 8.76, 1010.0), 10.0, 180.0),
    site(8, "Nordholz", (53.78, 8.65, 60.0), 8.0, 150.0),
    site(9, "Frankfurt", (50.04, 8.57, 150.0), 5.0, 60.0),
    site(10, "München", (48.35, 11.79, 480.0), 5.0, 60.0),
    site(11, "Berlin", (52.36, 13.51, 90.0), 5.0, 60.0),
    site(12, "Düsseldorf", (51.28, 6.76, 80.0), 5.0, 60.0),
    site(13, "Hamburg", (53.63, 10.00, 50.0), 5.0, 60.0),
    site(14, "Boostedt", (54.01, 10.05, 120.0), 12.0, 180.0),
];
