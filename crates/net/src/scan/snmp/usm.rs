//! The user-based security model: who asks is known by a password that is never sent (RFC 3414).

use super::super::hosts::Auth;
use super::coding::{OCTETS_MAX, decode, encode};
use super::error::SnmpError;
use super::usm_error::{STATISTICS, UsmError};
use aes::Aes128;
use cfb_mode::cipher::KeyIvInit;
use hmac::{Hmac, KeyInit, Mac};
use rasn::types::{Integer, OctetString};
use rasn_snmp::v2::{Pdu, Pdus};
use rasn_snmp::v3::{
    HeaderData, Message, ScopedPdu, ScopedPduData, SecurityParameters, USMSecurityParameters,
};
use sha1::{Digest, Sha1};
use sha2::Sha256;
use std::fmt;

const VERSION: u64 = 3;
const AUTH: u8 = 1;
const PRIVACY: u8 = 2;
const REPORTABLE: u8 = 4;
const SALT: usize = 8;
/// Octets of a password, repeated, that its key is made from (RFC 3414, A.2).
const PASSWORD_OCTETS: usize = 1 << 20;
/// Messages are not taken when their time is further off (RFC 3414, 2.2.3), in seconds.
const WINDOW_S: i64 = 150;

/// Keys of passwords, before an engine is known. Making them takes a hash of a mebibyte.
#[derive(Clone)]
pub struct Passwords {
    auth: Option<(Auth, Vec<u8>)>,
    privacy: Option<Vec<u8>>,
}

impl fmt::Debug for Passwords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passwords").finish_non_exhaustive()
    }
}

impl Passwords {
    /// Makes the keys from the passwords for authentication and encryption.
    #[must_use]
    pub fn new(auth: Option<(Auth, &str)>, privacy: Option<&str>) -> Self {
        let key = |hash: Auth, password: &str| {
            let repeated: Vec<u8> = password.bytes().cycle().take(PASSWORD_OCTETS).collect();
            digest(hash, &[&repeated])
        };
        Self {
            privacy: auth.and_then(|(hash, _)| Some(key(hash, privacy?))),
            auth: auth.map(|(hash, password)| (hash, key(hash, password))),
        }
    }

    /// The keys at an engine (RFC 3414, 2.6).
    fn localize(&self, engine: &[u8]) -> Keys {
        let local = |hash, key: &[u8]| digest(hash, &[key, engine, key]);
        let auth = self.auth.as_ref().map(|(hash, key)| (*hash, local(*hash, key)));
        let privacy = match (&self.auth, &self.privacy) {
            (Some((hash, _)), Some(key)) => local(*hash, key).first_chunk().copied(),
            _ => None,
        };
        Keys { auth, privacy }
    }
}

fn digest(hash: Auth, parts: &[&[u8]]) -> Vec<u8> {
    fn of<D: Digest>(parts: &[&[u8]]) -> Vec<u8> {
        let mut digest = D::new();
        parts.iter().for_each(|part| digest.update(part));
        digest.finalize().to_vec()
    }
    match hash {
        Auth::Sha1 => of::<Sha1>(parts),
        Auth::Sha256 => of::<Sha256>(parts),
    }
}

#[derive(Clone, Default)]
struct Keys {
    auth: Option<(Auth, Vec<u8>)>,
    privacy: Option<[u8; 16]>,
}

impl Keys {
    /// The code that signs `octets`; empty without authentication.
    fn sign(&self, octets: &[u8]) -> Vec<u8> {
        match &self.auth {
            None => Vec::new(),
            Some((Auth::Sha1, key)) => code::<Hmac<Sha1>>(key, octets, SHA1_OCTETS),
            Some((Auth::Sha256, key)) => code::<Hmac<Sha256>>(key, octets, SHA256_OCTETS),
        }
    }

    const fn signature_octets(&self) -> usize {
        match &self.auth {
            None => 0,
            Some((Auth::Sha1, _)) => SHA1_OCTETS,
            Some((Auth::Sha256, _)) => SHA256_OCTETS,
        }
    }
}

const SHA1_OCTETS: usize = 12; // HMAC-SHA-96
const SHA256_OCTETS: usize = 24; // HMAC-192-SHA-256

fn code<M: Mac + KeyInit>(key: &[u8], octets: &[u8], len: usize) -> Vec<u8> {
    // HMAC takes keys of any length.
    let Ok(mut mac) = <M as KeyInit>::new_from_slice(key) else { return Vec::new() };
    mac.update(octets);
    mac.finalize().into_bytes()[..len].to_vec()
}

/// State of one agent's engine, as far as it has reported it.
#[derive(Clone)]
pub(super) struct Usm {
    user: Vec<u8>,
    passwords: Passwords,
    engine: Vec<u8>,
    keys: Keys,
    boots: u32,
    /// The engine's time in seconds, and when it was so, on the monotonic clock.
    time: (i64, u64),
    salt: u64,
}

impl fmt::Debug for Usm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Usm").field("engine", &self.engine).finish_non_exhaustive()
    }
}

