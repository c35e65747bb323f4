//! Parquet's hybrid of run lengths and bit packing, for dictionary indices and levels.
//!
//! Source: "Run Length Encoding / Bit-Packing Hybrid (RLE = 3)" in the Parquet format's
//! `Encodings.md`. Not here: reading, and the length or width that stands before it in a page.

/// Values that are packed together; a shorter run is not worth a header.
const GROUP: usize = 8;

/// Bits that the numbers up to `max` need.
pub(super) const fn width(max: u32) -> u32 {
    u32::BITS - max.leading_zeros()
}

/// Appends `values`, none of which needs more than `width` bits.
pub(super) fn encode(values: &[u32], width: u32, out: &mut Vec<u8>) {
    let mut from = 0;
    while from < values.len() {
        let run = run(&values[from..]);
        if run >= GROUP {
            encode_run(values[from], run, width, out);
            from += run;
            continue;
        }
        // Only whole groups may be followed by something: the last alone is filled up.
        let mut to = from;
        while to < values.len() && !begins_run(&values[to..]) {
            to = (to + GROUP).min(values.len());
        }
        pack(&values[from..to], width, out);
        from = to;
    }
}

/// Length of the run of equal values at the start.
fn run(values: &[u32]) -> usize {
    let first = values[0];
    // By groups first: runs are long, and a group is compared at once.
    let groups = values.chunks_exact(GROUP);
    let whole = groups.take_while(|group| group.iter().all(|value| *value == first)).count();
    let rest = &values[whole * GROUP..];
    whole * GROUP + rest.iter().take_while(|value| **value == first).count()
}

fn begins_run(values: &[u32]) -> bool {
    values.len() >= GROUP && values[1..GROUP].iter().all(|value| *value == values[0])
}

fn encode_run(value: u32, count: usize, width: u32, out: &mut Vec<u8>) {
    varint((count as u64) << 1, out);
    out.extend_from_slice(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
}

fn pack(values: &[u32], width: u32, out: &mut Vec<u8>) {
    let groups = values.len().div_ceil(GROUP);
    varint(((groups as u64) << 1) | 1, out);
    let end = out.len() + groups * width as usize; // a group has as many bytes as a value bits
    let (mut bits, mut bit_count) = (0u64, 0);
    for value in values {
        bits |= u64::from(*value) << bit_count;
        bit_count += width;
        if bit_count >= 32 {
            out.extend_from_slice(&bits.to_le_bytes()[..4]);
            bits >>= 32;
            bit_count -= 32;
        }
    }
    out.extend_from_slice(&bits.to_le_bytes()[..bit_count.div_ceil(8) as usize]);
    out.resize(end, 0);
}

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The example of the specification: 0 to 7 in three bits.
    #[test]
    fn packs_as_the_specification_does() {
        let mut out = Vec::new();
        encode(&[0, 1, 2, 3, 4, 5, 6, 7], 3, &mut out);
        assert_eq!(out, [3, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
        out.clear();
        encode(&[5; 300], 3, &mut out);
        assert_eq!(out, [0b1101_1000, 0b100, 5]); // 600 in seven-bit pieces
    }

    /// Decodes bit by bit, as the specification describes it.
    fn decode(bytes: &[u8], width: u32, count: usize) -> Vec<u32> {
        let (mut at, mut values) = (0, Vec::new());
        while values.len() < count {
            let mut header = 0u64;
            for shift in (0..).step_by(7) {
                at += 1;
                header |= u64::from(bytes[at - 1] & 0x7f) << shift;
                if bytes[at - 1] < 0x80 {
                    break;
                }
            }
            let length = usize::try_from(header >> 1).unwrap();
            let size =
                if header & 1 == 0 { width.div_ceil(8) as usize } else { length * width as usize };
            let piece = &bytes[at..at + size];
            at += size;
            let bit = |index: usize| u32::from(piece[index / 8] >> (index % 8) & 1);
            let value = |from: usize| (0..width).map(|i| bit(from + i as usize) << i).sum::<u32>();
            let packed = |index: usize| value(index * width as usize);
            if header & 1 == 0 {
                values.extend(std::iter::repeat_n(value(0), length));
            } else {
                values.extend((0..length * GROUP).map(packed));
            }
        }
        assert_eq!(at, bytes.len());
        assert!(values[count..].iter().all(|filled| *filled == 0));
        values.truncate(count);
        values
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            bits in 0u32..=32,
            runs in prop::collection::vec((any::<u32>(), 1usize..20), 0..40),
        ) {
            let cut = |value: u32| if bits == 0 { 0 } else { value >> (32 - bits) };
            let runs = runs.into_iter().map(|(value, count)| vec![cut(value); count]);
            let values: Vec<u32> = runs.flatten().collect();
            let mut out = Vec::new();
            encode(&values, bits, &mut out);
            prop_assert_eq!(decode(&out, bits, values.len()), values);
        }
    }
}
