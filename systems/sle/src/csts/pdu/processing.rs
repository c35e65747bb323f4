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
    /// Of which procedure instance it is.
    pub procedure: ProcedureName,
    /// The data unit's number.
    pub data_unit: DataUnitId,
    /// The data unit.
    pub data: AbstractChoice,
    /// What the procedure adds.
    pub extension: ProcessDataExtension,
}

/// What a procedure adds to PROCESS-DATA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessDataExtension {
    /// Nothing.
    NotUsed,
    /// `dpProcDataInvocExt`: Data Processing, and Buffered Data Processing.
    DataProcessing {
        /// Whether to tell when the data unit was processed.
        report: bool,
        /// What another procedure adds to that.
        extension: Option<Embedded>,
    },
    /// `dpProcDataInvocExt` with `scdpProcDataInvocExt` in it: Sequence-Controlled Data Processing.
    SequenceControlled {
        /// Whether to tell when the data unit was processed.
        report: bool,
        /// Not to be processed before.
        earliest: Option<Time>,
        /// Not to be processed after.
        latest: Option<Time>,
        /// What another procedure adds to that.
        extension: Option<Embedded>,
    },
    /// Another procedure's.
    Other(Embedded),
}

/// A PROCESS-DATA return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessDataReturn {
    /// The invocation's.
    pub invoke_id: InvokeId,
    /// Whether it was taken.
    pub result: Result<(), Diagnostic>,
    /// What the procedure adds.
    pub extension: ProcessDataReturnExtension,
}

/// What a procedure adds to a PROCESS-DATA return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessDataReturnExtension {
    /// Nothing.
    NotUsed,
    /// `scdpProcDataPosReturnExt` or `scdpProcDataNegReturnExt`, as the result is.
    SequenceControlled {
        /// The data unit's number.
        data_unit: DataUnitId,
        /// What another procedure adds to that.
        extension: Option<Embedded>,
    },
    /// Another procedure's.
    Other(Embedded),
}

/// What a procedure adds to NOTIFY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotifyExtension {
    /// Nothing.
    NotUsed,
    /// `dpNotifyInvocExt`: Data Processing, and those derived from it.
    DataProcessing(ProcessingNotification),
    /// Another procedure's.
    Other(Embedded),
}

/// How far data processing has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessingNotification {
    /// The data unit whose processing began last.
    pub last_processed: Option<LastProcessed>,
    /// The data unit that was processed last, successfully.
    pub last_ok: Option<LastOk>,
    /// Production status; `None` where the event is that it changed, and tells it itself.
    pub production: Option<ProductionStatus>,
    /// What another procedure adds.
    pub extension: Option<Embedded>,
}

/// The data unit whose processing began last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastProcessed {
    /// Its number.
    pub data_unit: DataUnitId,
    /// What became of it.
    pub status: ProcessingStatus,
}

/// What became of a data unit. The time is that at which its processing began.
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
    /// Another procedure's.
    Other(Embedded),
}

/// The data unit that was processed last, successfully.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastOk {
    /// Its number.
    pub data_unit: DataUnitId,
    /// When its processing ended.
    pub stop_time: Time,
}
