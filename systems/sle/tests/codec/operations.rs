//! Any operation of FCLTU, and those that all services share.

use bytes::Bytes;
use chronoscope_sle::pdu::{
    AssociationRole, BindDiagnostic, BindPdu, BindReturn, BufferNotification, CltuAsyncNotify,
    CltuLastOk, CltuLastProcessed, CltuNotification, CltuProductionStatus, CltuStatus,
    CltuStatusReport, CltuTransferBuffer, CltuTransferData, CltuTransferDataReturn, DeliveryMode,
    Diagnostic, GvcId, Message, Parameter, ParameterName, Pdu, PeerAbortDiagnostic,
    PositiveStartReturn, ReportRequest, ServiceInstanceId, ServiceType, SiAttribute, StartRequest,
    ThrowEvent, UnbindReason, UplinkStatus,
};
use chronoscope_sle::time::Time;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

/// An operation of the version, and who sends it. Parameters are of all versions.
pub(crate) fn any_operation() -> impl Strategy<Value = (AssociationRole, Message)> {
    (of(octets(8, 256)), prop_oneof![of_user(), of_provider()]).prop_map(
        |(credentials, (sender, pdu))| {
            // PEER-ABORT has no place for them.
            let credentials = credentials.filter(|_| !matches!(pdu, Pdu::PeerAbort(_)));
            (sender, Message { credentials, pdu })
        },
    )
}

fn octets(min: usize, max: usize) -> impl Strategy<Value = Bytes> {
    vec(any::<u8>(), min..=max).prop_map(Bytes::from)
}

/// Of every length that has another form of length octets.
fn cltu() -> impl Strategy<Value = Bytes> {
    let long = select(vec![1, 127, 128, 255, 256, 4096, 65_535, 65_536]);
    prop_oneof![octets(1, 300), long.prop_map(|length| vec![0x5a; length].into())]
}

fn time() -> impl Strategy<Value = Time> {
    prop_oneof![any::<[u8; 8]>().prop_map(Time::Micro), any::<[u8; 10]>().prop_map(Time::Pico)]
}

fn diagnostic() -> impl Strategy<Value = Diagnostic> {
    prop_oneof![common(), any::<u8>().prop_map(Diagnostic::Specific)]
}

fn common() -> impl Strategy<Value = Diagnostic> {
    select(vec![Diagnostic::DuplicateInvokeId, Diagnostic::OtherReason])
}

fn result() -> impl Strategy<Value = Result<(), Diagnostic>> {
    prop_oneof![Just(Ok(())), diagnostic().prop_map(Err)]
}

fn abort() -> impl Strategy<Value = Pdu> {
    any::<u8>().prop_map(|octet| Pdu::PeerAbort(PeerAbortDiagnostic::from_octet(octet)))
}

fn of_user() -> impl Strategy<Value = (AssociationRole, Pdu)> {
    let id = any::<u16>;
    let request = prop_oneof![
        Just(ReportRequest::Immediately),
        any::<u16>().prop_map(ReportRequest::Periodically),
        Just(ReportRequest::Stop),
    ];
    let event = (id(), any::<u32>(), 1..=u16::MAX, octets(1, 1024));
    let pdu = prop_oneof![
        bind().prop_map(Pdu::Bind),
        select(vec![
            UnbindReason::End,
            UnbindReason::Suspend,
            UnbindReason::VersionNotSupported,
            UnbindReason::Other,
        ])
        .prop_map(Pdu::Unbind),
        abort(),
        (id(), any::<u32>()).prop_map(|(invoke_id, first_cltu)| Pdu::Start {
            invoke_id,
            start: StartRequest::Cltu { first_cltu },
        }),
        id().prop_map(|invoke_id| Pdu::Stop { invoke_id }),
        (id(), request)
            .prop_map(|(invoke_id, request)| Pdu::ScheduleStatusReport { invoke_id, request }),
        (id(), any::<u16>()).prop_map(|(invoke_id, name)| Pdu::GetParameter {
            invoke_id,
            name: ParameterName(name),
        }),
        transfer().prop_map(Pdu::CltuTransferData),
        buffer().prop_map(Pdu::CltuTransferBuffer),
        event.prop_map(|(invoke_id, event_invocation_id, event, qualifier)| {
            Pdu::ThrowEvent(ThrowEvent { invoke_id, event_invocation_id, event, qualifier })
        }),
    ];
    pdu.prop_map(|pdu| (AssociationRole::User, pdu))
}

