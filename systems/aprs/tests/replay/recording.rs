//! What an APRS-IS server receives in some minutes, made up from a seed: a feed as an uplink brings
//! it, igates that report some of it again, clients with filters of every kind, messages with their
//! acknowledgements, packets by UDP, questions to the status port, and the packets of the corpus,
//! those that have to be dropped among them.

use chronoscope_replay::capture::{CaptureWriter, ConnectionWriter};
use chronoscope_statistics::Random;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;

/// UTC at the beginning, ns since 1970: 2026-07-01T12:00:00Z.
const START_NS: u64 = 1_782_907_200_000_000_000;
/// Length, in milliseconds.
const LENGTH_MS: u64 = 195_000;
/// Between two segments of the feed, in milliseconds.
const FEED_EVERY_MS: u64 = 250;
const STATIONS: usize = 150;

const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const FULL: u16 = 10_152;
const IGATE: u16 = 14_580;
const STATUS: u16 = 14_501;
const SUBMIT: u16 = 8080;

/// Clients of the filtered port: callsign, and the filter of their login.
pub(crate) const CLIENTS: [(&str, &str); 10] = [
    ("N0RNG", "r/50.0/9.0/300"),
    ("N0ARE", "a/55/0/45/15"),
    ("N0BUD", "b/DL1*/OH2KKU-1"),
    ("N0PRE", "p/OE/F5"),
    ("N0TYP", "t/wm"),
    ("N0SYM", "s/_/#"),
    ("N0OBJ", "o/HARBOR* -p/OE"),
    ("N0FRD", "f/DL1AAA/100"),
    ("N0MYR", "m/200"),
    ("N0CHG", "t/p"),
];

struct Station {
    call: String,
    lat_deg: f64,
    lon_deg: f64,
    packets: u32,
}

fn stations(random: &mut Random) -> Vec<Station> {
    let mut one = |number: usize| {
        let prefix = ["DL1", "OE3", "F5", "OH2", "G4", "HB9"][number % 6];
        let letter = |n: usize| char::from(b'A' + u8::try_from(n % 26).unwrap());
        let ssid = ["", "-9", "-7", "-10"][number % 4];
        let call = format!("{prefix}A{}{}{ssid}", letter(number / 26), letter(number));
        let (lat_deg, lon_deg) = (44.0 + 12.0 * random.share(), 1.0 + 15.0 * random.share());
        Station { call, lat_deg, lon_deg, packets: 0 }
    };
    (0..STATIONS).map(&mut one).collect()
}

/// Degrees and hundredths of minutes, as positions without compression have them.
fn position(station: &Station, table: char, symbol: char) -> String {
    let parts = |deg: f64| (deg.trunc(), deg.fract() * 60.0);
    let ((lat, lat_min), (lon, lon_min)) = (parts(station.lat_deg), parts(station.lon_deg));
    format!("{lat:02.0}{lat_min:05.2}N{table}{lon:03.0}{lon_min:05.2}E{symbol}")
}

/// The next packet of a station, without its line's end.
fn packet(station: &mut Station, random: &mut Random) -> String {
    station.packets += 1;
    station.lat_deg += 0.002 * (random.share() - 0.5);
    station.lon_deg += 0.002 * (random.share() - 0.5);
    let igate = ["DB0IGT", "OE1GTW-10", "F1GATE"][random.place(3)];
    let number = station.packets;
    let body = match random.place(10) {
        0 | 1 => format!("!{}220/004g005t077r000h50b0990{number}", position(station, '/', '_')),
        2 => format!(">under way, day {number}"),
        3 => format!("T#{number:03},199,000,255,073,123,01101001"),
        4 => format!(";HARBOR{:03}*010000z{}moored", number % 1000, position(station, '/', 'Y')),
        5 => format!("={}#digipeater", position(station, '\\', '#')),
        _ => format!("!{}{:03}/036 on tour", position(station, '/', '>'), number % 360),
    };
    format!("{}>APRS,WIDE1-1,qAR,{igate}:{body}", station.call)
}

/// Packets of the corpus, in the order of their names.
fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/aprs_packet");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths.collect();
    paths.sort();
    let lines = paths.iter().map(|path| std::fs::read(path).unwrap());
    lines.filter(|line| line.len() < 600 && !line.contains(&b'\n')).collect()
}

/// Everything that is sent, in the order of its times.
struct Recording {
    events: Vec<(u64, usize, Event)>,
}

enum Event {
    Open(SocketAddrV4, u16),
    Send(SocketAddrV4, u16, Vec<u8>),
    Close(SocketAddrV4, u16),
    Datagram(SocketAddrV4, Vec<u8>),
}

impl Recording {
    fn at(&mut self, at_ms: u64, event: Event) {
        self.events.push((at_ms, self.events.len(), event));
    }

    fn say(&mut self, at_ms: u64, from: SocketAddrV4, port: u16, words: &str) {
        self.at(at_ms, Event::Send(from, port, words.as_bytes().to_vec()));
    }

    fn login(&mut self, at_ms: u64, from: SocketAddrV4, port: u16, words: &str) {
        self.at(at_ms, Event::Open(from, port));
        self.say(at_ms + 40, from, port, &format!("user {words}\r\n"));
    }

