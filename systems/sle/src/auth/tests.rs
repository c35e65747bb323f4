use super::*;
use proptest::prelude::*;

const SECOND_NS: u64 = 1_000_000_000;
/// Time of [`credentials`], within 1 January 2026.
const MADE_NS: u64 = 1_767_225_600 * SECOND_NS + 123_456_000;

fn at(utc_ns: u64) -> Now {
    Now { monotonic_ns: 0, utc_ns }
}

fn station() -> CredentialsSender {
    CredentialsSender {
        user: "STATION".to_owned(),
        password: b"secret".to_vec(),
        hash: HashAlgorithm::Sha256,
    }
}

fn credentials(random: u32, utc_ns: u64) -> Bytes {
    Credentials::make(
        HashAlgorithm::Sha256,
        "STATION",
        b"secret",
        Time::from_utc_ns(utc_ns),
        random,
    )
}

#[test]
fn what_a_peer_made_is_taken_from_it_alone() {
    let made = credentials(7, MADE_NS);
    assert_eq!(verify(&made, &station(), at(MADE_NS), 0), Ok(()));
    let wrong = Err(AuthError::Wrong { user: "STATION".to_owned(), hash: HashAlgorithm::Sha256 });
    let other = CredentialsSender { password: b"Secret".to_vec(), ..station() };
    assert_eq!(verify(&made, &other, at(MADE_NS), 0), wrong);
    let other = CredentialsSender { user: "STATIOM".to_owned(), ..station() };
    let error = verify(&made, &other, at(MADE_NS), 0).unwrap_err().to_string();
    assert_eq!(error, "the credentials were not made by `STATIOM` with its password and Sha256");
    let other = CredentialsSender { hash: HashAlgorithm::Sha1, ..station() };
    assert!(matches!(verify(&made, &other, at(MADE_NS), 0), Err(AuthError::Wrong { .. })));
    // Every octet counts: structure, time, random number and hash.
    for position in 0..made.len() {
        let mut forged = made.to_vec();
        forged[position] ^= 1;
        assert!(verify(&forged, &station(), at(MADE_NS), SECOND_NS).is_err(), "{position}");
    }
}

#[test]
fn the_acceptable_delay_is_one_of_both_directions() {
    let made = credentials(7, MADE_NS);
    let delay = 180 * SECOND_NS;
    for now in [MADE_NS - delay, MADE_NS, MADE_NS + delay] {
        assert_eq!(verify(&made, &station(), at(now), delay), Ok(()));
    }
    for (now, age_ns) in
        [(MADE_NS - delay - 1, -180_000_000_001), (MADE_NS + delay + 1, 180_000_000_001)]
    {
        let stale = AuthError::Stale { age_ns, acceptable_delay_ns: delay };
        assert_eq!(verify(&made, &station(), at(now), delay), Err(stale));
    }
}

#[test]
fn what_is_no_credentials_says_so() {
    for octets in [&b""[..], b"garbage!", &[0x30, 0x80, 0, 0], &[0; 300], &[0xff; 16]] {
        let error = verify(octets, &station(), at(MADE_NS), SECOND_NS).unwrap_err();
        assert!(matches!(error, AuthError::Structure { .. }), "{octets:02x?}: {error}");
    }
    // A millisecond of the day that no day has.
    let made =
        Credentials::make(HashAlgorithm::Sha256, "STATION", b"secret", Time::Micro([0xff; 8]), 1);
    assert_eq!(verify(&made, &station(), at(MADE_NS), u64::MAX), Err(AuthError::Time));
}

#[test]
fn what_was_there_before_is_refused_also_in_another_encoding() {
    let mut guard = ReplayGuard::new(180 * SECOND_NS);
    let (one, other) = (credentials(7, MADE_NS), credentials(8, MADE_NS));
    assert_eq!(guard.check(&one, at(MADE_NS)), Ok(()));
    assert_eq!(guard.check(&other, at(MADE_NS)), Ok(()));
    assert_eq!(guard.check(&one, at(MADE_NS)), Err(AuthError::Replayed));
    assert_eq!(guard.check(&one, at(MADE_NS + 180 * SECOND_NS)), Err(AuthError::Replayed));
    // The same with an outer length in two octets instead of one.
    let again = [&[0x30, 0x81][..], &other[1..]].concat();
    assert_eq!(verify(&again, &station(), at(MADE_NS), 0), Ok(()));
    assert_eq!(guard.check(&again, at(MADE_NS)), Err(AuthError::Replayed));
}

