//! An SNMP agent of version 2c for tests, written against RFC 3416 by hand: none of its code is the
//! scanner's, so that a mistake of one is not the other's. It answers GETBULK from a table of
//! objects, and can be told to behave badly by whoever holds it.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)] // each test uses a part of it

use std::collections::BTreeMap;

pub const COUNTER: u8 = 0x41;
pub const TICKS: u8 = 0x43;
pub const COUNTER64: u8 = 0x46;
pub const TEXT: u8 = 0x04;
pub const END_OF_VIEW: u8 = 0x82;

/// Objects with their values as they are sent: type, length and octets.
pub type Objects = BTreeMap<Vec<u32>, Vec<u8>>;

pub fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut octets = vec![tag];
    match content.len() {
        len @ 0..128 => octets.push(u8::try_from(len).unwrap()),
        len => {
            octets.push(0x82);
            octets.extend(u16::try_from(len).unwrap().to_be_bytes());
        }
    }
    octets.extend(content);
    octets
}

pub fn number(tag: u8, value: u64) -> Vec<u8> {
    let octets = value.to_be_bytes();
    let start = octets.iter().position(|octet| *octet != 0).unwrap_or(7);
    let zero: &[u8] = if octets[start] > 127 { &[0] } else { &[] };
    tlv(tag, &[zero, &octets[start..]].concat())
}

pub fn object(id: &[u32]) -> Vec<u8> {
    let mut octets = vec![u8::try_from(id[0] * 40 + id[1]).unwrap()];
    for part in &id[2..] {
        let groups = (0..5).rev().map(|group| (part >> (7 * group)) & 0x7F);
        let groups: Vec<u32> = groups.skip_while(|group| *group == 0).collect();
        let groups = if groups.is_empty() { vec![0] } else { groups };
        let last = groups.len() - 1;
        let group =
            |(n, group): (usize, u32)| u8::try_from(group).unwrap() | u8::from(n < last) << 7;
        octets.extend(groups.into_iter().enumerate().map(group));
    }
    tlv(0x06, &octets)
}

/// The first element: its tag, content, and what follows.
pub fn take(octets: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = octets.split_first()?;
    let (&len, rest) = rest.split_first()?;
    let (len, rest) = match len {
        0..=0x80 => (usize::from(len & 0x7F), rest),
        0x81 => (usize::from(*rest.first()?), &rest[1..]),
        0x82 => (usize::from(rest[0]) << 8 | usize::from(*rest.get(1)?), &rest[2..]),
        _ => return None,
    };
    Some((tag, rest.get(..len)?, &rest[len..]))
}

fn integer(content: &[u8]) -> i64 {
    content.iter().fold(0, |all, octet| all << 8 | i64::from(*octet))
}

fn read_object(content: &[u8]) -> Vec<u32> {
    let mut id = vec![u32::from(content[0] / 40), u32::from(content[0] % 40)];
    let mut part = 0;
    for octet in &content[1..] {
        part = part << 7 | u32::from(octet & 0x7F);
        if octet & 0x80 == 0 {
            id.push(std::mem::take(&mut part));
        }
    }
    id
}

/// A GETBULK as it came.
pub struct Bulk {
    pub community: Vec<u8>,
    pub request: i64,
    pub once: usize,
    pub repeat: usize,
    pub objects: Vec<Vec<u32>>,
}

pub fn read(request: &[u8]) -> Option<Bulk> {
    let (_, message, _) = take(request)?;
    let (_, version, rest) = take(message)?;
    let (_, community, rest) = take(rest)?;
    let (kind, pdu, _) = take(rest)?;
    if (version, kind) != (&[1], 0xA5) {
        return None;
    }
    let (_, request, rest) = take(pdu)?;
    let (_, once, rest) = take(rest)?;
    let (_, repeat, rest) = take(rest)?;
    let (_, mut binds, _) = take(rest)?;
    let mut objects = Vec::new();
    while let Some((_, bind, rest)) = take(binds) {
        objects.push(read_object(take(bind)?.1));
        binds = rest;
    }
    let count = |content| usize::try_from(integer(content)).ok();
    Some(Bulk {
        community: community.to_vec(),
        request: integer(request),
        once: count(once)?,
        repeat: count(repeat)?,
        objects,
    })
}

