//! CLTUs: telecommand transfer frames as a spacecraft's receiver takes them. Source: CCSDS 231.0,
//! chapters 3 (BCH coding), 5 (CLTU) and 6 (randomiser).
//!
//! A CLTU is a start sequence, code blocks of 7 octets and their parity, and a tail sequence. The
//! last code block is filled with alternating bits, 0 first; the end of the frame is known from its
//! own length. This module also checks CLTUs for a provider: all code blocks must be without errors.
//! It does not correct single errors, as the standard permits a receiver to do, because the
//! connection between user and provider has no noise, so that an error is a fault.
//!
//! Not here: LDPC coding, which 231.0 also specifies.

/// Start sequence of a CLTU.
pub const START_SEQUENCE: [u8; 2] = [0xeb, 0x90];
/// Tail sequence of a CLTU: a code block with a wrong parity.
pub const TAIL_SEQUENCE: [u8; 8] = [0xc5, 0xc5, 0xc5, 0xc5, 0xc5, 0xc5, 0xc5, 0x79];
/// Octets of a code block's information.
const INFORMATION: usize = 7;
/// Octets of a code block.
const BLOCK: usize = INFORMATION + 1;
/// Fill octet of the last code block.
const FILL: u8 = 0x55;

/// Why octets are no CLTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CltuError {
    /// The length is not that of a start sequence, one or more code blocks and a tail.
    #[error("a CLTU has 2 + 8·n + 8 octets (n at least 1), not {length}")]
    Length {
        /// Length in octets.
        length: usize,
    },
    /// No start sequence.
    #[error("a CLTU starts with EB90, not {found:04X}")]
    Start {
        /// The first two octets.
        found: u16,
    },
    /// A code block whose parity is not its information's.
    #[error("code block {index} (at octet {position}) has parity {found:02X}, not {expected:02X}")]
    Parity {
        /// Index of the code block, from 0.
        index: usize,
        /// Position of its first octet.
        position: usize,
        /// Its last octet.
        found: u8,
        /// Expected parity octet.
        expected: u8,
    },
    /// No tail at the end.
    #[error("a CLTU ends with C5C5C5C5C5C5C579, at octet {position}")]
    Tail {
        /// Expected position of the tail.
        position: usize,
    },
}

/// Syndromes of an octet: the register of x^7 + x^6 + x^2 + 1 after its 8 bits.
const BCH: [u8; 256] = bch_table();

#[allow(clippy::cast_possible_truncation)] // an index below 256
const fn bch_table() -> [u8; 256] {
    let mut table = [0; 256];
    let mut octet = 0;
    while octet < 256 {
        // The register's 7 bits stand in the upper part of the octet.
        let mut register = octet as u8;
        let mut bit = 0;
        while bit < 8 {
            register = if register & 0x80 == 0 { register << 1 } else { (register << 1) ^ 0x8a };
            bit += 1;
        }
        table[octet] = register;
        octet += 1;
    }
    table
}

/// The last octet of a code block: the 7 parity bits, complemented, and a filler bit 0.
#[must_use]
pub fn parity(information: &[u8; INFORMATION]) -> u8 {
    let register = information.iter().fold(0u8, |r, octet| BCH[usize::from(r ^ octet)]);
    !register & 0xfe
}

/// Makes a CLTU of transfer frames, one after the other in `frames` (1 octet or more).
#[must_use]
pub fn encode(frames: &[u8]) -> Vec<u8> {
    let blocks = frames.len().div_ceil(INFORMATION);
    let mut out = Vec::with_capacity(START_SEQUENCE.len() + blocks * BLOCK + TAIL_SEQUENCE.len());
    out.extend_from_slice(&START_SEQUENCE);
    for chunk in frames.chunks(INFORMATION) {
        let mut information = [FILL; INFORMATION];
        information[..chunk.len()].copy_from_slice(chunk);
        out.extend_from_slice(&information);
        out.push(parity(&information));
    }
    out.extend_from_slice(&TAIL_SEQUENCE);
    out
}

/// The code blocks of a CLTU, tail not included.
///
/// # Errors
/// [`CltuError`] for the first thing that is wrong.
fn blocks(cltu: &[u8]) -> Result<&[u8], CltuError> {
    let length = cltu.len();
    let around = START_SEQUENCE.len() + TAIL_SEQUENCE.len();
    if length < around + BLOCK || !(length - around).is_multiple_of(BLOCK) {
        return Err(CltuError::Length { length });
    }
    if cltu[..2] != START_SEQUENCE {
        return Err(CltuError::Start { found: u16::from_be_bytes([cltu[0], cltu[1]]) });
    }
    let position = length - TAIL_SEQUENCE.len();
    let (front, tail) = cltu.split_at(position);
    if tail != TAIL_SEQUENCE {
        return Err(CltuError::Tail { position });
    }
    Ok(&front[START_SEQUENCE.len()..])
}

/// Whether octets are a CLTU.
///
/// # Errors
/// [`CltuError`] for the first thing that is wrong.
pub fn check(cltu: &[u8]) -> Result<(), CltuError> {
    for (index, block) in blocks(cltu)?.as_chunks::<BLOCK>().0.iter().enumerate() {
        let [information @ .., found] = block;
        let expected = parity(information);
        // The filler bit tells nothing.
        if expected != found & 0xfe {
            let position = START_SEQUENCE.len() + index * BLOCK;
            return Err(CltuError::Parity { index, position, found: *found, expected });
        }
    }
    Ok(())
}

