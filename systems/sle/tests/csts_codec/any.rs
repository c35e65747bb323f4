//! Any operation of the framework.

use bytes::Bytes;
use chronoscope_sle::csts::pdu::*;
use chronoscope_sle::time::Time;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

fn octets(min: usize, max: usize) -> BoxedStrategy<Bytes> {
    vec(any::<u8>(), min..=max).prop_map(Bytes::from).boxed()
}

fn text() -> BoxedStrategy<String> {
    "[ -~]{0,20}".boxed()
}

fn oid() -> BoxedStrategy<Oid> {
    prop_oneof![
        Just(names::BUFFERED_DATA_PROCESSING),
        Just(names::SEQUENCE_CONTROLLED_DATA_PROCESSING),
        Just(names::NOTIFICATION),
        (0..3u32, 0..40u32, vec(any::<u32>(), 0..6)).prop_map(|(root, second, rest)| {
            Oid::from_arcs(&[&[root, second], rest.as_slice()].concat()).unwrap()
        }),
        vec(0..300u32, 0..4).prop_map(|arcs| names::SERVICES.child(&arcs)),
    ]
    .boxed()
}

/// Of a type that nobody knows.
fn embedded() -> BoxedStrategy<Embedded> {
    (vec(any::<u32>(), 0..3), octets(0, 40))
        .prop_map(|(arcs, value)| {
            let syntax = Oid::from_arcs(&[2, 999]).unwrap().child(&arcs);
            Embedded { syntax, value }
        })
        .boxed()
}

fn extension() -> BoxedStrategy<Option<Embedded>> {
    of(embedded()).boxed()
}

fn time() -> BoxedStrategy<Time> {
    prop_oneof![any::<[u8; 8]>().prop_map(Time::Micro), any::<[u8; 10]>().prop_map(Time::Pico)]
        .boxed()
}

fn procedure() -> BoxedStrategy<ProcedureName> {
    let role = prop_oneof![
        Just(ProcedureRole::Prime),
        (1..=u32::MAX).prop_map(ProcedureRole::Secondary),
        Just(ProcedureRole::AssociationControl),
    ];
    (oid(), role).prop_map(|(procedure, role)| ProcedureName { procedure, role }).boxed()
}

fn resource() -> BoxedStrategy<FunctionalResource> {
    (oid(), 1..=u32::MAX).prop_map(|(kind, instance)| FunctionalResource { kind, instance }).boxed()
}

fn name() -> BoxedStrategy<Name> {
    let owner = prop_oneof![
        resource().prop_map(NameOwner::FunctionalResource),
        procedure().prop_map(NameOwner::Procedure),
    ];
    (owner, oid()).prop_map(|(owner, id)| Name { owner, id }).boxed()
}

fn data() -> BoxedStrategy<AbstractChoice> {
    prop_oneof![
        3 => octets(0, 300).prop_map(AbstractChoice::Opaque),
        1 => Just(AbstractChoice::Opaque(Bytes::from(vec![0x5a; 70_000]))),
        1 => embedded().prop_map(AbstractChoice::Extended),
    ]
    .boxed()
}

fn list() -> BoxedStrategy<ListOf> {
    prop_oneof![
        Just(ListOf::Default),
        text().prop_map(ListOf::Named),
        oid().prop_map(ListOf::FunctionalResourceKind),
        resource().prop_map(ListOf::FunctionalResource),
        oid().prop_map(ListOf::ProcedureType),
        procedure().prop_map(ListOf::Procedure),
        vec(oid(), 0..4).prop_map(ListOf::Labels),
        vec(name(), 0..4).prop_map(ListOf::Names),
    ]
    .boxed()
}

fn list_diagnostic() -> BoxedStrategy<ListDiagnostic> {
    use ListDiagnostic as D;
    let unknown =
        prop_oneof![oid().prop_map(LabelOrName::Label), name().prop_map(LabelOrName::Name)];
    prop_oneof![
        text().prop_map(D::UndefinedDefault),
        text().prop_map(D::UnknownListName),
        oid().prop_map(D::UnknownFunctionalResourceKind),
        resource().prop_map(D::UnknownFunctionalResource),
        oid().prop_map(D::UnknownProcedureType),
        procedure().prop_map(D::UnknownProcedure),
        vec(unknown, 0..4).prop_map(D::UnknownIdentifiers),
    ]
    .boxed()
}

fn bind_diagnostic() -> BoxedStrategy<BindDiagnostic> {
    use BindDiagnostic as D;
    prop_oneof![
        text().prop_map(D::AccessDenied),
        text().prop_map(D::ServiceTypeNotSupported),
        text().prop_map(D::VersionNotSupported),
        text().prop_map(D::NoSuchServiceInstance),
        text().prop_map(D::AlreadyBound),
        text().prop_map(D::SiNotAccessibleToThisInitiator),
        text().prop_map(D::InconsistentServiceType),
        text().prop_map(D::OutOfService),
        embedded().prop_map(D::Other),
    ]
    .boxed()
}