/// A response.
pub fn respond(
    community: &[u8],
    request: i64,
    error: u8,
    binds: &[(Vec<u32>, Vec<u8>)],
) -> Vec<u8> {
    let bind = |(id, value): &(Vec<u32>, Vec<u8>)| tlv(0x30, &[object(id), value.clone()].concat());
    let binds: Vec<u8> = binds.iter().flat_map(bind).collect();
    let request = tlv(0x02, &u32::try_from(request).unwrap().to_be_bytes());
    let pdu = [request, tlv(2, &[error]), tlv(2, &[0]), tlv(0x30, &binds)].concat();
    tlv(0x30, &[tlv(2, &[1]), tlv(4, community), tlv(0xA2, &pdu)].concat())
}

/// The objects after those of a GETBULK (RFC 3416, 4.2.3), at most `binds_max`.
pub fn next(bulk: &Bulk, objects: &Objects, binds_max: usize) -> Vec<(Vec<u32>, Vec<u8>)> {
    let after = |id: &Vec<u32>| {
        let mut range =
            objects.range((std::ops::Bound::Excluded(id.clone()), std::ops::Bound::Unbounded));
        range.next().map_or((id.clone(), tlv(END_OF_VIEW, &[])), |(id, v)| (id.clone(), v.clone()))
    };
    let (once, repeated) = bulk.objects.split_at(bulk.once.min(bulk.objects.len()));
    let mut binds: Vec<_> = once.iter().map(after).collect();
    let mut row = repeated.to_vec();
    for _ in 0..bulk.repeat {
        let answers: Vec<_> = row.iter().map(after).collect();
        row = answers.iter().map(|(id, _)| id.clone()).collect();
        binds.extend(answers);
    }
    binds.truncate(binds_max);
    binds
}

/// The answer of an agent that does as it should.
pub fn answer(request: &[u8], objects: &Objects) -> Option<Vec<u8>> {
    let bulk = read(request)?;
    Some(respond(&bulk.community, bulk.request, 0, &next(&bulk, objects, 100)))
}

/// An interface: its name and values in the order of `Counters::values`.
pub type Interface<'a> = (&'a str, [u64; 8]);

/// IF-MIB with ifXTable or without, and sysUpTime in hundredths of a second.
pub fn if_mib(up_hundredths: u64, wide: bool, interfaces: &[Interface<'_>]) -> Objects {
    let mut objects = Objects::new();
    objects.insert(vec![1, 3, 6, 1, 2, 1, 1, 3, 0], number(TICKS, up_hundredths));
    objects.insert(vec![1, 3, 6, 1, 2, 1, 1, 4, 0], tlv(TEXT, b"contact"));
    for (index, (name, values)) in (1..).zip(interfaces) {
        let [
            in_packets,
            out_packets,
            in_bytes,
            out_bytes,
            in_errors,
            out_errors,
            in_drops,
            out_drops,
        ] = *values;
        let mut x = |column, value: Vec<u8>| {
            if wide {
                objects.insert(vec![1, 3, 6, 1, 2, 1, 31, 1, 1, 1, column, index], value);
            }
        };
        x(1, tlv(TEXT, name.as_bytes()));
        // Of three kinds of packets there is one at least, so that the sum is looked at.
        for (first, packets, bytes) in [(6, in_packets, in_bytes), (10, out_packets, out_bytes)] {
            x(first, number(COUNTER64, bytes));
            x(first + 1, number(COUNTER64, packets - packets / 4 - packets / 8));
            x(first + 2, number(COUNTER64, packets / 4));
            x(first + 3, number(COUNTER64, packets / 8));
        }
        x(15, number(0x42, 1000));
        let narrow = |value: u64| number(COUNTER, value & 0xFFFF_FFFF);
        let mut table = |column, value: Vec<u8>| {
            objects.insert(vec![1, 3, 6, 1, 2, 1, 2, 2, 1, column, index], value);
        };
        table(1, number(2, u64::from(index)));
        table(2, tlv(TEXT, name.as_bytes()));
        table(10, narrow(in_bytes));
        table(11, narrow(in_packets));
        table(12, narrow(0));
        table(13, narrow(in_drops));
        table(14, narrow(in_errors));
        table(16, narrow(out_bytes));
        table(17, narrow(out_packets));
        table(18, narrow(0));
        table(19, narrow(out_drops));
        table(20, narrow(out_errors));
    }
    objects
}
