//! The Forward Frame service: which procedure instance an operation is for, and GET.

use crate::station::{buffered_name, sequenced_name};
use chronoscope_sle::csts::forward_frame::{
    ForwardFrameConfig, ForwardFrameProvider, ProcedureConfig, information_query,
};
use chronoscope_sle::csts::pdu::names::{
    INFORMATION_QUERY, P_BDP_DATA_TRANSFER_MODE, P_BDP_MAX_FORWARD_BUFFER_SIZE,
    P_BDP_PROCESSING_LATENCY_LIMIT, P_DP_INPUT_QUEUE_SIZE, P_SCDP_DATA_UNIT_ID,
    SVC_PRODUCTION_STATUS,
};
use chronoscope_sle::csts::pdu::{
    Diagnostic, GetDiagnostic, GetPdu, GetReturn, LabelOrName, ListDiagnostic, ListOf, Name,
    NameOwner, Oid, Pdu, PeerAbortDiagnostic, ProcedureName, QualifiedValue, StartExtension,
    StartPdu,
};
use chronoscope_sle::csts::procedure::{ProcedureAction, ProcedureState, value};
use chronoscope_sle::service::fcltu::RadiationQueue;
use chronoscope_sle::time::Now;
use std::sync::Arc;

const NOW: Now = Now { monotonic_ns: 1, utc_ns: 1_767_225_600_000_000_000 };

fn bound(procedure: Option<ProcedureConfig>) -> ForwardFrameProvider {
    let mut config = ForwardFrameConfig::default();
    config.procedure = procedure.unwrap_or(config.procedure);
    let queue = Arc::new(RadiationQueue::new(&config));
    let mut provider = ForwardFrameProvider::new(config, queue);
    provider.bound();
    provider
}

fn answer(provider: &mut ForwardFrameProvider, pdu: Pdu) -> ProcedureAction {
    let mut out = Vec::new();
    provider.pdu(pdu, NOW, &mut out);
    assert_eq!(out.len(), 1, "{out:?}");
    out.remove(0)
}

fn get(
    provider: &mut ForwardFrameProvider,
    parameters: ListOf,
) -> Result<Vec<(Oid, u32)>, ListDiagnostic> {
    let procedure = information_query();
    let pdu = Pdu::Get(GetPdu { invoke_id: 3, procedure, parameters, extension: None });
    let ProcedureAction::Send(Pdu::GetReturn(GetReturn { invoke_id: 3, result, .. })) =
        answer(provider, pdu)
    else {
        panic!("no return")
    };
    let number = |values: &[QualifiedValue]| match values {
        [QualifiedValue::Valid(embedded)] => value::number(&embedded.value).unwrap(),
        other => panic!("{other:?}"),
    };
    match result {
        Ok(all) => Ok(all.into_iter().map(|one| (one.name.id, number(&one.values))).collect()),
        Err(Diagnostic::Get(GetDiagnostic::List(why))) => Err(why),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn parameters_of_buffered_data_processing() {
    let mut provider = bound(None);
    let all = [
        (P_DP_INPUT_QUEUE_SIZE, 65_536),
        (P_BDP_DATA_TRANSFER_MODE, 2),
        (P_BDP_MAX_FORWARD_BUFFER_SIZE, 80),
        (P_BDP_PROCESSING_LATENCY_LIMIT, 0),
        (SVC_PRODUCTION_STATUS, 1),
    ];
    for list in [
        ListOf::Default,
        ListOf::Procedure(buffered_name()),
        ListOf::ProcedureType(buffered_name().procedure),
    ] {
        assert_eq!(get(&mut provider, list), Ok(all.to_vec()));
    }
    let label = ListOf::Labels(vec![P_BDP_MAX_FORWARD_BUFFER_SIZE]);
    assert_eq!(get(&mut provider, label), Ok(vec![(P_BDP_MAX_FORWARD_BUFFER_SIZE, 80)]));
    let name = |owner| Name { owner: NameOwner::Procedure(owner), id: P_DP_INPUT_QUEUE_SIZE };
    let names = ListOf::Names(vec![name(buffered_name())]);
    assert_eq!(get(&mut provider, names), Ok(vec![(P_DP_INPUT_QUEUE_SIZE, 65_536)]));
    let other = name(sequenced_name());
    let refused = get(&mut provider, ListOf::Names(vec![name(buffered_name()), other.clone()]));
    assert_eq!(refused, Err(ListDiagnostic::UnknownIdentifiers(vec![LabelOrName::Name(other)])));
}

#[test]
fn parameters_of_sequence_controlled_data_processing() {
    let mut provider = bound(Some(ProcedureConfig::SequenceControlled));
    let extension = StartExtension::SequenceControlled { first_data_unit: 900, extension: None };
    let start = StartPdu { invoke_id: 1, procedure: sequenced_name(), extension };
    answer(&mut provider, Pdu::Start(start));
    let all = get(&mut provider, ListOf::Default).unwrap();
    assert_eq!(
        all,
        [(P_DP_INPUT_QUEUE_SIZE, 65_536), (P_SCDP_DATA_UNIT_ID, 900), (SVC_PRODUCTION_STATUS, 1)]
    );
}

#[test]
fn lists_that_there_are_not() {
    let mut provider = bound(None);
    let unknown = LabelOrName::Label(P_SCDP_DATA_UNIT_ID);
    for (list, why) in [
        (ListOf::Named("mine".into()), ListDiagnostic::UnknownListName("mine".into())),
        (
            ListOf::ProcedureType(INFORMATION_QUERY),
            ListDiagnostic::UnknownProcedureType(INFORMATION_QUERY),
        ),
        (ListOf::Procedure(sequenced_name()), ListDiagnostic::UnknownProcedure(sequenced_name())),
        (
            ListOf::Labels(vec![P_DP_INPUT_QUEUE_SIZE, P_SCDP_DATA_UNIT_ID]),
            ListDiagnostic::UnknownIdentifiers(vec![unknown]),
        ),
    ] {
        assert_eq!(get(&mut provider, list), Err(why));
    }
}

#[test]
fn a_procedure_instance_that_there_is_not() {
    let others = [
        sequenced_name(),
        information_query(),
        ProcedureName::secondary(buffered_name().procedure, 1),
    ];
    for procedure in others {
        let mut provider = bound(None);
        let start = StartPdu { invoke_id: 1, procedure, extension: StartExtension::NotUsed };
        let abort = answer(&mut provider, Pdu::Start(start));
        assert_eq!(abort, ProcedureAction::Abort(PeerAbortDiagnostic::InvalidProcedureName));
        assert_eq!(provider.state(), ProcedureState::Unbound);
    }
    let mut provider = bound(None);
    let parameters = ListOf::Default;
    let get = GetPdu { invoke_id: 3, procedure: sequenced_name(), parameters, extension: None };
    let abort = answer(&mut provider, Pdu::Get(get));
    assert_eq!(abort, ProcedureAction::Abort(PeerAbortDiagnostic::InvalidProcedureName));
}
