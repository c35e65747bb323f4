//! Every judgement of the server as a text that a person can read: `tests/judgements.txt`.
//!
//! Kinds of packets by filters, paths by kinds of connections, logins; and the product of all of
//! them, of which the text has what does not follow from the parts. `JUDGEMENTS_WRITE=1` writes the
//! text anew; `git diff` says what a change of the server changes for its clients.

use super::world::*;
use crate::engine::{ConnId, Input};
use crate::passcode;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// The client that sends, and a source that is somebody else.
const LOGIN: &str = "N5CAL-1";
const OTHER: &str = "K1ABC";

/// How a packet comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Full,
    Igate,
    ClientOnly,
    NoPasscode,
    Uplink,
    Peer,
    Submit,
    Upload,
}

const KINDS: [(Kind, &str, bool); 14] = [
    (Kind::Full, "full, own", true),
    (Kind::Full, "full, other", false),
    (Kind::Igate, "igate, own", true),
    (Kind::Igate, "igate, other", false),
    (Kind::ClientOnly, "clientonly, own", true),
    (Kind::ClientOnly, "clientonly, other", false),
    (Kind::NoPasscode, "no passcode, own", true),
    (Kind::NoPasscode, "no passcode, other", false),
    (Kind::Uplink, "uplink", false),
    (Kind::Peer, "peer", false),
    (Kind::Submit, "UDP submission, own", true),
    (Kind::Submit, "UDP submission, other", false),
    (Kind::Upload, "upload, own", true),
    (Kind::Upload, "upload, other", false),
];

const PATHS: &[&str] = &[
    "",
    "WIDE1-1",
    "WIDE1-1,WIDE2-2",
    "DIGI*,WIDE2-1",
    "OH2DIG-12*",
    "DIGI-X1",
    "DIGI-0",
    "DIGI-01*",
    "WIDE1-",
    "WIDE1-1-1",
    "DIGI-ABC",
    "-1",
    "*",
    "DI*GI",
    "TOOLONG-10",
    "A,,B",
    "DIGI,",
    "TCPIP*",
    "TCPIP",
    "TCPXX*",
    "NOGATE",
    "RFONLY*",
    "DIGI,GATE,I",
    "DIGI,N5CAL-1,I",
    "I",
    "qAR",
    "qAR,",
    "qAR,GATE",
    "qAR,GATE,",
    "qAR,N5CAL-1",
    "qAr,GATE",
    "qAS,GATE",
    "qAC,GATE",
    "qAC,N5CAL-1",
    "qAC,TESTING",
    "qAO,GATE",
    "qAo,GATE",
    "qAU,GATE",
    "qAU,K1ABC",
    "qAX,GATE",
    "qAY,GATE",
    "qAZ,GATE",
    "qAI,GATE",
    "qAI,N5CAL-1",
    "qAI,FAR,GATE",
    "qBR,GATE",
    "qAR,GATE,FAR",
    "qAR,GATE,GATE",
    "qAR,N5CAL-1,GATE",
    "qAR,GATE,TESTING",
    "qAR,LOCAL",
    "qAR,GATE-0",
    "qAR,GATE-10",
    "qAR,GATE-ABC",
    "qAR,GA_TE",
    "qAR,BADGATE",
    "qAR,200106F8020204020000000000000002",
    "DIGI*,qAR,GATE,I",
];

