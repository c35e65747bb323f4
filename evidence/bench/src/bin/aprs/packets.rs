//! Packets as on APRS-IS, from a seed: each line is new, and contains the number of its sender and
//! its instant. A receiver can thus detect missing, doubled and late packets.
//!
//! Shares: position 62 %, weather 12 %, object 8 %, message 6 %, telemetry 6 %, status 6 %; mean
//! 82 octets with CR LF, as was measured on the network. Stations are around cities.

use chronoscope_statistics::Random;
use std::fmt::Write as _;

/// Octets at the end of every line, before CR LF: 1 of sender, 7 of number, 12 of time, in
/// hexadecimal.
pub(crate) const MARK_LEN: usize = 20;
/// Sender in the marks of clients that come in bursts, send little and leave.
pub(crate) const BURST_SENDER: u8 = 15;

/// Centres of population: latitude and longitude in degrees.
const CITIES: [(f64, f64); 40] = [
    (60.2, 24.9),
    (59.3, 18.1),
    (55.7, 12.6),
    (52.5, 13.4),
    (48.1, 11.6),
    (50.1, 8.7),
    (48.9, 2.4),
    (51.5, -0.1),
    (53.5, -2.2),
    (40.4, -3.7),
    (41.9, 12.5),
    (45.5, 9.2),
    (48.2, 16.4),
    (50.1, 14.4),
    (52.2, 21.0),
    (47.5, 19.1),
    (37.98, 23.7),
    (55.8, 37.6),
    (40.7, -74.0),
    (42.4, -71.1),
    (38.9, -77.0),
    (33.7, -84.4),
    (25.8, -80.2),
    (41.9, -87.6),
    (32.8, -96.8),
    (29.8, -95.4),
    (39.7, -105.0),
    (33.4, -112.1),
    (34.1, -118.2),
    (37.8, -122.4),
    (47.6, -122.3),
    (45.5, -73.6),
    (43.7, -79.4),
    (49.3, -123.1),
    (-23.5, -46.6),
    (-34.6, -58.4),
    (35.7, 139.7),
    (34.7, 135.5),
    (-33.9, 151.2),
    (-37.8, 145.0),
];

/// A place near a city, in degrees: within some 2° of it, denser near it.
pub(crate) fn place(random: &mut Random) -> (f64, f64) {
    let (latitude, longitude) = CITIES[usize::try_from(random.below(40)).unwrap_or(0)];
    let mut spread = || (random.share() + random.share() + random.share() - 1.5) * 1.4;
    (latitude + spread(), longitude + spread())
}

/// A station that sends packets.
#[derive(Clone, Debug)]
struct Station {
    call: String,
    latitude: f64,
    longitude: f64,
    /// Path of its packets.
    path: &'static str,
}

/// Generator of packets.
#[derive(Debug)]
pub(crate) struct Packets {
    random: Random,
    stations: Vec<Station>,
    body: String,
}

impl Packets {
    /// `station_count` stations, all from `seed`.
    pub(crate) fn new(seed: u64, station_count: usize) -> Self {
        let mut random = Random(seed);
        let stations = (0..station_count).map(|number| station(number, &mut random)).collect();
        Self { random, stations, body: String::new() }
    }

    /// Appends the line of a new packet, CR LF included, that `login` puts on the network: the
    /// `number`th of `sender` (in [0, 15]) at `time_ns` of the monotonic clock.
    pub(crate) fn line(
        &mut self,
        login: &str,
        sender: u8,
        number: u32,
        time_ns: u64,
        line: &mut String,
    ) {
        let random = &mut self.random;
        let index = usize::try_from(random.below(self.stations.len() as u64)).unwrap_or(0);
        let station = &mut self.stations[index];
        station.latitude += (random.share() - 0.5) * 0.002;
        station.longitude += (random.share() - 0.5) * 0.002;
        self.body.clear();
        body(&mut self.body, station, random);
        let (call, path) = (&station.call, station.path);
        // Writing into a string cannot fail.
        let _ = write!(line, "{call}>APRS{path},qAR,{login}:{}", self.body);
        write_mark(line, sender, number, time_ns);
    }
}

/// Ends a line: with the mark of the `number`th packet of `sender` (in [0, 15]) at `time_ns` of the
/// monotonic clock, and CR LF.
pub(crate) fn write_mark(line: &mut String, sender: u8, number: u32, time_ns: u64) {
    // Writing into a string cannot fail.
    let _ = write!(line, "{sender:01x}{number:07x}{:012x}\r\n", time_ns & ((1 << 48) - 1));
}

