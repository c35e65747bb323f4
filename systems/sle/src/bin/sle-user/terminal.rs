//! `terminal`: an interactive session, one command a line.

use super::args::SelectionArgs;
use super::ask::{fate_line, occurrence, status_report};
use super::say::UserOutput;
use anyhow::{anyhow, bail};
use chronoscope_sle::client::{ClientSettings, CltuTransfer, User, notation};
use chronoscope_sle::pdu::{
    FrameOrNotification, PeerAbortDiagnostic, ReportRequest, ReturnStart, ServiceType, UnbindReason,
};
use serde_json::{Value, json};
use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

const HELP: &str = "\
bind                  connect and bind
start [N]             start; FCLTU: N is the first CLTU's number; RAF: good, erred or all
start CHANNEL         RCF: start of a channel, as 1.0.0 or 1.0
start CHANNEL [all|clcw|clcw:VCID|not-clcw] [changes]    ROCF
send HEX | N OCTETS   send one CLTU with these octets, or N CLTUs with a counter
drain                 wait until all CLTUs are acknowledged
event ID [TEXT]       throw an event
report [EVERY|stop]   request a status report, or one every EVERY seconds; stop ends the reports
get NAME              get a parameter
wait SECONDS          print the service's events for SECONDS
status                print the totals, and by a status report production, uplink or locks
stop                  stop
unbind [suspend]      unbind
abort                 abort the association
help                  print this help
quit                  stop and unbind as needed, and exit";

/// Interval at which events are printed.
const SETTLE: Duration = Duration::from_millis(100);

struct Terminal<'a> {
    settings: &'a ClientSettings,
    say: UserOutput,
    user: Option<User>,
    /// Number of received frames.
    frames: Arc<AtomicU64>,
}

