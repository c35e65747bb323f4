//! Settings of sensors that report positions: ADS-B and multilateration.

use super::sites::RadarSite;
use crate::asterix::{DataSource, Editions, cat021, source_of};
use std::collections::BTreeMap;

/// Settings of sensors that report positions.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Surveillance {
    /// Interval between two reports of a target by ADS-B, s.
    pub adsb_period_s: f64,
    /// Interval between two reports of a target by multilateration, s.
    pub multilateration_period_s: f64,
    /// Standard deviation of each axis of an ADS-B report that does not say it (I021/090), m.
    pub adsb_sigma_m: f64,
    /// Standard deviation of each axis of a report of multilateration that does not say it
    /// (I020/500, I010/500), m.
    pub multilateration_sigma_m: f64,
    /// Least standard deviation that is believed, m: stamps and extrapolation in the aircraft are
    /// not in what it says.
    pub sigma_m_min: f64,
    /// A report with a larger standard deviation is not used, m.
    pub sigma_m_max: f64,
    /// Whether ADS-B positions are taken as true, to find the errors of radars.
    pub reference: bool,
    /// Edition of the records of category 021: "2" (2.0 and later), "0.26" (0.24 to 0.26) or "0.23".
    pub adsb_edition: cat021::Edition,
}

impl Default for Surveillance {
    fn default() -> Self {
        Self {
            adsb_period_s: 1.0,
            multilateration_period_s: 1.0,
            adsb_sigma_m: 100.0,
            multilateration_sigma_m: 50.0,
            sigma_m_min: 15.0,
            sigma_m_max: 800.0,
            reference: true,
            adsb_edition: cat021::Edition::Current,
        }
    }
}

impl Surveillance {
    /// The editions of the sensors' records.
    #[must_use]
    pub fn editions(&self) -> Editions {
        Editions { adsb: self.adsb_edition }
    }

    /// The settings that have to be above 0, by name.
    pub(super) fn above_0(&self) -> [(&'static str, f64); 6] {
        [
            ("surveillance.adsb_period_s", self.adsb_period_s),
            ("surveillance.multilateration_period_s", self.multilateration_period_s),
            ("surveillance.adsb_sigma_m", self.adsb_sigma_m),
            ("surveillance.multilateration_sigma_m", self.multilateration_sigma_m),
            ("surveillance.sigma_m_min", self.sigma_m_min),
            ("surveillance.sigma_m_max", self.sigma_m_max),
        ]
    }
}

/// The editions of all stations: those of the settings, and others of single stations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StationEditions {
    usual: Editions,
    of_stations: BTreeMap<DataSource, cat021::Edition>,
}

impl StationEditions {
    /// With the editions that `sites` say.
    pub(crate) fn new(usual: Editions, sites: &[RadarSite]) -> Self {
        let of_station = |site: &RadarSite| site.adsb_edition.map(|adsb| (site.source, adsb));
        Self { usual, of_stations: sites.iter().filter_map(of_station).collect() }
    }

    /// The editions of the records of a block, by the source of the first one.
    pub(crate) fn of(&self, block: &[u8]) -> Editions {
        let source = source_of(block).filter(|_| !self.of_stations.is_empty());
        let of_station = source.and_then(|source| self.of_stations.get(&source));
        of_station.map_or(self.usual, |adsb| Editions { adsb: *adsb })
    }
}
