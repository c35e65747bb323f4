//! Operations of FSP (forward space packet), which only the dump knows. Source: CCSDS 912.3, annex A.

use super::common::{
    CLCW_CHANNEL, CLCW_PHYSICAL_CHANNEL, COMMON_DIAGNOSTIC, CONDITIONAL_TIME, CREDENTIALS, CYCLE,
    DELIVERY_MODE, FORWARD_STATUS, INVOKE_ID, MICROSECONDS, NO_YES, NOTIFICATION_WANTED, NUMBER,
    OCTET_COUNT, SECONDS, TIME, parameter,
};
use super::{Operation, Shape};
use crate::pdu::AssociationRole;
use Shape::{Choice, ChoiceOr, Each, Integer, Null, Octets, Sequence, Words};

/// Names of parameters that only FSP has.
pub(crate) const PARAMETERS: [(u16, &str); 26] = [
    (0, "blockingTimeoutPeriod"),
    (1, "blockingUsage"),
    (2, "apidList"),
    (7, "directiveInvocation"),
    (8, "expectedDirectiveIdentification"),
    (11, "fopSlidingWindow"),
    (12, "fopState"),
    (16, "mapList"),
    (17, "mapMuxControl"),
    (18, "mapMuxScheme"),
    (19, "maximumFrameLength"),
    (20, "maximumPacketLength"),
    (30, "rfAvailable"),
    (32, "segmentHeader"),
    (35, "timeoutType"),
    (36, "timerInitial"),
    (37, "transmissionLimit"),
    (38, "transmitterFrameSequenceNumber"),
    (39, "vcMuxControl"),
    (40, "vcMuxScheme"),
    (41, "virtualChannel"),
    (107, "permittedTransmissionMode"),
    (108, "directiveInvocationOnline"),
    (300, "copCntrFramesRepetition"),
    (303, "sequCntrFramesRepetition"),
    (304, "throwEventOperation"),
];

/// `result`: this shape when it is positive, one of these diagnostics when it is not.
macro_rules! fsp_result {
    ($positive:expr, $diagnostics:expr) => {
        &Choice(&[
            (0, "positiveResult", $positive),
            (
                1,
                "negativeResult",
                &Choice(&[
                    (0, "common", &COMMON_DIAGNOSTIC),
                    (1, "specific", &Words(&$diagnostics)),
                ]),
            ),
        ])
    };
}

const ENABLED: Shape = Words(&[(0, "enabled"), (1, "disabled")]);
const IDENTIFICATIONS: Shape = Each(&NUMBER);
const PRODUCTION_TIME: Shape = Choice(&[(0, "unspecified", &Null), (1, "specified", &TIME)]);
const MODE: Shape =
    Words(&[(0, "sequenceControlled"), (1, "expedited"), (2, "sequenceControlledUnblock")]);
const BLOCKING: Shape = Words(&[(0, "permitted"), (1, "notPermitted")]);
const PRIORITIES: Shape = Each(&Sequence(&[("vcOrMapId", &NUMBER), ("priority", &NUMBER)]));
const MUX_CONTROL: Shape = Choice(&[
    (0, "muxSchemeIsFifo", &Null),
    (1, "muxSchemeIsPriority", &PRIORITIES),
    (2, "muxSchemeIsVector", &IDENTIFICATIONS),
]);
const MUX_SCHEME: Shape = Words(&[(0, "fifo"), (1, "absolute-priority"), (2, "polling-vector")]);
const MAP_MUX_CONTROL: Shape =
    Choice(&[(0, "absolutePriority", &PRIORITIES), (1, "pollingVector", &IDENTIFICATIONS)]);

const START: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("firstPacketIdentification", &NUMBER),
]);

const START_RETURN: Shape = Sequence(&[
    ("performerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    (
        "result",
        fsp_result!(
            &Sequence(&[("startProductionTime", &TIME), ("stopProductionTime", &CONDITIONAL_TIME)]),
            [(0, "outOfService"), (1, "unableToComply"), (2, "productionTimeExpired")]
        ),
    ),
]);

