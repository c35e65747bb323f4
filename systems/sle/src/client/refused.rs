//! CLTUs that were refused and not sent again: a CLTU that is sent again has the later fate only.

use super::service::SettledRun;
use crate::service::fcltu::{CltuRange, SettledCltus};

/// Takes CLTUs that are sent again from those that were refused; the number of these.
pub(super) fn take_resent(refused: &mut Vec<SettledCltus>, cltus: CltuRange) -> u64 {
    let mut resent = 0;
    // CLTUs are sent in the order of their numbers: those sent again are the first ones.
    while let Some(first) = refused.first_mut() {
        let before = first.cltus.first.wrapping_sub(cltus.first);
        if before >= cltus.count {
            break;
        }
        let count = first.cltus.count.min(cltus.count - before);
        first.cltus.first = first.cltus.first.wrapping_add(count);
        first.cltus.count -= count;
        resent += u64::from(count);
        if first.cltus.count == 0 {
            refused.remove(0);
        }
    }
    resent
}

/// Adds CLTUs that were refused, in the order of their numbers (which wrap).
pub(super) fn insert_refused(refused: &mut Vec<SettledCltus>, one: SettledCltus) {
    let is_before =
        |other: &SettledCltus| other.cltus.first.wrapping_sub(one.cltus.first) > u32::MAX / 2;
    let at = refused.iter().rposition(is_before).map_or(0, |at| at + 1);
    if at > 0 && refused[at - 1].join(&one) {
        return;
    }
    refused.insert(at, one);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdu::Diagnostic;
    use crate::service::fcltu::CltuFate;

    fn refused(first: u32, count: u32, number: u8) -> SettledCltus {
        let fate = CltuFate::Refused(Diagnostic::Specific(number));
        SettledCltus { cltus: CltuRange { first, count }, fate }
    }

    /// 10 found no room, 11 to 14 came out of sequence. Sent again are 10 and 11, of which 11 finds
    /// no room, and then 11 and 12.
    #[test]
    fn what_is_sent_again_is_not_refused_any_more() {
        let mut all = Vec::new();
        insert_refused(&mut all, refused(10, 1, 1));
        for number in 11..15 {
            insert_refused(&mut all, refused(number, 1, 2));
        }
        assert_eq!(all, [refused(10, 1, 1), refused(11, 4, 2)]);
        assert_eq!(take_resent(&mut all, CltuRange { first: 10, count: 2 }), 2);
        assert_eq!(all, [refused(12, 3, 2)]);
        insert_refused(&mut all, refused(11, 1, 1));
        assert_eq!(all, [refused(11, 1, 1), refused(12, 3, 2)]);
        assert_eq!(take_resent(&mut all, CltuRange { first: 11, count: 2 }), 2);
        assert_eq!(all, [refused(13, 2, 2)]);
        assert_eq!(take_resent(&mut all, CltuRange { first: 20, count: 2 }), 0);
    }

    #[test]
    fn numbers_wrap_among_the_refused() {
        let mut all = Vec::new();
        insert_refused(&mut all, refused(0, 2, 2));
        insert_refused(&mut all, refused(u32::MAX, 1, 1));
        assert_eq!(all, [refused(u32::MAX, 1, 1), refused(0, 2, 2)]);
        assert_eq!(take_resent(&mut all, CltuRange { first: u32::MAX, count: 2 }), 2);
        assert_eq!(all, [refused(1, 1, 2)]);
    }
}
