//! Operations of FCLTU. Source: CCSDS 912.1, annex A.

use super::common::{
    CLCW_CHANNEL, CLCW_PHYSICAL_CHANNEL, COMMON_DIAGNOSTIC, CONDITIONAL_TIME, CREDENTIALS, CYCLE,
    DELIVERY_MODE, FORWARD_STATUS, INVOKE_ID, MICROSECONDS, NO_YES, NOTIFICATION_WANTED, NUMBER,
    OCTET_COUNT, SECONDS, TIME, outcome, parameter, result,
};
use super::{Operation, Shape};
use crate::pdu::{AssociationRole, ServiceType};
use Shape::{Choice, ChoiceOr, Each, Integer, Null, Octets, Sequence, Words};

const FCLTU: ServiceType = ServiceType::Fcltu;

const START: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    // Version 1: the number is optional.
    (
        "firstCltuIdentification",
        &ChoiceOr(&[(0, "undefined", &Null), (1, "known", &NUMBER)], &NUMBER),
    ),
]);

const START_RETURN: Shape = Sequence(&[
    ("performerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    (
        "result",
        &result!(
            &Sequence(&[("startRadiationTime", &TIME), ("stopRadiationTime", &CONDITIONAL_TIME)]),
            FCLTU,
            "START"
        ),
    ),
]);

const TRANSFER_DATA: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("cltuIdentification", &NUMBER),
    ("earliestTransmissionTime", &CONDITIONAL_TIME),
    ("latestTransmissionTime", &CONDITIONAL_TIME),
    ("delayTime", &MICROSECONDS),
    ("slduRadiationNotification", &NOTIFICATION_WANTED),
    ("cltuData", &Octets),
]);

const TRANSFER_DATA_RETURN: Shape = Sequence(&[
    ("performerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("cltuIdentification", &NUMBER),
    ("cltuBufferAvailable", &OCTET_COUNT),
    ("result", &outcome!(FCLTU, "TRANSFER-DATA")),
]);

/// Of our programs: no book has it.
const TRANSFER_BUFFER: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("slduRadiationNotification", &Words(&[(0, "none"), (1, "last"), (2, "every")])),
    ("cltus", &Each(&Sequence(&[("cltuIdentification", &NUMBER), ("cltuData", &Octets)]))),
]);

const THROW_EVENT: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("eventInvocationIdentification", &NUMBER),
    ("eventIdentifier", &NUMBER),
    ("eventQualifier", &Octets),
]);

const THROW_EVENT_RETURN: Shape = Sequence(&[
    ("performerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("eventInvocationIdentification", &NUMBER),
    ("result", &outcome!(FCLTU, "THROW-EVENT")),
]);

const PRODUCTION: Shape =
    Words(&[(0, "operational"), (1, "configured"), (2, "interrupted"), (3, "halted")]);
const UPLINK: Shape = Words(&[
    (0, "uplinkStatusNotAvailable"),
    (1, "noRfAvailable"),
    (2, "noBitLock"),
    (3, "nominal"),
]);
const LAST_PROCESSED: Shape = Choice(&[
    (0, "noCltuProcessed", &Null),
    (
        1,
        "cltuProcessed",
        &Sequence(&[
            ("cltuIdentification", &NUMBER),
            ("startRadiationTime", &CONDITIONAL_TIME),
            ("cltuStatus", &FORWARD_STATUS),
        ]),
    ),
]);
const LAST_OK: Shape = Choice(&[
    (0, "noCltuOk", &Null),
    (1, "cltuOk", &Sequence(&[("cltuIdentification", &NUMBER), ("stopRadiationTime", &TIME)])),
]);

const ASYNC_NOTIFY: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    (
        "cltuNotification",
        &Choice(&[
            (0, "cltuRadiated", &Null),
            (1, "slduExpired", &Null),
            (2, "productionInterrupted", &Null),
            (3, "productionHalted", &Null),
            (4, "productionOperational", &Null),
            (5, "bufferEmpty", &Null),
            (6, "actionListCompleted", &NUMBER),
            (7, "actionListNotCompleted", &NUMBER),
            (8, "eventConditionEvFalse", &NUMBER),
        ]),
    ),
    ("cltuLastProcessed", &LAST_PROCESSED),
    ("cltuLastOk", &LAST_OK),
    ("productionStatus", &PRODUCTION),
    ("uplinkStatus", &UPLINK),
]);

const STATUS_REPORT: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("cltuLastProcessed", &LAST_PROCESSED),
    ("cltuLastOk", &LAST_OK),
    ("cltuProductionStatus", &PRODUCTION),
    ("uplinkStatus", &UPLINK),
    ("numberOfCltusReceived", &NUMBER),
    ("numberOfCltusProcessed", &NUMBER),
    ("numberOfCltusRadiated", &NUMBER),
    ("cltuBufferAvailable", &OCTET_COUNT),
]);

const FREQUENCY: Shape = Integer("tenths of a Hz");
const INDEX: Shape = Integer("mrad");
const PLOP: Shape = Words(&[(0, "plop1"), (1, "plop2")]);
const NOTIFICATION_MODE: Shape = Words(&[(0, "deferred"), (1, "immediate")]);
const ABORT_MODE: Shape = Words(&[(0, "abort"), (1, "continue")]);

