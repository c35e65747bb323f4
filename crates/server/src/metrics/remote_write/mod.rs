//! Prometheus remote write 1.0: the metrics of `/metrics`, sent to a receiver at an interval.
//!
//! One thread takes the metrics when they are due, and sends what waits, oldest first, because a
//! receiver refuses samples that are older than those it has. A request without an answer, or
//! answered with 429 or 5xx, is sent again after a pause that doubles; meanwhile samples wait in a
//! queue of [`QUEUE_BYTES_MAX`], and the oldest give way. What the receiver does not get is counted
//! and logged, never silent.
//!
//! Source: "Prometheus Remote-Write 1.0 specification", April 2023. Beyond it: native histograms and
//! exemplars, in the fields that Prometheus has for them. Not here: version 2.0, which the Prometheus
//! that this is tested with does not take; a queue on disk.

mod counts;
mod message;
mod options;
mod queue;

pub(crate) use counts::{RemoteWriteCounts, RemoteWriteState};
pub use options::{RemoteWriteError, RemoteWriteOptions};

use super::MetricsSource;
use crate::log::LogLine;
use crate::token::Token;
use chronoscope_clock as clock;
use message::Stale;
use queue::{Pending, Queue};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time until metrics are taken first, where the interval is not shorter: before that the collector
/// has not said that it runs.
const FIRST_AFTER_NS: u64 = 5_000_000_000;
/// Longest time for an answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// The pause before a request is sent again; it doubles up to the longest.
const PAUSE_NS: u64 = 250_000_000;
const PAUSE_NS_MAX: u64 = 30_000_000_000;
/// Time until the thread looks again at what is due.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Memory that waiting samples take at most: hours of a middling system.
const QUEUE_BYTES_MAX: usize = 64 << 20;
/// Octets of a refusal that are read, and characters that are logged.
const REFUSAL_BYTES_MAX: u64 = 4 << 10;
const REFUSAL_CHARS_MAX: usize = 300;

/// The thread that sends. Dropping it takes the metrics once more, sends what waits unless the
/// receiver is away, and ends it.
#[derive(Debug)]
pub(crate) struct RemoteWriter {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl RemoteWriter {
    /// Begins to send what `source` has to say; its state is that of the options' receiver.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub(crate) fn start(
        options: RemoteWriteOptions,
        source: MetricsSource,
        state: Arc<RemoteWriteState>,
    ) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::Builder::new().name("remote-write".to_owned());
        let thread = thread.spawn(move || Sender::new(options, state).run(&source, &stopped))?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for RemoteWriter {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there was printed there
        }
    }
}

/// Result of one request.
#[derive(Debug)]
enum Answer {
    Taken,
    /// Sending it again may help.
    Later(String),
    /// Sending it again does not help.
    Refused(String),
}

struct Sender {
    options: RemoteWriteOptions,
    state: Arc<RemoteWriteState>,
    agent: ureq::Agent,
    queue: Queue,
    stale: Stale,
    /// Requests in a row that were not answered.
    failures: u32,
    /// When the next one may go: monotonic, nanoseconds.
    next_ns: u64,
    /// The last request was refused, and that has been logged.
    is_refused: bool,
    /// The last samples took the place of others.
    is_full: bool,
}

impl Sender {
    fn new(options: RemoteWriteOptions, state: Arc<RemoteWriteState>) -> Self {
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(ANSWER_WITHIN))
            .http_status_as_error(false)
            .user_agent(concat!("chronoscope/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        Self {
            options,
            state,
            agent,
            queue: Queue::new(QUEUE_BYTES_MAX),
            stale: Stale::default(),
            failures: 0,
            next_ns: 0,
            is_refused: false,
            is_full: false,
        }
    }

    fn run(mut self, source: &MetricsSource, stop: &AtomicBool) {
        let every_ns = u64::try_from(self.options.every.as_nanos()).unwrap_or(u64::MAX);
        let mut due_ns = clock::monotonic_ns().saturating_add(every_ns.min(FIRST_AFTER_NS));
        while !stop.load(Ordering::Relaxed) {
            let now_ns = clock::monotonic_ns();
            if let Some(late_ns) = now_ns.checked_sub(due_ns) {
                let missed = late_ns / every_ns;
                self.state.change(|counts| counts.missed += missed);
                due_ns = due_ns.saturating_add(every_ns.saturating_mul(missed + 1));
                self.take(source);
            }
            if now_ns < self.next_ns || !self.send_first() {
                clock::sleep(LOOK_EVERY);
            }
        }
        self.take(source);
        while self.failures == 0 && self.send_first() {}
        if self.queue.samples() > 0 {
            self.warn("remote_write_lost").with("samples", self.queue.samples()).say();
        }
    }

