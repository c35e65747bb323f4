//! Object identifiers of the framework: procedures, their extensions, events, parameters and
//! directives.
//!
//! Source: CCSDS 921.1-B-2, annex F, modules `CCSDS-CSTS-OBJECT-IDENTIFIERS`,
//! `CCSDS-CSTS-FW-PROCEDURE-PARAMETERS-EVENTS-DIRECTIVES` and
//! `CCSDS-CSTS-GENERIC-SERVICE-OBJECT-IDENTIFIERS`.

use super::Oid;

/// Constants below `framework`, 1.3.112.4.4.1.1; every arc is one octet.
macro_rules! framework {
    ($($(#[$docs:meta])* $name:ident $word:literal = $($arc:literal)+;)+) => {
        $($(#[$docs])* pub const $name: Oid =
            Oid::fixed(&[0x2b, 112, 4, 4, 1, 1, $($arc),+]);)+
        /// All of them, with their names.
        const NAMED: &[(Oid, &str)] = &[$(($name, $word)),+];
        #[cfg(test)]
        const ALL: &[(Oid, &str)] = &[$(($name, concat!("1.3.112.4.4.1.1" $(, ".", $arc)+))),+];
    };
}

/// `services`: below it are the service types.
pub const SERVICES: Oid = Oid::fixed(&[0x2b, 112, 4, 4, 1, 2]);

framework! {
    /// Procedure Association Control.
    ASSOCIATION_CONTROL "associationControl" = 3 1;
    /// Procedure Unbuffered Data Delivery.
    UNBUFFERED_DATA_DELIVERY "unbufferedDataDelivery" = 3 2;
    /// Procedure Cyclic Report.
    CYCLIC_REPORT "cyclicReport" = 3 2 1 1;
    /// Procedure Buffered Data Delivery.
    BUFFERED_DATA_DELIVERY "bufferedDataDelivery" = 3 3;
    /// Procedure Data Processing.
    DATA_PROCESSING "dataProcessing" = 3 4;
    /// Procedure Buffered Data Processing, derived from Data Processing.
    BUFFERED_DATA_PROCESSING "bufferedDataProcessing" = 3 4 1 1;
    /// Procedure Sequence-Controlled Data Processing, derived from Data Processing.
    SEQUENCE_CONTROLLED_DATA_PROCESSING "sequenceControlledDataProcessing" = 3 4 1 2;
    /// Procedure Information Query.
    INFORMATION_QUERY "informationQuery" = 3 5;
    /// Procedure Notification.
    NOTIFICATION "notification" = 3 6;
    /// Procedure Throw Event.
    THROW_EVENT "throwEvent" = 3 7;

    /// `acBindDiagExt`: diagnostics of BIND.
    BIND_DIAGNOSTIC "acBindDiagExt" = 3 1 2 1;
    /// `startDiagnosticExt`: diagnostics of START.
    START_DIAGNOSTIC "startDiagnosticExt" = 2 7 1;
    /// `execDirAckDiagExt`: diagnostics of EXECUTE-DIRECTIVE's acknowledgement.
    DIRECTIVE_ACKNOWLEDGE_DIAGNOSTIC "execDirAckDiagExt" = 2 11 1;
    /// `execDirNegReturnDiagnosticExt`: diagnostics of EXECUTE-DIRECTIVE's return.
    DIRECTIVE_RETURN_DIAGNOSTIC "execDirNegReturnDiagnosticExt" = 2 12 1;
    /// `getPosReturnExt`: what a positive GET return carries.
    GET_RETURN "getPosReturnExt" = 2 14 1;
    /// `getDiagnosticExt`: diagnostics of GET.
    GET_DIAGNOSTIC "getDiagnosticExt" = 2 14 2;
    /// `dpProcDataInvocExt`: Data Processing's extension of PROCESS-DATA.
    DP_PROCESS_DATA "dpProcDataInvocExt" = 3 4 2 1;
    /// `dpNotifyInvocExt`: Data Processing's extension of NOTIFY.
    DP_NOTIFY "dpNotifyInvocExt" = 3 4 2 2;
    /// `scdpStartInvocExt`: Sequence-Controlled Data Processing's extension of START.
    SCDP_START "scdpStartInvocExt" = 3 4 1 2 2 1;
    /// `scdpProcDataInvocExt`: its extension of Data Processing's extension of PROCESS-DATA.
    SCDP_PROCESS_DATA "scdpProcDataInvocExt" = 3 4 1 2 2 2;
    /// `scdpProcDataPosReturnExt`: its extension of a positive PROCESS-DATA return.
    SCDP_POSITIVE_RETURN "scdpProcDataPosReturnExt" = 3 4 1 2 2 3;
    /// `scdpProcDataDiagExt`: its diagnostics of PROCESS-DATA.
    SCDP_DIAGNOSTIC "scdpProcDataDiagExt" = 3 4 1 2 2 4;
    /// `scdpProcDataNegReturnExt`: its extension of a negative PROCESS-DATA return.
    SCDP_NEGATIVE_RETURN "scdpProcDataNegReturnExt" = 3 4 1 2 2 5;
    /// `scdpNotifyProcStatusExt`: its data processing statuses.
    SCDP_STATUS "scdpNotifyProcStatusExt" = 3 4 1 2 2 6;
    /// `nStartInvocExt`: Notification's extension of START.
    N_START "nStartInvocExt" = 3 6 2 1;
    /// `nStartDiagExt`: Notification's diagnostics of START.
    N_START_DIAGNOSTIC "nStartDiagExt" = 3 6 2 2;

    /// `pACserviceUserRespTimer`, `IntPos`.
    P_AC_SERVICE_USER_RESP_TIMER "pACserviceUserRespTimer" = 4 1 1 1;
    /// `pACinitiatorId`, `AuthorityIdentifier`.
    P_AC_INITIATOR_ID "pACinitiatorId" = 4 1 1 2;
    /// `pACresponderId`, `AuthorityIdentifier`.
    P_AC_RESPONDER_ID "pACresponderId" = 4 1 1 3;
    /// `pACresponderPortId`, `IdentifierString`.
    P_AC_RESPONDER_PORT_ID "pACresponderPortId" = 4 1 1 4;
    /// `pACserviceInstanceId`, `ServiceInstanceIdentifier`.
    P_AC_SERVICE_INSTANCE_ID "pACserviceInstanceId" = 4 1 1 5;
    /// `pDPinputQueueSize`, `IntPos`.
    P_DP_INPUT_QUEUE_SIZE "pDPinputQueueSize" = 4 4 1 1;
    /// Event `pDPdataProcessingCompleted`: also of both derived procedures.
    P_DP_DATA_PROCESSING_COMPLETED "pDPdataProcessingCompleted" = 4 4 2 1;
    /// Event `pDPconfigurationChange`: also of both derived procedures.
    P_DP_CONFIGURATION_CHANGE "pDPconfigurationChange" = 4 4 2 2;
    /// `pBDPdataTransferMode`, `DataTransferMode`.
    P_BDP_DATA_TRANSFER_MODE "pBDPdataTransferMode" = 4 5 1 1;
    /// `pBDPmaxForwardBufferSize`, `IntPos`.
    P_BDP_MAX_FORWARD_BUFFER_SIZE "pBDPmaxForwardBufferSize" = 4 5 1 2;
    /// `pBDPprocessingLatencyLimit`, `IntUnsigned`.
    P_BDP_PROCESSING_LATENCY_LIMIT "pBDPprocessingLatencyLimit" = 4 5 1 3;
    /// `pSCDPdataUnitId`, `DataUnitId`.
    P_SCDP_DATA_UNIT_ID "pSCDPdataUnitId" = 4 6 1 1;
    /// Event `pSCDPexpired`.
    P_SCDP_EXPIRED "pSCDPexpired" = 4 6 2 1;
    /// Event `pSCDPlocked`.
    P_SCDP_LOCKED "pSCDPlocked" = 4 6 2 2;
    /// Directive `pSCDPresetDirective`.
    P_SCDP_RESET "pSCDPresetDirective" = 4 6 3 1;
    /// `pSCDPresetDirectiveDirQual`, `DataUnitId`.
    P_SCDP_RESET_QUALIFIER "pSCDPresetDirectiveDirQual" = 4 6 3 1 1;
    /// `pIQnamedLabelLists`, `LabelListSet`.
    P_IQ_NAMED_LABEL_LISTS "pIQnamedLabelLists" = 4 7 1 1;
    /// `pNnamedLabelLists`, `LabelListSet`.
    P_N_NAMED_LABEL_LISTS "pNnamedLabelLists" = 4 9 1 1;
    /// Parameter `svcProductionStatusVersion1`, `ProductionStatus`.
    SVC_PRODUCTION_STATUS "svcProductionStatusVersion1" = 5 1 1 1;
    /// Event `svcProductionStatusChangeVersion1`.
    SVC_PRODUCTION_STATUS_CHANGE "svcProductionStatusChangeVersion1" = 5 2 1 1;
    /// Event `svcProductionConfigurationChangeVersion1`.
    SVC_PRODUCTION_CONFIGURATION_CHANGE "svcProductionConfigurationChangeVersion1" = 5 2 2 1;
}

/// The name of a known object identifier, as its module spells it; `None` for others.
#[must_use]
pub fn name_of(oid: &Oid) -> Option<&'static str> {
    NAMED.iter().find(|(known, _)| known == oid).map(|(_, name)| *name)
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
    use super::{ALL, NAMED, P_DP_INPUT_QUEUE_SIZE, SERVICES, name_of};
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

    #[test]
    fn each_has_a_name_of_its_own() {
        assert_eq!(name_of(&P_DP_INPUT_QUEUE_SIZE), Some("pDPinputQueueSize"));
        assert_eq!(name_of(&SERVICES), None);
        let names: HashSet<_> = NAMED.iter().map(|(_, name)| name).collect();
        assert_eq!(names.len(), NAMED.len());
    }
}
