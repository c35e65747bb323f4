//! Credentials of ISP1: sender and time of an operation.
//!
//! A sender proves that it knows its password by a hash over the time, a random number, its name and
//! the password. The receiver computes the same hash with the same password. It refuses credentials
//! that are older than agreed or were received before. The operation itself is not protected. Sources: CCSDS
//! 913.1, §3 and annex; SHA-1 was the hash up to version 3 of the services, SHA-256 is since, and
//! implementations let operators choose.

use crate::time::{Now, Time};
use bytes::Bytes;
use rasn::prelude::*;
use rasn::types::{FixedOctetString, OctetString};
use sha1::Digest;
use std::collections::BTreeSet;
use std::fmt;

/// Octets that `Credentials.used` may have.
const OCTETS_MAX: usize = 256;

/// Hash algorithm of credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HashAlgorithm {
    /// SHA-1: 20 octets.
    Sha1,
    /// SHA-256: 32 octets.
    Sha256,
}

/// The expected sender of credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct CredentialsSender {
    /// Its name: the authority identifier of BIND.
    pub user: String,
    /// Its password.
    pub password: Vec<u8>,
    /// The hash that was agreed on.
    pub hash: HashAlgorithm,
}

impl fmt::Debug for CredentialsSender {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CredentialsSender")
            .field("user", &self.user)
            .field("hash", &self.hash)
            .finish_non_exhaustive()
    }
}

/// Why credentials are not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// The octets are not `ISP1Credentials`.
    #[error("the credentials are not ISP1Credentials: {reason}")]
    Structure {
        /// Message of the decoder.
        reason: String,
    },
    /// Their time is none.
    #[error("the time of the credentials is not a time of day")]
    Time,
    /// Made too long ago, or further ahead than that.
    #[error(
        "the credentials are {age_ns} ns old; the acceptable delay is {acceptable_delay_ns} ns either way"
    )]
    Stale {
        /// Age in nanoseconds; negative if the time is ahead of our clock.
        age_ns: i64,
        /// Acceptable delay, in nanoseconds.
        acceptable_delay_ns: u64,
    },
    /// Another hash algorithm, name or password was used.
    #[error("the credentials were not made by `{user}` with its password and {hash:?}")]
    Wrong {
        /// Expected sender.
        user: String,
        /// With which hash.
        hash: HashAlgorithm,
    },
    /// The credentials were received before.
    #[error("the same credentials were used before")]
    Replayed,
    /// Entries that old were removed from the memory, so that a replay cannot be excluded.
    #[error(
        "the credentials are older than the {entries_max} that are remembered: a replay cannot be excluded"
    )]
    Forgotten {
        /// Number of entries in the memory.
        entries_max: usize,
    },
}

/// `ISP1Credentials`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
struct Isp1Credentials {
    time: FixedOctetString<8>,
    /// 0 to 2,147,483,647 in the book; what else comes is hashed as it is.
    random: i64,
    #[rasn(size("20..=32"))]
    protected: OctetString,
}

impl Isp1Credentials {
    fn read(octets: &[u8]) -> Result<Self, AuthError> {
        if octets.len() > OCTETS_MAX {
            let reason = format!("{} octets, more than {OCTETS_MAX}", octets.len());
            return Err(AuthError::Structure { reason });
        }
        rasn::ber::decode(octets)
            .map_err(|error| AuthError::Structure { reason: error.kind.to_string() })
    }
}

/// The longest hash.
const PROTECTED_MAX: usize = 32;

/// Decoded credentials, without heap memory, because every operation has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ParsedCredentials {
    time: [u8; 8],
    random: i64,
    protected: Protected,
}

impl ParsedCredentials {
    /// Reads the form in which all implementations write it, and otherwise by the declaration.
    fn read(octets: &[u8]) -> Result<Self, AuthError> {
        if let Some(said) = Self::read_usual(octets) {
            return Ok(said);
        }
        let declared = Isp1Credentials::read(octets)?;
        let protected = Protected::new(&declared.protected);
        Ok(Self { time: *declared.time, random: declared.random, protected })
    }

