//! A reader of BER in the definite form, over octets that are kept as they are.

use crate::time::Time;
use bytes::Bytes;
use std::ops::Range;

/// Where in a PDU one is, and where what is being read ends.
///
/// Every method answers `None` for whatever is not in the usual form: too short, another tag, an
/// indefinite length, an integer with more octets than it needs.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    octets: &'a Bytes,
    at: usize,
    end: usize,
}

impl<'a> Reader<'a> {
    /// At the beginning of a PDU.
    pub(super) fn new(octets: &'a Bytes) -> Self {
        Self { octets, at: 0, end: octets.len() }
    }

    /// Whether everything has been read.
    pub(super) fn is_done(&self) -> bool {
        self.at == self.end
    }

    /// The next identifier octet, which stays.
    pub(super) fn peek(&self) -> Option<u8> {
        if self.at < self.end { self.octets.get(self.at).copied() } else { None }
    }

    #[inline]
    fn octet(&mut self) -> Option<u8> {
        let octet = self.peek()?;
        self.at += 1;
        Some(octet)
    }

    /// Length octets of the definite form, of up to three octets after the first.
    #[inline]
    fn length(&mut self) -> Option<usize> {
        let first = self.octet()?;
        match first {
            0..=0x7f => Some(usize::from(first)),
            0x81..=0x83 => {
                let mut length = 0;
                for _ in 0..first & 0x7f {
                    length = length << 8 | usize::from(self.octet()?);
                }
                Some(length)
            }
            _ => None,
        }
    }

    /// Where the contents of the next value are, which has the identifier octet `tag`; reading goes
    /// on behind it.
    #[inline]
    pub(super) fn contents(&mut self, tag: u8) -> Option<Range<usize>> {
        if self.octet()? != tag {
            return None;
        }
        let length = self.length()?;
        let start = self.at;
        let end = start.checked_add(length).filter(|end| *end <= self.end)?;
        self.at = end;
        Some(start..end)
    }

    /// A reader of the contents of the next value.
    #[inline]
    pub(super) fn inside(&mut self, tag: u8) -> Option<Self> {
        let Range { start, end } = self.contents(tag)?;
        Some(Self { octets: self.octets, at: start, end })
    }

    /// The contents of the next value, `min` to `max` octets.
    #[inline]
    pub(super) fn string(&mut self, tag: u8, min: usize, max: usize) -> Option<Bytes> {
        let range = self.contents(tag)?;
        if (min..=max).contains(&range.len()) { Some(self.octets.slice(range)) } else { None }
    }

