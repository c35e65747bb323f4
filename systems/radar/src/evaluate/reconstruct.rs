//! A reference where no truth is known: the paths of all targets, reconstructed from the plots of all
//! sensors, and where these see.
//!
//! The plots go through the tracker of this program, whose tracks say whose they are; each path is
//! then smoothed by earlier and later plots (fixed-interval smoothing). It is independent of the
//! evaluated tracks where they are another tracker's; of tracks of this tracker it shares the
//! association, so that swaps and false tracks common to both are not seen.

use super::coverage::{Coverage, CoverageSource};
use super::truth::{Truths, TruthsError};
use crate::asterix::DataSource;
use crate::geodesy::{Stereographic, Wgs84};
use crate::tracker::sites::RadarSite;
use crate::tracker::{Precision, Processor, Radars, Settings};
use chronoscope_replay::capture::{ArrivalContent, Arrivals, CaptureReader};
use std::io::Read;

/// Reasons why no reference can be reconstructed.
#[derive(Debug, thiserror::Error)]
pub enum ReconstructError {
    /// The capture cannot be read.
    #[error(transparent)]
    Capture(#[from] chronoscope_replay::capture::CaptureError),
    /// More radars than there is room for.
    #[error(transparent)]
    Radars(#[from] crate::tracker::Unusable),
    /// The paths cannot be read again.
    #[error(transparent)]
    Paths(#[from] TruthsError),
}

/// The paths of all targets in a capture of plots, in `plane`, and where the sensors see.
///
/// # Errors
/// [`ReconstructError`] with the reason.
pub fn reconstruct(
    plots: impl Read,
    sites: &[RadarSite],
    origin: Wgs84,
    plane: &Stereographic,
) -> Result<(Truths, Coverage), ReconstructError> {
    let settings = Settings::default();
    let mut radars = Radars::new(origin, Precision::default()).with_sensors(settings.sensors);
    for site in sites {
        radars.know(site)?;
    }
    let mut processor = Processor::new(radars, settings, DataSource::default());
    processor.keep_paths();
    for site in sites {
        site.turn_s.iter().for_each(|turn_s| processor.set_period(site.source, *turn_s));
    }
    for arrival in Arrivals::new(CaptureReader::new(plots)?) {
        let arrival = arrival?;
        if let ArrivalContent::Datagram(octets) = arrival.what {
            processor.datagram(&octets, arrival.at_ns, |_| {});
            processor.tick(arrival.at_ns, |_| {});
        }
    }
    let mut file = Vec::new();
    processor.write_paths(&mut file).map_err(TruthsError::Io)?;
    let truths = Truths::read(&file[..], plane)?;
    let mut coverage = Coverage::by(CoverageSource::Plots);
    truths.points().for_each(|(position, level)| coverage.add(position, Some(level)));
    Ok((truths, coverage))
}
