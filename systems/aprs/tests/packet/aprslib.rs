//! The same packets through aprslib, an independent parser: positions, symbols, types, names and
//! addressees agree, and each kind of difference has a name.
//!
//! Where its Python environment cannot be had, a loud line says so and the test is skipped.

use chronoscope_aprs::packet::{Packet, Types, parse};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Fields of a packet as aprslib reads them.
#[derive(Debug, serde::Deserialize)]
struct Theirs {
    refused: Option<String>,
    crashed: Option<String>,
    format: Option<String>,
    latitude: Option<f64>,
    longitude: Option<f64>,
    symbol: Option<String>,
    symbol_table: Option<String>,
    object_name: Option<String>,
    addresse: Option<String>,
}

#[test]
fn reads_the_same() {
    let Some(python) = python() else { return };
    let mut random = Random(20_261_122);
    let lines: Vec<Vec<u8>> = (0..6000).map(|number| random.line(number % 6)).collect();
    let theirs = ask(&python, &lines);
    assert_eq!(theirs.len(), lines.len());

    let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    for (line, theirs) in lines.iter().zip(&theirs) {
        let ours = parse(line).and_then(|parsed| parsed.build(b"qAR,IGATE"));
        let ours = ours.unwrap_or_else(|reason| panic!("{reason}: {}", text(line)));
        let outcome = compare(&ours, theirs)
            .unwrap_or_else(|what| panic!("{what}: {}\n{ours:?}\n{theirs:?}", text(line)));
        *outcomes.entry(outcome).or_default() += 1;
    }
    eprintln!("{outcomes:?}");
    assert!(outcomes["same"] > lines.len() * 7 / 10, "{outcomes:?}");
}

/// The name of how they agree, or what differs without a name.
fn compare(ours: &Packet, theirs: &Theirs) -> Result<&'static str, &'static str> {
    if theirs.crashed.is_some() {
        return Ok("aprslib crashed");
    }
    if theirs.refused.is_some() {
        return refused(ours);
    }
    let format = theirs.format.as_deref().unwrap_or_default();
    let types = match format {
        "uncompressed" | "compressed" | "mic-e" => Types::POSITION,
        "object" => Types::OBJECT,
        "message" | "bulletin" | "announcement" | "group-bulletin" => Types::MESSAGE,
        "telemetry-message" => Types::TELEMETRY,
        "status" => Types::STATUS,
        "user-defined" => Types::USER_DEFINED,
        "beacon" => Types::default(),
        _ => return Err("a format that is not compared"),
    };
    if types == Types::MESSAGE && ours.types.contains(Types::TELEMETRY) {
        let bulletin = ours.addressee().unwrap_or_default().starts_with(b"BLN");
        return bulletin.then_some("a bulletin may define telemetry for us").ok_or("type");
    }
    if types == Types::MESSAGE && ours.types.contains(Types::QUERY) {
        // Perhaps within a third-party packet.
        let asks = ours.payload().windows(2).any(|pair| pair == b":?");
        return asks.then_some("a message that asks is a query for us").ok_or("type");
    }
    if !ours.types.contains(types) {
        return Err("type");
    }
    let name = theirs.object_name.as_deref().map(|name| name.trim_end_matches(' '));
    if name.is_some_and(|name| name.is_empty()) && ours.name().is_none() {
        return Ok("an object without a name has no position for us");
    }
    if name.map(str::as_bytes) != ours.name() {
        return Err("name");
    }
    if let Some(addressee) = &theirs.addresse
        && addressee.split(' ').next().unwrap_or_default().as_bytes()
            != ours.addressee().unwrap_or_default()
    {
        return Err("addressee");
    }
    position(ours, theirs)
}

fn position(ours: &Packet, theirs: &Theirs) -> Result<&'static str, &'static str> {
    let (Some(latitude), Some(longitude)) = (theirs.latitude, theirs.longitude) else {
        return if ours.position.is_none() { Ok("same") } else { Err("only we have a position") };
    };
    let (Some(symbol), Some(table)) = (&theirs.symbol, &theirs.symbol_table) else {
        return Err("aprslib has no symbol");
    };
    let Some(position) = ours.position else {
        return if latitude.abs() > 90.0 || longitude.abs() > 180.0 {
            Ok("aprslib takes positions that are not on the Earth")
        } else {
            Err("only aprslib has a position")
        };
    };
    let overlay = match table.as_bytes() {
        [letter @ b'a'..=b'j'] => letter - b'a' + b'0',
        table => table[0],
    };
    if ours.symbol.map(|symbol| [symbol.table, symbol.code])
        != Some([overlay, symbol.as_bytes()[0]])
    {
        return Err("symbol");
    }
    let (north, east) = (f64::from(position.latitude), f64::from(position.longitude));
    let apart = (north - latitude).abs().max((east - longitude).abs());
    // f32 is 8e-6 degrees at 180 degrees.
    if apart < 2e-5 {
        Ok("same")
    } else if apart <= 5.56 / 60.0 && has_digits_left_out(ours) {
        Ok("the middle of digits left out is taken differently")
    } else {
        Err("position")
    }
}