const TRANSFER_DATA: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("packetIdentification", &NUMBER),
    ("earliestProductionTime", &PRODUCTION_TIME),
    ("latestProductionTime", &PRODUCTION_TIME),
    ("delayTime", &MICROSECONDS),
    ("transmissionMode", &MODE),
    ("map", &Choice(&[(0, "none", &Null), (1, "mapUsed", &NUMBER)])),
    ("blocking", &BLOCKING),
    ("processingStartedNotification", &NOTIFICATION_WANTED),
    ("radiatedNotification", &NOTIFICATION_WANTED),
    ("acknowledgedNotification", &NOTIFICATION_WANTED),
    ("fspData", &Octets),
]);

const TRANSFER_DATA_RETURN: Shape = Sequence(&[
    ("performerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("expectedPacketIdentification", &NUMBER),
    ("packetBufferAvailable", &OCTET_COUNT),
    (
        "result",
        fsp_result!(
            &Null,
            [
                (0, "unableToProcess"),
                (1, "unableToStore"),
                (2, "packetIdentificationOutOfSequence"),
                (3, "duplicatePacketIdentification"),
                (4, "inconsistentTimeRange"),
                (5, "invalidTime"),
                (6, "conflictingProductionTimeIntervals"),
                (7, "lateSldu"),
                (8, "invalidDelayTime"),
                (9, "invalidTransmissionMode"),
                (10, "invalidMap"),
                (11, "invalidNotificationRequest"),
                (12, "packetTooLong"),
                (13, "unsupportedPacketVersion"),
                (14, "incorrectPacketType"),
                (15, "invalidPacketApid"),
            ]
        ),
    ),
]);

const THROW_EVENT: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("eventIdentifier", &NUMBER),
    ("eventQualifier", &Octets),
    ("eventInvocationIdentification", &NUMBER),
]);

const THROW_EVENT_RETURN: Shape = Sequence(&[
    ("performerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("eventInvokeId", &NUMBER),
    (
        "result",
        fsp_result!(
            &Null,
            [
                (0, "operationNotSupported"),
                (1, "eventIdentificationOutOfSequence"),
                (2, "noSuchEvent"),
            ]
        ),
    ),
]);

const DIRECTIVE: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("directiveIdentification", &NUMBER),
    (
        "directive",
        &Choice(&[
            (0, "initiateADserviceWithoutCLCW", &Null),
            (1, "initiateADserviceWithCLCW", &Null),
            (2, "initiateADserviceWithUnlock", &Null),
            (3, "initiateADserviceWithSetVR", &NUMBER),
            (4, "terminateADservice", &Null),
            (5, "resumeADservice", &Null),
            (6, "setVS", &NUMBER),
            (7, "setFOPslidingWindowWidth", &NUMBER),
            (8, "setT1Initial", &MICROSECONDS),
            (9, "setTransmissionLimit", &NUMBER),
            (10, "setTimeoutType", &Words(&[(0, "terminateAD"), (1, "suspendAD")])),
            (11, "abortVC", &Null),
            (12, "modifyMapMuxControl", &MAP_MUX_CONTROL),
        ]),
    ),
]);

