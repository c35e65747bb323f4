//! The secret that a request shows.

use std::fmt::{self, Write as _};
use std::sync::Arc;

/// A secret that both sides know; sent as `authorization: Bearer TOKEN`. Never printed.
#[derive(Clone)]
pub struct Token(Arc<str>);

/// Reason why a text cannot be a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The text is empty.
    #[error("the token is empty: use a secret of some 32 characters")]
    Empty,
    /// A character that cannot be sent in a header.
    #[error("byte {position} of the token is not a visible ASCII character")]
    NotVisible {
        /// Position of the character, from 0.
        position: usize,
    },
}

impl Token {
    /// A token out of a text; space around it (the line's end of a file) does not count.
    ///
    /// # Errors
    /// [`TokenError`] when it is empty or cannot stand in a header.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        match text.bytes().position(|byte| !byte.is_ascii_graphic()) {
            _ if text.is_empty() => Err(TokenError::Empty),
            Some(position) => Err(TokenError::NotVisible { position }),
            None => Ok(Self(text.into())),
        }
    }

    /// A token that is the digits of these bytes.
    pub(crate) fn of_hex(bytes: &[u8]) -> Self {
        Self(hex(bytes).into())
    }

    /// The secret itself.
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// Whether this is the shown token. Takes the same time wherever the two differ.
    pub(crate) fn is(&self, shown: &[u8]) -> bool {
        is_same(self.0.as_bytes(), shown)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Whether two secrets are the same. Takes the same time wherever they differ.
pub(crate) fn is_same(mine: &[u8], shown: &[u8]) -> bool {
    let differences = mine.iter().zip(shown).fold(0, |sum, (a, b)| sum | (a ^ b));
    std::hint::black_box(differences) == 0 && mine.len() == shown.len()
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}"); // a String takes everything
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_its_letters() {
        let token = Token::new(" s3same\n").unwrap();
        assert!(token.is(b"s3same"));
        for other in [&b"s3sam"[..], b"s3samee", b"S3same", b""] {
            assert!(!token.is(other), "{other:?}");
        }
        assert_eq!(format!("{token:?}"), "Token(…)");
        assert_eq!(Token::new("a b").unwrap_err(), TokenError::NotVisible { position: 1 });
        assert_eq!(Token::new("\n").unwrap_err(), TokenError::Empty);
    }
}
