//! Frames over TCP: the length of the rest (four octets, big-endian), then that many octets, the
//! first four of which give the type (docs/formats/answer.md).

use super::token::{NONCE, PROOF};
use crate::probe::echo;

/// Octets of the length before a frame.
pub const PREFIX: usize = 4;
/// Longest frame, in octets without its length.
pub const OCTETS_MAX: usize = echo::OCTETS_MAX;
/// Shortest frame: its type alone.
pub const OCTETS_MIN: usize = 4;

/// Frame from a client.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A request of [`echo`], as over UDP; it has been turned into its reply already.
    Echo(&'a [u8]),
    /// The client asks for a nonce, for a later request.
    Hello,
    /// A request with a proof.
    Ask {
        /// Proof that the client knows the server's token; zeros where there is none.
        proof: [u8; PROOF],
        /// For what, in JSON.
        json: &'a [u8],
    },
}

/// Type of a frame that asks for a nonce.
pub const HELLO: &[u8; 4] = b"CHRh";
/// Type of a frame with a nonce.
pub const NUMBER: &[u8; 4] = b"CHRn";
/// Type of a request frame: a proof and JSON follow.
pub const ASK: &[u8; 4] = b"CHRa";
/// Type of the answer frame: JSON follows.
pub const ANSWER: &[u8; 4] = b"CHRb";

/// Octets that are no frame of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The length is none that a frame may have.
    #[error("a frame of {octets} octets: {OCTETS_MIN} to {OCTETS_MAX} expected")]
    Length {
        /// Length in the frame.
        octets: u32,
    },
    /// The type is unknown.
    #[error("a frame that begins with {mark:02x?}: CHRq, CHRh or CHRa expected")]
    Mark {
        /// First octets of the frame.
        mark: [u8; 4],
    },
    /// The frame is longer than its type allows.
    #[error("a frame of {octets} octets is too long for its type")]
    Long {
        /// Length of the frame.
        octets: usize,
    },
    /// The frame is shorter than its type needs.
    #[error("a frame of {octets} octets is too short for its type")]
    Short {
        /// Length of the frame.
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
        HELLO if octets == HELLO.len() => Ok(Frame::Hello),
        HELLO => Err(FrameError::Long { octets }),
        ASK => match frame[ASK.len()..].split_first_chunk() {
            Some((proof, json)) => Ok(Frame::Ask { proof: *proof, json }),
            None => Err(FrameError::Short { octets }),
        },
        b"CHRq" if echo::reply(frame) => Ok(Frame::Echo(frame)),
        b"CHRq" => Err(FrameError::Short { octets }),
        _ => Err(FrameError::Mark { mark }),
    }
}

/// A whole frame of these parts, with its length before it.
#[must_use]
pub fn frame(parts: &[&[u8]]) -> Vec<u8> {
    let mut octets = prefix(parts.iter().map(|part| part.len()).sum()).to_vec();
    parts.iter().for_each(|part| octets.extend_from_slice(part));
    octets
}

/// The number in the answer to [`HELLO`], without its length.
#[must_use]
pub fn number(frame: &[u8]) -> Option<[u8; NONCE]> {
    frame.strip_prefix(NUMBER)?.try_into().ok()
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
    fn a_question_has_a_proof_before_it() {
        let mut octets = frame(&[ASK, &[7; PROOF], b"{}"]);
        assert_eq!(octets.first_chunk().copied().map(length), Some(Ok(38)));
        assert_eq!(read(&mut octets[4..]), Ok(Frame::Ask { proof: [7; PROOF], json: b"{}" }));
        assert_eq!(read(&mut octets[4..20]), Err(FrameError::Short { octets: 16 }));
        assert_eq!(read(&mut b"CHRh".to_vec()), Ok(Frame::Hello));
        assert_eq!(read(&mut b"CHRhi".to_vec()), Err(FrameError::Long { octets: 5 }));
        let given = frame(&[NUMBER, &[9; NONCE]]);
        assert_eq!((number(&given[4..]), number(&given[4..35])), (Some([9; NONCE]), None));
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
