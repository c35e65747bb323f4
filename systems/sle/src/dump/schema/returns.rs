//! Operations of RAF, RCF and ROCF. Sources: CCSDS 911.1, 911.2 and 911.5, annex A.

use super::common::{
    COMMON_DIAGNOSTIC, CONDITIONAL_TIME, CREDENTIALS, CYCLE, DELIVERY_MODE, GVCID, INVOKE_ID,
    NUMBER, SECONDS, TIME, outcome, parameter, result,
};
use super::{Operation, Shape};
use crate::pdu::{AssociationRole, ServiceType};
use Shape::{Choice, ChoiceOr, Each, Integer, Null, Octets, Sequence, Words};

const ANY: ServiceType = ServiceType::Raf;

const REQUESTED_QUALITY: Shape =
    Words(&[(0, "goodFramesOnly"), (1, "erredFramesOnly"), (2, "allFrames"), (3, "undefined")]);
const TC_VCID: Shape = Choice(&[(0, "noTcVC", &Null), (1, "tcVcid", &NUMBER)]);
const UPDATE_MODE: Shape = Words(&[(0, "continuous"), (1, "changeBased"), (3, "undefined")]);
const CONTROL_WORD_NUMBER: Shape =
    Words(&[(0, "allControlWords"), (1, "clcw"), (2, "notClcw"), (3, "undefined")]);

const START_RAF: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("startTime", &CONDITIONAL_TIME),
    ("stopTime", &CONDITIONAL_TIME),
    ("requestedFrameQuality", &REQUESTED_QUALITY),
]);

const START_RCF: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("startTime", &CONDITIONAL_TIME),
    ("stopTime", &CONDITIONAL_TIME),
    ("requestedGvcId", &GVCID),
]);

const START_ROCF: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("startTime", &CONDITIONAL_TIME),
    ("stopTime", &CONDITIONAL_TIME),
    ("requestedGvcId", &GVCID),
    (
        "controlWordType",
        &Choice(&[(0, "allControlWords", &Null), (1, "clcw", &TC_VCID), (2, "notClcw", &Null)]),
    ),
    ("updateMode", &UPDATE_MODE),
]);

const START_RETURN: Shape = Sequence(&[
    ("performerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("result", &outcome!(ANY, "START")),
]);

const PRODUCTION: Shape = Words(&[(0, "running"), (1, "interrupted"), (2, "halted")]);
const LOCK: Shape = Words(&[(0, "inLock"), (1, "outOfLock"), (2, "notInUse"), (3, "unknown")]);

const SYNC_NOTIFY: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    (
        "notification",
        &Choice(&[
            (
                0,
                "lossFrameSync",
                &Sequence(&[
                    ("time", &TIME),
                    ("carrierLockStatus", &LOCK),
                    ("subcarrierLockStatus", &LOCK),
                    ("symbolSyncLockStatus", &LOCK),
                ]),
            ),
            (1, "productionStatusChange", &PRODUCTION),
            (2, "excessiveDataBacklog", &Null),
            (3, "endOfData", &Null),
        ]),
    ),
]);

const ANTENNA: Shape = Choice(&[(0, "globalForm", &Shape::Oid), (1, "localForm", &Octets)]);
const ANNOTATION: Shape = Choice(&[(0, "null", &Null), (1, "notNull", &Octets)]);

const FRAME_RAF: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("earthReceiveTime", &TIME),
    ("antennaId", &ANTENNA),
    ("dataLinkContinuity", &NUMBER),
    ("deliveredFrameQuality", &Words(&[(0, "good"), (1, "erred"), (2, "undetermined")])),
    ("privateAnnotation", &ANNOTATION),
    ("data", &Octets),
]);

const FRAME: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("earthReceiveTime", &TIME),
    ("antennaId", &ANTENNA),
    ("dataLinkContinuity", &NUMBER),
    ("privateAnnotation", &ANNOTATION),
    ("data", &Octets),
]);

const BUFFER_RAF: Shape =
    Each(&Choice(&[(0, "annotatedFrame", &FRAME_RAF), (1, "syncNotification", &SYNC_NOTIFY)]));
const BUFFER: Shape =
    Each(&Choice(&[(0, "annotatedFrame", &FRAME), (1, "syncNotification", &SYNC_NOTIFY)]));

const REPORT: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("errorFreeFrameNumber", &NUMBER),
    ("deliveredFrameNumber", &NUMBER),
    ("frameSyncLockStatus", &LOCK),
    ("symbolSyncLockStatus", &LOCK),
    ("subcarrierLockStatus", &LOCK),
    ("carrierLockStatus", &LOCK),
    ("productionStatus", &PRODUCTION),
]);

const REPORT_RCF: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("deliveredFrameNumber", &NUMBER),
    ("frameSyncLockStatus", &LOCK),
    ("symbolSyncLockStatus", &LOCK),
    ("subcarrierLockStatus", &LOCK),
    ("carrierLockStatus", &LOCK),
    ("productionStatus", &PRODUCTION),
]);

const LATENCY: Shape = Choice(&[(0, "online", &SECONDS), (1, "offline", &Null)]);
const BUFFER_SIZE: Shape = Integer("frames");
const GVCID_SET: Shape = Each(&Sequence(&[
    ("spacecraftId", &NUMBER),
    ("versionNumber", &NUMBER),
    ("mcOrVcList", &Choice(&[(0, "masterChannel", &Null), (1, "vcList", &Each(&NUMBER))])),
]));
const REQUESTED_GVCID: Shape = ChoiceOr(&[(0, "gvcid", &GVCID), (1, "undefined", &Null)], &GVCID);

