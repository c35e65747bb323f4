//! Values of parameters and events: the few types that the framework's procedures have, in the
//! octets that an [`Embedded`] carries (BER; written definite and minimal).

use crate::csts::pdu::{DataTransferMode, Embedded, Oid, ProductionStatus};
use bytes::Bytes;

/// An INTEGER of 32 bits without sign.
#[must_use]
pub fn integer(syntax: Oid, value: u32) -> Embedded {
    let octets = value.to_be_bytes();
    // One octet of zeros stays in front of a set first bit: INTEGER has a sign.
    let all = [0, octets[0], octets[1], octets[2], octets[3]];
    let skip = (0..4).take_while(|&at| all[at] == 0 && all[at + 1] < 0x80).count();
    tagged(syntax, 0x02, &all[skip..])
}

/// An ENUMERATED of one octet.
#[must_use]
pub fn enumerated(syntax: Oid, value: u8) -> Embedded {
    tagged(syntax, 0x0a, &[value])
}

/// A production status.
#[must_use]
pub fn production(syntax: Oid, status: ProductionStatus) -> Embedded {
    enumerated(syntax, status as u8)
}

fn tagged(syntax: Oid, tag: u8, content: &[u8]) -> Embedded {
    // At most five octets.
    let mut value = vec![tag, u8::try_from(content.len()).unwrap_or(0)];
    value.extend_from_slice(content);
    Embedded { syntax, value: Bytes::from(value) }
}

/// The value of an INTEGER or ENUMERATED, if it is an unsigned number of 32 bits.
#[must_use]
pub fn number(value: &[u8]) -> Option<u32> {
    let [tag, length, content @ ..] = value else { return None };
    if !matches!(tag, 0x02 | 0x0a) || usize::from(*length) != content.len() {
        return None;
    }
    let [first, ..] = content else { return None };
    if *first >= 0x80 || content.len() > 5 || (content.len() == 5 && *first != 0) {
        return None;
    }
    Some(content.iter().fold(0, |all, octet| all << 8 | u32::from(*octet)))
}

/// The production status of a number.
#[must_use]
pub fn production_of(number: u32) -> Option<ProductionStatus> {
    use ProductionStatus::{Configured, Halted, Interrupted, Operational};
    [Configured, Operational, Interrupted, Halted].into_iter().find(|s| *s as u32 == number)
}

/// The transfer mode of a number.
#[must_use]
pub fn transfer_mode_of(number: u32) -> Option<DataTransferMode> {
    use DataTransferMode::{Complete, Timely, Undefined};
    [Undefined, Timely, Complete].into_iter().find(|mode| *mode as u32 == number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csts::pdu::names::{P_DP_INPUT_QUEUE_SIZE, SVC_PRODUCTION_STATUS};
    use proptest::prelude::*;

    #[test]
    fn octets_are_as_short_as_can_be() {
        let octets = |value| integer(P_DP_INPUT_QUEUE_SIZE, value).value.to_vec();
        assert_eq!(octets(0), [2, 1, 0]);
        assert_eq!(octets(127), [2, 1, 127]);
        assert_eq!(octets(128), [2, 2, 0, 128]);
        assert_eq!(octets(u32::MAX), [2, 5, 0, 255, 255, 255, 255]);
        let status = production(SVC_PRODUCTION_STATUS, ProductionStatus::Interrupted);
        assert_eq!(status.value.to_vec(), [10, 1, 2]);
        assert_eq!(production_of(2), Some(ProductionStatus::Interrupted));
        assert_eq!(production_of(4), None);
        assert_eq!(transfer_mode_of(2), Some(DataTransferMode::Complete));
    }

    #[test]
    fn what_is_no_number_is_none() {
        for wrong in [&[][..], &[2], &[2, 0], &[4, 1, 1], &[2, 2, 1], &[2, 1, 255]] {
            assert_eq!(number(wrong), None, "{wrong:?}");
        }
        assert_eq!(number(&[2, 5, 1, 0, 0, 0, 0]), None, "33 bits");
    }

    proptest! {
        #[test]
        fn there_and_back(value: u32) {
            prop_assert_eq!(number(&integer(P_DP_INPUT_QUEUE_SIZE, value).value), Some(value));
        }

        #[test]
        fn any_octets_are_read(octets: Vec<u8>) {
            let _ = number(&octets);
        }
    }
}
