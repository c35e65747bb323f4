//! `frames`: sends frames by the Forward Frame service, with or without a rate, and prints the fate of
//! each.

use super::args::FramesArgs;
use super::pieces::{DataSource, FULL, PROGRESS_NS, pace};
use super::say::UserOutput;
use chronoscope_clock as clock;
use chronoscope_sle::client::frames::{
    DataUnit, DataUnitFate, FrameError, FrameSettings, FrameUser,
};
use chronoscope_sle::csts::pdu::{
    Diagnostic, ListOf, QualifiedValue, SequenceControlledDiagnostic, names,
};
use chronoscope_sle::csts::procedure::{ProcedureKind, value};
use serde_json::json;
use std::time::Duration;

pub(crate) fn run(
    frames: &FramesArgs,
    mut settings: FrameSettings,
    say: UserOutput,
) -> anyhow::Result<bool> {
    let source = DataSource::open(frames.file.as_deref(), frames.generate, Some(frames.octets))?;
    match &mut settings.kind {
        ProcedureKind::Buffered { blocking, .. } => {
            blocking.units = frames.blocked.unwrap_or(blocking.units).max(1);
        }
        ProcedureKind::SequenceControlled { window } => {
            if let Some(fixed) = frames.window {
                *window = fixed.max(1);
                settings.window = Some(fixed);
            }
        }
    }
    let is_reported = matches!(settings.kind, ProcedureKind::SequenceControlled { .. });
    let user = FrameUser::connect(settings)?;
    user.bind()?;
    say.talk("bound");
    if frames.get {
        parameters(&user, say)?;
    }
    user.start(frames.first)?;
    let start_ns = clock::monotonic_ns();
    let drained = Duration::from_secs(u64::from(frames.drain_s));
    let sending = Sending { frames, source: &source, user: &user, say, start_ns, is_reported };
    let ended = sending.all(drained);
    let answered_ns = clock::monotonic_ns() - start_ns;
    if let Err(error) = &ended {
        say.fault(&error.to_string());
    }
    if user.ending().is_none() {
        // Even if interrupted: the fates of the frames that were sent are still to come.
        let (stopped, unbound) = (user.stop(), user.unbind());
        for (operation, past, result) in
            [("STOP", "stopped", stopped), ("UNBIND", "unbound", unbound)]
        {
            match result {
                Ok(()) => say.talk(past),
                Err(error) => say.fault(&format!("{operation} failed: {error}")),
            }
        }
    }
    sending.summary(answered_ns)?;
    Ok(ended.is_ok())
}

/// Prints the parameters of the service instance, one a line.
fn parameters(user: &FrameUser, say: UserOutput) -> anyhow::Result<()> {
    for parameter in user.get(ListOf::Default)? {
        let values: Vec<_> = parameter
            .values
            .iter()
            .map(|one| match one {
                QualifiedValue::Valid(embedded) => json!(value::number(&embedded.value)),
                other => json!(format!("{other:?}")),
            })
            .collect();
        say.result(&json!({
            "parameter": parameter.name.id.to_string(),
            "name": names::name_of(&parameter.name.id),
            "values": values,
        }))?;
    }
    Ok(())
}

struct Sending<'a> {
    frames: &'a FramesArgs,
    source: &'a DataSource,
    user: &'a FrameUser,
    say: UserOutput,
    start_ns: u64,
    /// The provider reports the fate of each frame without a request (sequence-controlled).
    is_reported: bool,
}

impl Sending<'_> {
    /// Sends all frames and waits for their fates. Frames that a full queue refused are sent again.
    fn all(&self, drained: Duration) -> Result<(), FrameError> {
        let (mut next, mut told_ns) = (0, self.start_ns);
        loop {
            let ended = self.from(&mut next, &mut told_ns).and_then(|()| self.user.drain(drained));
            match ended {
                Err(FrameError::FrameRefused {
                    diagnostic:
                        Diagnostic::SequenceControlled(SequenceControlledDiagnostic::UnableToStore),
                    expected,
                    ..
                }) => {
                    next = u64::from(expected.wrapping_sub(self.frames.first));
                    clock::sleep(FULL);
                }
                other => return other,
            }
        }
    }

    fn from(&self, next: &mut u64, told_ns: &mut u64) -> Result<(), FrameError> {
        while *next < self.source.count() {
            pace(self.frames.rate, self.start_ns, *next);
            // A report of the last frame covers all before it.
            let report = !self.is_reported && *next + 1 == self.source.count();
            let data = self.source.piece(*next);
            self.user.process_unit(&DataUnit { data, report, ..DataUnit::default() })?;
            *next += 1;
            self.progress(told_ns);
        }
        Ok(())
    }

    fn progress(&self, told_ns: &mut u64) {
        let now_ns = clock::monotonic_ns();
        if now_ns - *told_ns >= PROGRESS_NS {
            *told_ns = now_ns;
            let counts = self.user.statistics();
            let (sent, done) = (counts.sent, counts.acknowledged.max(counts.processed));
            self.say.talk(&format!("{sent} sent, {done} acknowledged or processed"));
        }
    }

    /// Prints the fates and the totals.
    fn summary(&self, answered_ns: u64) -> anyhow::Result<()> {
        let counts = self.user.statistics();
        let mut unknown = 0;
        for settled in self.user.fates() {
            let (fate, diagnostic) = match &settled.fate {
                DataUnitFate::Refused(diagnostic) => ("refused", Some(format!("{diagnostic:?}"))),
                DataUnitFate::Processed => ("processed", None),
                DataUnitFate::Overtaken => ("overtaken", None),
                DataUnitFate::Expired => ("expired", None),
                DataUnitFate::Interrupted => ("interrupted", None),
                DataUnitFate::NotStarted => ("not-started", None),
                DataUnitFate::Discarded => ("discarded", None),
                DataUnitFate::Acknowledged => ("acknowledged", None),
                DataUnitFate::Unknown => ("unknown", None),
                DataUnitFate::NotSent => ("not-sent", None),
            };
            unknown +=
                u64::from(settled.units.count) * u64::from(settled.fate == DataUnitFate::Unknown);
            self.say.result(&json!({
                "frame": settled.units.first,
                "count": settled.units.count,
                "fate": fate,
                "diagnostic": diagnostic,
            }))?;
        }
        #[allow(clippy::cast_precision_loss)] // for display only
        let (seconds, sent, octets) =
            (answered_ns as f64 / 1e9, counts.sent as f64, counts.sent_octets as f64);
        self.say.result(&json!({
            "sent": counts.sent,
            "buffers": counts.buffers,
            "acknowledged": counts.acknowledged,
            "refused": counts.refused,
            "processed": counts.processed,
            "unknown": unknown,
            "seconds": seconds,
            "frames_per_s": sent / seconds,
            "mbit_per_s": octets * 8.0 / seconds / 1e6,
            "ending": self.user.ending().map(|ending| format!("{ending:?}")),
        }))
    }
}
