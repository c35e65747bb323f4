//! Authorisation for requests besides echo: knowledge of the server's secret, which is never sent.
//!
//! The server sends a nonce, and the client answers with HMAC-SHA-256 (RFC 2104) of the nonce and
//! its request. An eavesdropper can neither replay nor change the request.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use std::sync::Arc;

/// Octets of the number that is used once.
pub const NONCE: usize = 32;
/// Octets of a proof.
pub const PROOF: usize = 32;

/// A secret that both sides know. Never printed.
#[derive(Clone)]
pub struct Token(Arc<str>);

impl Token {
    /// Makes a token from its letters.
    #[must_use]
    pub fn new(secret: &str) -> Self {
        Self(secret.into())
    }

    /// Proof of knowing the token, for one nonce and request.
    #[must_use]
    pub fn prove(&self, nonce: &[u8; NONCE], asked: &[u8]) -> [u8; PROOF] {
        self.mac(nonce, asked).map_or([0; PROOF], |mac| mac.finalize().into_bytes().into())
    }

    /// Whether this shows it. Takes the same time wherever the two differ.
    #[must_use]
    pub fn is_proved(&self, nonce: &[u8; NONCE], asked: &[u8], proof: &[u8; PROOF]) -> bool {
        self.mac(nonce, asked).is_some_and(|mac| mac.verify_slice(proof).is_ok())
    }

    /// `None` for keys that HMAC does not take; it takes all.
    fn mac(&self, nonce: &[u8], asked: &[u8]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.as_bytes()).ok()?;
        mac.update(nonce);
        mac.update(asked);
        Some(mac)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_good_for_one_number_and_one_thing() {
        let token = Token::new("a secret");
        let proof = token.prove(&[1; NONCE], b"this");
        assert!(token.is_proved(&[1; NONCE], b"this", &proof));
        assert!(!token.is_proved(&[2; NONCE], b"this", &proof));
        assert!(!token.is_proved(&[1; NONCE], b"that", &proof));
        assert!(!Token::new("another").is_proved(&[1; NONCE], b"this", &proof));
        assert_eq!(format!("{token:?}"), "Token(…)");
    }

    /// The expected value is that of Python's `hmac` module.
    #[test]
    fn others_compute_the_same() {
        let proof = Token::new("Jefe").prove(b"what do ya want for nothing?----", b"and more");
        let hex: String = proof.iter().map(|octet| format!("{octet:02x}")).collect();
        assert_eq!(hex, "80086d0a536afb2222856fb74e1babe13206958d12af8921e777fd88f3b636e1");
    }
}
