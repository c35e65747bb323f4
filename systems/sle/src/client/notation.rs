//! Text and JSON notation of operations, parameters and times, for users and scripts at a link.

use crate::association::AssociationEnd;
use crate::pdu::{
    CltuAsyncNotify, CltuNotification, CltuStatusReport, Diagnostic, GvcId, LockStatus, Parameter,
    ParameterName, Pdu, ReturnNotification, ReturnStatusReport, ServiceType, SyncNotify,
};
use crate::service::fcltu::CltuFate;
use crate::time::{Time, utc_text};
use serde_json::{Value, json};

/// Parameters that GET-PARAMETER knows, by the books' names.
const PARAMETERS: [(&str, ParameterName); 30] = [
    ("bit-lock-required", ParameterName::BIT_LOCK_REQUIRED),
    ("buffer-size", ParameterName::BUFFER_SIZE),
    ("delivery-mode", ParameterName::DELIVERY_MODE),
    (
        "expected-event-invocation-identification",
        ParameterName::EXPECTED_EVENT_INVOCATION_IDENTIFICATION,
    ),
    ("expected-sldu-identification", ParameterName::EXPECTED_SLDU_IDENTIFICATION),
    ("latency-limit", ParameterName::LATENCY_LIMIT),
    ("maximum-sldu-length", ParameterName::MAXIMUM_SLDU_LENGTH),
    ("modulation-frequency", ParameterName::MODULATION_FREQUENCY),
    ("modulation-index", ParameterName::MODULATION_INDEX),
    ("permitted-gvcid-set", ParameterName::PERMITTED_GVCID_SET),
    ("plop-in-effect", ParameterName::PLOP_IN_EFFECT),
    ("reporting-cycle", ParameterName::REPORTING_CYCLE),
    ("requested-frame-quality", ParameterName::REQUESTED_FRAME_QUALITY),
    ("requested-gvcid", ParameterName::REQUESTED_GVCID),
    ("return-timeout-period", ParameterName::RETURN_TIMEOUT_PERIOD),
    ("rf-available-required", ParameterName::RF_AVAILABLE_REQUIRED),
    ("subcarrier-to-bit-rate-ratio", ParameterName::SUBCARRIER_TO_BIT_RATE_RATIO),
    ("permitted-control-word-type-set", ParameterName::PERMITTED_CONTROL_WORD_TYPE_SET),
    ("permitted-tc-vcid-set", ParameterName::PERMITTED_TC_VCID_SET),
    ("permitted-update-mode-set", ParameterName::PERMITTED_UPDATE_MODE_SET),
    ("requested-control-word-type", ParameterName::REQUESTED_CONTROL_WORD_TYPE),
    ("requested-tc-vcid", ParameterName::REQUESTED_TC_VCID),
    ("requested-update-mode", ParameterName::REQUESTED_UPDATE_MODE),
    ("acquisition-sequence-length", ParameterName::ACQUISITION_SEQUENCE_LENGTH),
    ("clcw-global-vcid", ParameterName::CLCW_GLOBAL_VCID),
    ("clcw-physical-channel", ParameterName::CLCW_PHYSICAL_CHANNEL),
    ("minimum-delay-time", ParameterName::MINIMUM_DELAY_TIME),
    ("notification-mode", ParameterName::NOTIFICATION_MODE),
    ("plop1-idle-sequence-length", ParameterName::PLOP1_IDLE_SEQUENCE_LENGTH),
    ("protocol-abort-mode", ParameterName::PROTOCOL_ABORT_MODE),
];
/// Those that came with version 5 of the services.
const PARAMETERS_OF_5: [(&str, ParameterName); 2] = [
    ("min-reporting-cycle", ParameterName::MIN_REPORTING_CYCLE),
    ("permitted-frame-quality", ParameterName::PERMITTED_FRAME_QUALITY),
];

/// Names of all parameters.
pub fn parameter_names() -> impl Iterator<Item = &'static str> {
    PARAMETERS.iter().chain(&PARAMETERS_OF_5).map(|(name, _)| *name)
}

/// The parameter of a name as the books write it, or of a number.
#[must_use]
pub fn parameter_name(text: &str) -> Option<ParameterName> {
    let text = text.to_ascii_lowercase().replace('_', "-");
    let known = PARAMETERS.iter().chain(&PARAMETERS_OF_5).find(|(name, _)| *name == text);
    known.map(|(_, name)| *name).or_else(|| text.parse().ok().map(ParameterName))
}

