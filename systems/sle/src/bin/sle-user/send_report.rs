//! The result of `send`: the fate of each CLTU, the totals, and the exit code.

use super::say::UserOutput;
use chronoscope_sle::client::{User, notation};
use chronoscope_sle::journal::{FateWord, TransferFates, TransferState};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

/// Not every CLTU was radiated, and the fate of each is known.
const NOT_RADIATED: u8 = 4;
/// The fate of a CLTU is unknown.
const UNKNOWN: u8 = 5;

/// What the session did besides the fates.
pub(crate) struct SessionResult<'a> {
    /// The user; `None`: there was nothing to send.
    pub(crate) user: Option<&'a User>,
    /// From the first CLTU to the last acknowledgement.
    pub(crate) answered_ns: u64,
    pub(crate) journal: Option<&'a Path>,
}

/// Prints the runs of CLTUs with one fate, and the totals.
pub(crate) fn print(
    state: &TransferState,
    session: &SessionResult<'_>,
    say: UserOutput,
) -> anyhow::Result<()> {
    let fates = state.fates();
    for run in fates.runs().filter(|run| run.fate.fate != FateWord::NotSent) {
        say.result(&json!({
            "cltu": run.number(),
            "index": run.cltus.start,
            "count": run.cltus.end - run.cltus.start,
            "fate": run.fate.fate.word(),
            "diagnostic": run.fate.diagnostic.as_deref(),
        }))?;
    }
    say.result(&totals(state, session))
}

/// Contradicted CLTUs that are listed.
const CONTRADICTED_MAX: usize = 100;

fn totals(state: &TransferState, session: &SessionResult<'_>) -> Value {
    let fates = state.fates();
    let count = |fate| fates.count(fate);
    let (not_sent, unknown) = (count(FateWord::NotSent), count(FateWord::Unknown));
    let refused = count(FateWord::Refused);
    let sent = fates.cltus() - not_sent;
    let counts = session.user.map(User::statistics).unwrap_or_default();
    #[allow(clippy::cast_precision_loss)] // for display only
    let (seconds, cltus, octets) = (
        session.answered_ns as f64 / 1e9,
        counts.acknowledged as f64,
        counts.acknowledged_octets as f64,
    );
    let per_s = |count: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
    json!({
        "cltus": fates.cltus(),
        "sent": sent,
        "acknowledged": sent - refused - unknown,
        "radiated": count(FateWord::Radiated),
        "expired": count(FateWord::Expired),
        "interrupted": count(FateWord::Interrupted),
        "not_started": count(FateWord::NotStarted),
        "discarded": count(FateWord::Discarded),
        "not_reported": count(FateWord::Acknowledged),
        "refused": refused,
        "unknown": unknown,
        "not_sent": not_sent,
        "resent": counts.resent,
        "resent_octets": counts.sent_octets.saturating_sub(counts.acknowledged_octets),
        "contradicted": counts.contradicted,
        "contradicted_cltus": state.contradicted().take(CONTRADICTED_MAX).collect::<Vec<_>>(),
        "seconds": seconds,
        "cltu_per_s": per_s(cltus),
        "mbit_per_s": per_s(octets) * 8.0 / 1e6,
        "window": counts.window,
        "journal": session.journal.map(|path| path.display().to_string()),
        "ending": session.user.and_then(User::ending).map(|ending| notation::ending(&ending)),
    })
}

/// The exit code of a transfer that went to its end, or as far as it could.
pub(crate) fn exit_code(fates: &TransferFates, accepts_acknowledged: bool) -> ExitCode {
    let (radiated, accepted) =
        (fates.count(FateWord::Radiated), fates.count(FateWord::Acknowledged));
    if radiated + if accepts_acknowledged { accepted } else { 0 } == fates.cltus() {
        ExitCode::SUCCESS
    } else if fates.count(FateWord::Unknown) + accepted > 0 {
        ExitCode::from(UNKNOWN)
    } else {
        ExitCode::from(NOT_RADIATED)
    }
}
