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
use crate::tracker::recording::Playback;
use crate::tracker::sites::RadarSite;
use crate::tracker::surveillance::StationEditions;
use crate::tracker::{Precision, Processor, Radars, Settings};
use std::io;
use std::path::Path;

/// Reasons why no reference can be reconstructed.
#[derive(Debug, thiserror::Error)]
pub enum ReconstructError {
    /// The file cannot be read to its end.
    #[error(transparent)]
    File(#[from] io::Error),
    /// More radars than there is room for.
    #[error(transparent)]
    Radars(#[from] crate::tracker::Unusable),
    /// The paths cannot be read again.
    #[error(transparent)]
    Paths(#[from] TruthsError),
}

/// The paths of all targets in a file of plots (a capture, or a recording of ASTERIX), in `plane`, and where
/// the sensors see; by a tracker with `settings`.
///
/// # Errors
/// [`ReconstructError`] with the reason.
pub fn reconstruct(
    plots: &Path,
    (sites, settings): (&[RadarSite], Settings),
    origin: Wgs84,
    plane: &Stereographic,
) -> Result<(Truths, Coverage), ReconstructError> {
    let editions = StationEditions::new(settings.surveillance.editions(), sites);
    let mut radars = Radars::new(origin, Precision::default()).with_sensors(settings.sensors);
    for site in sites {
        radars.know(site)?;
    }
    let mut processor = Processor::new(radars, settings, DataSource::default());
    processor.keep_paths();
    processor.set_editions(sites);
    for site in sites {
        site.turn_s.iter().for_each(|turn_s| processor.set_period(site.source, *turn_s));
    }
    let mut playback = Playback::open(plots, None, editions)?;
    while let Some((at_ns, octets)) = playback.take() {
        processor.datagram(&octets, at_ns, |_| {});
        processor.tick(at_ns, |_| {});
    }
    if let Some(failure) = playback.failure {
        return Err(io::Error::other(failure).into());
    }
    let mut file = Vec::new();
    processor.write_paths(&mut file).map_err(TruthsError::Io)?;
    let truths = Truths::read(&file[..], plane)?;
    let mut coverage = Coverage::by(CoverageSource::Plots);
    truths.points().for_each(|(position, level)| coverage.add(position, Some(level)));
    Ok((truths, coverage))
}
