//! Octets into lines.

use std::borrow::Cow;

/// Longest line, in octets without its end; a longer line is left out. The size is that of aprsc's
/// input buffer: a packet has to be shorter, but a login line with a filter may be this long.
pub(super) const LINE_LEN_MAX: usize = 8000;

/// Most octets of a line that are left out, beyond [`LINE_LEN_MAX`]. Who sends more without a line's
/// end does not speak this protocol and is to be cut. aprsc cuts where its input buffer is full.
const LEFT_OUT_MAX: usize = 128 << 10;

/// Puts lines together that come in pieces. Each of CR and LF ends a line, empty lines are none.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The beginning of a line whose end has not come; mostly there is none.
    partial: Option<Box<Partial>>,
}

/// The beginning of a line.
#[derive(Debug, Default)]
struct Partial {
    octets: Vec<u8>,
    /// The line is too long: the rest of it is left out.
    overlong: bool,
    /// Octets of it that were left out.
    left_out: usize,
}

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReceivedLine<'a> {
    Whole(Cow<'a, [u8]>),
    /// First octets of the line.
    TooLong(Vec<u8>),
}

impl Lines {
    pub(super) fn restore(octets: Vec<u8>, overlong: bool) -> Self {
        let is_there = !octets.is_empty() || overlong;
        let partial = Partial { octets, overlong, left_out: 0 };
        Self { partial: is_there.then(|| Box::new(partial)) }
    }

    /// Whether the current line has no end within reason.
    pub(super) fn is_endless(&self) -> bool {
        self.partial.as_ref().is_some_and(|partial| partial.left_out > LEFT_OUT_MAX)
    }

    pub(super) fn partial(&self) -> (&[u8], bool) {
        self.partial.as_ref().map_or((&[], false), |partial| (&partial.octets, partial.overlong))
    }

    /// Takes the next line off `bytes`; `None` when the rest is kept for later.
    pub(super) fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<ReceivedLine<'a>> {
        loop {
            let Some(end) = memchr::memchr2(b'\r', b'\n', bytes) else {
                if !bytes.is_empty() {
                    self.partial.get_or_insert_default().extend(bytes);
                }
                *bytes = &[];
                return None;
            };
            let (line, rest) = bytes.split_at(end);
            *bytes = &rest[1..];
            if self.partial.is_none() && line.len() <= LINE_LEN_MAX {
                if !line.is_empty() {
                    return Some(ReceivedLine::Whole(Cow::Borrowed(line)));
                }
                continue;
            }
            let mut partial = self.partial.take().unwrap_or_default();
            partial.extend(line);
            return Some(match partial.overlong {
                true => ReceivedLine::TooLong(partial.octets),
                false => ReceivedLine::Whole(Cow::Owned(partial.octets)),
            });
        }
    }
}

impl Partial {
    fn extend(&mut self, piece: &[u8]) {
        let room = LINE_LEN_MAX - self.octets.len();
        self.overlong |= piece.len() > room;
        self.left_out += piece.len().saturating_sub(room);
        self.octets.extend_from_slice(&piece[..piece.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::{LINE_LEN_MAX, Lines, ReceivedLine};
    use proptest::prelude::*;

    fn split(pieces: &[&[u8]]) -> Vec<Result<Vec<u8>, usize>> {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        for piece in pieces {
            let mut rest = *piece;
            while let Some(line) = lines.next(&mut rest) {
                found.push(match line {
                    ReceivedLine::Whole(line) => Ok(line.into_owned()),
                    ReceivedLine::TooLong(line) => Err(line.len()),
                });
            }
        }
        found
    }

    #[test]
    fn each_of_cr_and_lf_ends_a_line_and_empty_ones_are_none() {
        let lines = split(&[b"a\r\nb\nc\r\r\n\nd"]);
        assert_eq!(lines, [Ok(b"a".to_vec()), Ok(b"b".to_vec()), Ok(b"c".to_vec())]);
    }

    #[test]
    fn a_line_without_end_does_not_fill_the_memory() {
        let long = vec![b'x'; LINE_LEN_MAX];
        assert_eq!(split(&[&long, b"\n"]), [Ok(long.clone())]);
        assert_eq!(split(&[&long, &long, b"y\nz\n"]), [Err(LINE_LEN_MAX), Ok(b"z".to_vec())]);
        let whole = [&long[..], b"x\nz\n"].concat();
        assert_eq!(split(&[&whole]), [Err(LINE_LEN_MAX), Ok(b"z".to_vec())]);
    }

    #[test]
    fn a_line_of_a_megabyte_is_endless() {
        let mut lines = Lines::default();
        for _ in 0..1 << 8 {
            assert_eq!(lines.next(&mut &[b'x'; 512][..]), None);
        }
        assert!(!lines.is_endless(), "128 KiB are not");
        for _ in 0..1 << 11 {
            assert_eq!(lines.next(&mut &[b'x'; 512][..]), None);
        }
        assert!(lines.is_endless());
        let mut rest = &b"\nshort\n"[..];
        assert!(matches!(lines.next(&mut rest), Some(ReceivedLine::TooLong(_))));
        assert!(!lines.is_endless(), "the next line is another");
    }

    proptest! {
        /// Where the pieces are cut changes nothing.
        #[test]
        fn pieces_do_not_matter(
            text in proptest::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), any::<u8>()], 0..200),
            cuts in proptest::collection::vec(0_usize..200, 0..8),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
            prop_assert_eq!(split(&pieces), split(&[&text]));
        }
    }
}