/// What aprslib refuses and we take, as aprsc does; each because of one of these.
fn refused(ours: &Packet) -> Result<&'static str, &'static str> {
    if ours.position.is_none() {
        return Ok("neither reads a position");
    }
    let (_, payload) = innermost(ours);
    if has_digits_left_out(ours) {
        return Ok("aprslib wants digits left out of both coordinates alike");
    }
    if ours.symbol.is_none() {
        return Ok("aprslib wants a table of symbols");
    }
    if ours.types.contains(Types::OBJECT) || b"!=/@".contains(&payload[0]) {
        let code = ours.symbol.unwrap().code;
        if !(0x21..=0x7d).contains(&code) {
            return Ok("aprslib wants a symbol that is printable");
        }
        let at = if payload[0] == b';' { 18 } else { 1 };
        let speed = payload.get(at + 10..at + 13).unwrap_or_default();
        if speed.iter().any(|octet| !(b' '..=b'|').contains(octet)) {
            return Ok("aprslib looks at a compressed position's speed");
        }
    }
    Err("aprslib refused")
}

fn has_digits_left_out(ours: &Packet) -> bool {
    let (destination, payload) = innermost(ours);
    if matches!(payload[0], b'`' | b'\'') {
        destination.iter().any(|octet| matches!(octet, b'K' | b'L' | b'Z'))
    } else {
        payload.windows(2).any(|pair| pair[0] == b' ' && b".NSEWnsew".contains(&pair[1]))
    }
}

/// Destination and payload of the packet, or of the third-party packet in it.
fn innermost(packet: &Packet) -> (&[u8], &[u8]) {
    let payload = packet.payload();
    let third_party = payload.strip_prefix(b"}").and_then(|inner| {
        let greater = inner.iter().position(|octet| *octet == b'>')?;
        let comma = inner.iter().position(|octet| *octet == b',')?;
        let colon = inner.iter().position(|octet| *octet == b':')?;
        Some((&inner[greater + 1..comma], &inner[colon + 1..]))
    });
    third_party.unwrap_or((packet.destination(), payload))
}

fn text(line: &[u8]) -> String {
    line.escape_ascii().to_string()
}

