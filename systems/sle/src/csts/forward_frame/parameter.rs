//! The parameters of a service instance, as GET tells them (Information Query, CCSDS 921.1 §4.9).

use super::config::{ForwardFrameConfig, ProcedureConfig};
use crate::csts::pdu::names::{
    P_BDP_DATA_TRANSFER_MODE, P_BDP_MAX_FORWARD_BUFFER_SIZE, P_BDP_PROCESSING_LATENCY_LIMIT,
    P_DP_INPUT_QUEUE_SIZE, P_SCDP_DATA_UNIT_ID, SVC_PRODUCTION_STATUS,
};
use crate::csts::pdu::{
    DataUnitId, Diagnostic, Embedded, GetDiagnostic, LabelOrName, ListDiagnostic, ListOf, Name,
    NameOwner, Oid, ProcedureName, ProductionStatus, QualifiedParameter, QualifiedValue,
};
use crate::csts::procedure::value::{enumerated, integer, production};

/// Those of the prime procedure, as things are.
fn all(
    config: &ForwardFrameConfig,
    expected: Option<DataUnitId>,
    status: ProductionStatus,
) -> Vec<(Oid, Embedded)> {
    let units = u32::try_from(config.limits.cltus).unwrap_or(u32::MAX);
    let mut all = vec![(P_DP_INPUT_QUEUE_SIZE, integer(P_DP_INPUT_QUEUE_SIZE, units))];
    match config.procedure {
        ProcedureConfig::Buffered { mode, forward_buffer_max, latency_limit_ms } => all.extend([
            (P_BDP_DATA_TRANSFER_MODE, enumerated(P_BDP_DATA_TRANSFER_MODE, mode as u8)),
            (
                P_BDP_MAX_FORWARD_BUFFER_SIZE,
                integer(P_BDP_MAX_FORWARD_BUFFER_SIZE, forward_buffer_max),
            ),
            (
                P_BDP_PROCESSING_LATENCY_LIMIT,
                integer(P_BDP_PROCESSING_LATENCY_LIMIT, latency_limit_ms),
            ),
        ]),
        ProcedureConfig::SequenceControlled => {
            let expected = integer(P_SCDP_DATA_UNIT_ID, expected.unwrap_or(0));
            all.push((P_SCDP_DATA_UNIT_ID, expected));
        }
    }
    all.push((SVC_PRODUCTION_STATUS, production(SVC_PRODUCTION_STATUS, status)));
    all
}

/// The result of GET. The default list has all parameters.
pub(super) fn get(
    asked: &ListOf,
    prime: &ProcedureName,
    config: &ForwardFrameConfig,
    expected: Option<DataUnitId>,
    status: ProductionStatus,
) -> Result<Vec<QualifiedParameter>, Diagnostic> {
    let all = all(config, expected, status);
    let told = |(id, value): &(Oid, Embedded)| QualifiedParameter {
        name: Name { owner: NameOwner::Procedure(prime.clone()), id: id.clone() },
        values: vec![QualifiedValue::Valid(value.clone())],
    };
    let found = match asked {
        ListOf::Default => Ok(all.iter().map(told).collect()),
        ListOf::ProcedureType(kind) if *kind == prime.procedure => {
            Ok(all.iter().map(told).collect())
        }
        ListOf::Procedure(name) if name == prime => Ok(all.iter().map(told).collect()),
        ListOf::Labels(labels) => {
            let find = |label: &Oid| {
                let found = all.iter().find(|(id, _)| id == label);
                found.map(told).ok_or_else(|| LabelOrName::Label(label.clone()))
            };
            each(labels.iter().map(find))
        }
        ListOf::Names(names) => {
            let find = |name: &Name| {
                let is_prime = name.owner == NameOwner::Procedure(prime.clone());
                let found = all.iter().find(|(id, _)| is_prime && *id == name.id);
                found.map(told).ok_or_else(|| LabelOrName::Name(name.clone()))
            };
            each(names.iter().map(find))
        }
        ListOf::Named(name) => Err(ListDiagnostic::UnknownListName(name.clone())),
        ListOf::FunctionalResourceKind(kind) => {
            Err(ListDiagnostic::UnknownFunctionalResourceKind(kind.clone()))
        }
        ListOf::FunctionalResource(resource) => {
            Err(ListDiagnostic::UnknownFunctionalResource(resource.clone()))
        }
        ListOf::ProcedureType(kind) => Err(ListDiagnostic::UnknownProcedureType(kind.clone())),
        ListOf::Procedure(name) => Err(ListDiagnostic::UnknownProcedure(name.clone())),
    };
    found.map_err(|why| Diagnostic::Get(GetDiagnostic::List(why)))
}

/// The values of all names, or the unknown names.
fn each(
    found: impl Iterator<Item = Result<QualifiedParameter, LabelOrName>>,
) -> Result<Vec<QualifiedParameter>, ListDiagnostic> {
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for one in found {
        match one {
            Ok(parameter) => known.push(parameter),
            Err(name) => unknown.push(name),
        }
    }
    if unknown.is_empty() { Ok(known) } else { Err(ListDiagnostic::UnknownIdentifiers(unknown)) }
}