/// Executes commands until `quit` or the end of the input. `true` if every command succeeded.
pub(crate) fn run(settings: &ClientSettings, say: UserOutput) -> anyhow::Result<bool> {
    let (to, lines) = mpsc::sync_channel(16);
    std::thread::Builder::new().name("lines".to_owned()).spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if to.send(line).is_err() {
                return;
            }
        }
    })?;
    say.talk("enter help for the commands");
    let mut terminal = Terminal { settings, say, user: None, frames: Arc::default() };
    let mut is_good = true;
    loop {
        match lines.recv_timeout(SETTLE) {
            Ok(line) if line.trim() == "quit" => break,
            Ok(line) if line.trim().is_empty() => {}
            Ok(line) => {
                let done = terminal.command(line.trim());
                match done {
                    Ok(Some(value)) => say.result(&value)?,
                    Ok(None) => say.result(&json!({"done": line.trim()}))?,
                    Err(error) => {
                        is_good = false;
                        say.result(&json!({"failed": line.trim(), "error": format!("{error:#}")}))?;
                    }
                }
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        if settings.interrupt.load(Ordering::Acquire) {
            break;
        }
        terminal.happened(Duration::ZERO)?;
    }
    terminal.quit()?;
    Ok(is_good)
}

impl Terminal<'_> {
    fn command(&mut self, line: &str) -> anyhow::Result<Option<Value>> {
        let mut words = line.split_ascii_whitespace();
        let (name, rest): (&str, Vec<&str>) = (words.next().unwrap_or(""), words.collect());
        match (name, rest.as_slice()) {
            ("help", []) => return Ok(Some(json!({"help": HELP}))),
            ("bind", []) => return self.bind().map(Some),
            ("start", rest) => self.start(rest)?,
            ("send", [hex]) => return self.send(&octets(hex)?).map(Some),
            ("send", [count, length]) => return self.send_many(count, length).map(Some),
            ("drain", []) => self.user()?.drain()?,
            ("event", [id, text @ ..]) => {
                let qualifier = if text.is_empty() { " ".to_owned() } else { text.join(" ") };
                self.user()?.throw_event(id.parse()?, qualifier.into_bytes().into())?;
            }
            ("report", []) => self.user()?.schedule(ReportRequest::Immediately)?,
            ("report", ["stop"]) => self.user()?.schedule(ReportRequest::Stop)?,
            ("report", [every]) => {
                self.user()?.schedule(ReportRequest::Periodically(every.parse()?))?;
            }
            ("get", [name]) => {
                let name = notation::parameter_name(name)
                    .ok_or_else(|| anyhow!("there is no parameter {name:?}"))?;
                return Ok(Some(notation::parameter(&self.user()?.get_parameter(name)?)));
            }
            ("wait", [seconds]) => {
                let seconds: f64 = seconds.parse()?;
                self.happened(Duration::from_secs_f64(seconds.clamp(0.0, 86_400.0)))?;
            }
            ("status", []) => return self.status().map(Some),
            ("stop", []) => self.user()?.stop()?,
            ("unbind", []) => self.unbind(UnbindReason::End)?,
            ("unbind", ["suspend"]) => self.unbind(UnbindReason::Suspend)?,
            ("abort", []) => {
                self.user()?.abort(PeerAbortDiagnostic::OperationalRequirement);
                self.say_fates()?;
                self.user = None;
            }
            _ => bail!("{line:?} is not a command: enter help for the commands"),
        }
        Ok(None)
    }

    fn user(&self) -> anyhow::Result<&User> {
        self.user.as_ref().ok_or_else(|| anyhow!("not bound: enter bind first"))
    }

    fn bind(&mut self) -> anyhow::Result<Value> {
        if self.user.as_ref().is_some_and(|user| user.ending().is_none()) {
            bail!("already bound");
        }
        let frames = Arc::clone(&self.frames);
        let count = move |parts: Vec<FrameOrNotification>| {
            let count =
                parts.iter().filter(|part| matches!(part, FrameOrNotification::Frame(_))).count();
            frames.fetch_add(count as u64, Ordering::Relaxed);
        };
        let user = User::connect_with(self.settings.clone(), Box::new(count))?;
        let version = user.bind()?;
        self.user = Some(user);
        Ok(json!({"done": "bind", "version": version}))
    }

    fn start(&self, words: &[&str]) -> anyhow::Result<()> {
        let user = self.user()?;
        if user.service() == ServiceType::Fcltu {
            return Ok(user.start_forward(words.first().map_or(Ok(0), |word| word.parse())?)?);
        }
        let select = SelectionArgs::of_words(user.service(), words)?.of(user.service())?;
        Ok(user.start_return(ReturnStart { start: None, stop: None, select })?)
    }

    fn send(&self, octets: &[u8]) -> anyhow::Result<Value> {
        let data = octets.to_vec().into();
        let cltu = self.user()?.transfer(CltuTransfer {
            data,
            notify_radiated: true,
            ..CltuTransfer::default()
        })?;
        Ok(json!({"done": "send", "cltu": cltu}))
    }

    fn send_many(&self, count: &str, length: &str) -> anyhow::Result<Value> {
        let (count, length): (u32, usize) = (count.parse()?, length.parse()?);
        let user = self.user()?;
        let mut last = None;
        for number in 0..count {
            let mut data = vec![0; length];
            let counter = number.to_be_bytes();
            let shown = length.min(counter.len());
            data[..shown].copy_from_slice(&counter[..shown]);
            let notify_radiated = number + 1 == count;
            let transfer =
                CltuTransfer { data: data.into(), notify_radiated, ..CltuTransfer::default() };
            last = Some(user.transfer(transfer)?);
        }
        Ok(json!({"done": "send", "last_cltu": last}))
    }

    fn status(&self) -> anyhow::Result<Value> {
        let user = self.user()?;
        let report = if user.ending().is_none() { status_report(user, self.say)? } else { None };
        let counts = user.statistics();
        let mut status = json!({
            "sent": counts.sent,
            "acknowledged": counts.acknowledged,
            "refused": counts.refused,
            "radiated": counts.radiated,
            "unacknowledged": counts.unacknowledged,
            "frames": self.frames.load(Ordering::Relaxed),
            "buffers": counts.returned.buffers,
            "ending": user.ending().map(|ending| notation::ending(&ending)),
        });
        for key in ["production", "uplink", "carrier", "subcarrier", "symbol_sync", "frame_sync"] {
            if let Some(value) = report.as_ref().and_then(|report| report.get(key)) {
                status[key] = value.clone();
            }
        }
        Ok(status)
    }

    fn unbind(&mut self, reason: UnbindReason) -> anyhow::Result<()> {
        self.user()?.unbind(reason)?;
        self.say_fates()?;
        self.user = None;
        Ok(())
    }

    fn say_fates(&self) -> anyhow::Result<()> {
        for settled in self.user()?.fates() {
            self.say.result(&fate_line(settled))?;
        }
        Ok(())
    }

    /// Prints the events of the time `within`, and the end of the association if it has ended.
    fn happened(&mut self, within: Duration) -> anyhow::Result<()> {
        let Some(user) = &self.user else { return Ok(()) };
        let until_ns = chronoscope_clock::monotonic_ns()
            + u64::try_from(within.as_nanos()).unwrap_or(u64::MAX / 2);
        loop {
            let left_ns = until_ns.saturating_sub(chronoscope_clock::monotonic_ns());
            let Some(happened) = user.next_occurrence(Duration::from_nanos(left_ns)) else { break };
            self.say.result(&occurrence(&happened))?;
        }
        if let Some(ending) = user.ending() {
            self.say.result(&json!({"ended": notation::ending(&ending)}))?;
            self.say_fates()?;
            self.user = None;
        }
        Ok(())
    }

    /// Stops and unbinds, if bound.
    fn quit(&mut self) -> anyhow::Result<()> {
        if let Some(user) = &self.user {
            // It fails if the service is not started.
            drop(user.stop());
            if let Err(error) = user.unbind(UnbindReason::End) {
                self.say.fault(&format!("UNBIND failed: {error}"));
            }
            self.say_fates()?;
        }
        Ok(())
    }
}

/// Octets from hexadecimal digits.
fn octets(hex: &str) -> anyhow::Result<Vec<u8>> {
    let digits = hex.as_bytes();
    if digits.is_empty() || !digits.len().is_multiple_of(2) || !hex.is_ascii() {
        bail!("send needs pairs of hexadecimal digits, or N OCTETS");
    }
    digits.chunks(2).map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?)).collect()
}
