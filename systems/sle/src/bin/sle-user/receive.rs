//! `receive`: writes frames to a file, or counts them.

use super::args::ReceiveArgs;
use super::ask::occurrence;
use super::say::UserOutput;
use super::unbind;
use anyhow::{Context, anyhow};
use chronoscope_clock as clock;
use chronoscope_sle::client::{ClientSettings, User, notation};
use chronoscope_sle::pdu::{FrameOrNotification, ReturnStart, ServiceType};
use chronoscope_sle::time::Time;
use serde_json::json;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Interval of the checks whether enough frames were received.
const LOOK: Duration = Duration::from_millis(20);
const PROGRESS_NS: u64 = 1_000_000_000;

/// Destination of the received frames.
#[derive(Default)]
struct To {
    file: Option<BufWriter<File>>,
    raw: bool,
    left: Option<u64>,
    frames: u64,
    octets: u64,
    last_ns: u64,
    first_ns: u64,
    has_ended: bool,
    fault: Option<std::io::Error>,
}

impl To {
    fn take(&mut self, parts: Vec<FrameOrNotification>) {
        for part in parts {
            match part {
                FrameOrNotification::Frame(frame) if self.left != Some(self.frames) => {
                    self.frames += 1;
                    self.octets += frame.data.len() as u64;
                    if let Err(error) = self.write(&frame.data) {
                        self.fault.get_or_insert(error);
                    }
                }
                FrameOrNotification::Frame(_) => {} // more than requested
                FrameOrNotification::Notification(notification) => {
                    use chronoscope_sle::pdu::ReturnNotification::EndOfData;
                    self.has_ended |= notification.notification == EndOfData;
                }
            }
        }
        self.last_ns = clock::monotonic_ns();
        if self.first_ns == 0 {
            self.first_ns = self.last_ns;
        }
    }

    fn write(&mut self, data: &[u8]) -> std::io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        if !self.raw {
            let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
            file.write_all(&length.to_be_bytes())?;
        }
        file.write_all(data)
    }

    fn is_enough(&self) -> bool {
        self.has_ended || self.fault.is_some() || self.left == Some(self.frames)
    }
}

pub(crate) fn run(
    receive: &ReceiveArgs,
    settings: ClientSettings,
    say: UserOutput,
) -> anyhow::Result<bool> {
    let start = start_of(receive, settings.association.service)?;
    let file = match &receive.out {
        Some(path) => {
            let file = File::create(path).with_context(|| path.display().to_string())?;
            Some(BufWriter::with_capacity(1 << 18, file))
        }
        None => None,
    };
    let to = To { file, raw: receive.raw, left: receive.frames, ..To::default() };
    let to = Arc::new(Mutex::new(to));
    let lock = |to: &Arc<Mutex<To>>, act: &mut dyn FnMut(&mut To)| {
        act(&mut to.lock().unwrap_or_else(PoisonError::into_inner));
    };
    let of_sink = Arc::clone(&to);
    let sink = Box::new(move |parts| {
        of_sink.lock().unwrap_or_else(PoisonError::into_inner).take(parts);
    });
    let interrupt = Arc::clone(&settings.interrupt);
    let user = User::connect_with(settings, sink)?;
    let version = user.bind()?;
    say.talk(&format!("bound, version {version}"));
    user.start_return(start)?;
    wait(receive, &user, &to, &interrupt, say);
    let is_over = user.ending().is_some();
    if let Some(ending) = user.ending() {
        say.fault(&notation::ending(&ending));
    } else {
        if let Err(error) = user.stop() {
            say.fault(&format!("STOP failed: {error}"));
        }
        unbind(&user, say);
    }
    let mut result = Ok(!is_over);
    lock(&to, &mut |to| result = finish(to, receive, &user, say));
    Ok(result? && !is_over)
}

/// Waits until enough frames were received.
fn wait(
    receive: &ReceiveArgs,
    user: &User,
    to: &Mutex<To>,
    interrupt: &AtomicBool,
    say: UserOutput,
) {
    let start_ns = clock::monotonic_ns();
    let until_ns = receive.seconds.map(|seconds| start_ns + seconds * 1_000_000_000);
    let mut told_ns = start_ns;
    loop {
        if let Some(happened) = user.next_occurrence(LOOK) {
            say.talk(&occurrence(&happened).to_string());
        }
        let now_ns = clock::monotonic_ns();
        let (frames, is_enough) = {
            let to = to.lock().unwrap_or_else(PoisonError::into_inner);
            (to.frames, to.is_enough())
        };
        let is_late = until_ns.is_some_and(|until_ns| until_ns <= now_ns);
        if is_enough || is_late || interrupt.load(Ordering::Acquire) || user.ending().is_some() {
            return;
        }
        if now_ns - told_ns >= PROGRESS_NS {
            told_ns = now_ns;
            say.talk(&format!("{frames} frames"));
        }
    }
}

/// Closes the file and prints the totals.
fn finish(
    to: &mut To,
    receive: &ReceiveArgs,
    user: &User,
    say: UserOutput,
) -> anyhow::Result<bool> {
    if let Some(file) = &mut to.file
        && let Err(error) = file.flush()
    {
        to.fault.get_or_insert(error);
    }
    let counts = user.statistics().returned;
    #[allow(clippy::cast_precision_loss)] // for display only
    let (seconds, frames, octets) =
        ((to.last_ns - to.first_ns) as f64 / 1e9, to.frames as f64, to.octets as f64);
    let per_s = |count: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
    say.result(&json!({
        "frames": to.frames,
        "octets": to.octets,
        "buffers": counts.buffers,
        "erred": counts.erred,
        "missing": counts.missing,
        "backlogs": counts.backlogs,
        "end_of_data": to.has_ended,
        "seconds": seconds,
        "frames_per_s": per_s(frames),
        "mbit_per_s": per_s(octets) * 8.0 / 1e6,
    }))?;
    if let Some(error) = to.fault.take() {
        return Err(anyhow!(error).context("the file is incomplete"));
    }
    Ok(receive.frames.is_none_or(|wanted| to.frames == wanted || to.has_ended))
}

/// Parameters of START.
fn start_of(receive: &ReceiveArgs, service: ServiceType) -> anyhow::Result<ReturnStart> {
    let time = |text: &Option<String>| {
        text.as_ref().map(|text| notation::parse_time(text).map(Time::from_utc_ns)).transpose()
    };
    Ok(ReturnStart {
        start: time(&receive.from).map_err(anyhow::Error::msg)?,
        stop: time(&receive.until).map_err(anyhow::Error::msg)?,
        select: receive.selection.of(service)?,
    })
}