/// Versions 4 and 5.
const PARAMETER: Shape = Choice(&[
    (0, "parAcquisitionSequenceLength", parameter!(&OCTET_COUNT)),
    (1, "parBitLockRequired", parameter!(&NO_YES)),
    (2, "parClcwGlobalVcId", parameter!(&CLCW_CHANNEL)),
    (3, "parClcwPhysicalChannel", parameter!(&CLCW_PHYSICAL_CHANNEL)),
    (4, "parDeliveryMode", parameter!(&DELIVERY_MODE)),
    (5, "parCltuIdentification", parameter!(&NUMBER)),
    (6, "parEventInvocationIdentification", parameter!(&NUMBER)),
    (7, "parMaximumCltuLength", parameter!(&OCTET_COUNT)),
    (8, "parMinimumDelayTime", parameter!(&MICROSECONDS)),
    (9, "parModulationFrequency", parameter!(&FREQUENCY)),
    (10, "parModulationIndex", parameter!(&INDEX)),
    (11, "parNotificationMode", parameter!(&NOTIFICATION_MODE)),
    (12, "parPlop1IdleSequenceLength", parameter!(&OCTET_COUNT)),
    (13, "parPlopInEffect", parameter!(&PLOP)),
    (14, "parProtocolAbortMode", parameter!(&ABORT_MODE)),
    (15, "parReportingCycle", parameter!(&CYCLE)),
    (16, "parReturnTimeout", parameter!(&SECONDS)),
    (17, "parRfAvailableRequired", parameter!(&NO_YES)),
    (18, "parSubcarrierToBitRateRatio", parameter!(&NUMBER)),
    (19, "parMinReportingCycle", parameter!(&SECONDS)),
]);

/// Versions 1 to 3; from 12 on as one implementation has it.
const PARAMETER_1_TO_3: Shape = Choice(&[
    (0, "parBitLockRequired", parameter!(&NO_YES)),
    (1, "parCltuIdentification", parameter!(&NUMBER)),
    (2, "parEventInvocationIdentification", parameter!(&NUMBER)),
    (3, "parSubcarrierToBitRateRatio", parameter!(&NUMBER)),
    (4, "parDeliveryMode", parameter!(&DELIVERY_MODE)),
    (5, "parMaximumCltuLength", parameter!(&OCTET_COUNT)),
    (6, "parModulationFrequency", parameter!(&FREQUENCY)),
    (7, "parModulationIndex", parameter!(&INDEX)),
    (8, "parPlopInEffect", parameter!(&PLOP)),
    (9, "parReportingCycle", parameter!(&CYCLE)),
    (10, "parReturnTimeout", parameter!(&SECONDS)),
    (11, "parRfAvailableRequired", parameter!(&NO_YES)),
    (12, "parAcquisitionSequenceLength", parameter!(&OCTET_COUNT)),
    (13, "parClcwGlobalVcId", parameter!(&CLCW_CHANNEL)),
    (14, "parClcwPhysicalChannel", parameter!(&CLCW_PHYSICAL_CHANNEL)),
    (15, "parMinimumDelayTime", parameter!(&MICROSECONDS)),
    (16, "parNotificationMode", parameter!(&NOTIFICATION_MODE)),
    (17, "parPlop1IdleSequenceLength", parameter!(&OCTET_COUNT)),
    (18, "parProtocolAbortMode", parameter!(&ABORT_MODE)),
]);

const GET_PARAMETER_RETURN: Shape = Sequence(&[
    ("performerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("result", &result!(&PARAMETER, FCLTU, "GET-PARAMETER")),
]);

const GET_PARAMETER_RETURN_1_TO_3: Shape = Sequence(&[
    ("performerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("result", &result!(&PARAMETER_1_TO_3, FCLTU, "GET-PARAMETER")),
]);

pub(super) fn operation(version: u16, sender: AssociationRole, tag: u32) -> Option<Operation> {
    use AssociationRole::{Provider, User};
    Some(match (sender, tag) {
        (User, 0) => ("START invocation", &START),
        (Provider, 1) => ("START return", &START_RETURN),
        (Provider, 7) if version <= 3 => ("GET-PARAMETER return", &GET_PARAMETER_RETURN_1_TO_3),
        (Provider, 7) => ("GET-PARAMETER return", &GET_PARAMETER_RETURN),
        (User, 8) => ("THROW-EVENT invocation", &THROW_EVENT),
        (Provider, 9) => ("THROW-EVENT return", &THROW_EVENT_RETURN),
        (User, 10) => ("TRANSFER-DATA invocation", &TRANSFER_DATA),
        (Provider, 11) => ("TRANSFER-DATA return", &TRANSFER_DATA_RETURN),
        (Provider, 12) => ("ASYNC-NOTIFY invocation", &ASYNC_NOTIFY),
        (Provider, 13) => ("STATUS-REPORT invocation", &STATUS_REPORT),
        (User, 64) => ("TRANSFER-BUFFER invocation of CLTUs", &TRANSFER_BUFFER),
        _ => return None,
    })
}
