//! Diagnostics of START (CCSDS 911.1, 911.2 and 911.5), by their numbers.

pub(super) const OUT_OF_SERVICE: u8 = 0;
pub(super) const UNABLE_TO_COMPLY: u8 = 1;
pub(super) const INVALID_START_TIME: u8 = 2;
pub(super) const INVALID_STOP_TIME: u8 = 3;
pub(super) const MISSING_TIME_VALUE: u8 = 4;
pub(super) const INVALID_GVCID: u8 = 5;
pub(super) const INVALID_CONTROL_WORD_TYPE: u8 = 6;
pub(super) const INVALID_TC_VCID: u8 = 7;
pub(super) const INVALID_UPDATE_MODE: u8 = 8;
