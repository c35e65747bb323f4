//! Sessions of FCLTU, RAF, RCF and ROCF.

use std::sync::Arc;

use bytes::Bytes;
use chronoscope_sle::association::{
    Association, Identity, Initiator, InstanceDirectory, SecuritySettings, ServiceInstance,
    SleProtocol, UserSettings,
};
use chronoscope_sle::pdu::*;
use chronoscope_sle::time::Time;

use super::now;
use super::session::Session;

const SERVICES: [ServiceType; 4] =
    [ServiceType::Fcltu, ServiceType::Raf, ServiceType::Rcf, ServiceType::Rocf];

/// All services in all versions from 2, and what a refused, an aborted and a duplicate one say.
pub(crate) fn sessions() -> String {
    let mut text = String::new();
    for service in SERVICES {
        for version in 2..=5 {
            text.push_str(&format!("### {service:?} version {version}\n"));
            let mut session = bound(service, version, "PORT1");
            session.operations(service);
            session.user.unbind(UnbindReason::Suspend, now()).unwrap();
            session.settle();
            text.push_str(&session.text);
        }
    }
    text.push_str("### refused\n");
    let session = bound(ServiceType::Raf, 5, "PORT2");
    text.push_str(&session.text);
    text.push_str("### aborted by the user, then by the provider\n");
    for by_user in [true, false] {
        let mut session = bound(ServiceType::Raf, 5, "PORT1");
        session.abort(by_user);
        text.push_str(&session.text);
    }
    text
}

fn identity(id: &str) -> Identity {
    Identity { id: id.into(), password: b"password1".to_vec() }
}

fn instance(service: ServiceType) -> ServiceInstanceId {
    let attribute = |arc, value: &str| (SiAttribute(arc), value.to_owned());
    let last = match service {
        ServiceType::Fcltu => (7, "cltu1"),
        ServiceType::Raf => (22, "onlt1"),
        ServiceType::Rcf => (46, "onlc1"),
        ServiceType::Rocf => (49, "offl1"),
    };
    ServiceInstanceId(vec![
        attribute(52, "1"),
        attribute(53, "VST-PASS0001"),
        attribute(if service == ServiceType::Fcltu { 10 } else { 38 }, "1"),
        attribute(last.0, last.1),
    ])
}

/// A session in which the user has asked to be bound.
fn bound(service: ServiceType, version: u16, port: &str) -> Session<SleProtocol> {
    let security = SecuritySettings::default();
    let mut directory = InstanceDirectory::new(identity("STATION"));
    directory.add_initiator(Initiator { identity: identity("CENTRE"), security }).unwrap();
    let provided = ServiceInstance {
        id: instance(service),
        service,
        versions: vec![2, 3, 4, 5],
        initiators: vec!["CENTRE".into()],
        provision: None,
        responder_port: Some("PORT1".into()),
        end_is_final: false,
    };
    directory.add_instance(provided).unwrap();
    let settings = UserSettings {
        initiator: identity("CENTRE"),
        responder: identity("STATION"),
        responder_port: port.into(),
        version,
        ..UserSettings::new(service, instance(service))
    };
    let mut user = Association::user(settings, now());
    user.bind(now()).unwrap();
    let mut session = Session::new(user, Association::provider(Arc::new(directory), now()));
    session.settle();
    session
}

