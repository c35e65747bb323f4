//! The filters: every letter, negation, wildcards, and the ways to set them.

use crate::common::{Client, Sends, Server, drops, passes, passes_as_is, text, unique};
use std::time::Duration;

/// A server, a client that sends and one at the client-only port whose filter is tested.
struct Stage {
    server: Server,
    tx: Client,
    rx: Client,
}

impl Stage {
    fn new(filter: &str) -> Self {
        let server = Server::basic();
        let tx = Client::login(server.port("igate"), "N5CAL-1");
        let rx = Client::filtered(server.port("client"), "N5CAL-2", filter);
        Self { server, tx, rx }
    }

    #[track_caller]
    fn gets(&mut self, packet: &str) {
        passes_as_is(&mut self.tx, &mut self.rx, format!("{packet} #{}", unique()));
    }

    /// `dropped` is not received, `passed` after it is.
    #[track_caller]
    fn gets_only(&mut self, passed: &str, dropped: &str) {
        let dropped = format!("{dropped} #{}", unique());
        drops(&mut self.tx, &mut self.rx, dropped, passed);
    }
}

#[test]
fn without_a_filter_nothing_comes() {
    let server = Server::basic();
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    let mut rx = Client::login(server.port("igate"), "N5CAL-2");
    let mut full = Client::login(server.port("full"), "N5CAL-3");
    passes_as_is(&mut tx, &mut full, "SRC>APRS,qAR,N5CAL-1:>x");
    rx.silent(Duration::from_millis(300));
}

#[test]
fn what_a_client_sends_does_not_come_back() {
    let server = Server::basic();
    let mut tx = Client::filtered(server.port("igate"), "N5CAL-1", "p/S");
    let mut rx = Client::login(server.port("full"), "N5CAL-3");
    passes_as_is(&mut tx, &mut rx, "SRC>APRS,qAR,N5CAL-1:>x");
    passes_as_is(&mut rx, &mut tx, "SRC>APRS,qAR,N5CAL-3:>y");
}

#[test]
fn by_command_with_anything_before_the_word() {
    let mut stage = Stage::new("p/OH");
    stage.gets("OH2SRC>APRS,qAR,N5CAL-1:>x");
    for (command, passed, dropped) in [
        ("#filter p/N/K", "K2SRC>APRS,qAR,N5CAL-1:>x", "OH2SRC>APRS,qAR,N5CAL-1:>x"),
        ("#  filter   p/OH/K  ", "OH2SRC>APRS,qAR,N5CAL-1:>x", "N2SRC>APRS,qAR,N5CAL-1:>x"),
        (
            "#blaaanxauyg3iuyq2gfilter p/OG/OF",
            "OG2SRC>APRS,qAR,N5CAL-1:>x",
            "K2SRC>APRS,qAR,N5CAL-1:>x",
        ),
    ] {
        stage.rx.command(command);
        stage.gets_only(passed, dropped);
    }
}

#[test]
fn the_filter_can_be_asked_for() {
    let mut stage = Stage::new("p/OH b/K1ABC");
    let answer = stage.rx.command("#filter?");
    assert!(answer.contains("p/OH b/K1ABC"), "{answer}");
}

#[test]
fn by_message_to_the_server() {
    let mut stage = Stage::new("p/OH");
    stage.rx.send("N5CAL-2>APRS::SERVER   :filter p/OZ/ZZ{ax");
    let acknowledged = text(&stage.rx.packet());
    assert!(acknowledged.starts_with("SERVER>"), "{acknowledged}");
    assert!(acknowledged.ends_with(",TCPIP*,qAZ,TESTING::N5CAL-2  :ackax"), "{acknowledged}");
    let answer = text(&stage.rx.packet());
    assert!(answer.contains(",TCPIP*,qAZ,TESTING::N5CAL-2  :filter p/OZ/ZZ active{"), "{answer}");
    stage.gets_only("OZ2SRC>APRS,qAR,N5CAL-1:>x", "OH2SRC>APRS,qAR,N5CAL-1:>x");
    stage.rx.send("N5CAL-2>APRS::SERVER   :filter?{ay");
    stage.rx.packet();
    let answer = text(&stage.rx.packet());
    // In a comment line it is "filters: FILTER".
    assert!(answer.contains("::N5CAL-2  :filter p/OZ/ZZ active{"), "{answer}");
}

#[test]
fn a_message_to_the_server_goes_no_further() {
    let server = Server::basic();
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    let mut rx = Client::login(server.port("full"), "N5CAL-2");
    drops(&mut tx, &mut rx, "N5CAL-1>APRS::SERVER   :filter p/OZ", "SRC>APRS,qAR,N5CAL-1:>x");
}

