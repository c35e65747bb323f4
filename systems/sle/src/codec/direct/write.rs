//! Octets of BER in the definite and minimal form: how many first, then which.

use crate::time::Time;
use bytes::Bytes;

/// Octets of a value with contents of `contents` octets, under an identifier of one octet.
#[inline]
pub(crate) fn value_len(contents: usize) -> usize {
    let length = match contents {
        0..=0x7f => 1,
        0x80..=0xff => 2,
        0x100..=0xffff => 3,
        0x1_0000..=0xff_ffff => 4,
        _ => 5,
    };
    1 + length + contents
}

/// The identifier octet and the length octets of contents of `contents` octets: below 4 GiB.
#[inline]
pub(crate) fn put_head(tag: u8, contents: usize, out: &mut Vec<u8>) {
    let [.., third, second, first, last] = contents.to_be_bytes();
    match contents {
        0..=0x7f => out.extend_from_slice(&[tag, last]),
        0x80..=0xff => out.extend_from_slice(&[tag, 0x81, last]),
        0x100..=0xffff => out.extend_from_slice(&[tag, 0x82, first, last]),
        0x1_0000..=0xff_ffff => out.extend_from_slice(&[tag, 0x83, second, first, last]),
        _ => out.extend_from_slice(&[tag, 0x84, third, second, first, last]),
    }
}

/// Appends a value.
#[inline]
pub(crate) fn put(tag: u8, contents: &[u8], out: &mut Vec<u8>) {
    put_head(tag, contents.len(), out);
    out.extend_from_slice(contents);
}

/// Octets of an INTEGER's contents, for values of up to 33 bits.
#[inline]
fn integer_contents(value: i64) -> usize {
    match value {
        -0x80..=0x7f => 1,
        -0x8000..=0x7fff => 2,
        -0x80_0000..=0x7f_ffff => 3,
        -0x8000_0000..=0x7fff_ffff => 4,
        _ => 5,
    }
}

/// Octets of an INTEGER.
#[inline]
pub(crate) fn integer_len(value: i64) -> usize {
    2 + integer_contents(value)
}

/// An INTEGER of up to 33 bits, under its own tag.
#[inline]
pub(crate) fn put_integer(value: i64, out: &mut Vec<u8>) {
    let octets = value.to_be_bytes();
    put(0x02, &octets[8 - integer_contents(value)..], out);
}

/// Octets of `Credentials` or `privateAnnotation`.
#[inline]
pub(crate) fn optional_len(octets: Option<&Bytes>) -> usize {
    octets.map_or(2, |octets| value_len(octets.len()))
}

/// `Credentials` or `privateAnnotation`.
#[inline]
pub(crate) fn put_optional(octets: Option<&Bytes>, out: &mut Vec<u8>) {
    match octets {
        None => out.extend_from_slice(&[0x80, 0]),
        Some(octets) => put(0x81, octets, out),
    }
}

/// Octets of `Time`.
#[inline]
pub(crate) fn time_len(time: &Time) -> usize {
    match time {
        Time::Micro(_) => 10,
        Time::Pico(_) => 12,
    }
}

/// `Time`.
#[inline]
pub(crate) fn put_time(time: &Time, out: &mut Vec<u8>) {
    match time {
        Time::Micro(octets) => put(0x80, octets, out),
        Time::Pico(octets) => put(0x81, octets, out),
    }
}

/// Octets of `ConditionalTime`.
#[inline]
pub(crate) fn conditional_time_len(time: Option<&Time>) -> usize {
    time.map_or(2, |time| 2 + time_len(time))
}

/// `ConditionalTime`.
#[inline]
pub(crate) fn put_conditional_time(time: Option<&Time>, out: &mut Vec<u8>) {
    match time {
        None => out.extend_from_slice(&[0x80, 0]),
        Some(time) => {
            put_head(0xa1, time_len(time), out);
            put_time(time, out);
        }
    }
}

/// Whether credentials have a length that the books allow.
#[inline]
pub(crate) fn credentials_fit(credentials: Option<&Bytes>) -> bool {
    credentials.is_none_or(|octets| (8..=256).contains(&octets.len()))
}

/// Octets of an object identifier's contents; `None` where the arcs are those of none (X.690 §8.19).
pub(crate) fn arcs_contents(arcs: &[u32]) -> Option<usize> {
    let (&[root, second], rest) = arcs.split_first_chunk()?;
    if root > 2 || root < 2 && second >= 40 {
        return None;
    }
    let first = second.checked_add(root * 40)?;
    Some(arc_len(first) + rest.iter().map(|arc| arc_len(*arc)).sum::<usize>())
}

/// Octets of an arc.
fn arc_len(arc: u32) -> usize {
    match arc {
        0..=0x7f => 1,
        0x80..=0x3fff => 2,
        0x4000..=0x1f_ffff => 3,
        0x20_0000..=0xfff_ffff => 4,
        _ => 5,
    }
}

/// An object identifier of which [`arcs_contents`] has told the length, under `tag`.
pub(crate) fn put_arcs(tag: u8, arcs: &[u32], out: &mut Vec<u8>) {
    put_head(tag, arcs_contents(arcs).unwrap_or(0), out);
    if let Some((&[root, second], rest)) = arcs.split_first_chunk() {
        put_arc(root * 40 + second, out);
        rest.iter().for_each(|arc| put_arc(*arc, out));
    }
}

fn put_arc(arc: u32, out: &mut Vec<u8>) {
    for group in (0..arc_len(arc)).rev() {
        let seven = (arc >> (7 * group)).to_be_bytes()[3] & 0x7f;
        out.push(if group == 0 { seven } else { seven | 0x80 });
    }
}
