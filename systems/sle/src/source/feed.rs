//! A source in a thread of its own, and the bounded hand-over of its frames.

use super::{Progress, Source, SourceError};
use crate::frame::ReceivedFrame;
use crate::time::Now;
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Frames read at once.
const BATCH: usize = 256;
/// Longest sleep, so that a feed that is dropped ends soon.
const SLEEP_NS_MAX: u64 = 100_000_000;

/// What a source does while its frames are not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// It waits.
    Wait,
    /// Its oldest frames are discarded and counted: it is a receiver, and does not wait.
    Discard,
}

/// A source that is being read. Dropping it ends the reading.
pub struct Feed {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    room: Condvar,
    capacity: usize,
}

#[derive(Default)]
struct State {
    frames: VecDeque<ReceivedFrame>,
    discarded: u64,
    has_ended: bool,
    error: Option<SourceError>,
    stop: bool,
}

impl Feed {
    /// Starts reading. At most `capacity` frames, at least 1, wait to be taken; `wake` is called
    /// by the reading thread when there are frames where there were none, and at the end.
    ///
    /// # Errors
    /// When no thread can be made.
    pub fn spawn(
        source: Source,
        capacity: usize,
        when_full: WhenFull,
        wake: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State::default()),
            room: Condvar::new(),
            capacity: capacity.max(1),
        });
        let reading = Arc::clone(&shared);
        let thread = Builder::new()
            .name("sle-source".to_owned())
            .spawn(move || reading.run(source, when_full, &wake))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Takes up to `max` frames, and says how many.
    pub fn take(&self, max: usize, out: &mut Vec<ReceivedFrame>) -> usize {
        let mut state = self.shared.lock();
        let count = max.min(state.frames.len());
        out.extend(state.frames.drain(..count));
        drop(state);
        if count > 0 {
            self.shared.room.notify_one();
        }
        count
    }

    /// Frames that wait to be taken.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.lock().frames.len()
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Frames discarded because they were not taken in time.
    #[must_use]
    pub fn discarded(&self) -> u64 {
        self.shared.lock().discarded
    }

    /// Whether the source has ended and every frame was taken.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        let state = self.shared.lock();
        state.has_ended && state.frames.is_empty()
    }

    /// Why the source ended, where it did not come to its end; to be had once.
    #[must_use]
    pub fn take_error(&self) -> Option<SourceError> {
        self.shared.lock().error.take()
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.room.notify_all();
        // A panic in the thread was printed there; there is nobody here to tell.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Frames are whole wherever a panic may have happened.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, mut source: Source, when_full: WhenFull, wake: &impl Fn()) {
        let mut batch = Vec::with_capacity(BATCH);
        let error = loop {
            let progress = match source.read(BATCH, Now::read(), &mut batch) {
                Ok(progress) => progress,
                Err(error) => {
                    self.give(&mut batch, when_full, wake);
                    break Some(error);
                }
            };
            if !self.give(&mut batch, when_full, wake) {
                return;
            }
            match progress {
                Progress::More => {}
                Progress::At(monotonic_ns) => {
                    let left_ns = monotonic_ns.saturating_sub(Now::read().monotonic_ns);
                    let left_ns = left_ns.min(SLEEP_NS_MAX);
                    chronoscope_clock::sleep(Duration::from_nanos(left_ns));
                }
                Progress::End => break None,
            }
        };
        let mut state = self.lock();
        state.has_ended = true;
        state.error = error;
        drop(state);
        wake();
    }

    /// Puts a batch where it can be taken; whether to go on.
    fn give(&self, batch: &mut Vec<ReceivedFrame>, when_full: WhenFull, wake: &impl Fn()) -> bool {
        let mut frames = batch.drain(..).peekable();
        loop {
            let mut state = self.lock();
            while when_full == WhenFull::Wait
                && !state.stop
                && frames.peek().is_some()
                && state.frames.len() >= self.capacity
            {
                state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.stop {
                return false;
            }
            let was_empty = state.frames.is_empty();
            let room = match when_full {
                WhenFull::Wait => self.capacity - state.frames.len().min(self.capacity),
                WhenFull::Discard => usize::MAX,
            };
            state.frames.extend(frames.by_ref().take(room));
            let over = state.frames.len().saturating_sub(self.capacity);
            state.frames.drain(..over);
            state.discarded += over as u64;
            let is_news = was_empty && !state.frames.is_empty();
            drop(state);
            if is_news {
                wake();
            }
            if frames.peek().is_none() {
                return true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Generator, GeneratorSettings, UdpSource};
    use super::*;
    use std::net::UdpSocket;
    use std::sync::mpsc;

    fn generator(count: Option<u64>) -> Source {
        let settings = GeneratorSettings {
            octets: 64,
            spacecraft: 1,
            virtual_channels: vec![0],
            rate: None,
            count,
            ocf: false,
            fecf: false,
        };
        Source::Generator(Generator::new(settings).unwrap())
    }

    fn number(frame: &ReceivedFrame) -> u64 {
        u64::from_be_bytes(frame.data[6..14].try_into().unwrap())
    }

    #[test]
    fn every_frame_of_a_source_that_waits_comes_in_order() {
        let (wake, woken) = mpsc::channel();
        let feed = Feed::spawn(generator(Some(5000)), 100, WhenFull::Wait, move || {
            let _sent = wake.send(());
        })
        .unwrap();
        let mut frames = Vec::new();
        while !feed.has_ended() {
            if feed.take(70, &mut frames) == 0 {
                // Several wakes may stand for the frames that were just taken.
                woken.recv().unwrap();
            }
            assert!(feed.len() <= 100);
        }
        assert_eq!(frames.iter().map(number).collect::<Vec<_>>(), (0..5000).collect::<Vec<_>>());
        assert_eq!(feed.discarded(), 0);
        assert!(feed.take_error().is_none());
    }

    #[test]
    fn a_feed_that_nobody_takes_from_can_be_dropped() {
        drop(Feed::spawn(generator(None), 1, WhenFull::Wait, || {}).unwrap());
    }

    #[test]
    fn a_receiver_does_not_wait() {
        let source = UdpSource::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = source.local_addr().unwrap();
        let feed = Feed::spawn(Source::Udp(source), 10, WhenFull::Discard, || {}).unwrap();
        let modem = UdpSocket::bind("127.0.0.1:0").unwrap();
        for number in 0..50u8 {
            modem.send_to(&[number], address).unwrap();
        }
        while feed.discarded() < 40 {
            std::thread::yield_now();
        }
        let mut frames = Vec::new();
        assert_eq!(feed.take(100, &mut frames), 10);
        assert_eq!(frames[0].data[0], 40, "the newest are kept");
    }
}