const DIRECTIVE_RETURN: Shape = Sequence(&[
    ("performerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("directiveIdentification", &NUMBER),
    (
        "result",
        fsp_result!(
            &Null,
            [
                (0, "directiveInvocationNotAllowed"),
                (1, "directiveIdentificationOutOfSequence"),
                (2, "directiveError"),
            ]
        ),
    ),
]);

const FOP_ALERT: Shape = Words(&[
    (0, "noAlert"),
    (1, "limit"),
    (2, "lockOutDetected"),
    (3, "synch"),
    (4, "invalidNR"),
    (5, "clcw"),
    (6, "lowerLayerOutOfSync"),
    (7, "terminateADService"),
]);

/// `FspNotification`; `$radiated` is what `packetRadiated` has in the version.
macro_rules! notification {
    ($radiated:expr) => {
        Choice(&[
            (0, "packetProcessingStarted", &IDENTIFICATIONS),
            (1, "packetRadiated", $radiated),
            (2, "packetAcknowledged", &IDENTIFICATIONS),
            (3, "slduExpired", &IDENTIFICATIONS),
            (4, "packetTransmissionModeMismatch", &IDENTIFICATIONS),
            (5, "transmissionModeCapabilityChange", &FOP_ALERT),
            (6, "bufferEmpty", &Null),
            (7, "noInvokeDirectiveCapabilityOnthisVC", &Null),
            (8, "positiveConfirmResponceToDirective", &NUMBER),
            (
                9,
                "negativeConfirmResponseToDirective",
                &Sequence(&[("directiveExecutedId", &NUMBER), ("fopAlert", &FOP_ALERT)]),
            ),
            (10, "vcAborted", &IDENTIFICATIONS),
            (11, "productionInterrupted", &IDENTIFICATIONS),
            (12, "productionHalted", &IDENTIFICATIONS),
            (13, "productionOperational", &Null),
            (14, "actionListCompleted", &NUMBER),
            (15, "actionListNotCompleted", &NUMBER),
            (16, "eventConditionEvaluatedToFalse", &NUMBER),
            (17, "invokeDirectiveCapabilityOnthisVC", &Null),
        ])
    };
}

const NOTIFICATION: Shape = notification!(&Sequence(&[
    ("packetIdentificationList", &IDENTIFICATIONS),
    ("frameSequenceNumber", &NUMBER),
]));
const NOTIFICATION_1_TO_4: Shape = notification!(&IDENTIFICATIONS);
const LAST_PROCESSED: Shape = Choice(&[
    (0, "noPacketProcessed", &Null),
    (
        1,
        "packetProcessed",
        &Sequence(&[
            ("packetIdentification", &NUMBER),
            ("processingStartTime", &TIME),
            ("packetStatus", &FORWARD_STATUS),
        ]),
    ),
]);
const LAST_OK: Shape = Choice(&[
    (0, "noPacketOk", &Null),
    (1, "packetOk", &Sequence(&[("packetIdentification", &NUMBER), ("processingStopTime", &TIME)])),
]);
const PRODUCTION: Shape = Words(&[
    (0, "configured"),
    (1, "operationalBd"),
    (2, "operationalAdAndBd"),
    (3, "operationalAdSuspended"),
    (4, "interrupted"),
    (5, "halted"),
]);

const ASYNC_NOTIFY: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("fspNotification", &NOTIFICATION),
    ("fspPacketLastProc", &LAST_PROCESSED),
    ("fspPacketLastOk", &LAST_OK),
    ("productionStatus", &PRODUCTION),
]);

const ASYNC_NOTIFY_1_TO_4: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("fspNotification", &NOTIFICATION_1_TO_4),
    ("fspPacketLastProc", &LAST_PROCESSED),
    ("fspPacketLastOk", &LAST_OK),
    ("productionStatus", &PRODUCTION),
]);

const COUNT: Shape = Sequence(&[("adCount", &NUMBER), ("bdCount", &NUMBER)]);

const STATUS_REPORT: Shape = Sequence(&[
    ("invokerCredentials", &CREDENTIALS),
    ("fspPacketLastProcessed", &LAST_PROCESSED),
    ("fspPacketLastOk", &LAST_OK),
    ("productionStatus", &PRODUCTION),
    ("numberOfPacketsReceived", &COUNT),
    ("numberOfPacketsProcessed", &COUNT),
    ("numberOfPacketsRadiated", &COUNT),
    ("numberOfPacketsAcknowledged", &NUMBER),
    ("fspBufferAvailable", &OCTET_COUNT),
]);

