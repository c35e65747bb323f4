//! The data of `send` and `frames`, cut into pieces, and the rate at which they are sent.

use anyhow::{Context, bail};
use bytes::Bytes;
use chronoscope_clock as clock;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::time::Duration;

/// Interval between two lines of progress.
pub(crate) const PROGRESS_NS: u64 = 1_000_000_000;
/// Pause before data are sent again that a full buffer of the provider refused.
pub(crate) const FULL: Duration = Duration::from_millis(5);
/// Octets of a generated piece, by default.
const OCTETS: usize = 1000;

/// Source of the data of CLTUs or frames.
pub(crate) enum DataSource {
    File { data: Bytes, octets: usize },
    Counter { count: u64, octets: usize },
}

impl DataSource {
    /// The file in pieces of that many octets, or in one; without a file so many generated pieces,
    /// each with a counter.
    pub(crate) fn open(
        file: Option<&Path>,
        generate: Option<u64>,
        octets: Option<usize>,
    ) -> anyhow::Result<Self> {
        if let Some(path) = file {
            let data = std::fs::read(path).with_context(|| path.display().to_string())?;
            let octets = octets.unwrap_or(data.len());
            if octets == 0 || data.is_empty() {
                bail!("{}: the file is empty, or --octets is 0", path.display());
            }
            return Ok(Self::File { data: data.into(), octets });
        }
        let octets = octets.unwrap_or(OCTETS);
        if octets < 8 {
            bail!("--octets {octets}: generated data need at least 8 octets, for the counter");
        }
        Ok(Self::Counter { count: generate.unwrap_or(0), octets })
    }

    /// The data in words, of a file with its hash: the same words, the same pieces.
    pub(crate) fn description(&self) -> String {
        match self {
            Self::File { data, octets } => {
                let hash = Sha256::digest(data);
                let hash: String = hash.iter().map(|octet| format!("{octet:02x}")).collect();
                format!("file of {} octets, sha256 {hash}, {octets} octets each", data.len())
            }
            Self::Counter { octets, .. } => format!("generated, {octets} octets each"),
        }
    }

    /// Number of pieces.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::File { data, octets } => data.len().div_ceil(*octets) as u64,
            Self::Counter { count, .. } => *count,
        }
    }

    /// The piece at `index`, from 0.
    pub(crate) fn piece(&self, index: u64) -> Bytes {
        match self {
            Self::File { data, octets } => {
                let from = usize::try_from(index).unwrap_or(usize::MAX).saturating_mul(*octets);
                let from = from.min(data.len());
                data.slice(from..data.len().min(from + octets))
            }
            Self::Counter { octets, .. } => {
                let mut piece = vec![0; *octets];
                piece[..8].copy_from_slice(&index.to_be_bytes());
                piece.into()
            }
        }
    }
}

/// Waits until the piece at `index` is due at that rate a second; without a rate it is due at once.
pub(crate) fn pace(rate: Option<u32>, start_ns: u64, index: u64) {
    let Some(rate) = rate.filter(|rate| *rate > 0) else { return };
    let due_ns = start_ns + index * 1_000_000_000 / u64::from(rate);
    let now_ns = clock::monotonic_ns();
    if due_ns > now_ns {
        clock::sleep(Duration::from_nanos(due_ns - now_ns));
    }
}