impl Session<SleProtocol> {
    /// Every operation of the service, with a positive and a negative return.
    fn operations(&mut self, service: ServiceType) {
        let refused = Err(Diagnostic::Specific(1));
        let asked = parameters(service);
        for (invoke_id, parameter) in (100..).zip(asked) {
            self.invoke(Pdu::GetParameter { invoke_id, name: parameter.name() });
            self.answer(Pdu::GetParameterReturn { invoke_id, result: Ok(parameter) });
        }
        self.invoke(Pdu::GetParameter { invoke_id: 1, name: ParameterName::BUFFER_SIZE });
        self.answer(Pdu::GetParameterReturn { invoke_id: 1, result: Err(Diagnostic::Specific(0)) });
        for request in [ReportRequest::Immediately, ReportRequest::Periodically(60)] {
            self.invoke(Pdu::ScheduleStatusReport { invoke_id: 2, request });
            self.answer(Pdu::ScheduleStatusReportReturn { invoke_id: 2, result: Ok(()) });
        }
        for start in starts(service) {
            self.invoke(Pdu::Start { invoke_id: 3, start: start.clone() });
            self.answer(Pdu::StartReturn { invoke_id: 3, result: Err(Diagnostic::Specific(0)) });
            self.invoke(Pdu::Start { invoke_id: 4, start });
            self.answer(Pdu::StartReturn { invoke_id: 4, result: Ok(started(service)) });
            self.invoke(Pdu::Stop { invoke_id: 5 });
            self.answer(Pdu::StopReturn { invoke_id: 5, result: Ok(()) });
        }
        self.invoke(Pdu::Stop { invoke_id: 6 });
        self.answer(Pdu::StopReturn { invoke_id: 6, result: Err(Diagnostic::OtherReason) });
        match service {
            ServiceType::Fcltu => self.cltus(refused),
            _ => self.frames(service),
        }
    }

    fn cltus(&mut self, refused: Result<(), Diagnostic>) {
        for (invoke_id, result) in [(7, Ok(())), (8, refused)] {
            self.invoke(Pdu::CltuTransferData(CltuTransferData {
                invoke_id,
                cltu: u32::from(invoke_id),
                earliest: Some(time(1)),
                latest: None,
                delay_us: 1000,
                notify_radiated: true,
                data: Bytes::from_static(&[0xeb, 0x90, 1, 2, 3]),
            }));
            let (next_cltu, buffer_available) = (8, 4096);
            self.answer(Pdu::CltuTransferDataReturn(CltuTransferDataReturn {
                invoke_id,
                next_cltu,
                buffer_available,
                result,
            }));
        }
        self.invoke(Pdu::ThrowEvent(ThrowEvent {
            invoke_id: 9,
            event_invocation_id: 1,
            event: 7,
            qualifier: Bytes::from_static(b"q"),
        }));
        self.answer(Pdu::ThrowEventReturn { invoke_id: 9, event_invocation_id: 2, result: Ok(()) });
        let last_processed = Some(CltuLastProcessed {
            cltu: 7,
            start_radiation: Some(time(2)),
            status: CltuStatus::Radiated,
        });
        let last_ok = Some(CltuLastOk { cltu: 7, stop_radiation: time(3) });
        let (production, uplink) = (CltuProductionStatus::Operational, UplinkStatus::Nominal);
        let notification = CltuNotification::CltuRadiated;
        self.answer(Pdu::CltuAsyncNotify(CltuAsyncNotify {
            notification,
            last_processed,
            last_ok,
            production,
            uplink,
        }));
        self.answer(Pdu::CltuStatusReport(CltuStatusReport {
            last_processed,
            last_ok,
            production,
            uplink,
            received: 2,
            processed: 1,
            radiated: 1,
            buffer_available: 4096,
        }));
    }

    fn frames(&mut self, service: ServiceType) {
        let lock = LockStatus::InLock;
        let notifications = [
            ReturnNotification::LossFrameSync(LockStatusReport {
                time: time(4),
                carrier: lock,
                subcarrier: LockStatus::NotInUse,
                symbol_sync: LockStatus::OutOfLock,
            }),
            ReturnNotification::ProductionStatusChange(ReturnProductionStatus::Interrupted),
            ReturnNotification::ExcessiveDataBacklog,
            ReturnNotification::EndOfData,
        ];
        let frame = |antenna, private_annotation| {
            FrameOrNotification::Frame(TransferData {
                credentials: None,
                earth_receive_time: time(5),
                antenna,
                data_link_continuity: -1,
                quality: (service == ServiceType::Raf).then_some(FrameQuality::Good),
                private_annotation,
                data: Bytes::from_static(&[1, 2, 3, 4]),
            })
        };
        let mut parts = vec![
            frame(AntennaId::Local(Bytes::from_static(b"dish")), None),
            frame(AntennaId::Global(vec![1, 3, 112, 4]), Some(Bytes::from_static(b"note"))),
        ];
        parts.extend(notifications.into_iter().map(|notification| {
            FrameOrNotification::Notification(SyncNotify { credentials: None, notification })
        }));
        self.answer(Pdu::TransferBuffer(parts));
        self.answer(Pdu::ReturnStatusReport(ReturnStatusReport {
            processed: (service != ServiceType::Rcf).then_some(3),
            delivered: 2,
            frame_sync: lock,
            symbol_sync: lock,
            subcarrier: LockStatus::Unknown,
            carrier: lock,
            production: ReturnProductionStatus::Running,
        }));
    }
}