fn bind() -> impl Strategy<Value = BindPdu> {
    let service = prop_oneof![
        select(vec![ServiceType::Raf, ServiceType::Rcf, ServiceType::Rocf, ServiceType::Fcltu])
            .prop_map(Ok),
        any::<i64>().prop_filter("none of ours", |it| ![0, 2, 4, 16].contains(it)).prop_map(Err),
    ];
    let attribute = (any::<u16>().prop_map(SiAttribute), "[ -~]{1,256}");
    ("[!-~]{3,16}", "[!-~]{1,128}", service, 1..=u16::MAX, vec(attribute, 0..5)).prop_map(
        |(initiator, responder_port, service, version, attributes)| {
            let instance = ServiceInstanceId(attributes);
            BindPdu { initiator, responder_port, service, version, instance }
        },
    )
}

fn transfer() -> impl Strategy<Value = CltuTransferData> {
    (any::<(u16, u32, u32, bool)>(), of(time()), of(time()), cltu()).prop_map(
        |((invoke_id, cltu, delay_us, notify_radiated), earliest, latest, data)| CltuTransferData {
            invoke_id,
            cltu,
            earliest,
            latest,
            delay_us,
            notify_radiated,
            data,
        },
    )
}

fn buffer() -> impl Strategy<Value = CltuTransferBuffer> {
    use BufferNotification::{Every, Last, None};
    let cltus = vec((any::<u32>(), cltu()), 1..6);
    (any::<u16>(), select(vec![None, Last, Every]), cltus).prop_map(
        |(invoke_id, notify_radiated, cltus)| CltuTransferBuffer {
            invoke_id,
            notify_radiated,
            cltus,
        },
    )
}

fn of_provider() -> impl Strategy<Value = (AssociationRole, Pdu)> {
    let id = any::<u16>;
    let started = (time(), of(time())).prop_map(|(start_radiation, stop_radiation)| {
        Ok(PositiveStartReturn::Cltu { start_radiation, stop_radiation })
    });
    let answer = (id(), any::<u32>(), any::<u32>(), result());
    let parameter = prop_oneof![4 => parameter().prop_map(Ok), 1 => diagnostic().prop_map(Err)];
    let acknowledged = prop_oneof![Just(Ok(())), common().prop_map(Err)];
    let pdu = prop_oneof![
        bind_return().prop_map(Pdu::BindReturn),
        Just(Pdu::UnbindReturn),
        abort(),
        (id(), prop_oneof![started, diagnostic().prop_map(Err)])
            .prop_map(|(invoke_id, result)| Pdu::StartReturn { invoke_id, result }),
        (id(), acknowledged).prop_map(|(invoke_id, result)| Pdu::StopReturn { invoke_id, result }),
        (id(), result())
            .prop_map(|(invoke_id, result)| Pdu::ScheduleStatusReportReturn { invoke_id, result }),
        (id(), parameter)
            .prop_map(|(invoke_id, result)| Pdu::GetParameterReturn { invoke_id, result }),
        answer.prop_map(|(invoke_id, next_cltu, buffer_available, result)| {
            let answer = CltuTransferDataReturn { invoke_id, next_cltu, buffer_available, result };
            Pdu::CltuTransferDataReturn(answer)
        }),
        (id(), any::<u32>(), result()).prop_map(|(invoke_id, event_invocation_id, result)| {
            Pdu::ThrowEventReturn { invoke_id, event_invocation_id, result }
        }),
        notify().prop_map(Pdu::CltuAsyncNotify),
        report().prop_map(Pdu::CltuStatusReport),
    ];
    pdu.prop_map(|pdu| (AssociationRole::Provider, pdu))
}

fn bind_return() -> impl Strategy<Value = BindReturn> {
    let refused = select(vec![
        BindDiagnostic::AccessDenied,
        BindDiagnostic::ServiceTypeNotSupported,
        BindDiagnostic::VersionNotSupported,
        BindDiagnostic::NoSuchServiceInstance,
        BindDiagnostic::AlreadyBound,
        BindDiagnostic::SiNotAccessibleToThisInitiator,
        BindDiagnostic::InconsistentServiceType,
        BindDiagnostic::InvalidTime,
        BindDiagnostic::OutOfService,
        BindDiagnostic::OtherReason,
    ]);
    let result = prop_oneof![(1..=u16::MAX).prop_map(Ok), refused.prop_map(Err)];
    ("[!-~]{3,16}", result).prop_map(|(responder, result)| BindReturn { responder, result })
}

