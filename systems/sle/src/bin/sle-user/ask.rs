//! `report`, `get`, `event`: one operation and its result.

use super::say::UserOutput;
use super::unbind;
use anyhow::{anyhow, bail};
use chronoscope_sle::client::{ClientError, CltuFate, SettledCltus, SleOccurrence, User, notation};
use chronoscope_sle::pdu::{CltuNotification, ReportRequest, ServiceType};
use serde_json::{Value, json};
use std::time::Duration;

/// Maximum time until a status report or the notification of an event.
const ANSWER: Duration = Duration::from_secs(30);

pub(crate) fn report(user: &User, say: UserOutput) -> anyhow::Result<bool> {
    match status_report(user, say)? {
        Some(report) => say.result(&report)?,
        None => bail!("no status report within 30 s"),
    }
    unbind(user, say);
    Ok(true)
}

/// Requests a status report and waits for it; `None`: it has not come in time.
pub(crate) fn status_report(user: &User, say: UserOutput) -> anyhow::Result<Option<Value>> {
    user.schedule(ReportRequest::Immediately)?;
    while let Some(happened) = user.next_occurrence(ANSWER) {
        match happened {
            SleOccurrence::Report(report) => return Ok(Some(notation::cltu_report(&report))),
            SleOccurrence::ReturnReport(report) => {
                return Ok(Some(notation::return_report(&report)));
            }
            other => say.talk(&occurrence(&other).to_string()),
        }
    }
    Ok(None)
}

/// The fate of CLTUs, with the diagnostic of a refusal, as JSON.
pub(crate) fn fate_line(settled: SettledCltus) -> Value {
    json!({
        "cltu": settled.cltus.first,
        "count": settled.cltus.count,
        "fate": notation::fate(settled.fate),
        "diagnostic": refusal(settled.fate),
    })
}

/// The diagnostic of a refusal, in the words of the specification.
pub(crate) fn refusal(fate: CltuFate) -> Option<String> {
    match fate {
        CltuFate::Refused(diagnostic) => {
            Some(notation::diagnostic(ServiceType::Fcltu, "TRANSFER-DATA", diagnostic))
        }
        _ => None,
    }
}

pub(crate) fn get(user: &User, parameter: Option<&str>, say: UserOutput) -> anyhow::Result<bool> {
    if let Some(name) = parameter {
        let name = notation::parameter_name(name)
            .ok_or_else(|| anyhow!("there is no parameter {name:?}: use a name or a number"))?;
        let value = user.get_parameter(name)?;
        say.result(&notation::parameter(&value))?;
    } else {
        for name in notation::parameter_names().filter_map(notation::parameter_name) {
            match user.get_parameter(name) {
                Ok(value) => say.result(&notation::parameter(&value))?,
                // The parameter belongs to another service or a later version.
                Err(ClientError::Refused { .. }) => {}
                Err(other) => return Err(other.into()),
            }
        }
    }
    unbind(user, say);
    Ok(true)
}

pub(crate) fn event(
    user: &User,
    event: u16,
    qualifier: &str,
    say: UserOutput,
) -> anyhow::Result<bool> {
    user.throw_event(event, qualifier.as_bytes().to_vec().into())?;
    let is_done = loop {
        match user.next_occurrence(ANSWER) {
            Some(SleOccurrence::Notified(notify)) => {
                say.result(&notation::async_notify(&notify))?;
                match notify.notification {
                    CltuNotification::ActionListCompleted(_) => break true,
                    CltuNotification::ActionListNotCompleted(_)
                    | CltuNotification::EventConditionEvFalse(_) => break false,
                    _ => {}
                }
            }
            Some(other) => say.talk(&occurrence(&other).to_string()),
            None => bail!("no notification of the event within 30 s"),
        }
    };
    unbind(user, say);
    Ok(is_done)
}

/// An unsolicited event of the service, as JSON.
pub(crate) fn occurrence(occurrence: &SleOccurrence) -> Value {
    match occurrence {
        SleOccurrence::Notified(notify) => notation::async_notify(notify),
        SleOccurrence::Report(report) => notation::cltu_report(report),
        SleOccurrence::ReturnReport(report) => notation::return_report(report),
        SleOccurrence::SyncNotified(notify) => notation::sync_notify(notify),
        SleOccurrence::Ignored(why) => json!({"event": "ignored", "why": why}),
    }
}
