//! Object identifiers of the framework: procedures, their extensions, events, parameters and
//! directives.
//!
//! Source: CCSDS 921.1-B-2, annex F, modules `CCSDS-CSTS-OBJECT-IDENTIFIERS`,
//! `CCSDS-CSTS-FW-PROCEDURE-PARAMETERS-EVENTS-DIRECTIVES` and
//! `CCSDS-CSTS-GENERIC-SERVICE-OBJECT-IDENTIFIERS`.

use super::Oid;

/// Constants below `framework`, 1.3.112.4.4.1.1; every arc is one octet.
macro_rules! framework {
    ($($(#[$docs:meta])* $name:ident = $($arc:literal)+;)+) => {
        $($(#[$docs])* pub const $name: Oid =
            Oid::fixed(&[0x2b, 112, 4, 4, 1, 1, $($arc),+]);)+
        #[cfg(test)]
        const ALL: &[(Oid, &str)] = &[$(($name, concat!("1.3.112.4.4.1.1" $(, ".", $arc)+))),+];
    };
}

/// `services`: below it are the service types.
pub const SERVICES: Oid = Oid::fixed(&[0x2b, 112, 4, 4, 1, 2]);

framework! {
    /// Procedure Association Control.
    ASSOCIATION_CONTROL = 3 1;
    /// Procedure Unbuffered Data Delivery.
    UNBUFFERED_DATA_DELIVERY = 3 2;
    /// Procedure Cyclic Report.
    CYCLIC_REPORT = 3 2 1 1;
    /// Procedure Buffered Data Delivery.
    BUFFERED_DATA_DELIVERY = 3 3;
    /// Procedure Data Processing.
    DATA_PROCESSING = 3 4;
    /// Procedure Buffered Data Processing, derived from Data Processing.
    BUFFERED_DATA_PROCESSING = 3 4 1 1;
    /// Procedure Sequence-Controlled Data Processing, derived from Data Processing.
    SEQUENCE_CONTROLLED_DATA_PROCESSING = 3 4 1 2;
    /// Procedure Information Query.
    INFORMATION_QUERY = 3 5;
    /// Procedure Notification.
    NOTIFICATION = 3 6;
    /// Procedure Throw Event.
    THROW_EVENT = 3 7;

    /// `acBindDiagExt`: diagnostics of BIND.
    BIND_DIAGNOSTIC = 3 1 2 1;
    /// `startDiagnosticExt`: diagnostics of START.
    START_DIAGNOSTIC = 2 7 1;
    /// `execDirAckDiagExt`: diagnostics of EXECUTE-DIRECTIVE's acknowledgement.
    DIRECTIVE_ACKNOWLEDGE_DIAGNOSTIC = 2 11 1;
    /// `execDirNegReturnDiagnosticExt`: diagnostics of EXECUTE-DIRECTIVE's return.
    DIRECTIVE_RETURN_DIAGNOSTIC = 2 12 1;
    /// `getPosReturnExt`: what a positive GET return carries.
    GET_RETURN = 2 14 1;
    /// `getDiagnosticExt`: diagnostics of GET.
    GET_DIAGNOSTIC = 2 14 2;
    /// `dpProcDataInvocExt`: Data Processing's extension of PROCESS-DATA.
    DP_PROCESS_DATA = 3 4 2 1;
    /// `dpNotifyInvocExt`: Data Processing's extension of NOTIFY.
    DP_NOTIFY = 3 4 2 2;
    /// `scdpStartInvocExt`: Sequence-Controlled Data Processing's extension of START.
    SCDP_START = 3 4 1 2 2 1;
    /// `scdpProcDataInvocExt`: its extension of Data Processing's extension of PROCESS-DATA.
    SCDP_PROCESS_DATA = 3 4 1 2 2 2;
    /// `scdpProcDataPosReturnExt`: its extension of a positive PROCESS-DATA return.
    SCDP_POSITIVE_RETURN = 3 4 1 2 2 3;
    /// `scdpProcDataDiagExt`: its diagnostics of PROCESS-DATA.
    SCDP_DIAGNOSTIC = 3 4 1 2 2 4;
    /// `scdpProcDataNegReturnExt`: its extension of a negative PROCESS-DATA return.
    SCDP_NEGATIVE_RETURN = 3 4 1 2 2 5;
    /// `scdpNotifyProcStatusExt`: its data processing statuses.
    SCDP_STATUS = 3 4 1 2 2 6;
    /// `nStartInvocExt`: Notification's extension of START.
    N_START = 3 6 2 1;
    /// `nStartDiagExt`: Notification's diagnostics of START.
    N_START_DIAGNOSTIC = 3 6 2 2;

    /// `pACserviceUserRespTimer`, `IntPos`.
    P_AC_SERVICE_USER_RESP_TIMER = 4 1 1 1;
    /// `pACinitiatorId`, `AuthorityIdentifier`.
    P_AC_INITIATOR_ID = 4 1 1 2;
    /// `pACresponderId`, `AuthorityIdentifier`.
    P_AC_RESPONDER_ID = 4 1 1 3;
    /// `pACresponderPortId`, `IdentifierString`.
    P_AC_RESPONDER_PORT_ID = 4 1 1 4;
    /// `pACserviceInstanceId`, `ServiceInstanceIdentifier`.
    P_AC_SERVICE_INSTANCE_ID = 4 1 1 5;
    /// `pDPinputQueueSize`, `IntPos`.
    P_DP_INPUT_QUEUE_SIZE = 4 4 1 1;
    /// Event `pDPdataProcessingCompleted`: also of both derived procedures.
    P_DP_DATA_PROCESSING_COMPLETED = 4 4 2 1;
    /// Event `pDPconfigurationChange`: also of both derived procedures.
    P_DP_CONFIGURATION_CHANGE = 4 4 2 2;
    /// `pBDPdataTransferMode`, `DataTransferMode`.
    P_BDP_DATA_TRANSFER_MODE = 4 5 1 1;
    /// `pBDPmaxForwardBufferSize`, `IntPos`.
    P_BDP_MAX_FORWARD_BUFFER_SIZE = 4 5 1 2;
    /// `pBDPprocessingLatencyLimit`, `IntUnsigned`.
    P_BDP_PROCESSING_LATENCY_LIMIT = 4 5 1 3;
    /// `pSCDPdataUnitId`, `DataUnitId`.
    P_SCDP_DATA_UNIT_ID = 4 6 1 1;
    /// Event `pSCDPexpired`.
    P_SCDP_EXPIRED = 4 6 2 1;
    /// Event `pSCDPlocked`.
    P_SCDP_LOCKED = 4 6 2 2;
    /// Directive `pSCDPresetDirective`.
    P_SCDP_RESET = 4 6 3 1;
    /// `pSCDPresetDirectiveDirQual`, `DataUnitId`.
    P_SCDP_RESET_QUALIFIER = 4 6 3 1 1;
    /// `pIQnamedLabelLists`, `LabelListSet`.
    P_IQ_NAMED_LABEL_LISTS = 4 7 1 1;
    /// `pNnamedLabelLists`, `LabelListSet`.
    P_N_NAMED_LABEL_LISTS = 4 9 1 1;
    /// Parameter `svcProductionStatusVersion1`, `ProductionStatus`.
    SVC_PRODUCTION_STATUS = 5 1 1 1;
    /// Event `svcProductionStatusChangeVersion1`.
    SVC_PRODUCTION_STATUS_CHANGE = 5 2 1 1;
    /// Event `svcProductionConfigurationChangeVersion1`.
    SVC_PRODUCTION_CONFIGURATION_CHANGE = 5 2 2 1;
}

/// The known one that these are the contents of, without memory of its own.
pub(crate) fn known_procedure(octets: &[u8]) -> Option<Oid> {
    const PROCEDURES: [Oid; 10] = [
        SEQUENCE_CONTROLLED_DATA_PROCESSING,
        BUFFERED_DATA_PROCESSING,
        DATA_PROCESSING,
        ASSOCIATION_CONTROL,
        INFORMATION_QUERY,
        NOTIFICATION,
        THROW_EVENT,
        CYCLIC_REPORT,
        UNBUFFERED_DATA_DELIVERY,
        BUFFERED_DATA_DELIVERY,
    ];
    PROCEDURES.into_iter().find(|oid| oid.octets() == octets)
}

#[cfg(test)]
mod tests {
    use super::{ALL, SERVICES};
    use crate::csts::pdu::Oid;
    use std::collections::HashSet;

    #[test]
    fn octets_are_those_of_the_arcs_and_no_two_are_the_same() {
        for (oid, text) in ALL {
            assert_eq!(text.parse(), Ok(oid.clone()));
            assert_eq!(Oid::from_octets(oid.octets()).as_ref(), Ok(oid));
        }
        assert_eq!(SERVICES.to_string(), "1.3.112.4.4.1.2");
        let distinct: HashSet<_> = ALL.iter().map(|(oid, _)| oid).collect();
        assert_eq!(distinct.len(), ALL.len());
    }
}