fn start_diagnostic() -> BoxedStrategy<StartDiagnostic> {
    prop_oneof![
        text().prop_map(StartDiagnostic::UnableToComply),
        text().prop_map(StartDiagnostic::OutOfService),
        list_diagnostic().prop_map(StartDiagnostic::Notification),
        embedded().prop_map(StartDiagnostic::Other),
    ]
    .boxed()
}

fn acknowledge_diagnostic() -> BoxedStrategy<DirectiveAcknowledgeDiagnostic> {
    use DirectiveAcknowledgeDiagnostic as D;
    prop_oneof![
        Just(D::UnknownDirective),
        Just(D::UnknownQualifier),
        Just(D::InvalidProcedureName),
        Just(D::InvalidFunctionalResourceName),
        vec(name(), 0..3).prop_map(D::InvalidFunctionalResourceParameter),
        vec(name(), 0..3).prop_map(D::InvalidProcedureParameter),
        vec(name(), 0..3).prop_map(D::ParameterValueOutOfRange),
        embedded().prop_map(D::Other),
    ]
    .boxed()
}

fn sequence_diagnostic() -> BoxedStrategy<SequenceControlledDiagnostic> {
    use SequenceControlledDiagnostic as D;
    prop_oneof![
        Just(D::UnableToProcess),
        Just(D::ServiceInstanceLocked),
        Just(D::OutOfSequence),
        Just(D::InconsistentTimeRange),
        Just(D::InvalidTime),
        Just(D::LateData),
        Just(D::DataError),
        Just(D::UnableToStore),
        embedded().prop_map(D::Other),
    ]
    .boxed()
}

fn diagnostic() -> BoxedStrategy<Diagnostic> {
    use Diagnostic as D;
    let appellation = || "[ -~]{1,128}";
    let not_done = of(vec(name(), 0..3)).prop_map(DirectiveReturnDiagnostic::ActionNotCompleted);
    prop_oneof![
        (text(), appellation())
            .prop_map(|(text, appellation)| D::InvalidParameterValue { text, appellation }),
        (text(), vec(appellation(), 0..3))
            .prop_map(|(text, appellations)| D::ConflictingValues { text, appellations }),
        text().prop_map(D::OtherReason),
        text().prop_map(D::UnsupportedOption),
        bind_diagnostic().prop_map(D::Bind),
        start_diagnostic().prop_map(D::Start),
        list_diagnostic().prop_map(|list| D::Get(GetDiagnostic::List(list))),
        embedded().prop_map(|other| D::Get(GetDiagnostic::Other(other))),
        acknowledge_diagnostic().prop_map(D::DirectiveAcknowledge),
        not_done.prop_map(D::DirectiveReturn),
        embedded().prop_map(|other| D::DirectiveReturn(DirectiveReturnDiagnostic::Other(other))),
        sequence_diagnostic().prop_map(D::SequenceControlled),
        embedded().prop_map(D::Other),
    ]
    .boxed()
}

fn result() -> BoxedStrategy<Result<(), Diagnostic>> {
    prop_oneof![Just(Ok(())), diagnostic().prop_map(Err)].boxed()
}

fn answer() -> BoxedStrategy<PlainReturn> {
    (any::<u32>(), result(), extension())
        .prop_map(|(invoke_id, result, extension)| PlainReturn { invoke_id, result, extension })
        .boxed()
}

fn invocation() -> BoxedStrategy<PlainInvocation> {
    (any::<u32>(), procedure(), extension())
        .prop_map(|(invoke_id, procedure, extension)| PlainInvocation {
            invoke_id,
            procedure,
            extension,
        })
        .boxed()
}

fn bind() -> BoxedStrategy<Pdu> {
    let instance = (oid(), oid(), oid(), any::<u32>()).prop_map(
        |(spacecraft, facility, service_type, number)| ServiceInstanceId {
            spacecraft,
            facility,
            service_type,
            number,
        },
    );
    let names = ("[!-~]{3,16}", "[!-~]{1,128}");
    (any::<u32>(), procedure(), names, oid(), 1..=u32::MAX, instance, extension())
        .prop_map(|(invoke_id, procedure, names, service_type, version, instance, extension)| {
            let (initiator, responder_port) = names;
            Pdu::Bind(BindPdu {
                invoke_id,
                procedure,
                initiator,
                responder_port,
                service_type,
                version,
                instance,
                extension,
            })
        })
        .boxed()
}