const PARAMETER_RAF: Shape = Choice(&[
    (0, "parBufferSize", parameter!(&BUFFER_SIZE)),
    (1, "parDeliveryMode", parameter!(&DELIVERY_MODE)),
    (2, "parLatencyLimit", parameter!(&LATENCY)),
    (3, "parReportingCycle", parameter!(&CYCLE)),
    (4, "parReqFrameQuality", parameter!(&REQUESTED_QUALITY)),
    (5, "parReturnTimeout", parameter!(&SECONDS)),
    (6, "parPermittedFrameQuality", parameter!(&Each(&REQUESTED_QUALITY))),
    (7, "parMinReportingCycle", parameter!(&SECONDS)),
]);

const PARAMETER_RCF: Shape = Choice(&[
    (0, "parBufferSize", parameter!(&BUFFER_SIZE)),
    (1, "parDeliveryMode", parameter!(&DELIVERY_MODE)),
    (2, "parLatencyLimit", parameter!(&LATENCY)),
    (3, "parPermittedGvcidSet", parameter!(&GVCID_SET)),
    (4, "parReportingCycle", parameter!(&CYCLE)),
    (5, "parReqGvcId", parameter!(&REQUESTED_GVCID)),
    (6, "parReturnTimeout", parameter!(&SECONDS)),
    (7, "parMinReportingCycle", parameter!(&SECONDS)),
]);

/// `RocfGetParameter`; `$requested` is the version's `RequestedTcVcid`.
macro_rules! rocf_parameter {
    ($requested:expr) => {
        Choice(&[
            (0, "parBufferSize", parameter!(&BUFFER_SIZE)),
            (1, "parDeliveryMode", parameter!(&DELIVERY_MODE)),
            (2, "parLatencyLimit", parameter!(&LATENCY)),
            (3, "parPermittedGvcidSet", parameter!(&GVCID_SET)),
            (4, "parPermittedRprtTypeSet", parameter!(&Each(&CONTROL_WORD_NUMBER))),
            (
                5,
                "parPermittedTcVcidSet",
                parameter!(&Choice(&[(0, "noTcVC", &Null), (1, "tcVcids", &Each(&NUMBER))])),
            ),
            (6, "parPermittedUpdModeSet", parameter!(&Each(&UPDATE_MODE))),
            // The book of version 5 has minReportingCycle under the same tag.
            (
                7,
                "parReportingCycle",
                parameter!(&ChoiceOr(
                    &[(0, "periodicReportingOff", &Null), (1, "periodicReportingOn", &SECONDS)],
                    &SECONDS
                )),
            ),
            (8, "parReqGvcId", parameter!(&REQUESTED_GVCID)),
            (9, "parReqControlWordType", parameter!(&CONTROL_WORD_NUMBER)),
            (10, "parReqTcVcid", parameter!($requested)),
            (11, "parReqUpdateMode", parameter!(&UPDATE_MODE)),
            (12, "parReturnTimeout", parameter!(&SECONDS)),
            (13, "parMinReportingCycle", parameter!(&SECONDS)),
        ])
    };
}

const PARAMETER_ROCF: Shape = rocf_parameter!(&TC_VCID);
/// Versions 1 to 4.
const PARAMETER_ROCF_1_TO_4: Shape =
    rocf_parameter!(&Choice(&[(0, "tcVcid", &TC_VCID), (1, "undefined", &Null)]));

/// A service's GET-PARAMETER return.
macro_rules! get_parameter_return {
    ($parameter:expr) => {
        Sequence(&[
            ("performerCredentials", &CREDENTIALS),
            ("invokeId", &INVOKE_ID),
            ("result", &result!($parameter, ANY, "GET-PARAMETER")),
        ])
    };
}

const GET_RAF: Shape = get_parameter_return!(&PARAMETER_RAF);
const GET_RCF: Shape = get_parameter_return!(&PARAMETER_RCF);
const GET_ROCF: Shape = get_parameter_return!(&PARAMETER_ROCF);
const GET_ROCF_1_TO_4: Shape = get_parameter_return!(&PARAMETER_ROCF_1_TO_4);

pub(super) fn operation(
    service: ServiceType,
    version: u16,
    sender: AssociationRole,
    tag: u32,
) -> Option<Operation> {
    use AssociationRole::{Provider, User};
    Some(match (sender, tag, service) {
        (User, 0, ServiceType::Raf) => ("START invocation", &START_RAF),
        (User, 0, ServiceType::Rcf) => ("START invocation", &START_RCF),
        (User, 0, _) => ("START invocation", &START_ROCF),
        (Provider, 1, _) => ("START return", &START_RETURN),
        (Provider, 7, ServiceType::Raf) => ("GET-PARAMETER return", &GET_RAF),
        (Provider, 7, ServiceType::Rcf) => ("GET-PARAMETER return", &GET_RCF),
        (Provider, 7, _) if version <= 4 => ("GET-PARAMETER return", &GET_ROCF_1_TO_4),
        (Provider, 7, _) => ("GET-PARAMETER return", &GET_ROCF),
        (Provider, 8, ServiceType::Raf) => ("TRANSFER-BUFFER", &BUFFER_RAF),
        (Provider, 8, _) => ("TRANSFER-BUFFER", &BUFFER),
        (Provider, 9, ServiceType::Rcf) => ("STATUS-REPORT invocation", &REPORT_RCF),
        (Provider, 9, _) => ("STATUS-REPORT invocation", &REPORT),
        _ => return None,
    })
}
