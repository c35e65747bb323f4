//! A reader of BER in the definite form, over octets that are kept as they are.

use crate::time::Time;
use bytes::Bytes;

/// Reader of the octets of a PDU, or of a value in it.
///
/// Every method answers `None` for whatever is not in the usual form: too short, another tag, an
/// indefinite length, an integer with more octets than it needs.
#[derive(Clone, Copy)]
pub(crate) struct BerReader<'a> {
    /// The PDU, of which data become slices.
    pdu: &'a Bytes,
    /// The octets that were not read yet.
    rest: &'a [u8],
}

impl<'a> BerReader<'a> {
    /// At the beginning of a PDU.
    pub(crate) fn new(pdu: &'a Bytes) -> Self {
        Self { pdu, rest: pdu }
    }

    /// Whether everything has been read.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next identifier octet, which stays.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Passes an octet that has to be there: of an identifier of two, the first.
    #[inline]
    pub(crate) fn pass(&mut self, octet: u8) -> Option<()> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        (*first == octet).then_some(())
    }

    /// The contents of the next value, which has the identifier octet `tag` and a length in the
    /// definite form, of up to three octets after the first.
    #[inline]
    pub(crate) fn contents(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (length, after) = match *self.rest {
            [found, short @ 0..=0x7f, ref after @ ..] if found == tag => {
                (usize::from(short), after)
            }
            [found, 0x81, length, ref after @ ..] if found == tag => (usize::from(length), after),
            [found, 0x82, high, low, ref after @ ..] if found == tag => {
                (usize::from(high) << 8 | usize::from(low), after)
            }
            [found, 0x83, high, middle, low, ref after @ ..] if found == tag => {
                let high = usize::from(high) << 16;
                (high | usize::from(middle) << 8 | usize::from(low), after)
            }
            _ => return None,
        };
        let (contents, rest) = after.split_at_checked(length)?;
        self.rest = rest;
        Some(contents)
    }

    /// A reader of the contents of the next value.
    #[inline]
    pub(crate) fn inside(&mut self, tag: u8) -> Option<Self> {
        Some(Self { pdu: self.pdu, rest: self.contents(tag)? })
    }

    /// The contents of the next value, `min` to `max` octets: shared with the PDU.
    #[inline]
    pub(crate) fn string(&mut self, tag: u8, min: usize, max: usize) -> Option<Bytes> {
        let contents = self.contents(tag)?;
        if contents.len() < min || contents.len() > max {
            return None;
        }
        Some(self.pdu.slice_ref(contents))
    }

    /// NULL, under `tag`.
    #[inline]
    pub(crate) fn null(&mut self, tag: u8) -> Option<()> {
        self.contents(tag)?.is_empty().then_some(())
    }

    /// An INTEGER of up to five octets and no redundant one, under `tag`.
    #[inline]
    pub(crate) fn integer(&mut self, tag: u8) -> Option<i64> {
        let octets = self.contents(tag)?;
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
    pub(crate) fn number<T: TryFrom<i64>>(&mut self) -> Option<T> {
        T::try_from(self.integer(0x02)?).ok()
    }

    /// `Credentials`, or another CHOICE of NULL and OCTET STRING, of `min` to `max` octets.
    #[inline]
    pub(crate) fn optional(&mut self, min: usize, max: usize) -> Option<Option<Bytes>> {
        match self.peek()? {
            0x80 => self.null(0x80).map(|()| None),
            0x81 => self.string(0x81, min, max).map(Some),
            _ => None,
        }
    }

    /// `Time`.
    #[inline]
    pub(crate) fn time(&mut self) -> Option<Time> {
        match self.peek()? {
            0x80 => Some(Time::Micro(self.contents(0x80)?.try_into().ok()?)),
            0x81 => Some(Time::Pico(self.contents(0x81)?.try_into().ok()?)),
            _ => None,
        }
    }

    /// `ConditionalTime`.
    #[inline]
    pub(crate) fn conditional_time(&mut self) -> Option<Option<Time>> {
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
    pub(crate) fn arcs(&mut self, tag: u8) -> Option<Vec<u32>> {
        let octets = self.contents(tag)?;
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
    use super::BerReader;
    use bytes::Bytes;

    fn integer(octets: &'static [u8]) -> Option<i64> {
        BerReader::new(&Bytes::from_static(octets)).integer(2)
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
        let arcs = |octets: &'static [u8]| BerReader::new(&Bytes::from_static(octets)).arcs(0x80);
        assert_eq!(arcs(&[0x80, 3, 0x2b, 0x70, 4]), Some(vec![1, 3, 112, 4]));
        assert_eq!(arcs(&[0x80, 2, 0x88, 0x37]), Some(vec![2, 999]));
        assert_eq!(arcs(&[0x80, 1, 0]), Some(vec![0, 0]));
        assert_eq!(arcs(&[0x80, 0]), None);
        assert_eq!(arcs(&[0x80, 2, 0x2b, 0x80]), None, "an arc without its end");
        assert_eq!(arcs(&[0x80, 7, 0x2b, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]), None, "too long");
    }
}