fn start() -> BoxedStrategy<Pdu> {
    use StartExtension as E;
    let added = prop_oneof![
        Just(E::NotUsed),
        (any::<u32>(), extension()).prop_map(|(first_data_unit, extension)| {
            E::SequenceControlled { first_data_unit, extension }
        }),
        (list(), extension()).prop_map(|(events, extension)| E::Notification { events, extension }),
        embedded().prop_map(E::Other),
    ];
    (any::<u32>(), procedure(), added)
        .prop_map(|(invoke_id, procedure, extension)| {
            Pdu::Start(StartPdu { invoke_id, procedure, extension })
        })
        .boxed()
}

fn values() -> BoxedStrategy<Vec<QualifiedValue>> {
    let value = prop_oneof![
        embedded().prop_map(QualifiedValue::Valid),
        Just(QualifiedValue::Unavailable),
        Just(QualifiedValue::Undefined),
        Just(QualifiedValue::Error),
    ];
    vec(value, 0..4).boxed()
}

fn get_return() -> BoxedStrategy<Pdu> {
    let parameter =
        (name(), values()).prop_map(|(name, values)| QualifiedParameter { name, values });
    let result = prop_oneof![vec(parameter, 0..4).prop_map(Ok), diagnostic().prop_map(Err),];
    (any::<u32>(), result, extension())
        .prop_map(|(invoke_id, result, extension)| {
            Pdu::GetReturn(GetReturn { invoke_id, result, extension })
        })
        .boxed()
}

fn directive() -> BoxedStrategy<Pdu> {
    use DirectiveQualifier as Q;
    let values = || {
        prop_oneof![
            vec((oid(), embedded()), 0..3).prop_map(QualifierValues::Parameters),
            embedded().prop_map(QualifierValues::Parameterless),
            Just(QualifierValues::None),
        ]
    };
    let qualifier = prop_oneof![
        values().prop_map(Q::Local),
        (procedure(), values()).prop_map(|(name, values)| Q::Procedure(name, values)),
        (resource(), values()).prop_map(|(name, values)| Q::FunctionalResource(name, values)),
        embedded().prop_map(Q::Other),
    ];
    (any::<u32>(), procedure(), oid(), qualifier, extension())
        .prop_map(|(invoke_id, procedure, directive, qualifier, extension)| {
            Pdu::ExecuteDirective(ExecuteDirective {
                invoke_id,
                procedure,
                directive,
                qualifier,
                extension,
            })
        })
        .boxed()
}

fn processing() -> BoxedStrategy<ProcessingNotification> {
    use ProcessingStatus as S;
    let status = prop_oneof![
        time().prop_map(S::SuccessfullyProcessed),
        time().prop_map(S::ProcessingInterrupted),
        time().prop_map(S::ProcessingStarted),
        Just(S::Expired),
        Just(S::ProcessingNotStarted),
        embedded().prop_map(S::SequenceControlledOther),
        embedded().prop_map(S::Other),
    ];
    let processed =
        (any::<u32>(), status).prop_map(|(data_unit, status)| LastProcessed { data_unit, status });
    let ok =
        (any::<u32>(), time()).prop_map(|(data_unit, stop_time)| LastOk { data_unit, stop_time });
    let production = prop_oneof![
        Just(ProductionStatus::Configured),
        Just(ProductionStatus::Operational),
        Just(ProductionStatus::Interrupted),
        Just(ProductionStatus::Halted),
    ];
    (of(processed), of(ok), of(production), extension())
        .prop_map(|(last_processed, last_ok, production, extension)| ProcessingNotification {
            last_processed,
            last_ok,
            production,
            extension,
        })
        .boxed()
}

fn notify() -> BoxedStrategy<NotifyPdu> {
    let value = prop_oneof![
        values().prop_map(EventValue::Values),
        Just(EventValue::Empty),
        embedded().prop_map(EventValue::Other),
    ];
    let extension = prop_oneof![
        Just(NotifyExtension::NotUsed),
        processing().prop_map(NotifyExtension::DataProcessing),
        embedded().prop_map(NotifyExtension::Other),
    ];
    (any::<u32>(), procedure(), time(), name(), value, extension)
        .prop_map(|(invoke_id, procedure, time, event, value, extension)| NotifyPdu {
            invoke_id,
            procedure,
            time,
            event,
            value,
            extension,
        })
        .boxed()
}

fn transfer() -> BoxedStrategy<TransferData> {
    (any::<u32>(), procedure(), time(), any::<u32>(), data(), extension())
        .prop_map(|(invoke_id, procedure, generation_time, sequence_counter, data, extension)| {
            TransferData {
                invoke_id,
                procedure,
                generation_time,
                sequence_counter,
                data,
                extension,
            }
        })
        .boxed()
}