impl Usm {
    /// `salt` is where encryption's numbers begin: they must differ between runs.
    pub(super) fn new(user: &str, passwords: Passwords, salt: u64) -> Self {
        let user = user.as_bytes().to_vec();
        let keys = Keys::default();
        Self { user, passwords, engine: Vec::new(), keys, boots: 0, time: (0, 0), salt }
    }

    /// Whether the engine's id is known.
    pub(super) fn is_known(&self) -> bool {
        !self.engine.is_empty()
    }

    /// Begins anew, as with an agent that was started again.
    pub(super) fn forget(&mut self) {
        self.engine.clear();
        self.keys = Keys::default();
        (self.boots, self.time) = (0, (0, 0));
    }

    fn time_at(&self, now_ns: u64) -> i64 {
        let (time_s, at_ns) = self.time;
        let since_s = now_ns.saturating_sub(at_ns) / 1_000_000_000;
        time_s.saturating_add(i64::try_from(since_s).unwrap_or(i64::MAX))
    }

    /// A request's octets; as long as the engine is not known, one that makes it say who it is.
    pub(super) fn write(
        &mut self,
        request: i32,
        pdus: Pdus,
        now_ns: u64,
    ) -> Result<Vec<u8>, UsmError> {
        let known = self.is_known();
        let keys = if known { self.keys.clone() } else { Keys::default() };
        let mut flags = REPORTABLE;
        flags |= if keys.auth.is_some() { AUTH } else { 0 };
        flags |= if keys.privacy.is_some() { PRIVACY } else { 0 };
        let scoped = ScopedPdu {
            engine_id: OctetString::from_slice(&self.engine),
            name: OctetString::from_slice(&[]),
            data: pdus,
        };
        let time_s = if known { self.time_at(now_ns) } else { 0 };
        let (scoped_data, salt) = match keys.privacy {
            None => (ScopedPduData::CleartextPdu(scoped), Vec::new()),
            Some(key) => {
                self.salt = self.salt.wrapping_add(1);
                let salt = self.salt.to_be_bytes();
                let mut octets = encode(&scoped).map_err(form)?;
                cipher(&key, self.boots, time_s, &salt).0.encrypt(&mut octets);
                (ScopedPduData::EncryptedPdu(octets.into()), salt.to_vec())
            }
        };
        let parameters = USMSecurityParameters {
            authoritative_engine_id: OctetString::from_slice(&self.engine),
            authoritative_engine_boots: Integer::from(self.boots),
            authoritative_engine_time: Integer::from(time_s),
            user_name: OctetString::from_slice(if known { self.user.as_slice() } else { &[] }),
            authentication_parameters: vec![0; keys.signature_octets()].into(),
            privacy_parameters: salt.into(),
        };
        let parameters = encode(&parameters).map_err(form)?;
        let message = Message {
            version: Integer::from(VERSION),
            global_data: HeaderData {
                message_id: Integer::from(request),
                max_size: Integer::from(OCTETS_MAX as u64),
                flags: OctetString::from_slice(&[flags]),
                security_model: Integer::from(USMSecurityParameters::ID),
            },
            security_parameters: OctetString::from_slice(&parameters),
            scoped_data,
        };
        let mut octets = encode(&message).map_err(form)?;
        if keys.auth.is_some() {
            // The signature stands before the salt, at the end of the parameters.
            let tail = keys.signature_octets() + 2 + if keys.privacy.is_some() { SALT } else { 0 };
            let begin = find(&octets, &parameters).map(|at| at + parameters.len() - tail);
            let begin = begin.ok_or_else(|| UsmError::Form("its own".to_owned()))?;
            let signature = keys.sign(&octets);
            octets[begin..begin + signature.len()].copy_from_slice(&signature);
        }
        Ok(octets)
    }

    /// Content of an answer. Reports set the engine's id and time.
    pub(super) fn read(
        &mut self,
        message: &Message,
        octets: &[u8],
        now_ns: u64,
    ) -> Result<Pdus, UsmError> {
        let header = &message.global_data;
        if message.version != Integer::from(VERSION) {
            return Err(UsmError::Form("another version".to_owned()));
        }
        if header.security_model != Integer::from(USMSecurityParameters::ID) {
            return Err(UsmError::Form("another security model".to_owned()));
        }
        let flags = header.flags.first().copied().unwrap_or(0);
        let parameters: USMSecurityParameters =
            decode(&message.security_parameters).map_err(form)?;
        let engine = &parameters.authoritative_engine_id[..];
        let number = |integer: &Integer| i64::try_from(integer).ok().filter(|n| *n >= 0);
        let boots = number(&parameters.authoritative_engine_boots);
        let boots = boots.and_then(|boots| u32::try_from(boots).ok());
        let time_s = number(&parameters.authoritative_engine_time);
        let (Some(boots), Some(time_s)) = (boots, time_s) else {
            return Err(UsmError::Form("boots or time out of range".to_owned()));
        };
        let signed = flags & AUTH != 0;
        if signed {
            self.check_signature(octets, &parameters.authentication_parameters)?;
        }
        let pdus = match &message.scoped_data {
            ScopedPduData::CleartextPdu(scoped) => scoped.data.clone(),
            ScopedPduData::EncryptedPdu(encrypted) => {
                let salt = parameters.privacy_parameters.first_chunk::<SALT>();
                let (Some(key), Some(salt), true) = (self.keys.privacy, salt, signed) else {
                    return Err(UsmError::Encryption);
                };
                let mut octets = encrypted.to_vec();
                cipher(&key, boots, time_s, salt).1.decrypt(&mut octets);
                decode::<ScopedPdu>(&octets).map_err(|_| UsmError::Encryption)?.data
            }
        };
        if let Pdus::Report(report) = &pdus {
            return self.learn(&report.0, engine, boots, time_s, signed, now_ns).map(|()| pdus);
        }
        if engine != self.engine || !self.is_known() {
            return Err(UsmError::NoEngine);
        }
        if self.keys.auth.is_some() && !signed {
            return Err(UsmError::Signature);
        }
        if self.keys.privacy.is_some() && flags & PRIVACY == 0 {
            return Err(UsmError::Encryption);
        }
        let off_s = time_s.saturating_sub(self.time_at(now_ns));
        if signed && (boots != self.boots || off_s.abs() > WINDOW_S) {
            return Err(UsmError::Time(off_s));
        }
        self.time = (time_s, now_ns);
        Ok(pdus)
    }

