//! Correlators as C sees them: 512 octets, the first two of which give the length.
#![allow(unsafe_code)] // reads and writes what callers point to

use crate::codes::{self, Code, First};
use crate::types::CorrelatorOctets;
use chronoscope_model::{ChainId, ClassId, Correlator, TransactionId, correlator};
use chronoscope_record as record;

/// Bits of the flags, by `ARM_CORR_FLAGNUM_...` less one. The binding leaves their places in octet
/// 3 to the implementation; `CHRONOSCOPE_CORR_FLAG_BIT` of `arm41.h` is the same.
pub(crate) const FLAG_BITS: [u8; 4] =
    [APP_TRACE, 0x40, correlator::ASYNCHRONOUS, correlator::INDEPENDENT];
/// A program has asked to trace the chain.
pub(crate) const APP_TRACE: u8 = 0x20;
/// Bits of octet 3 that children's correlators inherit.
const TRACE: u8 = APP_TRACE | 0x40;
/// The binding's least and greatest length.
const LENGTHS: std::ops::RangeInclusive<usize> = 4..=MAX_OCTETS;
/// Room of a correlator, in octets.
const MAX_OCTETS: usize = correlator::MAX_BYTES;

/// A received correlator.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) correlator: Correlator,
    /// Trace flags of the correlator.
    pub(crate) trace: u8,
}

/// The octets that count; `None` when it is NULL or its length cannot be.
///
/// # Safety
/// `from` is NULL, or can be read as far as its first two octets say; during the call.
pub(crate) unsafe fn octets<'a>(from: *const CorrelatorOctets) -> Option<&'a [u8]> {
    if from.is_null() {
        return None;
    }
    let first = from.cast::<u8>();
    // SAFETY: the caller's promise.
    unsafe {
        let length = usize::from(u16::from_be_bytes([*first, *first.add(1)]));
        LENGTHS.contains(&length).then(|| std::slice::from_raw_parts(first, length))
    }
}

/// Reads a correlator; `None` when there is none, or (noted) it is not one.
///
/// # Safety
/// As for [`octets`].
pub(crate) unsafe fn read(from: *const CorrelatorOctets, first: &mut First) -> Option<Received> {
    if from.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    let Some(octets) = (unsafe { octets(from) }) else {
        first.note(codes::CORRELATOR);
        return None;
    };
    if octets[2] != correlator::FORMAT {
        record::count_foreign_correlator();
        return Some(Received { correlator: foreign(octets), trace: 0 });
    }
    match Correlator::decode(octets) {
        // A correlator without a transaction, as a switched-off one issues it.
        Ok(correlator) if correlator.parent().is_none() => None,
        Ok(correlator) => Some(Received { correlator, trace: octets[3] & TRACE }),
        Err(_) => {
            first.note(codes::CORRELATOR);
            None
        }
    }
}

/// Correlator of another agent: chain and transaction are the hashes of its octets, so that all
/// receivers agree.
fn foreign(octets: &[u8]) -> Correlator {
    // Hexadecimal, because the hash takes texts.
    let mut text = [0; 2 * MAX_OCTETS];
    for (two, octet) in text.chunks_exact_mut(2).zip(octets) {
        let digit = |half: u8| b"0123456789abcdef"[usize::from(half)];
        two.copy_from_slice(&[digit(octet >> 4), digit(octet & 15)]);
    }
    let text = std::str::from_utf8(&text[..2 * octets.len()]).unwrap_or_default();
    let half = |what| ClassId::of(what, text).0;
    let chain = ChainId::from_halves(half("chain"), half("chain, lower half"));
    Correlator::foreign(chain, TransactionId(half("transaction")))
}

/// Writes a correlator to where a program wants it.
///
/// # Safety
/// `to` is NULL or has room for 512 octets.
pub(crate) unsafe fn write(to: *mut CorrelatorOctets, own: &Correlator, trace: u8) {
    if to.is_null() {
        return;
    }
    // SAFETY: the caller's promise; octets need no alignment.
    let octets = unsafe { &mut *to.cast::<[u8; MAX_OCTETS]>() };
    own.encode_into(octets);
    octets[3] |= trace;
}

/// Passes a correlator on where nothing is recorded, which keeps the chain together.
///
/// # Safety
/// As for [`read`] and [`write`].
pub(crate) unsafe fn hand_on(from: *const CorrelatorOctets, to: *mut CorrelatorOctets) {
    if to.is_null() {
        return;
    }
    // SAFETY: the caller's promise; both may be the same.
    unsafe {
        match octets(from) {
            Some(octets) => std::ptr::copy(octets.as_ptr(), to.cast::<u8>(), octets.len()),
            None => write(to, &Correlator::foreign(ChainId::NONE, TransactionId::NONE), 0),
        }
    }
}

/// `arm_get_correlator_length`.
///
/// # Safety
/// As for [`octets`]; `length` is NULL or can be written.
pub(crate) unsafe fn length(from: *const CorrelatorOctets, length: *mut i16) -> Code {
    if length.is_null() {
        return codes::NULL;
    }
    // SAFETY: the caller's promise.
    let octets = unsafe { octets(from) };
    let known = octets.map_or(0, |octets| i16::try_from(octets.len()).unwrap_or(0));
    // SAFETY: the caller's promise.
    unsafe { *length = known };
    match (from.is_null(), octets) {
        (true, _) => codes::NULL,
        (_, None) => codes::CORRELATOR,
        _ => codes::OK,
    }
}

/// `arm_get_correlator_flags`.
///
/// # Safety
/// As for [`octets`]; `flag` is NULL or can be written.
pub(crate) unsafe fn flag(from: *const CorrelatorOctets, number: i32, flag: *mut i32) -> Code {
    if from.is_null() || flag.is_null() {
        return codes::NULL;
    }
    let index = usize::try_from(number.wrapping_sub(1)).ok();
    // SAFETY: the caller's promise.
    let octets = unsafe { octets(from) };
    let bit = index.and_then(|index| FLAG_BITS.get(index));
    // Whose flags are where is known of our own only.
    let set = octets.filter(|octets| octets[2] == correlator::FORMAT);
    let set = set.zip(bit).is_some_and(|(octets, bit)| octets[3] & bit != 0);
    // SAFETY: the caller's promise.
    unsafe { *flag = i32::from(set) };
    match (octets, bit) {
        (None, _) => codes::CORRELATOR,
        (_, None) => codes::FLAG_NUMBER,
        _ => codes::OK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs with other versions of the library put the same chain together from these.
    #[test]
    fn ids_of_foreign_correlators_are_hashes_of_lower_case_hexadecimal() {
        for length in [4, 5, 64, 512] {
            let octets: Vec<u8> =
                (0..length).map(|at: usize| (at * 37 % 251).to_le_bytes()[0]).collect();
            let text: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
            let own = foreign(&octets);
            assert_eq!(own.parent().0, ClassId::of("transaction", &text).0);
            assert_eq!(own.chain().high(), ClassId::of("chain", &text).0);
            assert_eq!(own.chain().low(), ClassId::of("chain, lower half", &text).0);
        }
    }
}