const PARAMETER: Shape = Choice(&[
    (
        0,
        "parApidList",
        parameter!(&ChoiceOr(
            &[(0, "any", &Null), (1, "apidList", &IDENTIFICATIONS)],
            &IDENTIFICATIONS
        )),
    ),
    (
        1,
        "parBlockingTimeout",
        parameter!(&Choice(&[(0, "blockingOff", &Null), (1, "blockingOn", &Integer("ms"))])),
    ),
    (2, "parBlockingUsage", parameter!(&BLOCKING)),
    (3, "parDeliveryMode", parameter!(&DELIVERY_MODE)),
    (4, "parDirectiveInvoc", parameter!(&ENABLED)),
    (5, "parDirInvocOnl", parameter!(&NO_YES)),
    (6, "parExpectDirectiveId", parameter!(&NUMBER)),
    (7, "parExpectEventInvId", parameter!(&NUMBER)),
    (8, "parExpectSlduId", parameter!(&NUMBER)),
    (9, "parFopSlidWindow", parameter!(&NUMBER)),
    (
        10,
        "parFopState",
        parameter!(&Words(&[
            (0, "active"),
            (1, "retransmitWithoutWait"),
            (2, "retransmitWithWait"),
            (3, "initialisingWithoutBCFrame"),
            (4, "initialisingWithBCFrame"),
            (5, "initial"),
        ])),
    ),
    (
        11,
        "parMapList",
        parameter!(&Choice(&[(0, "mapsNotUsed", &Null), (1, "mapsUsed", &IDENTIFICATIONS)])),
    ),
    (12, "parMapMuxControl", parameter!(&MUX_CONTROL)),
    (
        13,
        "parMapMuxScheme",
        parameter!(&ChoiceOr(
            &[(0, "noMapsUsed", &Null), (1, "mapsUsed", &MUX_SCHEME)],
            &MUX_SCHEME
        )),
    ),
    (14, "parMaxFrameLength", parameter!(&OCTET_COUNT)),
    (15, "parMaxPacketLength", parameter!(&OCTET_COUNT)),
    (
        16,
        "parPermTransMode",
        parameter!(&Words(&[(0, "sequenceControlled"), (1, "expedited"), (2, "any")])),
    ),
    (17, "parReportingCycle", parameter!(&CYCLE)),
    (18, "parReturnTimeout", parameter!(&SECONDS)),
    (19, "parSegmHeader", parameter!(&Words(&[(0, "present"), (1, "absent")]))),
    (
        20,
        "parTimeoutType",
        parameter!(&Words(&[(0, "generateAlert"), (1, "suspendSequenceControlled")])),
    ),
    (21, "parTimerInitial", parameter!(&MICROSECONDS)),
    (22, "parTransmissLimit", parameter!(&NUMBER)),
    (23, "parTrFrSeqNumber", parameter!(&NUMBER)),
    (24, "parVcMuxControl", parameter!(&MUX_CONTROL)),
    (25, "parVcMuxScheme", parameter!(&MUX_SCHEME)),
    (26, "parVirtualChannel", parameter!(&NUMBER)),
    (27, "parBitLockRequired", parameter!(&NO_YES)),
    (28, "parRfAvailableRequired", parameter!(&NO_YES)),
    (29, "parClcwGlobalVcId", parameter!(&CLCW_CHANNEL)),
    (30, "parClcwPhysicalChannel", parameter!(&CLCW_PHYSICAL_CHANNEL)),
    (31, "parCopCntrFramesRepetition", parameter!(&NUMBER)),
    (32, "parMinReportingCycle", parameter!(&SECONDS)),
    (33, "parSequCntrFramesRepetition", parameter!(&NUMBER)),
    (34, "parThrowEventOperation", parameter!(&ENABLED)),
]);

const GET_PARAMETER_RETURN: Shape = Sequence(&[
    ("performerCredentials", &CREDENTIALS),
    ("invokeId", &INVOKE_ID),
    ("result", fsp_result!(&PARAMETER, [(0, "unknownParameter")])),
]);

pub(super) fn operation(version: u16, sender: AssociationRole, tag: u32) -> Option<Operation> {
    use AssociationRole::{Provider, User};
    Some(match (sender, tag) {
        (User, 0) => ("START invocation", &START),
        (Provider, 1) => ("START return", &START_RETURN),
        (Provider, 7) => ("GET-PARAMETER return", &GET_PARAMETER_RETURN),
        (User, 8) => ("THROW-EVENT invocation", &THROW_EVENT),
        (Provider, 9) => ("THROW-EVENT return", &THROW_EVENT_RETURN),
        (User, 10) => ("TRANSFER-DATA invocation", &TRANSFER_DATA),
        (Provider, 11) => ("TRANSFER-DATA return", &TRANSFER_DATA_RETURN),
        (Provider, 12) if version <= 4 => ("ASYNC-NOTIFY invocation", &ASYNC_NOTIFY_1_TO_4),
        (Provider, 12) => ("ASYNC-NOTIFY invocation", &ASYNC_NOTIFY),
        (Provider, 13) => ("STATUS-REPORT invocation", &STATUS_REPORT),
        (User, 14) => ("INVOKE-DIRECTIVE invocation", &DIRECTIVE),
        (Provider, 15) => ("INVOKE-DIRECTIVE return", &DIRECTIVE_RETURN),
        _ => return None,
    })
}