    fn write<W: io::Write>(mut self, out: W) -> io::Result<W> {
        self.events.sort_by_key(|(at_ms, number, _)| (*at_ms, *number));
        let mut out = ConnectionWriter::new(CaptureWriter::new(out)?);
        let to = |port| SocketAddrV4::new(SERVER, port);
        for (at_ms, _, event) in self.events {
            let at_ns = START_NS + at_ms * 1_000_000;
            match event {
                Event::Open(from, port) => out.open(at_ns, from, to(port))?,
                Event::Send(from, port, octets) => out.send(at_ns, from, to(port), &octets)?,
                Event::Close(from, port) => out.close(at_ns, from, to(port))?,
                Event::Datagram(from, octets) => {
                    out.capture().datagram(at_ns, from, to(SUBMIT), &octets)?;
                }
            }
        }
        out.finish()
    }
}

fn client(number: u8) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::new(10, 3, 0, number), 41_000 + u16::from(number))
}

fn logged_in(call: &str) -> String {
    format!("{call} pass {} vers recorded 1", chronoscope_aprs::passcode::of(call.as_bytes()))
}

/// Writes the capture.
pub(crate) fn write<W: io::Write>(out: W) -> io::Result<W> {
    let mut random = Random(1);
    let mut recording = Recording { events: Vec::new() };
    clients(&mut recording);
    feed(&mut recording, &mut random);
    messages(&mut recording);
    outsiders(&mut recording);
    recording.write(out)
}

fn clients(recording: &mut Recording) {
    for (number, (call, filter)) in (10..).zip(CLIENTS) {
        let words = format!("{} filter {filter}", logged_in(call));
        recording.login(1000 + u64::from(number) * 37, client(number), IGATE, &words);
    }
    recording.login(1700, client(30), FULL, &logged_in("N0FUL"));
    // Where it is, so that its filter means something.
    let here = "N0MYR>APRS,TCPIP*:!4900.00N/00900.00E-home\r\n";
    recording.say(3000, client(18), IGATE, here);
    // Another filter, then none, then one that is refused.
    for (at_ms, words) in [(60_000, "p/G4"), (120_000, "default"), (150_000, "x/1/2")] {
        recording.say(at_ms, client(19), IGATE, &format!("#filter {words}\r\n"));
    }
    recording.at(140_500, Event::Close(client(12), IGATE));
}

/// The feed, a second igate that heard one packet in eight of it, too, and the corpus.
fn feed(recording: &mut Recording, random: &mut Random) {
    let (uplink, other) = (client(1), client(2));
    recording.login(500, uplink, FULL, &logged_in("T2FEED"));
    recording.login(700, other, IGATE, &logged_in("DB0TWO-10"));
    let mut stations = stations(random);
    let mut corpus = corpus().into_iter();
    for at_ms in (4000..LENGTH_MS).step_by(usize::try_from(FEED_EVERY_MS).unwrap()) {
        let mut lines = Vec::new();
        for _ in 0..random.place(3) {
            let line = packet(&mut stations[random.place(STATIONS)], random);
            if random.place(8) == 0 {
                let heard = line.replacen("WIDE1-1,qAR", "WIDE1*,qAR", 1) + "\r\n";
                recording.say(at_ms + 300, other, IGATE, &heard);
            }
            lines.extend(line.as_bytes());
            lines.extend(b"\r\n");
        }
        if random.place(8) == 0
            && let Some(line) = corpus.next()
        {
            lines.extend(line);
            lines.extend(b"\r\n");
        }
        if !lines.is_empty() {
            recording.at(at_ms, Event::Send(uplink, FULL, lines));
        }
    }
    assert!(corpus.next().is_none(), "time for the whole corpus");
}

/// Two clients talk to each other: without filters they get what is for them.
fn messages(recording: &mut Recording) {
    let (one, two) = (client(40), client(41));
    recording.login(2000, one, IGATE, &logged_in("N0ONE"));
    recording.login(2100, two, IGATE, &logged_in("N0TWO"));
    for number in 1..=20_u64 {
        let at_ms = 5000 + number * 8000;
        let text = format!("N0ONE>APRS,TCPIP*::N0TWO    :how are you {number}?{{{number}\r\n");
        recording.say(at_ms, one, IGATE, &text);
        let text = format!("N0TWO>APRS,TCPIP*::N0ONE    :ack{number}\r\n");
        recording.say(at_ms + 900, two, IGATE, &text);
    }
}

/// Those who may not, who submit by UDP, and who look at the status.
fn outsiders(recording: &mut Recording) {
    let unverified = client(50);
    recording.login(2500, unverified, IGATE, "N0BAD pass -1 vers recorded 1 filter r/50/9/50");
    let said = "N0BAD>APRS,TCPIP*:>nobody gets this\r\n";
    recording.say(30_000, unverified, IGATE, said);
    recording.login(2600, client(51), IGATE, &logged_in("P1RATE"));
    recording.login(2700, client(52), IGATE, "no such thing");
    // Cut for want of a login, or at the end.
    recording.at(2800, Event::Open(client(53), IGATE));
    for number in 0..10_u8 {
        let call = format!("N0UD{}", char::from(b'A' + number));
        let text = format!("{}\r\n{call}>APRS,TCPIP*:>by UDP {number}\r\n", logged_in(&call));
        let event = Event::Datagram(client(60 + number), format!("user {text}").into_bytes());
        recording.at(10_000 + u64::from(number) * 17_000, event);
    }
    for (number, at_ms) in (80..).zip([50_000, 190_000]) {
        let ask = "GET /status.json HTTP/1.0\r\nHost: localhost\r\n\r\n";
        recording.at(at_ms, Event::Open(client(number), STATUS));
        recording.say(at_ms + 5, client(number), STATUS, ask);
    }
}
