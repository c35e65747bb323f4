//! The transaction of a track message: under the correlator that the message carries.

use chronoscope_record::{Class, Correlator, Guard};

/// Counts of messages whose chains begin here. All counts since the start.
#[derive(Debug)]
pub(crate) struct NewChains<'a> {
    /// Messages without a correlator.
    pub(crate) without_correlator: &'a mut u64,
    /// Messages whose Special Purpose field is not a correlator we know.
    pub(crate) bad_correlator: &'a mut u64,
}

/// Begins a transaction under the correlator in a Special Purpose field; a new chain, counted,
/// where there is none. The first bad one is reported.
pub(crate) fn begin_under(
    class: &'static Class,
    special_purpose: &[u8],
    new_chains: NewChains<'_>,
) -> Guard {
    if special_purpose.is_empty() {
        *new_chains.without_correlator += 1;
        return class.begin();
    }
    match Correlator::decode(special_purpose) {
        Ok(parent) => class.begin_with(&parent),
        Err(e) => {
            if *new_chains.bad_correlator == 0 {
                say!("Special Purpose field: {e} (further ones are counted)");
            }
            *new_chains.bad_correlator += 1;
            class.begin()
        }
    }
}