/// Name, destination, payload. The payload may have text behind it.
const PAYLOADS: &[(&str, &str, &str)] = &[
    ("position", "APRS", "!6028.51N/02505.68E#"),
    ("position, with messaging", "APRS", "=6028.51N/02505.68E-"),
    ("position, timed", "APRS", "/092345z6028.51N/02505.68E>"),
    ("position, compressed", "APRS", "!/0&ynTc8A-  "),
    ("position, ambiguous", "APRS", "!60  .  N/025  .  E-"),
    ("position behind text", "APRS", "text !6028.51N/02505.68E# "),
    ("position, far away", "APRS", "!3028.51S/02505.68W#"),
    ("position, broken", "APRS", "!60x8.51N/02505.68E#"),
    ("Mic-E", "TPSUV2", "`(_fn\"Oj/]"),
    ("NMEA", "GPSC55", "$GPGGA,123519,6028.510,N,02505.680,E,1,08,0.9,545.4,M,46.9,M,,*41"),
    ("weather with position", "APRS", "@100857z6028.51N/02505.68E_086/002g008t064r000"),
    ("weather, second table", "APRS", "!6028.51N\\02505.68E_086/002g008t064"),
    ("weather, overlay", "APRS", "!6028.51NW02505.68E_086/002g008t064"),
    ("hurricane, overlay", "APRS", "!6028.51NT02505.68E@"),
    ("weather without position", "APRS", "_10090556c220s004g005t077"),
    ("weather, Peet Bros", "APRS", "#50B7500820082"),
    ("weather, Ultimeter", "APRS", "$ULTW0031003702CE0069"),
    ("object", "APRS", ";THING    *090902z6028.51N/02505.68E-"),
    ("object, killed", "APRS", ";THING    _090902z6028.51N/02505.68E-"),
    ("item", "APRS", ")THING!6028.51N/02505.68EA"),
    ("message", "APRS", ":FRIEND   :hello{1"),
    ("message to a station nearby", "APRS", ":NEAR     :hello{1"),
    ("acknowledgement", "APRS", ":FRIEND   :ack1"),
    ("query to one station", "APRS", ":FRIEND   :?APRSD"),
    ("bulletin", "APRS", ":BLN1     :text"),
    ("weather service bulletin", "APRS", ":NWS-WARN :text"),
    ("telemetry definition", "APRS", ":FRIEND   :PARM.A,B"),
    ("message to SERVER", "APRS", ":SERVER   :filter?"),
    ("message to no station", "APRS", ":USERLIST :text"),
    ("telemetry", "APRS", "T#931,113,000,000,000,000,00000000"),
    ("status", "APRS", ">status"),
    ("capabilities", "APRS", "<IGATE,MSG_CNT=43"),
    ("query to all", "APRS", "?APRS?"),
    ("user defined", "APRS", "{Q1qwerty"),
    ("third party, no hop", "APRS", "}INNER>APRS:>status"),
    ("third party, one hop", "APRS", "}INNER>APRS,NET:>status"),
    ("third party, two hops", "APRS", "}INNER>APRS,NET,GATE*:!6028.51N/02505.68E#"),
    ("third party, four hops", "APRS", "}INNER>APRS,DIGI,WIDE2,NET,GATE*:>status"),
    ("third party, TCPIP", "APRS", "}INNER>APRS,TCPIP,GATE*:>status"),
    ("third party, broken path", "APRS", "}INNER>APRS,NET-0,GATE*:>status"),
    ("brace alone", "APRS", "}blah blah"),
    ("DX spot", "APRS", "DX de OH7LZB: 14021.0 K1JT"),
    ("text", "APRS", "hello"),
];

const FILTERS: &[&str] = &[
    "t/p",
    "t/o",
    "t/i",
    "t/m",
    "t/n",
    "t/w",
    "t/t",
    "t/q",
    "t/s",
    "t/u",
    "t/c",
    "t/*",
    "p/K1",
    "b/K1ABC",
    "b/INNER",
    "o/THING",
    "g/FRIEND",
    "d/DIGI",
    "e/GATE",
    "u/APRS",
    "q/R",
    "s/-",
    "s/#",
    "s//_",
    "s//_/W",
    "r/60.5/25/50",
    "a/61/24/60/26",
    "m/50",
    "f/NEAR/50",
    "t/p/NEAR/50",
    "p/K1 -t/pm",
];

const LOGINS: &[&str] = &[
    "user N5CAL-1 pass 12950 vers test 1.0",
    "user N5CAL-1 pass 12951 vers test 1.0",
    "user N5CAL-1 pass -1 vers test 1.0",
    "user N5CAL-1 vers test 1.0",
    "user N5CAL-1 pass -1 vers test 1.0 filter p/OH",
    "user N5CAL-1 pass -1 vers test 1.0 filter nonsense",
    "USER n5cal-1 PASS -1 VERS test 1.0 Filter p/OH",
    "user N5CAL-1 pass -1",
    "user N5CAL-1 pass -1 vers",
    "user N5CAL-1 pass -1 vers test",
    "user N5CAL-1 pass -1 vers test filter p/OH",
    "user N5CAL-1 pass -1 filter p/OH",
    "user N5CAL-1 pass -1 vers test 1.0 UDP 9999",
    "user N5CAL",
    "user",
    "user pass -1 vers test 1.0",
    "user N5CAL-123 pass -1 vers test 1.0",
    "user N5CAL-0 pass -1 vers test 1.0",
    "user N5CAL-TOOLONG pass -1 vers test 1.0",
    "user N5_CAL pass -1 vers test 1.0",
    "user testing pass -1 vers test 1.0",
    "user P1RATE pass -1 vers test 1.0",
    "hello there",
    "GET / HTTP/1.1",
];

/// A server with a full feed that sees all, and one connection that sends.
struct Bench {
    world: World,
    reader: ConnId,
    sender: Option<ConnId>,
    kind: Kind,
    count: usize,
}