fn last_processed() -> impl Strategy<Value = CltuLastProcessed> {
    let status = select(vec![
        CltuStatus::Radiated,
        CltuStatus::Expired,
        CltuStatus::Interrupted,
        CltuStatus::RadiationStarted,
        CltuStatus::RadiationNotStarted,
    ]);
    (any::<u32>(), of(time()), status).prop_map(|(cltu, start_radiation, status)| {
        CltuLastProcessed { cltu, start_radiation, status }
    })
}

fn last_ok() -> impl Strategy<Value = CltuLastOk> {
    (any::<u32>(), time()).prop_map(|(cltu, stop_radiation)| CltuLastOk { cltu, stop_radiation })
}

fn production() -> impl Strategy<Value = CltuProductionStatus> {
    use CltuProductionStatus::{Configured, Halted, Interrupted, Operational};
    select(vec![Operational, Configured, Interrupted, Halted])
}

fn uplink() -> impl Strategy<Value = UplinkStatus> {
    use UplinkStatus::{NoBitLock, NoRfAvailable, Nominal, NotAvailable};
    select(vec![NotAvailable, NoRfAvailable, NoBitLock, Nominal])
}

fn notify() -> impl Strategy<Value = CltuAsyncNotify> {
    let notification = prop_oneof![
        select(vec![
            CltuNotification::CltuRadiated,
            CltuNotification::SlduExpired,
            CltuNotification::ProductionInterrupted,
            CltuNotification::ProductionHalted,
            CltuNotification::ProductionOperational,
            CltuNotification::BufferEmpty,
        ]),
        any::<u32>().prop_map(CltuNotification::ActionListCompleted),
        any::<u32>().prop_map(CltuNotification::ActionListNotCompleted),
        any::<u32>().prop_map(CltuNotification::EventConditionEvFalse),
    ];
    (notification, of(last_processed()), of(last_ok()), production(), uplink()).prop_map(
        |(notification, last_processed, last_ok, production, uplink)| CltuAsyncNotify {
            notification,
            last_processed,
            last_ok,
            production,
            uplink,
        },
    )
}

fn report() -> impl Strategy<Value = CltuStatusReport> {
    let counts = any::<[u32; 4]>();
    (of(last_processed()), of(last_ok()), production(), uplink(), counts).prop_map(
        |(last_processed, last_ok, production, uplink, counts)| {
            let [received, processed, radiated, buffer_available] = counts;
            CltuStatusReport {
                last_processed,
                last_ok,
                production,
                uplink,
                received,
                processed,
                radiated,
                buffer_available,
            }
        },
    )
}

fn parameter() -> impl Strategy<Value = Parameter> {
    let short = any::<u16>;
    let long = any::<u32>;
    let yes = any::<bool>;
    let gvcid =
        (0..1024u16, 0..4u8, of(0..64u8)).prop_map(|(spacecraft, version, virtual_channel)| {
            GvcId { spacecraft, version, virtual_channel }
        });
    prop_oneof![
        yes().prop_map(Parameter::BitLockRequired),
        Just(Parameter::DeliveryMode(DeliveryMode::ForwardOnline)),
        long().prop_map(Parameter::ExpectedEventInvocationIdentification),
        long().prop_map(Parameter::ExpectedSlduIdentification),
        long().prop_map(Parameter::MaximumSlduLength),
        long().prop_map(Parameter::ModulationFrequency),
        short().prop_map(Parameter::ModulationIndex),
        yes().prop_map(Parameter::PlopInEffect2),
        of(short()).prop_map(Parameter::ReportingCycle),
        short().prop_map(Parameter::ReturnTimeoutPeriod),
        yes().prop_map(Parameter::RfAvailableRequired),
        short().prop_map(Parameter::SubcarrierToBitRateRatio),
        short().prop_map(Parameter::AcquisitionSequenceLength),
        of(gvcid).prop_map(Parameter::ClcwGlobalVcid),
        of("[ -~]{1,32}").prop_map(Parameter::ClcwPhysicalChannel),
        long().prop_map(Parameter::MinimumDelayTime),
        yes().prop_map(Parameter::NotificationModeImmediate),
        short().prop_map(Parameter::Plop1IdleSequenceLength),
        yes().prop_map(Parameter::ProtocolAbortModeContinue),
        short().prop_map(Parameter::MinReportingCycle),
    ]
}