/// The frames of a CLTU with what the last code block was filled with.
///
/// # Errors
/// [`CltuError`] for the first thing that is wrong.
pub fn decode(cltu: &[u8]) -> Result<Vec<u8>, CltuError> {
    check(cltu)?;
    let blocks = blocks(cltu)?.as_chunks::<BLOCK>().0;
    Ok(blocks.iter().flat_map(|block| block[..INFORMATION].iter().copied()).collect())
}

/// Adds the pseudo-random sequence of telecommands to a frame, or takes it away again: the
/// generator x^8 + x^6 + x^4 + x^3 + x^2 + x + 1, from all ones.
pub fn randomise(frame: &mut [u8]) {
    let mut register = 0xffu8;
    for octet in frame {
        let mut pattern = 0;
        for _ in 0..8 {
            // Out at the register's first cell; the newest bit is the sum of the cells that the
            // generator names.
            pattern = (pattern << 1) | (register >> 7);
            let sum = (register & 0b1111_1010).count_ones() & 1;
            register = (register << 1) | u8::from(sum == 1);
        }
        *octet ^= pattern;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn octets(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
    }

    #[test]
    fn a_frame_of_15_octets_randomised_as_another_encoder_has_it() {
        // Spacecraft 123, virtual channel 1, data 1 to 10.
        let mut frame = octets("007b040e000102030405060708090a");
        randomise(&mut frame);
        let expected = "eb90ff429a5468e804bef6688c29a63957c20255555555555556c5c5c5c5c5c5c579";
        assert_eq!(encode(&frame), octets(expected));
        randomise(&mut frame);
        assert_eq!(frame, octets("007b040e000102030405060708090a"));
    }

    #[test]
    fn a_cltu_of_a_third_implementation() {
        let cltu = octets(
            "eb90007b00191fc0186410c006000b100e16020000010319008800bbe915465555d2c5c5c5c5c5c5c579",
        );
        let frame = octets("007b00191fc01810c006000b100e0200000103190000bbe91546");
        assert_eq!(encode(&frame), cltu);
        assert_eq!(check(&cltu), Ok(()));
        assert_eq!(decode(&cltu).unwrap()[..frame.len()], frame);
    }

    #[test]
    fn the_pseudo_random_sequence_of_the_standard() {
        let mut zeros = [0; 32];
        randomise(&mut zeros);
        let expected = "ff399e5a68e906f56c892fa1315e08c052a8bbae4ec2c7ed66dc38d4f886503d";
        assert_eq!(zeros.to_vec(), octets(expected));
        // 255 bits long, so it begins again one bit before the 32nd octet ends.
        let mut more = [0; 64];
        randomise(&mut more);
        let bit = |index: usize| more[index / 8] >> (7 - index % 8) & 1;
        assert!((0..255).all(|index| bit(index) == bit(index + 255)));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let good = encode(&[1; 14]);
        assert_eq!(check(&good[..25]), Err(CltuError::Length { length: 25 }));
        assert_eq!(check(&[]), Err(CltuError::Length { length: 0 }));
        let no_block = [&START_SEQUENCE[..], &TAIL_SEQUENCE].concat();
        assert_eq!(check(&no_block), Err(CltuError::Length { length: 10 }));
        let mut cltu = good.clone();
        cltu[1] = 0x91;
        assert_eq!(check(&cltu), Err(CltuError::Start { found: 0xeb91 }));
        let mut cltu = good.clone();
        cltu[25] = 0;
        assert_eq!(check(&cltu), Err(CltuError::Tail { position: 18 }));
        let mut cltu = good;
        cltu[12] ^= 4;
        let error = check(&cltu).unwrap_err();
        assert!(matches!(error, CltuError::Parity { index: 1, position: 10, .. }), "{error}");
    }

    proptest! {
        /// Whatever the octets are, and also where they are nearly a CLTU.
        #[test]
        fn octets_from_outside_are_taken_or_refused(
            start in prop_oneof![Just(START_SEQUENCE.to_vec()), any::<Vec<u8>>()],
            blocks: Vec<u8>,
            end in prop_oneof![Just(TAIL_SEQUENCE.to_vec()), any::<Vec<u8>>()],
        ) {
            let octets = [start, blocks, end].concat();
            prop_assert_eq!(check(&octets).err(), decode(&octets).err());
        }

        #[test]
        fn what_is_made_is_a_cltu_and_the_frame_is_in_it(frame: Vec<u8>) {
            prop_assume!(!frame.is_empty());
            let cltu = encode(&frame);
            prop_assert_eq!(check(&cltu), Ok(()));
            let back = decode(&cltu).unwrap();
            prop_assert_eq!(&back[..frame.len()], &frame[..]);
            prop_assert!(back[frame.len()..].iter().all(|octet| *octet == FILL));
        }

        /// The code's distance is 4: up to three wrong bits of a code block are seen.
        #[test]
        fn up_to_three_wrong_bits_are_seen(
            frame: [u8; 7],
            bits in prop::collection::btree_set(0usize..63, 1..=3),
        ) {
            let mut cltu = encode(&frame);
            for bit in bits {
                cltu[2 + bit / 8] ^= 0x80 >> (bit % 8);
            }
            let seen = matches!(check(&cltu), Err(CltuError::Parity { index: 0, .. }));
            prop_assert!(seen);
        }
    }
}
