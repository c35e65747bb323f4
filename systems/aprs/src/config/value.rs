//! Values of directives: numbers, intervals, switches, addresses, callsigns.

use super::fault::Fault;
use crate::callsign::Callsign;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// Longest interval: some ten years.
const INTERVAL_S_MAX: u64 = 10 * 366 * 86_400;

/// A decimal number of `min` to `max`.
pub(super) fn number(text: &str, min: u64, max: u64) -> Result<u64, Fault> {
    if text.is_empty() || !text.bytes().all(|octet| octet.is_ascii_digit()) {
        let expected = "digits only";
        return Err(Fault::BadValue { value: text.to_owned(), what: "number", expected });
    }
    text.parse().ok().filter(|value| (min..=max).contains(value)).ok_or_else(|| Fault::OutOfRange {
        value: text.to_owned(),
        min,
        max,
    })
}

/// A port. 0 lets the kernel choose, which is for tests.
pub(super) fn port(text: &str) -> Result<u16, Fault> {
    let port = number(text, 0, u64::from(u16::MAX))?;
    Ok(u16::try_from(port).unwrap_or(u16::MAX))
}

/// `600`, `5m`, `1d3h15m24s`: seconds where no unit is given, at least 1 s.
pub(super) fn interval(text: &str) -> Result<Duration, Fault> {
    let expected = "seconds, or numbers with s, m, h or d behind them, as in 1h30m";
    let bad = || Fault::BadValue { value: text.to_owned(), what: "interval", expected };
    let range = || Fault::OutOfRange { value: text.to_owned(), min: 1, max: INTERVAL_S_MAX };
    let mut total: u64 = 0;
    let mut digits: Option<u64> = None;
    for octet in text.bytes() {
        let unit = match octet.to_ascii_lowercase() {
            digit @ b'0'..=b'9' => {
                let value = digits.unwrap_or(0).checked_mul(10).ok_or_else(range)?;
                digits = Some(value.checked_add(u64::from(digit - b'0')).ok_or_else(range)?);
                continue;
            }
            b's' => 1,
            b'm' => 60,
            b'h' => 3600,
            b'd' => 86_400,
            _ => return Err(bad()),
        };
        let value = digits.take().ok_or_else(bad)?;
        total = value.checked_mul(unit).and_then(|s| total.checked_add(s)).ok_or_else(range)?;
    }
    if text.is_empty() {
        return Err(bad());
    }
    total = total.checked_add(digits.unwrap_or(0)).ok_or_else(range)?;
    if !(1..=INTERVAL_S_MAX).contains(&total) {
        return Err(range());
    }
    Ok(Duration::from_secs(total))
}

/// `yes`, `true`, `on`, `enable`, `enabled`, and their opposites.
pub(super) fn switch(text: &str) -> Result<bool, Fault> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "true" | "on" | "enable" | "enabled" => Ok(true),
        "no" | "false" | "off" | "disable" | "disabled" => Ok(false),
        _ => Err(Fault::BadValue {
            value: text.to_owned(),
            what: "switch",
            expected: "yes or no (or true, on, enable, false, off, disable)",
        }),
    }
}

/// A server's callsign: `min` to 9 letters and digits, perhaps with an SSID; in capitals.
pub(super) fn callsign(text: &str, min: usize) -> Result<Callsign, Fault> {
    let whole = text.bytes().all(|octet| octet.is_ascii_alphanumeric() || octet == b'-')
        && text.len() >= min
        && text.split('-').count() <= 2
        && text.split('-').all(|part| !part.is_empty());
    Callsign::new(text.to_ascii_uppercase().as_bytes()).filter(|_| whole).ok_or_else(|| {
        Fault::BadValue {
            value: text.to_owned(),
            what: "callsign of a server",
            expected: "three to nine letters and digits, perhaps with an SSID, as in T2NAME-1",
        }
    })
}

/// Resolver of host names: the system's, or a table in tests.
pub(super) type Resolve<'a> = &'a dyn Fn(&str) -> io::Result<Vec<IpAddr>>;