    /// The contents of the next value, looked at.
    #[inline]
    fn look(&mut self, tag: u8) -> Option<&'a [u8]> {
        let range = self.contents(tag)?;
        self.octets.get(range)
    }

    /// NULL, under `tag`.
    #[inline]
    pub(super) fn null(&mut self, tag: u8) -> Option<()> {
        self.look(tag)?.is_empty().then_some(())
    }

    /// An INTEGER of up to five octets and no redundant one, under `tag`.
    #[inline]
    pub(super) fn integer(&mut self, tag: u8) -> Option<i64> {
        let octets = self.look(tag)?;
        let (&first, rest) = octets.split_first()?;
        if rest.len() > 4 {
            return None;
        }
        if let Some(second) = rest.first()
            && (first == 0 && second & 0x80 == 0 || first == 0xff && second & 0x80 != 0)
        {
            return None;
        }
        let sign = i64::from(i8::from_be_bytes([first]));
        Some(rest.iter().fold(sign, |value, octet| value << 8 | i64::from(*octet)))
    }

    /// An INTEGER that is none below zero and fits.
    #[inline]
    pub(super) fn number<T: TryFrom<i64>>(&mut self) -> Option<T> {
        T::try_from(self.integer(0x02)?).ok()
    }

    /// `Credentials`, or another CHOICE of NULL and OCTET STRING, of `min` to `max` octets.
    #[inline]
    pub(super) fn optional(&mut self, min: usize, max: usize) -> Option<Option<Bytes>> {
        match self.peek()? {
            0x80 => self.null(0x80).map(|()| None),
            0x81 => self.string(0x81, min, max).map(Some),
            _ => None,
        }
    }

    /// `Time`.
    #[inline]
    pub(super) fn time(&mut self) -> Option<Time> {
        match self.peek()? {
            0x80 => Some(Time::Micro(self.look(0x80)?.try_into().ok()?)),
            0x81 => Some(Time::Pico(self.look(0x81)?.try_into().ok()?)),
            _ => None,
        }
    }

    /// `ConditionalTime`.
    #[inline]
    pub(super) fn conditional_time(&mut self) -> Option<Option<Time>> {
        match self.peek()? {
            0x80 => self.null(0x80).map(|()| None),
            0xa1 => {
                let mut known = self.inside(0xa1)?;
                let time = known.time()?;
                known.is_done().then_some(Some(time))
            }
            _ => None,
        }
    }

    /// Arcs of an OBJECT IDENTIFIER, under `tag`. `None` also for arcs beyond 32 bits and for
    /// leading zeros.
    pub(super) fn arcs(&mut self, tag: u8) -> Option<Vec<u32>> {
        let octets = self.look(tag)?;
        let mut arcs = Vec::with_capacity(octets.len() + 1);
        let mut arc = 0u32;
        let mut begun = false;
        for &octet in octets {
            if !begun && octet == 0x80 || arc > u32::MAX >> 7 {
                return None;
            }
            arc = arc << 7 | u32::from(octet & 0x7f);
            begun = octet & 0x80 != 0;
            if begun {
                continue;
            }
            if arcs.is_empty() {
                let root = (arc / 40).min(2);
                arcs.push(root);
                arc -= root * 40;
            }
            arcs.push(arc);
            arc = 0;
        }
        (!begun && !arcs.is_empty()).then_some(arcs)
    }
}

#[cfg(test)]
mod tests {
    use super::Reader;
    use bytes::Bytes;

    fn integer(octets: &'static [u8]) -> Option<i64> {
        Reader::new(&Bytes::from_static(octets)).integer(2)
    }

    #[test]
    fn integers() {
        assert_eq!(integer(&[2, 1, 0]), Some(0));
        assert_eq!(integer(&[2, 1, 0xff]), Some(-1));
        assert_eq!(integer(&[2, 2, 0x00, 0x80]), Some(128));
        assert_eq!(integer(&[2, 2, 0xff, 0x7f]), Some(-129));
        assert_eq!(integer(&[2, 5, 0, 0xff, 0xff, 0xff, 0xff]), Some(0xffff_ffff));
        assert_eq!(integer(&[2, 0x81, 1, 5]), Some(5), "a longer length is one");
        for unusual in [
            &[2, 0][..],
            &[2, 2, 0, 1],
            &[2, 2, 0xff, 0x80],
            &[2, 6, 1, 0, 0, 0, 0, 0],
            &[2, 2, 1],
            &[2],
            &[],
            &[3, 1, 0],
            &[2, 0x80, 1, 0, 0],
        ] {
            assert_eq!(integer(unusual), None, "{unusual:?}");
        }
    }

    #[test]
    fn arcs() {
        let arcs = |octets: &'static [u8]| Reader::new(&Bytes::from_static(octets)).arcs(0x80);
        assert_eq!(arcs(&[0x80, 3, 0x2b, 0x70, 4]), Some(vec![1, 3, 112, 4]));
        assert_eq!(arcs(&[0x80, 2, 0x88, 0x37]), Some(vec![2, 999]));
        assert_eq!(arcs(&[0x80, 1, 0]), Some(vec![0, 0]));
        assert_eq!(arcs(&[0x80, 0]), None);
        assert_eq!(arcs(&[0x80, 2, 0x2b, 0x80]), None, "an arc without its end");
        assert_eq!(arcs(&[0x80, 7, 0x2b, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]), None, "too long");
    }
}