/// A fault in one term is told, the others count.
#[test]
fn a_term_that_is_wrong() {
    let server = Server::basic();
    let mut rx = Client::connect(server.port("igate"));
    rx.send(format!(
        "user N5CAL-2 pass {} vers test 1.0 filter r/x/y/z p/OH",
        crate::common::passcode("N5CAL")
    ));
    let mut told = Vec::new();
    loop {
        let line = rx.comment("#");
        let end = line.starts_with("# logresp ");
        told.push(line);
        if end {
            break;
        }
    }
    assert!(told.iter().any(|line| line.contains("r/x/y/z")), "{told:?}");
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    passes_as_is(&mut tx, &mut rx, "OH2SRC>APRS,qAR,N5CAL-1:>x");
}

#[test]
fn no_filter_at_a_full_feed() {
    let server = Server::basic();
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    let mut rx = Client::filtered(server.port("full"), "N5CAL-2", "p/OH");
    passes_as_is(&mut tx, &mut rx, "N2SRC>APRS,qAR,N5CAL-1:>x");
}

#[test]
fn positions_in_a_range() {
    let ranges = "R/60.4752/25.0947/1 r/60.0520/24.5045/1 r/49.0/8.4/500 r/60.49966/-151.10416/5 \
                  r/35.0685/136.662833/2";
    let mut stage = Stage::new(ranges);
    let (tx, rx) = (&mut stage.tx, &mut stage.rx);
    // Uncompressed.
    let inside = "OH2RDP-1>BEACON-15,OH2RDG*,WIDE,qAR,N5CAL-1:!6028.51N/02505.68E#PHG7220 x";
    passes_as_is(tx, rx, inside);
    drops(tx, rx, inside.replace("6028", "6258"), inside);
    // Compressed.
    passes_as_is(tx, rx, "OH2RDP-1>BEACON-15,qAS,N5CAL-1:!I0-X;T_Wv&{-Aigate testing");
    // Mic-E: 47.93 N 12.94 E, 60.50 N 151.10 W, 35.07 N 136.66 E.
    passes_as_is(tx, rx, "OX8AAA>T7UU97,qAR,N5CAL-1:`(T4l!u>/]\"83}=");
    let second: &[u8] = b"KL7AN-14>V0RYYX,WIDE1-1,WIDE2-1,qAR,KL7IGZ-1:`O^5l \x1ck/]\"4%}=";
    passes_as_is(tx, rx, second);
    passes_as_is(tx, rx, "JN2ESN-14>SUPTQ1,WIDE1-1,qAR,JA2PIT-10:`@CioI}u/`\"4T}LPG Tanker_\"");
}

#[test]
fn nmea_positions_and_their_symbols() {
    let mut stage = Stage::new("r/-38.5452/-58.7366/1 s/->");
    let (tx, rx) = (&mut stage.tx, &mut stage.rx);
    let near = "$GPRMC,184649,A,3832.7107,S,05844.1957,W,0.000,0.0,130909,4.5,W*62";
    let far = "$GPRMC,212052,A,4609.1157,N,12258.8145,W,0.168,13.4,130909,17.9,E*6B";
    passes_as_is(tx, rx, format!("OH1XYZ>GPSMW,qAR,N5CAL-1:{near}"));
    passes_as_is(tx, rx, format!("OH2XYZ>GPSMV,qAR,N5CAL-1:{far}"));
    drops(
        tx,
        rx,
        format!("OH3XYZ>GPSMW,qAR,N5CAL-1:{far}"),
        format!("OH4XYZ>GPSMV,qAR,N5CAL-1:{far}"),
    );
}

#[test]
fn an_area() {
    let mut stage = Stage::new("a/60.1874/24.8362/60.1872/24.8365");
    let weather = |source: &str, at: &str| {
        format!("{source}>APRX1M,qAR,N5CAL-1:/054048h{at}_c212s003g006t053")
    };
    let inside = weather("N5CAL-1", "6011.24N/02450.18E");
    stage.gets_only(&weather("OH1A", "6011.24N/02450.18E"), &weather("DR0P", "6011.30N/02450.18E"));
    stage.gets_only(&weather("OH1A", "6011.24N/02450.18E"), &weather("DR0P", "6011.24N/02450.28E"));
    stage.rx.filter("a/-23.5679/-47.3288/-23.5688/-47.3278");
    let south = "PU2TFG-15>APN390,qAR,PY2PE-1:!2334.10S/04719.70W#";
    stage.gets_only(south, "DR0P-15>APN390,qAR,PY2PE-1:!2334.10N/04719.70W#");
    stage.gets_only(south, "DR0P-15>APN390,qAR,PY2PE-1:!2334.10S/04719.70E#");
    drop(inside);
}