/// All addresses of a name, or the one that `text` is.
pub(super) fn addresses(text: &str, resolve: Resolve<'_>) -> Result<Vec<IpAddr>, Fault> {
    if let Ok(address) = text.trim_matches(['[', ']']).parse() {
        return Ok(vec![address]);
    }
    let reason = |reason: String| Fault::NoAddress { host: text.to_owned(), reason };
    if text.is_empty() {
        return Err(reason("the name is empty".to_owned()));
    }
    let found = resolve(text).map_err(|error| reason(error.to_string()))?;
    if found.is_empty() {
        return Err(reason("the name has none".to_owned()));
    }
    Ok(found)
}

/// `HOST:PORT`, `[ADDRESS]:PORT`: one address only.
pub(super) fn socket_address(text: &str, resolve: Resolve<'_>) -> Result<SocketAddr, Fault> {
    let expected = "ADDRESS:PORT, an IPv6 address in brackets";
    let bad = || Fault::BadValue { value: text.to_owned(), what: "address with port", expected };
    let (host, port_text) = text.rsplit_once(':').ok_or_else(bad)?;
    if host.starts_with('[') != host.ends_with(']')
        || (host.contains(':') && !host.starts_with('['))
    {
        return Err(bad());
    }
    let port = port(port_text)?;
    if port == 0 {
        return Err(Fault::OutOfRange { value: port_text.to_owned(), min: 1, max: 65_535 });
    }
    match addresses(host, resolve)?.as_slice() {
        [address] => Ok(SocketAddr::new(*address, port)),
        many => Err(Fault::NoAddress {
            host: host.to_owned(),
            reason: format!("there are {} of them, and only one can be used", many.len()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::{addresses, callsign, interval, number, socket_address, switch};
    use proptest::prelude::*;
    use std::io;
    use std::net::IpAddr;
    use std::time::Duration;

    #[allow(clippy::unnecessary_wraps)] // a resolver
    fn two(_: &str) -> io::Result<Vec<IpAddr>> {
        Ok(vec!["10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap()])
    }

    #[test]
    fn intervals_of_the_manual() {
        let s = |text| interval(text).map(|interval| interval.as_secs()).unwrap();
        assert_eq!((s("600"), s("600s"), s("5m"), s("2H")), (600, 600, 300, 7200));
        assert_eq!((s("1h30m"), s("1d3h15m24s"), s("1m5")), (5400, 98_124, 65));
        for bad in ["", "m", "5x", "-3", "1 h", "0", "0s", "99999999999999999999d", "400000000"] {
            assert!(interval(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_and_switches() {
        assert_eq!(number("0042", 1, 42), Ok(42));
        assert_eq!(number("43", 1, 42).unwrap_err().to_string(), "43 is not within 1 to 42");
        assert!(number("4a", 1, 42).is_err());
        assert_eq!((switch("Yes"), switch("disabled")), (Ok(true), Ok(false)));
        assert!(switch("maybe").is_err());
    }

    #[test]
    fn callsigns_of_servers() {
        assert_eq!(callsign("t2test-1", 3).unwrap().to_string(), "T2TEST-1");
        for bad in ["", "AB", "T2TOOLONG1", "T2*", "T2-", "-T2X", "A-B-C", "T2 X", "Ä2X"] {
            assert!(callsign(bad, 3).is_err(), "{bad}");
        }
    }

    #[test]
    fn addresses_and_ports() {
        let of = |text| socket_address(text, &two).map(|address| address.to_string());
        assert_eq!(of("127.0.0.1:16404").unwrap(), "127.0.0.1:16404");
        assert_eq!(of("[::1]:16504").unwrap(), "[::1]:16504");
        for bad in ["::1:16504", "[::1:5", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:x", "name:1"] {
            assert!(of(bad).is_err(), "{bad}");
        }
        assert_eq!(addresses("name", &two).unwrap().len(), 2);
        assert_eq!(addresses("::0", &two).unwrap(), ["::".parse::<IpAddr>().unwrap()]);
        assert!(addresses("x", &|_| Ok(Vec::new())).is_err());
    }

    proptest! {
        #[test]
        fn an_interval_is_the_sum_of_its_parts(d in 0u64..99, h in 0u64..99, m in 0u64..99, s in 1u64..99) {
            let total = d * 86_400 + h * 3600 + m * 60 + s;
            prop_assert_eq!(
                interval(&format!("{d}d{h}h{m}m{s}s")),
                Ok(Duration::from_secs(total))
            );
        }
    }
}