    /// `None` where anything is not as DER has it: the declaration says what.
    fn read_usual(octets: &[u8]) -> Option<Self> {
        let [0x30, length, 0x04, 8, rest @ ..] = octets else { return None };
        let (time, rest) = rest.split_first_chunk()?;
        let [0x02, count @ 1..=4, rest @ ..] = rest else { return None };
        let (random, rest) = rest.split_at_checked((*count).into())?;
        let redundant = random.len() > 1 && random[0] == 0 && random[1] < 0x80;
        let [0x04, count @ 20..=32, rest @ ..] = rest else { return None };
        if random[0] >= 0x80 || redundant || rest.len() != usize::from(*count) {
            return None;
        }
        if usize::from(*length) + 2 != octets.len() {
            return None;
        }
        let random = random.iter().fold(0, |sum, octet| sum << 8 | i64::from(*octet));
        Some(Self { time: *time, random, protected: Protected::new(rest) })
    }

    /// Time of their making, in nanoseconds since 1970.
    fn utc_ns(&self) -> Result<u64, AuthError> {
        Time::Micro(self.time).utc_ns().ok_or(AuthError::Time)
    }
}

/// A hash of 20 to 32 octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Protected {
    octets: [u8; PROTECTED_MAX],
    length: usize,
}

impl Protected {
    /// Hash of at most [`PROTECTED_MAX`] octets, as declared.
    fn new(hash: &[u8]) -> Self {
        let length = hash.len().min(PROTECTED_MAX);
        let mut octets = [0; PROTECTED_MAX];
        octets[..length].copy_from_slice(&hash[..length]);
        Self { octets, length }
    }

    fn as_slice(&self) -> &[u8] {
        &self.octets[..self.length]
    }

    /// Compares in a time that does not depend on the position of a difference.
    fn equals_in_constant_time(&self, other: &Self) -> bool {
        let pairs = self.octets.iter().zip(&other.octets);
        let difference = pairs.fold(0, |sum, (one, other)| sum | (one ^ other));
        self.length == other.length && difference == 0
    }
}

/// Constructor of credentials.
#[derive(Clone, Copy, Debug)]
pub struct Credentials;

impl Credentials {
    /// Octets for `Credentials.used`, made by `user` (ASCII) at `time`; of a time in picoseconds
    /// the part beyond microseconds is left out. `random` makes those of one instant differ; it is
    /// in [0, 2^31 - 1], a highest bit is cut.
    #[must_use]
    pub fn make(
        hash: HashAlgorithm,
        user: &str,
        password: &[u8],
        time: Time,
        random: u32,
    ) -> Bytes {
        let time = match time {
            Time::Micro(octets) => octets,
            pico @ Time::Pico(_) => match Time::from_utc_ns(pico.utc_ns().unwrap_or(0)) {
                Time::Micro(octets) | Time::Pico([octets @ .., _, _]) => octets,
            },
        };
        let random = i64::from(random & 0x7fff_ffff);
        let protected = protected(hash, time, random, user.as_bytes(), password);
        let mut octets = Vec::with_capacity(56);
        der::sequence(&mut octets, |octets| {
            der::value(octets, der::OCTET_STRING, &time);
            der::integer(octets, random);
            der::value(octets, der::OCTET_STRING, protected.as_slice());
        });
        octets.into()
    }
}

/// Whether `peer` made these credentials, not longer ago, nor further ahead of our clock, than the
/// acceptable delay. Whether they were there before, [`ReplayGuard`] knows.
///
/// # Errors
/// [`AuthError`] says what is wrong with them.
pub fn verify(
    octets: &[u8],
    peer: &CredentialsSender,
    now: Now,
    acceptable_delay_ns: u64,
) -> Result<(), AuthError> {
    let said = ParsedCredentials::read(octets)?;
    let utc_ns = said.utc_ns()?;
    if now.utc_ns.abs_diff(utc_ns) > acceptable_delay_ns {
        let age_ns = i128::from(now.utc_ns) - i128::from(utc_ns);
        let age_ns = i64::try_from(age_ns).unwrap_or(i64::MAX);
        return Err(AuthError::Stale { age_ns, acceptable_delay_ns });
    }
    let CredentialsSender { user, password, hash } = peer;
    let expected = protected(*hash, said.time, said.random, user.as_bytes(), password);
    if !expected.equals_in_constant_time(&said.protected) {
        return Err(AuthError::Wrong { user: user.clone(), hash: *hash });
    }
    Ok(())
}

/// `theProtected`: the hash of the DER of `HashInput`.
fn protected(
    hash: HashAlgorithm,
    time: [u8; 8],
    random: i64,
    user: &[u8],
    password: &[u8],
) -> Protected {
    let mut input = Vec::with_capacity(64 + password.len());
    der::sequence(&mut input, |input| {
        der::value(input, der::OCTET_STRING, &time);
        der::integer(input, random);
        der::value(input, der::VISIBLE_STRING, user);
        der::value(input, der::OCTET_STRING, password);
    });
    match hash {
        HashAlgorithm::Sha1 => Protected::new(&sha1::Sha1::digest(&input)),
        HashAlgorithm::Sha256 => Protected::new(&sha2::Sha256::digest(&input)),
    }
}

