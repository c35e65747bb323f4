//! PROCESS-DATA and what the data processing procedures add to it and to NOTIFY. Source: CCSDS
//! 921.1-B-2, annexes F3.4, F3.8 to F3.10.

use super::number::{DataUnitId, InvokeId};
use super::{AbstractChoice, Diagnostic, Embedded, ProcedureName, ProductionStatus};
use crate::time::Time;

/// A PROCESS-DATA invocation. Sequence-Controlled Data Processing returns it, the others do not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessData {
    /// Its invoke id.
    pub invoke_id: InvokeId,
    /// The procedure instance.
    pub procedure: ProcedureName,
    /// The data unit's number.
    pub data_unit: DataUnitId,
    /// The data unit.
    pub data: AbstractChoice,
    /// Extension of the procedure.
    pub extension: ProcessDataExtension,
}

/// Extension of PROCESS-DATA by a procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessDataExtension {
    /// No extension.
    NotUsed,
    /// `dpProcDataInvocExt`: Data Processing, and Buffered Data Processing.
    DataProcessing {
        /// Whether to tell when the data unit was processed.
        report: bool,
        /// Further extension by a derived procedure.
        extension: Option<Embedded>,
    },
    /// `dpProcDataInvocExt` with `scdpProcDataInvocExt` in it: Sequence-Controlled Data Processing.
    SequenceControlled {
        /// Whether to tell when the data unit was processed.
        report: bool,
        /// Earliest processing time.
        earliest: Option<Time>,
        /// Latest processing time.
        latest: Option<Time>,
        /// Further extension by a derived procedure.
        extension: Option<Embedded>,
    },
    /// Extension of another procedure.
    Other(Embedded),
}

/// A PROCESS-DATA return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessDataReturn {
    /// Invoke id of the invocation.
    pub invoke_id: InvokeId,
    /// The result, or its diagnostic.
    pub result: Result<(), Diagnostic>,
    /// Extension of the procedure.
    pub extension: ProcessDataReturnExtension,
}

/// Extension of a PROCESS-DATA return by a procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessDataReturnExtension {
    /// No extension.
    NotUsed,
    /// `scdpProcDataPosReturnExt` or `scdpProcDataNegReturnExt`, as the result is.
    SequenceControlled {
        /// The data unit's number.
        data_unit: DataUnitId,
        /// Further extension by a derived procedure.
        extension: Option<Embedded>,
    },
    /// Extension of another procedure.
    Other(Embedded),
}

/// Extension of NOTIFY by a procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotifyExtension {
    /// No extension.
    NotUsed,
    /// `dpNotifyInvocExt`: Data Processing, and those derived from it.
    DataProcessing(ProcessingNotification),
    /// Extension of another procedure.
    Other(Embedded),
}

/// Progress of data processing, in a NOTIFY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessingNotification {
    /// The data unit whose processing began last.
    pub last_processed: Option<LastProcessed>,
    /// The data unit that was processed last, successfully.
    pub last_ok: Option<LastOk>,
    /// Production status; `None` where the event is that it changed, and tells it itself.
    pub production: Option<ProductionStatus>,
    /// Extension of a derived procedure.
    pub extension: Option<Embedded>,
}

/// The data unit whose processing began last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastProcessed {
    /// Identification of the data unit.
    pub data_unit: DataUnitId,
    /// Processing status of the data unit.
    pub status: ProcessingStatus,
}

/// Processing status of a data unit. The time is the start of its processing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessingStatus {
    /// It was processed.
    SuccessfullyProcessed(Time),
    /// Its processing was interrupted.
    ProcessingInterrupted(Time),
    /// It is being processed.
    ProcessingStarted(Time),
    /// `scdpNotifyProcStatusExt`: its latest time came before its turn.
    Expired,
    /// `scdpNotifyProcStatusExt`: its processing could not begin.
    ProcessingNotStarted,
    /// `scdpNotifyProcStatusExt`: what a procedure that is derived further adds.
    SequenceControlledOther(Embedded),
    /// Status of another procedure.
    Other(Embedded),
}

/// The data unit that was processed last, successfully.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastOk {
    /// Identification of the data unit.
    pub data_unit: DataUnitId,
    /// End of its processing.
    pub stop_time: Time,
}