/// A parameter and its value.
#[must_use]
pub fn parameter(value: &Parameter) -> Value {
    let (name, value) = match value {
        Parameter::BitLockRequired(is) => ("bit-lock-required", json!(is)),
        Parameter::BufferSize(size) => ("buffer-size", json!(size)),
        Parameter::DeliveryMode(mode) => ("delivery-mode", word(mode)),
        Parameter::ExpectedEventInvocationIdentification(id) => {
            ("expected-event-invocation-identification", json!(id))
        }
        Parameter::ExpectedSlduIdentification(id) => ("expected-sldu-identification", json!(id)),
        Parameter::LatencyLimit(limit) => ("latency-limit", json!(limit)),
        Parameter::MaximumSlduLength(length) => ("maximum-sldu-length", json!(length)),
        Parameter::ModulationFrequency(hertz) => ("modulation-frequency", json!(hertz)),
        Parameter::ModulationIndex(index) => ("modulation-index", json!(index)),
        Parameter::PermittedGvcidSet(set) => {
            let channel = |one: &crate::pdu::PermittedChannel| {
                json!({"spacecraft": one.spacecraft, "version": one.version,
                       "virtual_channels": one.virtual_channels})
            };
            ("permitted-gvcid-set", set.iter().map(channel).collect())
        }
        Parameter::PlopInEffect2(is) => ("plop-in-effect", json!(if *is { 2 } else { 1 })),
        Parameter::ReportingCycle(cycle) => ("reporting-cycle", json!(cycle)),
        Parameter::RequestedFrameQuality(quality) => {
            ("requested-frame-quality", quality.as_ref().map_or(Value::Null, word))
        }
        Parameter::RequestedGvcid(channel) => {
            ("requested-gvcid", channel.as_ref().map_or(Value::Null, gvcid))
        }
        Parameter::ReturnTimeoutPeriod(seconds) => ("return-timeout-period", json!(seconds)),
        Parameter::RfAvailableRequired(is) => ("rf-available-required", json!(is)),
        Parameter::SubcarrierToBitRateRatio(ratio) => {
            ("subcarrier-to-bit-rate-ratio", json!(ratio))
        }
        Parameter::PermittedControlWordTypeSet(set) => {
            ("permitted-control-word-type-set", json!(set))
        }
        Parameter::PermittedTcVcidSet(set) => ("permitted-tc-vcid-set", json!(set)),
        Parameter::PermittedUpdateModeSet(set) => {
            ("permitted-update-mode-set", set.iter().map(word).collect())
        }
        Parameter::RequestedControlWordType(kind) => ("requested-control-word-type", json!(kind)),
        Parameter::RequestedTcVcid(channel) => ("requested-tc-vcid", json!(channel.flatten())),
        Parameter::RequestedUpdateMode(mode) => {
            ("requested-update-mode", mode.as_ref().map_or(Value::Null, word))
        }
        Parameter::AcquisitionSequenceLength(octets) => {
            ("acquisition-sequence-length", json!(octets))
        }
        Parameter::ClcwGlobalVcid(channel) => {
            ("clcw-global-vcid", channel.as_ref().map_or(Value::Null, gvcid))
        }
        Parameter::ClcwPhysicalChannel(name) => ("clcw-physical-channel", json!(name)),
        Parameter::MinimumDelayTime(us) => ("minimum-delay-time", json!(us)),
        Parameter::NotificationModeImmediate(is) => {
            ("notification-mode", json!(if *is { "immediate" } else { "deferred" }))
        }
        Parameter::Plop1IdleSequenceLength(octets) => ("plop1-idle-sequence-length", json!(octets)),
        Parameter::ProtocolAbortModeContinue(is) => {
            ("protocol-abort-mode", json!(if *is { "continue" } else { "abort" }))
        }
        Parameter::MinReportingCycle(seconds) => ("min-reporting-cycle", json!(seconds)),
        Parameter::PermittedFrameQuality(set) => {
            ("permitted-frame-quality", set.iter().map(word).collect())
        }
    };
    json!({"parameter": name, "value": value})
}

/// Description of an operation that is not the result of a call, or of a return.
#[must_use]
pub fn operation(pdu: &Pdu) -> Value {
    match pdu {
        Pdu::CltuStatusReport(report) => cltu_report(report),
        Pdu::ReturnStatusReport(report) => return_report(report),
        Pdu::CltuAsyncNotify(notify) => async_notify(notify),
        other => json!({"operation": format!("{other:?}")}),
    }
}