    /// Takes the metrics, and lets them wait to be sent.
    fn take(&mut self, source: &MetricsSource) {
        let at_ms = clock::utc_now_ns().div_euclid(1_000_000);
        let families = match source.families() {
            Ok(families) => families,
            Err(error) => {
                LogLine::error("remote_write_missed").with("error", error).say();
                return self.state.change(|counts| counts.missed += 1);
            }
        };
        let mut series = message::series(&families, &self.options, at_ms);
        self.stale.add(&mut series, at_ms);
        let mut dropped = 0;
        for request in message::requests(series) {
            dropped += self.queue.push(request);
        }
        if dropped > 0 && !self.is_full {
            self.warn("remote_write_full").with("bytes", QUEUE_BYTES_MAX).say();
        }
        self.is_full = dropped > 0;
        self.state.change(|counts| counts.dropped += dropped);
        self.count_waiting();
    }

    /// Sends the first request of the queue; false when there is none.
    fn send_first(&mut self) -> bool {
        let Some(first) = self.queue.first() else { return false };
        let samples = first.samples;
        match self.post(first) {
            Answer::Taken => {
                self.queue.pop();
                if self.failures > 0 || self.is_refused {
                    let lost = self.state.counts().dropped;
                    let line = LogLine::info("remote_write_over").with("url", &self.options.url);
                    line.with("waiting", self.queue.samples()).with("lost", lost).say();
                }
                (self.failures, self.is_refused) = (0, false);
                let now_ns = clock::utc_now_ns();
                self.state.change(|counts| {
                    counts.sent += samples;
                    counts.success_ns = Some(now_ns);
                });
            }
            Answer::Later(reason) => {
                if self.failures == 0 {
                    self.warn("remote_write_waits").with("reason", reason).say();
                }
                let pause_ns = PAUSE_NS.saturating_mul(1 << self.failures.min(16));
                self.next_ns = clock::monotonic_ns().saturating_add(pause_ns.min(PAUSE_NS_MAX));
                self.failures += 1;
                self.state.change(|counts| counts.failures += 1);
            }
            Answer::Refused(reason) => {
                self.queue.pop();
                if !self.is_refused {
                    let line = self.warn("remote_write_refused").with("samples", samples);
                    line.with("reason", reason).say();
                }
                (self.failures, self.is_refused) = (0, true);
                self.state.change(|counts| counts.refused += samples);
            }
        }
        self.count_waiting();
        true
    }

    fn post(&self, request: &Pending) -> Answer {
        let mut post = self
            .agent
            .post(&self.options.url)
            .header("content-type", "application/x-protobuf")
            .header("content-encoding", "snappy")
            .header("x-prometheus-remote-write-version", "0.1.0");
        for (name, value) in &self.options.headers {
            post = post.header(name, value);
        }
        // Read each time, so that a token can be replaced while this runs.
        if let Some(file) = &self.options.token_file {
            let token = std::fs::read_to_string(file).map_err(|error| error.to_string());
            match token.and_then(|text| Token::new(&text).map_err(|error| error.to_string())) {
                Ok(token) => {
                    post = post.header("authorization", format!("Bearer {}", token.secret()));
                }
                Err(error) => return Answer::Later(format!("{}: {error}", file.display())),
            }
        }
        let mut answer = match post.send(&request.body[..]) {
            Ok(answer) => answer,
            Err(error) => return Answer::Later(error.to_string()),
        };
        let status = answer.status().as_u16();
        if (200..300).contains(&status) {
            return Answer::Taken;
        }
        let limited = answer.body_mut().with_config().limit(REFUSAL_BYTES_MAX);
        let said = String::from_utf8_lossy(&limited.read_to_vec().unwrap_or_default()).into_owned();
        let said = said.trim().chars().take(REFUSAL_CHARS_MAX).collect::<String>();
        let reason = format!("answers {status}: {said}");
        if status == 429 || status >= 500 { Answer::Later(reason) } else { Answer::Refused(reason) }
    }

    fn warn(&self, event: &str) -> LogLine {
        LogLine::warn(event).with("url", &self.options.url)
    }

    fn count_waiting(&self) {
        let (waiting, bytes) = (self.queue.samples(), self.queue.bytes());
        self.state.change(|counts| (counts.waiting, counts.waiting_bytes) = (waiting, bytes));
    }
}