impl Bench {
    fn new(kind: Kind) -> Self {
        let mut config = config();
        config.disallow_other_q_protocols = true;
        let mut world = World::with(config);
        let reader = world.client(FULL, "R3ADER", "");
        world.client(FULL, "LOCAL", "");
        let sender = match kind {
            Kind::Full => Some(world.client(FULL, LOGIN, "")),
            Kind::Igate => Some(world.client(IGATE, LOGIN, "")),
            Kind::ClientOnly => Some(world.client(CLIENT_ONLY, LOGIN, "")),
            Kind::NoPasscode => {
                let conn = world.open(IGATE);
                world.says(conn, &format!("user {LOGIN} pass -1 vers test 1.0"));
                Some(conn)
            }
            Kind::Uplink => Some(world.uplink(0, "CORE")),
            Kind::Peer | Kind::Submit | Kind::Upload => None,
        };
        Self { world, reader, sender, kind, count: 0 }
    }

    /// The path with which a packet comes out, or the reason of its drop.
    fn judge(&mut self, own: bool, destination: &str, path: &str, payload: &str) -> String {
        self.count += 1;
        let source = if own { LOGIN } else { OTHER };
        let comma = if path.is_empty() { "" } else { "," };
        // Text behind the payload, so that none is a duplicate.
        let line = format!("{source}>{destination}{comma}{path}:{payload} {}", self.count);
        self.send(&line);
        let mut packets = self.world.packets(self.reader);
        let Some(packet) = packets.pop() else {
            let dropped = self.world.server.why(b"", 1).recent.into_iter().next();
            return match dropped {
                Some(drop) if line.as_bytes().starts_with(&drop.line) => drop.reason.into(),
                _ => "answered by the server".to_owned(),
            };
        };
        let head = packet.split(':').next().unwrap();
        head.split_once(',').unwrap().1.to_owned()
    }

    fn send(&mut self, line: &str) {
        let code = passcode::of(LOGIN.as_bytes());
        let body = format!("user {LOGIN} pass {code} vers test 1.0\r\n{line}\r\n");
        let from = address("192.0.2.3:9");
        let input = match self.kind {
            Kind::Peer => Input::PeerDatagram {
                group: 0,
                from: address("127.0.0.1:16405"),
                bytes: line.as_bytes(),
            },
            Kind::Submit => Input::Datagram { listener: SUBMIT, from, bytes: body.as_bytes() },
            Kind::Upload => Input::Posted { from, bytes: body.as_bytes() },
            _ => return self.world.says(self.sender.unwrap(), line),
        };
        self.world.worker.input(self.world.now, input, &mut self.world.out);
    }
}

/// Is it the path of a packet that passed, and no reason or answer?
fn passed(judgement: &str) -> bool {
    judgement.contains(",q") || judgement.starts_with('q') && judgement.contains(',')
}

fn logins(text: &mut String) {
    text.push_str("LOGINS\nLines on a port with filters, and the answer.\n\n");
    for line in LOGINS {
        let mut world = World::new();
        let conn = world.open(IGATE);
        world.hears(conn);
        world.says(conn, line);
        let mut told: Vec<String> = world.hears(conn).lines().map(str::to_owned).collect();
        if let Some(reason) = world.is_closed(conn) {
            told.push(format!("(closed: {reason})"));
        }
        let _ = writeln!(text, "{line}\n    {}", told.join("\n    "));
    }
}

/// Judgements by kind of connection, equal ones together.
fn paths(text: &mut String) -> BTreeMap<(usize, &'static str), String> {
    text.push_str(
        "\nPATHS\nThe path of a status report, and with which path it goes on, or why not, ",
    );
    text.push_str("by the connection\nit comes from and whose packet it is.\n\n");
    let mut judged = BTreeMap::new();
    for path in PATHS {
        let mut outcomes: Vec<(String, Vec<&str>)> = Vec::new();
        for (at, (kind, name, own)) in KINDS.iter().enumerate() {
            let outcome = Bench::new(*kind).judge(*own, "APRS", path, ">status");
            judged.insert((at, *path), outcome.clone());
            match outcomes.iter_mut().find(|(known, _)| *known == outcome) {
                Some((_, names)) => names.push(name),
                None => outcomes.push((outcome, vec![name])),
            }
        }
        let _ = writeln!(text, "{}", if path.is_empty() { "(no path)" } else { path });
        for (outcome, names) in outcomes {
            let _ = writeln!(text, "    {outcome:<36} {}", names.join("; "));
        }
    }
    judged
}

