//! Sessions of a cross support transfer service.

use std::sync::Arc;

use bytes::Bytes;
use chronoscope_sle::association::{Identity, Initiator, SecuritySettings};
use chronoscope_sle::csts::association::{
    Association, CstsProtocol, InstanceDirectory, ServiceInstance, UserSettings,
};
use chronoscope_sle::csts::pdu::*;
use chronoscope_sle::time::Time;

use super::now;
use super::session::Session;

/// One with all operations, one that is refused, one with an open id again, and two aborted ones.
pub(crate) fn sessions() -> String {
    let mut text = "### CSTS\n".to_owned();
    let mut session = bound("PORT1");
    session.operations();
    session.user.unbind(now()).unwrap();
    session.settle();
    text.push_str(&session.text);
    text.push_str("### CSTS refused\n");
    let session = bound("PORT2");
    text.push_str(&session.text);
    text.push_str("### CSTS aborted by the user, then by the provider\n");
    for by_user in [true, false] {
        let mut session = bound("PORT1");
        session.abort(by_user);
        text.push_str(&session.text);
    }
    text
}

fn identity(id: &str) -> Identity {
    Identity { id: id.into(), password: b"password1".to_vec() }
}

fn instance() -> ServiceInstanceId {
    ServiceInstanceId {
        spacecraft: "1.3.112.4.7.1".parse().unwrap(),
        facility: "1.3.112.4.6.2".parse().unwrap(),
        service_type: names::SERVICES.child(&[4]),
        number: 1,
    }
}

fn answer(invoke_id: InvokeId) -> PlainReturn {
    PlainReturn { invoke_id, result: Ok(()), extension: None }
}

fn refusal(invoke_id: InvokeId, diagnostic: Diagnostic) -> PlainReturn {
    PlainReturn { invoke_id, result: Err(diagnostic), extension: None }
}

fn data(invoke_id: InvokeId, procedure: Oid, extension: ProcessDataExtension) -> ProcessData {
    ProcessData {
        invoke_id,
        procedure: ProcedureName::prime(procedure),
        data_unit: invoke_id,
        data: AbstractChoice::Opaque(Bytes::from_static(b"frame")),
        extension,
    }
}

/// A session in which the user has asked to be bound.
fn bound(port: &str) -> Session<CstsProtocol> {
    let security = SecuritySettings::default();
    let mut directory = InstanceDirectory::new(identity("STATION"));
    directory.add_initiator(Initiator { identity: identity("CENTRE"), security }).unwrap();
    let provided = ServiceInstance {
        id: instance(),
        versions: vec![1],
        initiators: vec!["CENTRE".into()],
        provision: None,
        responder_port: Some("PORT1".into()),
    };
    directory.add_instance(provided).unwrap();
    let settings = UserSettings {
        initiator: identity("CENTRE"),
        responder: identity("STATION"),
        responder_port: port.into(),
        ..UserSettings::new(instance())
    };
    let mut user = Association::user(settings, now());
    user.bind(now()).unwrap();
    let mut session = Session::new(user, Association::provider(Arc::new(directory), now()));
    session.settle();
    session
}

impl Session<CstsProtocol> {
    /// Every operation of Buffered and of Sequence-Controlled Data Processing, and GET and NOTIFY.
    fn operations(&mut self) {
        let sequenced = names::SEQUENCE_CONTROLLED_DATA_PROCESSING;
        let procedure = ProcedureName::prime(sequenced);
        let get = |invoke_id| {
            Pdu::Get(GetPdu {
                invoke_id,
                procedure: ProcedureName::prime(names::INFORMATION_QUERY),
                parameters: ListOf::Default,
                extension: None,
            })
        };
        self.invoke(get(10));
        self.answer(Pdu::GetReturn(GetReturn {
            invoke_id: 10,
            result: Ok(Vec::new()),
            extension: None,
        }));
        let extension = StartExtension::SequenceControlled { first_data_unit: 1, extension: None };
        let start = |invoke_id, extension| {
            Pdu::Start(StartPdu {
                invoke_id,
                procedure: ProcedureName::prime(names::SEQUENCE_CONTROLLED_DATA_PROCESSING),
                extension,
            })
        };
        self.invoke(start(11, StartExtension::NotUsed));
        let diagnostic = Diagnostic::Start(StartDiagnostic::UnableToComply("no".into()));
        self.answer(Pdu::StartReturn(refusal(11, diagnostic)));
        self.invoke(start(12, extension));
        self.answer(Pdu::StartReturn(answer(12)));
        self.process();
        self.invoke(Pdu::ExecuteDirective(ExecuteDirective {
            invoke_id: 17,
            procedure: procedure.clone(),
            directive: names::P_SCDP_RESET,
            qualifier: DirectiveQualifier::Local(QualifierValues::None),
            extension: None,
        }));
        self.answer(Pdu::ExecuteDirectiveAcknowledge(answer(17)));
        self.answer(Pdu::ExecuteDirectiveReturn(answer(17)));
        let time = Time::from_utc_ns(now().utc_ns);
        let event =
            Name { owner: NameOwner::Procedure(procedure.clone()), id: names::P_SCDP_RESET };
        self.answer(Pdu::Notify(NotifyPdu {
            invoke_id: 18,
            procedure: procedure.clone(),
            time,
            event,
            value: EventValue::Empty,
            extension: NotifyExtension::NotUsed,
        }));
        self.invoke(Pdu::Stop(PlainInvocation { invoke_id: 19, procedure, extension: None }));
        self.answer(Pdu::StopReturn(answer(19)));
    }

    fn process(&mut self) {
        let sequenced = names::SEQUENCE_CONTROLLED_DATA_PROCESSING;
        let extension = ProcessDataExtension::SequenceControlled {
            report: true,
            earliest: None,
            latest: None,
            extension: None,
        };
        self.invoke(Pdu::ProcessData(data(13, sequenced, extension)));
        let extension =
            ProcessDataReturnExtension::SequenceControlled { data_unit: 13, extension: None };
        self.answer(Pdu::ProcessDataReturn(ProcessDataReturn {
            invoke_id: 13,
            result: Ok(()),
            extension,
        }));
        let part = |invoke_id| {
            let extension = ProcessDataExtension::DataProcessing { report: true, extension: None };
            data(invoke_id, names::BUFFERED_DATA_PROCESSING, extension)
        };
        self.invoke(Pdu::ProcessData(part(14)));
        self.invoke(Pdu::ForwardBuffer(vec![part(15).into(), part(16).into()]));
    }
}
