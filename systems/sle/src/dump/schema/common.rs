//! What all services have. Sources: modules COMMON-TYPES, COMMON-PDUS and BIND-TYPES.

use super::{Operation, Shape};
use crate::pdu::{AssociationRole, ServiceType};
use Shape::{Choice, ChoiceOr, Each, Integer, Null, Octets, Sequence, Text, Words};

pub(super) const CREDENTIALS: Shape =
    Choice(&[(0, "unused", &Null), (1, "used", &Shape::Embedded(&ISP1_CREDENTIALS))]);
const ISP1_CREDENTIALS: Shape =
    Sequence(&[("time", &Shape::Cds), ("randomNumber", &Integer("")), ("theProtected", &Octets)]);
pub(super) const INVOKE_ID: Shape = Integer("");
pub(super) const NUMBER: Shape = Integer("");
pub(super) const SECONDS: Shape = Integer("s");
pub(super) const MICROSECONDS: Shape = Integer("µs");
pub(super) const OCTET_COUNT: Shape = Integer("octets");
pub(super) const TIME: Shape =
    Choice(&[(0, "ccsdsFormat", &Shape::Cds), (1, "ccsdsPicoFormat", &Shape::Cds)]);
pub(super) const CONDITIONAL_TIME: Shape = Choice(&[(0, "undefined", &Null), (1, "known", &TIME)]);
pub(super) const COMMON_DIAGNOSTIC: Shape =
    Words(&[(100, "duplicateInvokeId"), (127, "otherReason")]);
pub(super) const GVCID: Shape = Sequence(&[
    ("spacecraftId", &NUMBER),
    ("versionNumber", &NUMBER),
    ("vcId", &Choice(&[(0, "masterChannel", &Null), (1, "virtualChannel", &NUMBER)])),
]);
pub(super) const CYCLE: Shape =
    Choice(&[(0, "periodicReportingOff", &Null), (1, "periodicReportingOn", &SECONDS)]);
pub(super) const DELIVERY_MODE: Shape = Words(&[
    (0, "rtnTimelyOnline"),
    (1, "rtnCompleteOnline"),
    (2, "rtnOffline"),
    (3, "fwdOnline"),
    (4, "fwdOffline"),
]);
pub(super) const NO_YES: Shape = Words(&[(0, "yes"), (1, "no")]);
pub(super) const NOTIFICATION_WANTED: Shape =
    Words(&[(0, "produceNotification"), (1, "doNotProduceNotification")]);
/// `ForwardDuStatus`.
pub(super) const FORWARD_STATUS: Shape = Words(&[
    (0, "radiated"),
    (1, "expired"),
    (2, "interrupted"),
    (3, "acknowledged"),
    (4, "productionStarted"),
    (5, "productionNotStarted"),
    (6, "unsupportedTransmissionMode"),
]);
/// Configured or not, in version 5; the bare value before.
pub(super) const CLCW_CHANNEL: Shape =
    ChoiceOr(&[(0, "configured", &GVCID), (1, "notConfigured", &Null)], &GVCID);
pub(super) const CLCW_PHYSICAL_CHANNEL: Shape =
    ChoiceOr(&[(0, "configured", &Text), (1, "notConfigured", &Null)], &Text);

/// `result` without data when it is positive; the diagnostics are those of the operation of this
/// name.
macro_rules! outcome {
    ($service:expr, $operation:literal) => {
        result!(&Shape::Null, $service, $operation)
    };
}
pub(super) use outcome;

/// `result` with this shape when it is positive.
macro_rules! result {
    ($positive:expr, $service:expr, $operation:literal) => {
        Shape::Choice(&[
            (0, "positiveResult", $positive),
            (
                1,
                "negativeResult",
                &Shape::Choice(&[
                    (0, "common", &COMMON_DIAGNOSTIC),
                    (1, "specific", &Shape::Diagnostic($service, $operation)),
                ]),
            ),
        ])
    };
}
pub(super) use result;

/// A parameter of GET-PARAMETER's return: name and value.
macro_rules! parameter {
    ($value:expr) => {
        &Shape::Sequence(&[("parameterName", &Shape::ParameterName), ("parameterValue", $value)])
    };
}
pub(super) use parameter;

