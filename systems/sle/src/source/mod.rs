//! Frame sources of a return service: a generator, a file, UDP datagrams; and several of their
//! frames as one data unit.
//!
//! A source is read in batches, by a thread of whoever has the association. Generator and files
//! are without sockets, threads and clocks.

mod archive;
mod concatenation;
mod file;
mod generator;
mod pace;
mod progress;
mod segment;
mod store;
mod udp;

pub use archive::{ArchiveError, ArchiveLimits, FrameArchive};
pub use concatenation::FrameConcatenation;
pub use file::{FileError, FrameFile, FrameFileLayout, FrameFileSettings};
pub use generator::{FrameGenerator, GeneratorError, GeneratorSettings};
pub use progress::{FRAME_OCTETS_MAX, ReadProgress};
pub use segment::{StoreFault, StoredFrames, check_store};
pub use store::{StoreReader, StoreWriter};
pub use udp::UdpSource;

use crate::frame::ReceivedFrame;
use crate::time::Now;
use std::fs::File;
use std::io;

/// A source of frames.
#[derive(Debug)]
pub enum FrameSource {
    /// A generator.
    Generator(FrameGenerator),
    /// Reads frames from a file.
    File(FrameFile<File>),
    /// Takes frames, one a datagram.
    Udp(UdpSource),
}

/// Why a source gives no more frames.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A file's contents, or reading it.
    #[error(transparent)]
    File(#[from] FileError),
    /// Error of the UDP socket.
    #[error("cannot receive frames: {0}")]
    Socket(#[from] io::Error),
}

impl FrameSource {
    /// Appends up to `max` frames to `out`. Only UDP waits, for a tenth of a second at most.
    ///
    /// # Errors
    /// [`SourceError`]; what was read before is in `out`.
    pub fn read(
        &mut self,
        max: usize,
        now: Now,
        out: &mut Vec<ReceivedFrame>,
    ) -> Result<ReadProgress, SourceError> {
        match self {
            Self::Generator(generator) => Ok(generator.read(max, now, out)),
            Self::File(file) => Ok(file.read(max, now, out)?),
            Self::Udp(socket) => Ok(socket.read(max, out)?),
        }
    }
}