/// Numbers that look random and are the same in every run (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn of(&mut self, octets: &[u8]) -> u8 {
        octets[usize::try_from(self.below(octets.len() as u64)).unwrap()]
    }

    fn octet(&mut self, first: u8, last: u8) -> u8 {
        first + u8::try_from(self.below(u64::from(last - first) + 1)).unwrap()
    }

    fn octets(&mut self, len: u64, first: u8, last: u8) -> Vec<u8> {
        (0..len).map(|_| self.octet(first, last)).collect()
    }

    /// A line of one of six forms; about one in ten breaks a rule of its form.
    fn line(&mut self, form: u64) -> Vec<u8> {
        let mut destination = b"APRS".to_vec();
        let mut payload = match form {
            0 => [&[self.of(b"!=")][..], &self.text_position()].concat(),
            1 => [&[self.of(b"!=")][..], &self.compressed()].concat(),
            2 => {
                destination = self.mic_e_destination();
                self.mic_e()
            }
            3 => self.object(),
            4 => self.message(),
            _ => self.other(),
        };
        if self.one_in(10) {
            // Positions stay whole, so that both read them or neither does.
            payload.extend(self.octets(20, b'a', b'z'));
        }
        if form < 5 && self.one_in(5) {
            let outer = [b"A1A>APRS:}B1B>", &destination[..], b",NET,GATE*:"].concat();
            return [outer, payload].concat();
        }
        [b"A1A-9>", &destination[..], b",WIDE1-1:", &payload].concat()
    }

    fn text_position(&mut self) -> Vec<u8> {
        let hidden = if self.one_in(4) { self.below(5) } else { 0 };
        let other = if self.one_in(20) { self.below(5) } else { hidden };
        let mut position = self.angle(90, 2, hidden);
        let sides: &[u8] = if self.one_in(30) { b"x" } else { b"NSns" };
        position.push(self.of(sides));
        position.push(self.of(b"/\\A5Z0"));
        position.extend(self.angle(180, 3, other));
        position.push(self.of(b"EWew"));
        position.push(self.octet(0x21, 0x7d));
        position
    }

    /// `DDMM.hh` with `hidden` of its last digits left out.
    fn angle(&mut self, limit: u64, digits: usize, hidden: u64) -> Vec<u8> {
        let (degrees, minutes) = (self.below(limit), self.below(6000));
        let mut angle = format!("{degrees:0digits$}{:02}.{:02}", minutes / 100, minutes % 100);
        for at in [6, 5, 3, 2].iter().take(usize::try_from(hidden).unwrap()) {
            let at = at + digits - 2;
            angle.replace_range(at..=at, " ");
        }
        angle.into_bytes()
    }

    fn compressed(&mut self) -> Vec<u8> {
        let mut position = vec![self.of(b"/\\AZaj")];
        position.extend(self.octets(8, b'!', b'{'));
        position.push(self.octet(0x21, 0x7b));
        let last = if self.one_in(10) { b'~' } else { b'{' };
        position.extend(self.octets(3, b'!', last));
        position
    }

    fn mic_e_destination(&mut self) -> Vec<u8> {
        let mut destination = Vec::new();
        for at in 0..6 {
            let octets: &[u8] =
                if at < 3 { b"0123456789ABCDEFGHIJPQRSTUVWXY" } else { b"0123456789PQRSTUVWXY" };
            destination.push(self.of(octets));
        }
        // 90 degrees and more are not on the Earth.
        destination[0] = self.of(b"01234567APRW");
        if self.one_in(5) {
            let hidden = usize::try_from(self.below(4)).unwrap();
            for octet in &mut destination[6 - hidden..] {
                *octet = self.of(b"LZ");
            }
        }
        destination
    }

    fn mic_e(&mut self) -> Vec<u8> {
        let mut payload = vec![self.of(b"`'")];
        payload.extend([self.octet(0x26, 0x7f), self.octet(0x26, 0x61)]);
        payload.extend([self.octet(0x1c, 0x7f), self.octet(0x1c, 0x7f)]);
        payload.extend([self.octet(0x1c, 0x7d), self.octet(0x1c, 0x7f)]);
        payload.extend([self.octet(0x21, 0x7b), self.of(b"/\\A0Z9")]);
        payload
    }

    fn object(&mut self) -> Vec<u8> {
        let len = self.below(9);
        let mut payload = b";".to_vec();
        payload.extend(self.octets(len, b'!', b'~'));
        payload.resize(10, b' ');
        payload.push(self.of(b"*_"));
        payload.extend_from_slice(format!("{:06}", 10_000 + self.below(270_000)).as_bytes());
        payload.push(self.of(b"zh/"));
        payload.extend(if self.one_in(2) { self.text_position() } else { self.compressed() });
        payload
    }

    fn message(&mut self) -> Vec<u8> {
        let addressee = ["OH7LZB-10", "A1A", "BLN0", "BLNA", "BLN4WX", "NWS-WARN", "N0QBF-11"];
        let texts =
            [":hello{12", ":ack12", ":rej1", ":PARM.Battery,Btemp", ":UNIT.v,deg", ":?APRSD"];
        let which = usize::try_from(self.below(7)).unwrap();
        let what = usize::try_from(self.below(6)).unwrap();
        format!(":{:9}{}", addressee[which], texts[what]).into_bytes()
    }

    fn other(&mut self) -> Vec<u8> {
        let text = self.octets(20, b'a', b'z');
        let begin: &[u8] = match self.below(4) {
            0 => b">",
            1 => b"{Q1",
            2 => b"The beacon of ",
            _ => b">092345z",
        };
        [begin, &text].concat()
    }
}

fn python() -> Option<String> {
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/venv");
    let why = match Command::new(tool).arg("aprslib").output() {
        Ok(output) if output.status.success() => {
            return Some(String::from_utf8(output.stdout).unwrap().trim().to_owned());
        }
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    eprintln!("SKIPPED: no Python environment aprslib, so nothing is compared: {why}");
    None
}

fn ask(python: &str, lines: &[Vec<u8>]) -> Vec<Theirs> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packet/aprslib_oracle.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input: String = lines
        .iter()
        .map(|line| line.iter().map(|octet| format!("{octet:02x}")).collect::<String>() + "\n")
        .collect();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    let output = String::from_utf8(output.stdout).unwrap();
    output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