/// What says no position is where its source was last.
#[test]
fn an_area_by_the_last_position() {
    let mut stage = Stage::new("a/60.1874/24.8362/60.1872/24.8365");
    stage.gets("OH1A>APRX1M,qAR,N5CAL-1:!6011.24N/02450.18E#");
    stage.gets("OH1A>APRX1M,qAR,N5CAL-1:T#363,12.2,0.0,62.0,13.0,0.0,00000000");
    stage.gets_only("OH1A>APRX1M,qAR,N5CAL-1:>here", "OH1B>APRX1M,qAR,N5CAL-1:>where?");
}

#[test]
fn around_me_and_around_a_friend() {
    let mut stage = Stage::new("m/1 f/FR1END/10");
    let mut full = Client::login(stage.server.port("full"), "N5CAL-3");
    passes(
        &mut stage.tx,
        &mut full,
        "FR1END>APRS,qAR,N5CAL-1:!6013.24N/02450.18E#",
        "FR1END>APRS,qAR,N5CAL-1:!6013.24N/02450.18E#",
    );
    // The friend's own packet is near the friend.
    assert!(text(&stage.rx.packet()).starts_with("FR1END>"));
    stage.rx.send("N5CAL-2>APRS:!//HC`TPmVvR<_");
    assert!(text(&full.packet()).starts_with("N5CAL-2>"));
    stage.gets_only(
        "T3ST>APRS,qAR,N5CAL-1:!//H:sTQ\";vJI_ test",
        "DR0P-15>APN390,qAR,N5CAL-1:!2334.10S/04719.70E#",
    );
    let near = "OH1UK>APRS,TCPIP*,qAC,T2FINLAND:;OH2TA    *101302z6014.89N/02447.00Ey";
    stage.gets_only(near, "OH2FOI>APRS,qAR,N5CAL-1:!6013.90N/02512.05E-");
    // The position is known at the next login, too.
    let mut again = Client::filtered(stage.server.port("igate"), "N5CAL-2", "m/1");
    drops(
        &mut stage.tx,
        &mut again,
        "DR0P-15>APN390,qAR,N5CAL-1:!2334.10S/04719.70E#x",
        "T3ST-2>APRS,qAR,N5CAL-1:!//H:sTQ\";vJI_ test",
    );
}

#[test]
fn prefixes() {
    let mut stage = Stage::new("P/OG/of3/N");
    for source in ["OG7LZB", "N1CAL"] {
        stage.gets(&format!("{source}>APRS,OH2RDG*,WIDE,qAR,N5CAL-1:>x"));
    }
    stage.gets_only("OG7LZB>APRS,qAR,N5CAL-1:>x", "OH7LZB>APRS,qAR,N5CAL-1:>x");
}

#[test]
fn buddies() {
    let mut stage = Stage::new("b/OH0TES/OH2TES b/OH7*");
    for source in ["OH0TES", "OH2TES", "OH7TES", "OH7TES-9"] {
        stage.gets(&format!("{source}>APRS,qAR,N5CAL-1:>x"));
    }
    for source in ["G0TES", "OH0TES-9", "OH0TE"] {
        stage.gets_only("OH0TES>APRS,qAR,N5CAL-1:>x", &format!("{source}>APRS,qAR,N5CAL-1:>x"));
    }
}

#[test]
fn objects_and_items() {
    let mut stage = Stage::new("o/OBJ1/OBJ2 o/PRE*");
    for name in ["OBJ1", "OBJ2", "PREFIX"] {
        stage.gets(&format!("SRC>APRS,qAR,N5CAL-1:;{name:9}*090902z6010.78N/02451.11E-x"));
    }
    for name in ["OBJ3", "XPREFIX", "OBJ"] {
        let dropped = format!("SRC>APRS,qAR,N5CAL-1:;{name:9}*090902z6010.78N/02451.11E-x");
        stage.gets_only("SRC>APRS,qAR,N5CAL-1:)OBJ1!4903.50N/07201.75WA", &dropped);
    }
    stage.gets_only("SRC>APRS,qAR,N5CAL-1:)OBJ2!4903.50N/07201.75WA", "SRC>APRS,qAR,N5CAL-1:>OBJ1");
}