/// When they are forgotten, they are stale: nothing is taken twice.
#[test]
fn memory_is_as_long_as_the_delay_and_bounded() {
    let delay = 180 * SECOND_NS;
    let mut guard = ReplayGuard::new(delay);
    assert_eq!(guard.check(&credentials(1, MADE_NS), at(MADE_NS)), Ok(()));
    let later = MADE_NS + delay + 1;
    assert_eq!(guard.check(&credentials(1, later), at(later)), Ok(()));
    assert_eq!(guard.seen.len(), 1);
    assert!(verify(&credentials(1, MADE_NS), &station(), at(later), delay).is_err());

    // The protected part need not be right here: to check that is `verify`'s.
    let made = |utc_ns: u64| {
        let Time::Micro(time) = Time::from_utc_ns(utc_ns) else { unreachable!() };
        let protected = OctetString::from(utc_ns.to_be_bytes().repeat(4));
        let credentials = Isp1Credentials { time: time.into(), random: 1, protected };
        rasn::der::encode(&credentials).unwrap()
    };
    let mut guard = ReplayGuard::new(delay);
    for number in 0..=u64::try_from(ReplayGuard::ENTRIES_MAX).unwrap() {
        let utc_ns = MADE_NS + number * 1000;
        assert_eq!(guard.check(&made(utc_ns), at(MADE_NS)), Ok(()));
    }
    assert_eq!(guard.seen.len(), ReplayGuard::ENTRIES_MAX);
    let forgotten = AuthError::Forgotten { entries_max: 131_072 };
    assert_eq!(guard.check(&made(MADE_NS), at(MADE_NS)), Err(forgotten));
    assert_eq!(guard.check(&made(MADE_NS + 1000), at(MADE_NS)), Err(AuthError::Replayed));
}

#[test]
fn a_password_is_not_in_what_is_printed() {
    assert_eq!(
        format!("{:?}", station()),
        "CredentialsSender { user: \"STATION\", hash: Sha256, .. }"
    );
}

proptest! {
    /// Our DER is the declaration's.
    #[test]
    fn credentials_are_as_declared(
        utc_ns in 0..4_000_000_000_000_000_000u64, random: u32, sha1: bool,
        user in "[!-~]{3,16}", password in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let hash = if sha1 { HashAlgorithm::Sha1 } else { HashAlgorithm::Sha256 };
        let time = Time::from_utc_ns(utc_ns);
        let made = Credentials::make(hash, &user, &password, time, random);
        let read: Isp1Credentials = rasn::der::decode(&made).unwrap();
        prop_assert_eq!(rasn::der::encode(&read).unwrap(), &made[..]);
        prop_assert_eq!(Time::Micro(*read.time), time);
        prop_assert_eq!(read.random, i64::from(random & 0x7fff_ffff));
        prop_assert_eq!(verify(&made, &CredentialsSender { user, password, hash }, at(utc_ns), 1000), Ok(()));
    }

    /// The quick way in is the declaration's, for credentials and for what is nearly such.
    #[test]
    fn what_is_read_the_quick_way_is_as_declared(
        made in prop::bool::ANY.prop_flat_map(|sha1| {
            let hash = if sha1 { HashAlgorithm::Sha1 } else { HashAlgorithm::Sha256 };
            (any::<u32>(), any::<[u8; 8]>()).prop_map(move |(random, time)| {
                Credentials::make(hash, "STATION", b"secret", Time::Micro(time), random)
            })
        }),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
    ) {
        prop_assert!(ParsedCredentials::read_usual(&made).is_some());
        let mut octets = made.to_vec();
        for (at, octet) in changes {
            octets[at.index(made.len())] = octet;
        }
        if let Some(said) = ParsedCredentials::read_usual(&octets) {
            let declared = Isp1Credentials::read(&octets).unwrap();
            prop_assert_eq!(said.time, *declared.time);
            prop_assert_eq!(said.random, declared.random);
            prop_assert_eq!(said.protected.as_slice(), &declared.protected[..]);
        }
    }

    #[test]
    fn octets_from_anywhere_are_refused_without_a_panic(
        octets in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        prop_assert!(verify(&octets, &station(), at(MADE_NS), u64::MAX).is_err());
    }
}