/// STATUS-REPORT of FCLTU, as JSON.
#[must_use]
pub fn cltu_report(report: &CltuStatusReport) -> Value {
    json!({
        "event": "status-report",
        "production": word(&report.production),
        "uplink": word(&report.uplink),
        "received": report.received,
        "processed": report.processed,
        "radiated": report.radiated,
        "buffer_available": report.buffer_available,
        "last_processed": report.last_processed.map(|last| json!({
            "cltu": last.cltu,
            "status": word(&last.status),
            "start_radiation": last.start_radiation.map(time),
        })),
        "last_ok": report.last_ok.map(|last| json!({
            "cltu": last.cltu,
            "stop_radiation": time(last.stop_radiation),
        })),
    })
}

/// STATUS-REPORT of RAF, RCF and ROCF.
#[must_use]
pub fn return_report(report: &ReturnStatusReport) -> Value {
    json!({
        "event": "status-report",
        "production": word(&report.production),
        "processed": report.processed,
        "delivered": report.delivered,
        "frame_sync": word(&report.frame_sync),
        "symbol_sync": word(&report.symbol_sync),
        "subcarrier": word(&report.subcarrier),
        "carrier": word(&report.carrier),
    })
}

/// ASYNC-NOTIFY, as JSON.
#[must_use]
pub fn async_notify(notify: &CltuAsyncNotify) -> Value {
    let (what, of) = match notify.notification {
        CltuNotification::ActionListCompleted(id) => ("action-list-completed", Some(id)),
        CltuNotification::ActionListNotCompleted(id) => ("action-list-not-completed", Some(id)),
        CltuNotification::EventConditionEvFalse(id) => ("event-condition-false", Some(id)),
        CltuNotification::CltuRadiated => ("cltu-radiated", None),
        CltuNotification::SlduExpired => ("sldu-expired", None),
        CltuNotification::ProductionInterrupted => ("production-interrupted", None),
        CltuNotification::ProductionHalted => ("production-halted", None),
        CltuNotification::ProductionOperational => ("production-operational", None),
        CltuNotification::BufferEmpty => ("buffer-empty", None),
    };
    json!({
        "event": what,
        "event_invocation": of,
        "production": word(&notify.production),
        "uplink": word(&notify.uplink),
        "last_processed": notify.last_processed.map(|last| last.cltu),
        "last_ok": notify.last_ok.map(|last| last.cltu),
    })
}

/// SYNC-NOTIFY, as JSON.
#[must_use]
pub fn sync_notify(notify: &SyncNotify) -> Value {
    match &notify.notification {
        ReturnNotification::LossFrameSync(report) => {
            let lock = |status: LockStatus| word(&status);
            json!({
                "event": "loss-of-frame-sync",
                "time": time(report.time),
                "carrier": lock(report.carrier),
                "subcarrier": lock(report.subcarrier),
                "symbol_sync": lock(report.symbol_sync),
            })
        }
        ReturnNotification::ProductionStatusChange(status) => {
            json!({"event": "production-status-change", "production": word(status)})
        }
        ReturnNotification::ExcessiveDataBacklog => json!({"event": "excessive-data-backlog"}),
        ReturnNotification::EndOfData => json!({"event": "end-of-data"}),
    }
}

/// UTC as `2026-11-22T08:00:00.000000Z`; null where the octets are no time.
#[must_use]
pub fn time(time: Time) -> Value {
    let Some(ns) = time.utc_ns() else { return Value::Null };
    json!(utc_text(ns, 6))
}

/// UTC in nanoseconds since 1970 of a date as [`time`] writes it; parts may be left out from the
/// end.
///
/// # Errors
/// What is wrong with it.
pub fn parse_time(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is no time like 2026-11-22T08:00:00Z");
    let date = text.parse().map_err(|_| wrong())?;
    crate::config::utc_ns(&date).ok_or_else(wrong)
}

fn gvcid(channel: &GvcId) -> Value {
    json!({"spacecraft": channel.spacecraft, "version": channel.version,
           "virtual_channel": channel.virtual_channel})
}

/// `TimelyOnline` as `timely-online`.
fn word(value: &impl std::fmt::Debug) -> Value {
    let mut text = String::new();
    for (index, c) in format!("{value:?}").chars().enumerate() {
        if c.is_ascii_uppercase() && index > 0 {
            text.push('-');
        }
        text.push(c.to_ascii_lowercase());
    }
    json!(text)
}