#[test]
fn digipeaters_that_were_used() {
    let mut stage = Stage::new("d/OH7RDA/OH2RDS/OH9*");
    for call in ["OH7RDA", "OH9RDA"] {
        let through = |path: &str| format!("SRC>APRS,{path},qAR,N5CAL-1:!6016.66NT02515.26E#");
        stage.gets_only(&through(&format!("{call}*")), &through(call));
        stage.gets_only(&through(&format!("{call},OH8RDA*")), &through(&format!("{call},OH8RDA")));
        // After the last that was used.
        stage.gets_only(&through(&format!("{call}*,OH8RDA")), &through(&format!("OH8RDA*,{call}")));
    }
}

#[test]
fn where_a_packet_entered() {
    let mut stage = Stage::new("e/N5CAL-1/IGA*");
    let through = |q: &str| format!("ESRC>APRS,{q}:!6016.66NT02515.26E#");
    stage.gets_only(&through("qAR,N5CAL-1"), &through("qAR,BAA"));
    stage.gets_only(&through("qAR,IGATE1"), &through("qAR,FOO,IGATE2"));
}

#[test]
fn destinations() {
    let mut stage = Stage::new("u/ALTNET/APZ*");
    let to = |destination: &str| format!("USRC>{destination},qAR,N5CAL-1:!6016.66NT02515.26E#");
    stage.gets_only(&to("ALTNET"), &to("ALTBLA"));
    stage.gets_only(&to("APZMDR"), &to("APXMDR"));
}

#[test]
fn kinds_of_entry() {
    let mut stage = Stage::new("q/RUo");
    let at = ":!2334.10S/04719.70W#";
    let by = |q: &str| format!("PU2TFG>APN390,{q}{at}");
    stage.gets_only(&by("qAR,N5CAL-1"), &format!("N5CAL-1>APN390{at}"));
    stage.gets_only(&by("qAU,N5CAL-1"), &by("qAr,CL1ENT"));
    stage.gets_only(&by("qAo,SRVR1"), &by("qAO,CL1ENT"));
}

#[test]
fn symbols() {
    let at = |symbol: &str| {
        let (table, code) = symbol.split_at(1);
        format!("SRC>APRS,qAR,N5CAL-1:!2334.10S{table}04719.70W{code}")
    };
    let mut stage = Stage::new("s/->");
    stage.gets_only(&at("/>"), &at("/#"));
    stage.gets_only(&at("/-"), &at("\\>"));
    stage.rx.filter("s//#");
    stage.gets_only(&at("\\#"), &at("/#"));
    stage.rx.filter("s//#/T");
    stage.gets_only(&at("T#"), &at("\\#"));
}

#[test]
fn messages_by_addressee() {
    let mut stage = Stage::new("g/BLN*/K1ABC");
    let to = |call: &str| format!("SRC>APRS,qAR,N5CAL-1::{call:9}:hello");
    stage.gets_only(&to("K1ABC"), &to("K1ABCD"));
    stage.gets_only(&to("BLN1"), &to("XBLN1"));
}

/// A term that takes out counts before those that let in, wherever it stands.
#[test]
fn negation() {
    let near = |source: &str| format!("{source}>APRS,qAR,N5CAL-1:!6028.51N/02505.68E#");
    for filter in ["r/60.4752/25.0947/100 -b/D3NY", "-b/D3NY r/60.4752/25.0947/100"] {
        let mut stage = Stage::new(filter);
        stage.gets_only(&near("OH2RDP-1"), &near("D3NY"));
    }
}

/// The port's own filter counts beside the client's, and cannot be taken away.
#[test]
fn a_port_s_own_filter() {
    let server = Server::with("Listen messages igate tcp 127.0.0.1 0 filter \"t/m -p/X\"\n");
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    let mut rx = Client::login(server.port("messages"), "N5CAL-2");
    let message = "SRC>APRS,qAR,N5CAL-1::K1ABC    :hello";
    drops(&mut tx, &mut rx, "SRC>APRS,qAR,N5CAL-1:>x", message);
    drops(&mut tx, &mut rx, message.replace("SRC", "XRC"), message);
}

/// Filters of any length: the longest are some kilobytes.
#[test]
fn very_long_filters() {
    let server = Server::basic();
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    for count in [10, 100, 300] {
        let terms: Vec<String> = (0..count).map(|number| format!("b/B{number}-4")).collect();
        let mut rx =
            Client::filtered(server.port("igate"), "N5CAL-2", &format!("p/K1 {}", terms.join(" ")));
        passes_as_is(&mut tx, &mut rx, format!("K1ABC>APRS,qAR,N5CAL-1:>{count}"));
    }
}
