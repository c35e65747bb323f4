//! Other legal BER of the same value: lengths in more octets than need be, indefinite lengths,
//! strings in segments.

/// `octets`, one or more values, with choices taken from `choose` (a number below its argument).
pub(crate) fn other_form(octets: &[u8], choose: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = octets;
    while !rest.is_empty() {
        let identifier = identifier_length(rest);
        let (length, contents_at) = definite_length(rest, identifier);
        let contents = &rest[contents_at..contents_at + length];
        let string = matches!(rest[0], 0x04 | 0x1a);
        if rest[0] & 0x20 != 0 {
            let contents = other_form(contents, choose);
            value(&rest[..identifier], &contents, choose(5), &mut out);
        } else if string && choose(2) == 1 {
            // Two segments, of which one may be empty; they are octet strings (X.690 §8.23).
            let cut = choose(contents.len() + 1);
            let mut segments = Vec::new();
            value(&[0x04], &contents[..cut], choose(3), &mut segments);
            value(&[0x04], &contents[cut..], choose(3), &mut segments);
            value(&[rest[0] | 0x20], &segments, choose(5), &mut out);
        } else {
            value(&rest[..identifier], contents, choose(3), &mut out);
        }
        rest = &rest[contents_at + length..];
    }
    out
}

/// 0 shortest length, 1 and 2 longer ones, from 3 indefinite.
fn value(identifier: &[u8], contents: &[u8], form: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(identifier);
    let length = u64::try_from(contents.len()).unwrap().to_be_bytes();
    match form {
        0 if contents.len() < 128 => out.push(length[7]),
        0 | 1 => {
            out.push(0x84);
            out.extend_from_slice(&length[4..]);
        }
        2 => {
            out.push(0x8b);
            out.extend_from_slice(&[0, 0, 0]);
            out.extend_from_slice(&length);
        }
        _ => {
            out.push(0x80);
            out.extend_from_slice(contents);
            out.extend_from_slice(&[0, 0]);
            return;
        }
    }
    out.extend_from_slice(contents);
}

fn identifier_length(octets: &[u8]) -> usize {
    if octets[0] & 0x1f != 0x1f {
        return 1;
    }
    2 + octets[1..].iter().take_while(|octet| **octet & 0x80 != 0).count()
}

/// Length of the contents, and where they begin.
fn definite_length(octets: &[u8], at: usize) -> (usize, usize) {
    match octets[at] {
        length @ 0..0x80 => (length.into(), at + 1),
        count => {
            let count = usize::from(count & 0x7f);
            let octets = &octets[at + 1..at + 1 + count];
            let length = octets.iter().fold(0, |sum, octet| sum << 8 | usize::from(*octet));
            (length, at + 1 + count)
        }
    }
}
