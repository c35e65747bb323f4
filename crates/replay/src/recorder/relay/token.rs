//! Tokens of the sockets that a relay waits for.

use mio::Token;

/// Tokens: what they stand for is in the lowest two bits.
pub(super) const LISTENER: usize = 0;

pub(super) const OUTSIDE: usize = 1;

pub(super) const INSIDE: usize = 2;

pub(super) const SENDER: usize = 3;

pub(super) const fn token(kind: usize, index: usize) -> Token {
    Token(index << 2 | kind)
}