/// A diagnostic of an operation as the book of the service calls it.
#[must_use]
pub fn diagnostic(service: ServiceType, invocation: &str, diagnostic: Diagnostic) -> String {
    let number = match diagnostic {
        Diagnostic::DuplicateInvokeId => return "duplicate invoke id".to_owned(),
        Diagnostic::OtherReason => return "other reason".to_owned(),
        Diagnostic::Specific(number) => number,
    };
    let forward = service == ServiceType::Fcltu;
    let words: &[&str] = match (invocation, forward) {
        ("START", true) => {
            &["out of service", "unable to comply", "production time expired", "invalid CLTU id"]
        }
        ("START", false) => &[
            "out of service",
            "unable to comply",
            "invalid start time",
            "invalid stop time",
            "missing time value",
            "invalid GVCID",
            "invalid control word type",
            "invalid TC VCID",
            "invalid update mode",
        ],
        ("TRANSFER-DATA", _) => &[
            "unable to process",
            "unable to store",
            "out of sequence",
            "inconsistent time range",
            "invalid time",
            "late SLDU",
            "invalid delay time",
            "CLTU error",
        ],
        ("SCHEDULE-STATUS-REPORT", _) => {
            &["not supported in this delivery mode", "already stopped", "invalid reporting cycle"]
        }
        ("GET-PARAMETER", _) => &["unknown parameter"],
        ("THROW-EVENT", _) => {
            &["operation not supported", "event invocation id out of sequence", "no such event"]
        }
        _ => &[],
    };
    words
        .get(usize::from(number))
        .map_or_else(|| format!("diagnostic {number}"), |&word| word.into())
}

/// Description of the end of an association.
#[must_use]
pub fn ending(ending: &AssociationEnd) -> String {
    match ending {
        AssociationEnd::PeerAborted(diagnostic) => format!("the peer aborted: {diagnostic:?}"),
        AssociationEnd::Aborted { diagnostic, why } => format!("aborted, {diagnostic:?}: {why}"),
        AssociationEnd::Transport(fault) => fault.to_string(),
        AssociationEnd::Closed => "unbound".to_owned(),
        AssociationEnd::Lost => "the peer closed the connection without a word".to_owned(),
    }
}

/// The fate of a CLTU, in one word.
#[must_use]
pub fn fate(fate: CltuFate) -> &'static str {
    match fate {
        CltuFate::Refused(_) => "refused",
        CltuFate::Radiated => "radiated",
        CltuFate::Expired => "expired",
        CltuFate::Interrupted => "interrupted",
        CltuFate::NotStarted => "not-started",
        CltuFate::Discarded => "discarded",
        CltuFate::Acknowledged => "acknowledged",
        CltuFate::Unknown => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_names_and_numbers() {
        assert_eq!(parameter_name("maximum-sldu-length"), Some(ParameterName(21)));
        assert_eq!(parameter_name("MAXIMUM_SLDU_LENGTH"), Some(ParameterName(21)));
        assert_eq!(parameter_name("21"), Some(ParameterName(21)));
        assert_eq!(parameter_name("length"), None);
        let numbers: std::collections::HashSet<_> =
            parameter_names().map(|name| parameter_name(name).unwrap()).collect();
        assert_eq!(numbers.len(), PARAMETERS.len() + PARAMETERS_OF_5.len());
    }

    #[test]
    fn times_are_dates() {
        let said = |ns: u64| time(Time::from_utc_ns(ns));
        assert_eq!(said(0), json!("1970-01-01T00:00:00.000000Z"));
        assert_eq!(said(951_825_600_500_000_000), json!("2000-02-29T12:00:00.500000Z"));
        assert_eq!(said(1_735_689_599_999_999_999), json!("2024-12-31T23:59:59.999999Z"));
    }

    #[test]
    fn diagnostics_are_those_of_the_books() {
        let said =
            |name, number| diagnostic(ServiceType::Fcltu, name, Diagnostic::Specific(number));
        assert_eq!(said("TRANSFER-DATA", 2), "out of sequence");
        assert_eq!(said("START", 3), "invalid CLTU id");
        assert_eq!(said("START", 9), "diagnostic 9");
        let returned = diagnostic(ServiceType::Rocf, "START", Diagnostic::Specific(5));
        assert_eq!(returned, "invalid GVCID");
    }
}
