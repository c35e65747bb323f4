//! `report`, `get`, `event`: one question, one answer.

use super::say::UserOutput;
use super::unbind;
use anyhow::{anyhow, bail};
use chronoscope_sle::client::{ClientError, SleOccurrence, User, notation};
use chronoscope_sle::pdu::{CltuNotification, ReportRequest};
use serde_json::{Value, json};
use std::time::Duration;

/// How long a report, or an event's notification, may take.
const ANSWER: Duration = Duration::from_secs(30);

pub(crate) fn report(user: &User, say: UserOutput) -> anyhow::Result<bool> {
    user.schedule(ReportRequest::Immediately)?;
    loop {
        match user.next_occurrence(ANSWER) {
            Some(SleOccurrence::Report(report)) => {
                say.result(&notation::cltu_report(&report))?;
                break;
            }
            Some(SleOccurrence::ReturnReport(report)) => {
                say.result(&notation::return_report(&report))?;
                break;
            }
            Some(other) => say.talk(&occurrence(&other).to_string()),
            None => bail!("no report came"),
        }
    }
    unbind(user, say);
    Ok(true)
}

pub(crate) fn get(user: &User, parameter: Option<&str>, say: UserOutput) -> anyhow::Result<bool> {
    if let Some(name) = parameter {
        let name = notation::parameter_name(name)
            .ok_or_else(|| anyhow!("no parameter is called {name:?}; a number is taken too"))?;
        let value = user.get_parameter(name)?;
        say.result(&notation::parameter(&value))?;
    } else {
        for name in notation::parameter_names().filter_map(notation::parameter_name) {
            match user.get_parameter(name) {
                Ok(value) => say.result(&notation::parameter(&value))?,
                // Of another service, or a later version.
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
            None => bail!("nothing was said of the event"),
        }
    };
    unbind(user, say);
    Ok(is_done)
}

/// What happened, as JSON.
pub(crate) fn occurrence(occurrence: &SleOccurrence) -> Value {
    match occurrence {
        SleOccurrence::Notified(notify) => notation::async_notify(notify),
        SleOccurrence::Report(report) => notation::cltu_report(report),
        SleOccurrence::ReturnReport(report) => notation::return_report(report),
        SleOccurrence::SyncNotified(notify) => notation::sync_notify(notify),
        SleOccurrence::Ignored(why) => json!({"event": "ignored", "why": why}),
    }
}