fn time(seconds: u64) -> Time {
    Time::from_utc_ns(now().utc_ns + seconds * 1_000_000_000)
}

fn started(service: ServiceType) -> PositiveStartReturn {
    match service {
        ServiceType::Fcltu => {
            PositiveStartReturn::Cltu { start_radiation: time(0), stop_radiation: Some(time(60)) }
        }
        _ => PositiveStartReturn::Return,
    }
}

const CHANNEL: GvcId = GvcId { spacecraft: 21, version: 0, virtual_channel: Some(3) };
const MASTER: GvcId = GvcId { virtual_channel: None, ..CHANNEL };

fn starts(service: ServiceType) -> Vec<StartRequest> {
    let (words, update) = (ControlWordType::Clcw(Some(2)), UpdateMode::ChangeBased);
    let selects = match service {
        ServiceType::Fcltu => return vec![StartRequest::Cltu { first_cltu: 7 }],
        ServiceType::Raf => vec![
            ReturnSelection::Frames(RequestedFrameQuality::Good),
            ReturnSelection::Frames(RequestedFrameQuality::All),
        ],
        ServiceType::Rcf => {
            vec![ReturnSelection::Channel(CHANNEL), ReturnSelection::Channel(MASTER)]
        }
        ServiceType::Rocf => vec![
            ReturnSelection::Ocf { channel: CHANNEL, control_word: words, update },
            ReturnSelection::Ocf {
                channel: MASTER,
                control_word: ControlWordType::All,
                update: UpdateMode::Continuous,
            },
        ],
    };
    let bounds = [(None, None), (Some(time(10)), Some(time(20)))];
    let starts = selects.into_iter().zip(bounds);
    starts
        .map(|(select, (start, stop))| StartRequest::Return(ReturnStart { start, stop, select }))
        .collect()
}

/// Those that all versions from 2 have.
fn parameters(service: ServiceType) -> Vec<Parameter> {
    use Parameter as P;
    let permitted = || {
        vec![PermittedChannel { spacecraft: 21, version: 0, virtual_channels: Some(vec![1, 3]) }]
    };
    let mut all = vec![P::ReturnTimeoutPeriod(60), P::ReportingCycle(Some(30))];
    if service == ServiceType::Fcltu {
        all.extend([
            P::DeliveryMode(DeliveryMode::ForwardOnline),
            P::ExpectedSlduIdentification(7),
            P::MaximumSlduLength(1024),
        ]);
        return all;
    }
    all.extend([
        P::DeliveryMode(DeliveryMode::CompleteOnline),
        P::BufferSize(20),
        P::LatencyLimit(Some(3)),
        P::ReportingCycle(None),
    ]);
    match service {
        ServiceType::Raf => {
            all.push(P::RequestedFrameQuality(Some(RequestedFrameQuality::All)));
        }
        ServiceType::Rcf => {
            all.extend([P::RequestedGvcid(Some(CHANNEL)), P::PermittedGvcidSet(permitted())]);
        }
        _ => all.extend([
            P::RequestedGvcid(Some(MASTER)),
            P::PermittedGvcidSet(permitted()),
            P::RequestedControlWordType(Some(1)),
            P::RequestedTcVcid(Some(Some(2))),
            P::RequestedUpdateMode(Some(UpdateMode::ChangeBased)),
        ]),
    }
    all
}