fn process() -> BoxedStrategy<ProcessData> {
    use ProcessDataExtension as E;
    let sequence = (any::<bool>(), of(time()), of(time()), extension());
    let extension = prop_oneof![
        Just(E::NotUsed),
        (any::<bool>(), extension())
            .prop_map(|(report, extension)| E::DataProcessing { report, extension }),
        sequence.prop_map(|(report, earliest, latest, extension)| E::SequenceControlled {
            report,
            earliest,
            latest,
            extension,
        }),
        embedded().prop_map(E::Other),
    ];
    (any::<u32>(), procedure(), any::<u32>(), data(), extension)
        .prop_map(|(invoke_id, procedure, data_unit, data, extension)| ProcessData {
            invoke_id,
            procedure,
            data_unit,
            data,
            extension,
        })
        .boxed()
}

fn process_return() -> BoxedStrategy<Pdu> {
    use ProcessDataReturnExtension as E;
    let extension = prop_oneof![
        Just(E::NotUsed),
        (any::<u32>(), extension())
            .prop_map(|(data_unit, extension)| E::SequenceControlled { data_unit, extension }),
        embedded().prop_map(E::Other),
    ];
    (any::<u32>(), result(), extension)
        .prop_map(|(invoke_id, result, extension)| {
            Pdu::ProcessDataReturn(ProcessDataReturn { invoke_id, result, extension })
        })
        .boxed()
}

fn credentials() -> BoxedStrategy<Option<Bytes>> {
    of(octets(8, 256)).boxed()
}

fn part<T: std::fmt::Debug>(
    operation: impl Strategy<Value = T>,
) -> impl Strategy<Value = BufferedOperation<T>> {
    (credentials(), operation)
        .prop_map(|(credentials, operation)| BufferedOperation { credentials, operation })
}

fn by_user() -> BoxedStrategy<Pdu> {
    let get = (any::<u32>(), procedure(), list(), extension()).prop_map(
        |(invoke_id, procedure, parameters, extension)| {
            Pdu::Get(GetPdu { invoke_id, procedure, parameters, extension })
        },
    );
    prop_oneof![
        1 => bind(),
        1 => invocation().prop_map(Pdu::Unbind),
        1 => start(),
        1 => invocation().prop_map(Pdu::Stop),
        1 => directive(),
        1 => get,
        3 => process().prop_map(Pdu::ProcessData),
        3 => vec(part(process()), 0..6).prop_map(Pdu::ForwardBuffer),
    ]
    .boxed()
}

fn by_provider() -> BoxedStrategy<Pdu> {
    let responder = (answer(), "[!-~]{3,16}")
        .prop_map(|(answer, responder)| Pdu::BindReturn(BindReturn { answer, responder }));
    let unbind =
        answer().prop_map(|answer| Pdu::UnbindReturn(PlainReturn { result: Ok(()), ..answer }));
    let returned = prop_oneof![
        transfer().prop_map(TransferDataOrNotify::TransferData),
        notify().prop_map(TransferDataOrNotify::Notify),
    ];
    prop_oneof![
        1 => responder,
        1 => unbind,
        1 => answer().prop_map(Pdu::StartReturn),
        1 => answer().prop_map(Pdu::StopReturn),
        1 => answer().prop_map(Pdu::ExecuteDirectiveAcknowledge),
        1 => answer().prop_map(Pdu::ExecuteDirectiveReturn),
        1 => get_return(),
        1 => notify().prop_map(Pdu::Notify),
        2 => process_return(),
        1 => transfer().prop_map(Pdu::TransferData),
        1 => vec(part(returned), 0..4).prop_map(Pdu::ReturnBuffer),
    ]
    .boxed()
}

/// Any operation, with who sends it.
pub(crate) fn message() -> BoxedStrategy<(AssociationRole, Message)> {
    let by_user = by_user().prop_map(|pdu| (AssociationRole::User, pdu));
    let pdu = prop_oneof![by_user, by_provider().prop_map(|pdu| (AssociationRole::Provider, pdu))];
    let abort = any::<u8>().prop_map(PeerAbortDiagnostic::from_octet).prop_map(Pdu::PeerAbort);
    let pdu = prop_oneof![20 => pdu, 1 => abort.prop_map(|pdu| (AssociationRole::Provider, pdu))];
    (pdu, credentials())
        .prop_map(|((sender, pdu), credentials)| {
            let own =
                !matches!(pdu, Pdu::ForwardBuffer(_) | Pdu::ReturnBuffer(_) | Pdu::PeerAbort(_));
            (sender, Message { credentials: credentials.filter(|_| own), pdu })
        })
        .boxed()
}
