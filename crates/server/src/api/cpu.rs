//! Distinguishes a measured CPU time from none: a stored row has a number in either case.
//!
//! Spans of OpenTelemetry carry no CPU time; their rows store 0 and have the flag FOREIGN. Rows
//! that were recorded natively below a foreign parent have this flag too, but their CPU time is
//! above 0. Sums by class have no flags: a sum of 0 means that no transaction of the class had a
//! CPU time.

use chronoscope_model::Flags;

/// The CPU time of a transaction; `None` where it was not measured.
pub(super) fn of_row(cpu_ns: u64, flags: Flags) -> Option<u64> {
    (cpu_ns != 0 || !flags.contains(Flags::FOREIGN)).then_some(cpu_ns)
}

/// The CPU time of all transactions of a class; `None` where none has any.
pub(super) fn of_sum(cpu_ns: u64) -> Option<u64> {
    (cpu_ns != 0).then_some(cpu_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_without_a_cpu_time_has_an_unknown_one_and_not_0() {
        assert_eq!(of_row(0, Flags::FOREIGN.with(Flags::ASYNCHRONOUS)), None);
        assert_eq!(of_row(7, Flags::FOREIGN), Some(7), "recorded here, below a foreign parent");
        assert_eq!(of_row(0, Flags::ASYNCHRONOUS), Some(0), "measured");
        assert_eq!((of_sum(0), of_sum(7)), (None, Some(7)));
    }
}
