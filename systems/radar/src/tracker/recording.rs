//! Recorded plots in, recorded tracks out: captures in the place of sockets.

use super::final_recording::{FinalRecording, is_final};
use super::raw_recording::{RawRecording, is_raw};
use super::surveillance::StationEditions;
use crate::day::{PLOTS_PORT, SERVER};
use chronoscope_clock as clock;
use chronoscope_replay::capture::{ArrivalContent, Arrivals, CaptureReader, CaptureWriter};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter};
use std::net::SocketAddrV4;
use std::path::Path;

/// A file of plots.
#[derive(Debug)]
enum Recorded {
    Capture(Box<Arrivals<BufReader<File>>>),
    Raw(RawRecording<BufReader<File>>),
    Final(FinalRecording<BufReader<File>>),
}

/// Datagrams of a capture, at the times at which they arrived or as fast as they are taken.
#[derive(Debug)]
pub(crate) struct Playback {
    recorded: Recorded,
    next: Option<(i64, Vec<u8>)>,
    /// Speed relative to the clock; `None` for as fast as possible.
    speed: Option<f64>,
    begin_ns: u64,
    first_ns: i64,
    /// Capture time of the latest datagram.
    now_ns: i64,
    /// Reason why it ended before the end of the capture.
    pub(crate) failure: Option<String>,
}

/// Whether a file that begins so is a recording of ASTERIX that is no capture.
pub(crate) fn is_recording(start: &[u8]) -> bool {
    is_raw(start) || is_final(start)
}

impl Playback {
    /// # Errors
    /// Why the file cannot be read, without its name.
    pub(crate) fn open(
        path: &Path,
        speed: Option<f64>,
        editions: StationEditions,
    ) -> io::Result<Self> {
        let mut file = BufReader::new(File::open(path)?);
        let start = file.fill_buf()?;
        let (raw, framed) = (is_raw(start), is_final(start));
        let recorded = if raw {
            Recorded::Raw(RawRecording::new(file, editions))
        } else if framed {
            Recorded::Final(FinalRecording::new(file))
        } else {
            let reader = CaptureReader::new(file).map_err(|e| {
                io::Error::other(format!(
                    "{e}; nor does it begin as a raw or FINAL recording of ASTERIX"
                ))
            })?;
            Recorded::Capture(Box::new(Arrivals::new(reader)))
        };
        let mut playback = Self {
            recorded,
            next: None,
            speed,
            begin_ns: clock::monotonic_ns(),
            first_ns: 0,
            now_ns: 0,
            failure: None,
        };
        playback.read();
        playback.first_ns = playback.next.as_ref().map_or(0, |(at_ns, _)| *at_ns);
        playback.now_ns = playback.first_ns;
        Ok(playback)
    }

    /// Reads on to the next datagram.
    fn read(&mut self) {
        self.next = None;
        let arrivals = match &mut self.recorded {
            Recorded::Capture(arrivals) => arrivals,
            Recorded::Raw(recording) => {
                let next = recording.next_block();
                return self.recorded_next(next);
            }
            Recorded::Final(recording) => {
                let next = recording.next_datagram();
                return self.recorded_next(next);
            }
        };
        for arrival in arrivals {
            match arrival {
                Ok(arrival) => {
                    if let ArrivalContent::Datagram(octets) = arrival.what {
                        self.next = Some((arrival.at_ns, octets));
                        return;
                    }
                }
                Err(e) => {
                    say!("the capture cannot be read further: {e}");
                    self.failure = Some(e.to_string());
                }
            }
        }
    }

    fn recorded_next(&mut self, next: Result<Option<(i64, Vec<u8>)>, String>) {
        match next {
            Ok(next) => self.next = next,
            Err(e) => {
                say!("the recording cannot be read further: {e}");
                self.failure = Some(e);
            }
        }
    }

    /// Whether there is nothing more.
    pub(super) fn is_over(&self) -> bool {
        self.next.is_none()
    }

    /// Time until the next datagram is due, ns; `None` when there is none.
    pub(super) fn due_in_ns(&self) -> Option<u64> {
        let (at_ns, _) = self.next.as_ref()?;
        let Some(speed) = self.speed else { return Some(0) };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let since_first_ns = ((at_ns - self.first_ns) as f64 / speed) as u64;
        let due_ns = self.begin_ns.saturating_add(since_first_ns);
        Some(due_ns.saturating_sub(clock::monotonic_ns()))
    }

    /// The next datagram, if it is due, and when it was captured (UTC, ns).
    pub(crate) fn take(&mut self) -> Option<(i64, Vec<u8>)> {
        if self.due_in_ns()? > 0 {
            return None;
        }
        let taken = self.next.take();
        self.read();
        if let Some((at_ns, _)) = &taken {
            self.now_ns = *at_ns;
        }
        taken
    }

    /// Now, by the recording's clock (UTC, ns).
    pub(super) fn now_ns(&self) -> i64 {
        let Some(speed) = self.speed else { return self.now_ns };
        let elapsed_ns = clock::monotonic_ns().saturating_sub(self.begin_ns);
        #[allow(clippy::cast_possible_truncation, reason = "saturates")]
        let since_first_ns = (elapsed_ns as f64 * speed) as i64;
        self.first_ns.saturating_add(since_first_ns)
    }
}

/// Messages about tracks, as a capture of the datagrams that they might have been.
#[derive(Debug)]
pub(super) struct Output {
    capture: CaptureWriter<BufWriter<File>>,
    failure: Option<io::Error>,
}

impl Output {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let file = File::create(path)
            .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))?;
        Ok(Self { capture: CaptureWriter::new(BufWriter::new(file))?, failure: None })
    }

    /// Writes a message of `at_ns` (UTC). A failure is kept for [`Output::check`].
    pub(super) fn message(&mut self, at_ns: i64, octets: &[u8]) {
        if self.failure.is_some() {
            return;
        }
        let address = SocketAddrV4::new(SERVER, PLOTS_PORT);
        let at_ns = u64::try_from(at_ns).unwrap_or(0);
        self.failure = self.capture.datagram(at_ns, address, address, octets).err();
    }

    /// Returns the failure, if there was one.
    pub(super) fn check(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.check()?;
        self.capture.finish().map(drop)
    }
}
