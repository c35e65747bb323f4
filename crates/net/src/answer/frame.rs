//! Frames over TCP: the length of what follows (four octets, big-endian), then that many octets,
//! the first four of which say what they are (docs/formats/answer.md).

use crate::probe::echo;

/// Octets of the length before a frame.
pub const PREFIX: usize = 4;
/// Longest frame, in octets without its length.
pub const OCTETS_MAX: usize = echo::OCTETS_MAX;
/// Shortest frame: what it is.
pub const OCTETS_MIN: usize = 4;

/// What a client sends.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A request of [`echo`], as it comes over UDP; it was turned into its reply already.
    Echo(&'a [u8]),
}

/// Octets that are no frame of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The length is none that a frame may have.
    #[error("a frame of {octets} octets: {OCTETS_MIN} to {OCTETS_MAX} expected")]
    Length {
        /// As it was said.
        octets: u32,
    },
    /// Nothing begins so.
    #[error("a frame that begins with {mark:02x?}: CHRq expected")]
    Mark {
        /// Its first octets.
        mark: [u8; 4],
    },
    /// It ends before what it has to have.
    #[error("a frame of {octets} octets is too short for what it says it is")]
    Short {
        /// Its length.
        octets: usize,
    },
}

/// The length that these octets say.
///
/// # Errors
/// [`FrameError::Length`].
pub fn length(prefix: [u8; PREFIX]) -> Result<usize, FrameError> {
    let octets = u32::from_be_bytes(prefix);
    let length = usize::try_from(octets).unwrap_or(usize::MAX);
    let range = OCTETS_MIN..=OCTETS_MAX;
    range.contains(&length).then_some(length).ok_or(FrameError::Length { octets })
}

/// The length as octets.
#[must_use]
pub fn prefix(length: usize) -> [u8; PREFIX] {
    u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes()
}

/// Reads a frame, without its length.
///
/// # Errors
/// [`FrameError`].
pub fn read(frame: &mut [u8]) -> Result<Frame<'_>, FrameError> {
    let octets = frame.len();
    let Some(mark) = frame.first_chunk().copied() else {
        return Err(FrameError::Short { octets });
    };
    match &mark {
        b"CHRq" if echo::reply(frame) => Ok(Frame::Echo(frame)),
        b"CHRq" => Err(FrameError::Short { octets }),
        _ => Err(FrameError::Mark { mark }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_is_turned() {
        let mut frame = *b"CHRq\0\0\0\0\0\0\0\x07and more";
        assert_eq!(read(&mut frame), Ok(Frame::Echo(b"CHRr\0\0\0\0\0\0\0\x07and more")));
    }

    #[test]
    fn what_is_no_frame_is_named() {
        assert_eq!(length([0, 0, 255, 227]), Ok(65_507));
        let error = length([0x16, 3, 1, 2]).unwrap_err().to_string();
        assert_eq!(error, "a frame of 369295618 octets: 4 to 65507 expected");
        assert_eq!(length([0, 0, 0, 3]), Err(FrameError::Length { octets: 3 }));
        let error = |octets: &[u8]| read(&mut octets.to_vec()).unwrap_err();
        assert_eq!(error(b"CHRq"), FrameError::Short { octets: 4 });
        let reply = FrameError::Mark { mark: *b"CHRr" };
        assert_eq!(error(b"CHRr and more of it"), reply, "never answered");
    }
}