    /// Processes a report: the agent's id and time, or the reason of its refusal.
    fn learn(
        &mut self,
        report: &Pdu,
        engine: &[u8],
        boots: u32,
        time_s: i64,
        signed: bool,
        now_ns: u64,
    ) -> Result<(), UsmError> {
        const NOT_IN_TIME: u32 = 2;
        const UNKNOWN_ENGINE: u32 = 4;
        let reason = report.variable_bindings.first();
        let reason = reason.and_then(|bind| bind.name.strip_prefix(&STATISTICS[..])?.first());
        let reason = reason.copied().unwrap_or(0);
        if reason == UNKNOWN_ENGINE && engine != self.engine {
            // 5 to 32 octets, RFC 3411. A forged id leads to a query that only the named engine
            // can answer.
            if !(5..=32).contains(&engine.len()) {
                return Err(UsmError::NoEngine);
            }
            self.engine = engine.to_vec();
            self.keys = self.passwords.localize(engine);
        } else if reason == NOT_IN_TIME && self.is_known() && engine == self.engine {
            // Time that is not signed is anybody's.
            if !signed {
                return Err(UsmError::Signature);
            }
        } else {
            return Err(UsmError::Refused(reason));
        }
        (self.boots, self.time) = (boots, (time_s, now_ns));
        Ok(())
    }

    fn check_signature(&self, octets: &[u8], signature: &[u8]) -> Result<(), UsmError> {
        let expected_octets = self.keys.signature_octets();
        let begin = find(octets, signature).filter(|_| signature.len() == expected_octets);
        let (Some(begin), true) = (begin, expected_octets > 0) else {
            return Err(UsmError::Signature);
        };
        let mut unsigned = octets.to_vec();
        unsigned[begin..begin + expected_octets].fill(0);
        let right = self.keys.sign(&unsigned);
        // In constant time, which does not reveal how much is right.
        let differs = right.iter().zip(signature).fold(0, |all, (a, b)| all | (a ^ b));
        if differs == 0 { Ok(()) } else { Err(UsmError::Signature) }
    }
}

fn form(error: SnmpError) -> UsmError {
    UsmError::Form(error.to_string())
}

fn find(octets: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() {
        return None;
    }
    octets.windows(part.len()).position(|window| window == part)
}

/// AES-128 in CFB mode, to encrypt and to decrypt (RFC 3826, 3.1.2.1: boots, time and salt are the
/// initialization vector).
fn cipher(
    key: &[u8; 16],
    boots: u32,
    time_s: i64,
    salt: &[u8; SALT],
) -> (cfb_mode::Encryptor<Aes128>, cfb_mode::Decryptor<Aes128>) {
    let mut vector = [0; 16];
    vector[..4].copy_from_slice(&boots.to_be_bytes());
    let time = u32::try_from(time_s).unwrap_or(u32::MAX);
    vector[4..8].copy_from_slice(&time.to_be_bytes());
    vector[8..].copy_from_slice(salt);
    let (key, vector) = (key.into(), (&vector).into());
    (cfb_mode::Encryptor::new(key, vector), cfb_mode::Decryptor::new(key, vector))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
        digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
    }

    /// RFC 3414, A.3.2.
    #[test]
    fn keys_of_the_standard() {
        let passwords = Passwords::new(Some((Auth::Sha1, "maplesyrup")), Some("maplesyrup"));
        let (_, key) = passwords.auth.as_ref().unwrap();
        assert_eq!(*key, hex("9fb5cc0381497b3793528939ff788d5d79145211"));
        let keys = passwords.localize(&hex("000000000000000000000002"));
        let local = hex("6695febc9288e36282235fc7151f128497b38f3f");
        assert_eq!(keys.auth.unwrap().1, local);
        assert_eq!(keys.privacy.unwrap(), local[..16]);
    }
}