/// Filters that pass a payload, for clients with and without passcode.
fn filters(text: &mut String) -> BTreeMap<&'static str, String> {
    text.push_str(
        "\nPACKETS\nKinds of packets that an igate hands in, and the filters that pass them, ",
    );
    text.push_str(
        "or why they are dropped.\nThe client is at 60.5 N 25 E, and so is the station NEAR.\n\n",
    );
    let mut judged = BTreeMap::new();
    for (name, destination, payload) in PAYLOADS {
        let mut bench = Bench::new(Kind::Full);
        let sender = bench.sender.unwrap();
        bench.world.says(sender, "NEAR>APRS,qAR,GATE:!6028.51N/02505.68E#");
        let mut readers = Vec::new();
        for (at, filter) in FILTERS.iter().enumerate() {
            let verified =
                bench.world.client(IGATE, &format!("V{at}"), &format!("filter {filter}"));
            let other = bench.world.open(IGATE);
            bench.world.says(other, &format!("user U{at} pass -1 vers x 1 filter {filter}"));
            for (conn, call) in [(verified, format!("V{at}")), (other, format!("U{at}"))] {
                bench.world.says(conn, &format!("{call}>APRS:!6028.51N/02505.68E#"));
                bench.world.packets(conn);
            }
            readers.push((*filter, verified, other));
        }
        bench.world.packets(bench.reader);
        for (_, verified, other) in &readers {
            bench.world.packets(*verified);
            bench.world.packets(*other);
        }
        let outcome = bench.judge(false, destination, "DIGI*,qAR,GATE", payload);
        let mut passing = Vec::new();
        for (filter, verified, other) in readers {
            let got = [verified, other].map(|conn| bench.world.packets(conn).len());
            assert_eq!(got[0], got[1], "{name} by {filter}: with passcode, without");
            if got[0] > 0 {
                passing.push(filter);
            }
        }
        let said =
            if passed(&outcome) { passing.join("  ") } else { format!("dropped: {outcome}") };
        let _ = writeln!(text, "{name:<26} {payload}\n    {said}");
        judged.insert(*name, outcome);
    }
    judged
}

/// The whole product, of which a line stands here only where the judgement is neither that of the
/// path nor that of the kind of packet.
fn product(
    text: &mut String,
    by_path: &BTreeMap<(usize, &'static str), String>,
    by_payload: &BTreeMap<&'static str, String>,
) {
    let mut count = 0;
    let mut exceptions: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
    for (at, (kind, name, own)) in KINDS.iter().enumerate() {
        for path in PATHS {
            let mut bench = Bench::new(*kind);
            for (payload_name, destination, payload) in PAYLOADS {
                count += 1;
                let outcome = bench.judge(*own, destination, path, payload);
                let of_path = &by_path[&(at, *path)];
                let of_payload = &by_payload[payload_name];
                let follows = match (passed(of_path), passed(of_payload)) {
                    (true, true) => outcome == *of_path,
                    (true, false) => outcome == *of_payload,
                    (false, true) => outcome == *of_path,
                    (false, false) => outcome == *of_path || outcome == *of_payload,
                };
                if !follows {
                    let place = exceptions.entry((payload_name, outcome)).or_default();
                    if !place.contains(&(*name).to_owned()) {
                        place.push((*name).to_owned());
                    }
                }
            }
        }
    }
    let _ = writeln!(
        text,
        "\nTOGETHER\n{count} combinations of connection, path and packet. A packet passes where its \
         path and its kind pass,\nwith the path that is above, and is dropped for a reason of one of \
         them otherwise; but for:\n"
    );
    for ((payload, outcome), names) in exceptions {
        let _ = writeln!(text, "{payload}: {outcome}\n    {}", names.join("; "));
    }
}

#[test]
fn judgements() {
    let mut text = String::from(
        "What the server does with logins and packets, made by the test `judgements` of\n\
         src/engine/tests/judgements.rs, which compares it; JUDGEMENTS_WRITE=1 writes it anew.\n\
         The server is TESTING; N5CAL-1 sends (own) for itself or (other) for K1ABC; LOCAL is logged \
         in too;\nDisallowIgateCall is BADGATE.\n\n",
    );
    logins(&mut text);
    let by_path = paths(&mut text);
    let by_payload = filters(&mut text);
    product(&mut text, &by_path, &by_payload);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judgements.txt");
    if std::env::var_os("JUDGEMENTS_WRITE").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    for (number, (ours, theirs)) in text.lines().zip(kept.lines()).enumerate() {
        assert_eq!(ours, theirs, "line {} of {}", number + 1, file.display());
    }
    assert_eq!(text.lines().count(), kept.lines().count(), "JUDGEMENTS_WRITE=1 writes it anew");
}