/// Remembers which credentials were there, for as long as they would be taken.
///
/// It remembers [`ReplayGuard::ENTRIES_MAX`] (some megabytes); beyond, it gives up the oldest and
/// then takes none made before the last of those. The credentials of one honest association come in
/// the order in which they were made, or nearly, and do not notice. Those of a peer's several
/// associations come in no order of their own: each association has a guard, and the peer another,
/// which has the last word on a BIND alone (`association`).
#[derive(Debug)]
pub struct ReplayGuard {
    acceptable_delay_ns: u64,
    /// Time and first half of the hash. Octets are not kept, because BER allows several encodings.
    seen: BTreeSet<(u64, u128)>,
    /// Credentials made until then are refused.
    forgotten_utc_ns: u64,
}

impl ReplayGuard {
    /// Number of remembered credentials.
    pub const ENTRIES_MAX: usize = 1 << 17;

    /// Guard for credentials that are [`verify`]-ed with this delay, in nanoseconds.
    #[must_use]
    pub fn new(acceptable_delay_ns: u64) -> Self {
        Self { acceptable_delay_ns, seen: BTreeSet::new(), forgotten_utc_ns: 0 }
    }

    /// Takes credentials that [`verify`] has taken, once.
    ///
    /// # Errors
    /// [`AuthError::Replayed`], [`AuthError::Forgotten`].
    pub fn check(&mut self, octets: &[u8], now: Now) -> Result<(), AuthError> {
        let said = ParsedCredentials::read(octets)?;
        let utc_ns = said.utc_ns()?;
        while let Some((oldest, _)) = self.seen.first()
            && oldest.saturating_add(self.acceptable_delay_ns) < now.utc_ns
        {
            self.seen.pop_first();
        }
        if utc_ns <= self.forgotten_utc_ns {
            return Err(AuthError::Forgotten { entries_max: Self::ENTRIES_MAX });
        }
        let half = said.protected.octets.first_chunk().map_or(0, |half| u128::from_be_bytes(*half));
        if !self.seen.insert((utc_ns, half)) {
            return Err(AuthError::Replayed);
        }
        if self.seen.len() > Self::ENTRIES_MAX
            && let Some((oldest, _)) = self.seen.pop_first()
        {
            self.forgotten_utc_ns = oldest;
        }
        Ok(())
    }
}

/// The little DER that is written with every operation, without the declarations: it is hashed.
mod der {
    pub(super) const OCTET_STRING: u8 = 0x04;
    pub(super) const VISIBLE_STRING: u8 = 0x1a;

    pub(super) fn sequence(out: &mut Vec<u8>, contents: impl FnOnce(&mut Vec<u8>)) {
        out.push(0x30);
        let start = out.len();
        contents(out);
        match u8::try_from(out.len() - start) {
            Ok(short @ 0..0x80) => out.insert(start, short),
            _ => {
                let mut long = Vec::new();
                length(&mut long, out.len() - start);
                out.splice(start..start, long);
            }
        }
    }

    pub(super) fn value(out: &mut Vec<u8>, tag: u8, contents: &[u8]) {
        out.push(tag);
        length(out, contents.len());
        out.extend_from_slice(contents);
    }

    fn length(out: &mut Vec<u8>, length: usize) {
        match u8::try_from(length) {
            Ok(length @ 0..0x80) => out.push(length),
            _ => {
                let length = length.to_be_bytes();
                let zeros = length.iter().take_while(|octet| **octet == 0).count();
                let octets = &length[zeros..];
                out.push(0x80 | u8::try_from(octets.len()).unwrap_or(0)); // at most 8
                out.extend_from_slice(octets);
            }
        }
    }

    pub(super) fn integer(out: &mut Vec<u8>, number: i64) {
        let octets = number.to_be_bytes();
        // The first octet repeats the sign that the next one has already.
        let redundant = octets
            .windows(2)
            .take_while(|pair| pair[0] == if pair[1] & 0x80 == 0 { 0 } else { 0xff })
            .count();
        value(out, 0x02, &octets[redundant..]);
    }
}

#[cfg(test)]
mod tests;