const ATTRIBUTE: Shape = Sequence(&[("attributeID", &Shape::Oid), ("attributeValue", &Text)]);

const BIND: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("initiatorIdentifier", &Text),
    ("responderPortIdentifier", &Text),
    ("serviceType", &APPLICATION),
    ("versionNumber", &NUMBER),
    ("serviceInstanceIdentifier", &Each(&Each(&ATTRIBUTE))),
]);

const APPLICATION: Shape = Words(&[
    (0, "rtnAllFrames"),
    (1, "rtnInsert"),
    (2, "rtnChFrames"),
    (3, "rtnChFsh"),
    (4, "rtnChOcf"),
    (5, "rtnBitstr"),
    (6, "rtnSpacePkt"),
    (7, "fwdAosSpacePkt"),
    (8, "fwdAosVca"),
    (9, "fwdBitstr"),
    (10, "fwdProtoVcdu"),
    (11, "fwdInsert"),
    (12, "fwdCVcdu"),
    (13, "fwdTcSpacePkt"),
    (14, "fwdTcVca"),
    (15, "fwdTcFrame"),
    (16, "fwdCltu"),
]);

const BIND_DIAGNOSTIC: Shape = Words(&[
    (0, "accessDenied"),
    (1, "serviceTypeNotSupported"),
    (2, "versionNotSupported"),
    (3, "noSuchServiceInstance"),
    (4, "alreadyBound"),
    (5, "siNotAccessibleToThisInitiator"),
    (6, "inconsistentServiceType"),
    (7, "invalidTime"),
    (8, "outOfService"),
    (127, "otherReason"),
]);

const BIND_RETURN: Shape = Sequence(&[
    ("performerCredentials", &CREDENTIALS),
    ("responderIdentifier", &Text),
    ("result", &Choice(&[(0, "positive", &NUMBER), (1, "negative", &BIND_DIAGNOSTIC)])),
]);

const UNBIND: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    (
        "unbindReason",
        &Words(&[(0, "end"), (1, "suspend"), (2, "versionNotSupported"), (127, "other")]),
    ),
]);

const UNBIND_RETURN: Shape = Sequence(&[
    ("responderCredentials", &CREDENTIALS),
    ("result", &Choice(&[(0, "positive", &Null)])),
]);

const STOP: Shape = Sequence(&[("invokerCredentials", &CREDENTIALS), ("invokeId", &INVOKE_ID)]);

const ACKNOWLEDGEMENT: Shape = Sequence(&[
    ("credentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("result", &Choice(&[(0, "positiveResult", &Null), (1, "negativeResult", &COMMON_DIAGNOSTIC)])),
]);

const SCHEDULE: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    (
        "reportRequestType",
        &Choice(&[(0, "immediately", &Null), (1, "periodically", &SECONDS), (2, "stop", &Null)]),
    ),
]);

const SCHEDULE_RETURN: Shape = Sequence(&[
    ("performerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("result", &outcome!(ServiceType::Raf, "SCHEDULE-STATUS-REPORT")),
]);

const GET_PARAMETER: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("parameterName", &Shape::ParameterName),
]);

pub(super) fn operation(sender: AssociationRole, tag: u32) -> Option<Operation> {
    use AssociationRole::{Provider, User};
    Some(match (sender, tag) {
        (_, 100) => ("BIND invocation", &BIND),
        (_, 101) => ("BIND return", &BIND_RETURN),
        (_, 102) => ("UNBIND invocation", &UNBIND),
        (_, 103) => ("UNBIND return", &UNBIND_RETURN),
        (_, 104) => ("PEER-ABORT", &Shape::AbortDiagnostic),
        (User, 2) => ("STOP invocation", &STOP),
        (Provider, 3) => ("STOP return", &ACKNOWLEDGEMENT),
        (User, 4) => ("SCHEDULE-STATUS-REPORT invocation", &SCHEDULE),
        (Provider, 5) => ("SCHEDULE-STATUS-REPORT return", &SCHEDULE_RETURN),
        (User, 6) => ("GET-PARAMETER invocation", &GET_PARAMETER),
        _ => return None,
    })
}