fn station(number: usize, random: &mut Random) -> Station {
    let (latitude, longitude) = place(random);
    let letter = |value: u64| char::from(b'A' + u8::try_from(value % 26).unwrap_or(0));
    let mut call = String::new();
    call.push(letter(random.bits()));
    call.push(letter(random.bits()));
    let _ = write!(call, "{}", number % 10);
    (0..3).for_each(|_| call.push(letter(random.bits())));
    if random.below(2) == 0 {
        let _ = write!(call, "-{}", 1 + random.below(15));
    }
    let paths = [",WIDE1-1", ",OH2RDK*", ",WIDE2-2", "", ""];
    let path = paths[usize::try_from(random.below(5)).unwrap_or(0)];
    Station { call, latitude, longitude, path }
}

/// All after the colon but the mark.
fn body(text: &mut String, station: &Station, random: &mut Random) {
    let place = uncompressed(station.latitude, station.longitude, b"/\\", random);
    let comment = COMMENTS[usize::try_from(random.below(8)).unwrap_or(0)];
    let number = random.below(1000);
    let _ = match random.below(100) {
        0..62 => write!(text, "!{place}{comment}"),
        62..74 => write!(text, "!{place}_{number:03}/004g005t077h50b09900 "),
        74..82 => write!(text, ";OBJ{number:03}   *111111z{place}{comment}"),
        82..88 => write!(text, ":{:<9}:{comment}", station.call),
        88..94 => write!(text, "T#{number:03},{},120,093,000,255,00000000 ", random.below(256)),
        _ => write!(text, ">{comment} {number} "),
    };
}

const COMMENTS: [&str; 8] = [
    "",
    "on the air ",
    "APRS in the car ",
    "/A=000123 ",
    "on 145.500 ",
    "QRV ",
    "digi and igate, 12.4V 21C ",
    "073/036 ",
];

/// `DDMM.mmN/DDDMM.mmE-`, as the protocol writes places.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn uncompressed(latitude: f64, longitude: f64, tables: &[u8], random: &mut Random) -> String {
    let minutes = |degrees: f64| (degrees.abs() * 6000.0).round() as u32;
    let (north, east) =
        (minutes(latitude.clamp(-89.9, 89.9)), minutes(longitude.clamp(-179.9, 179.9)));
    let ns = if latitude < 0.0 { 'S' } else { 'N' };
    let ew = if longitude < 0.0 { 'W' } else { 'E' };
    let table = char::from(tables[usize::try_from(random.below(5)).unwrap_or(0) / 4]);
    let symbol = char::from(b"->#kj"[usize::try_from(random.below(5)).unwrap_or(0)]);
    let (nd, nm, nc) = (north / 6000, north % 6000 / 100, north % 100);
    let (ed, em, ec) = (east / 6000, east % 6000 / 100, east % 100);
    format!("{nd:02}{nm:02}.{nc:02}{ns}{table}{ed:03}{em:02}.{ec:02}{ew}{symbol}")
}

/// Content of a mark: sender, number, the low 48 bits of the instant in nanoseconds.
pub(crate) fn mark(line: &[u8]) -> Option<(u8, u32, u64)> {
    let mark = line.last_chunk::<MARK_LEN>()?;
    let number = |digits: &[u8]| {
        let mut value = 0u64;
        for digit in digits {
            value = value << 4 | u64::from(DIGITS[usize::from(*digit)]);
        }
        value
    };
    if mark.iter().any(|digit| DIGITS[usize::from(*digit)] > 15) {
        return None;
    }
    let sender = DIGITS[usize::from(mark[0])];
    Some((sender, u32::try_from(number(&mark[1..8])).ok()?, number(&mark[8..])))
}

/// The value of a hexadecimal digit, 255 for anything else.
static DIGITS: [u8; 256] = {
    let mut digits = [255; 256];
    let mut value = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value as usize] as usize] = value;
        value += 1;
    }
    digits
};

#[cfg(test)]
mod tests {
    use super::{Packets, mark};

    #[test]
    fn marks_are_read_and_the_mean_length_is_that_of_the_network() {
        let mut packets = Packets::new(1, 1000);
        let mut octets = 0;
        for number in 0..10_000u32 {
            let mut line = String::new();
            packets.line("BENCH-1", 3, number, 1_000_000 + u64::from(number), &mut line);
            octets += line.len();
            let marked = mark(line.trim_end().as_bytes());
            assert_eq!(marked, Some((3, number, 1_000_000 + u64::from(number))));
        }
        assert!((78..86).contains(&(octets / 10_000)), "{}", octets / 10_000);
    }
}
