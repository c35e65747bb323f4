//! Payloads and what they are. Positions that are not worked out beside them are those of the
//! published tests of Ham::APRS::FAP and aprsc.

use crate::packet::{DropReason, Packet, Position, Symbol, Types, parse};

/// The packet of a line, as it goes out of `SERVERX`.
fn packet(line: &[u8]) -> Packet {
    build(line).unwrap_or_else(|reason| panic!("{reason}: {}", String::from_utf8_lossy(line)))
}

fn build(line: &[u8]) -> Result<Packet, DropReason> {
    parse(line)?.build(b"qAS,SERVERX")
}

/// The packet of a payload from A1A.
fn from(payload: &[u8]) -> Packet {
    packet(&[b"A1A>APRS:", payload].concat())
}

/// Within 10 m, where minutes have two digits after the point.
#[track_caller]
fn is_at(packet: &Packet, latitude: f64, longitude: f64) {
    let Position { latitude: north, longitude: east } = packet.position.expect("a position");
    let (north, east) = (f64::from(north), f64::from(east));
    let near = (north - latitude).abs() < 1e-4 && (east - longitude).abs() < 1e-4;
    assert!(near, "{north} {east} and not {latitude} {longitude}");
}

#[track_caller]
fn has_no_position(payload: &[u8]) {
    assert_eq!(from(payload).position, None, "{}", String::from_utf8_lossy(payload));
}

fn symbol(table: u8, code: u8) -> Option<Symbol> {
    Some(Symbol { table, code })
}

mod text_positions {
    use super::*;

    /// 60° 28.51' = 60.4752°, 25° 05.68' = 25.0947°.
    #[test]
    fn in_every_quarter_and_with_every_type() {
        let packet = packet(b"OH2RDP-1>BEACON-15,OH2RDG*:!6028.51N/02505.68E#PHG7220/RELAY");
        is_at(&packet, 60.4752, 25.0947);
        assert_eq!((packet.symbol, packet.types), (symbol(b'/', b'#'), Types::POSITION));
        is_at(&from(b"!6028.51S/02505.68W#"), -60.4752, -25.0947);
        is_at(&from(b"=6028.51n/02505.68e#"), 60.4752, 25.0947);
        is_at(&from(b"/092345z6028.51N/02505.68E#"), 60.4752, 25.0947);
        is_at(&from(b"@234517h6028.51N/02505.68E#"), 60.4752, 25.0947);
        is_at(&from(b"!8959.99N/17959.99E#"), 89.9998, 179.9998);
    }

    /// Digits left out are taken in the middle: 49° 03.5_' is 49° 03.55', 49° 03' is 49° 03.55'
    /// (not 03.50', which aprsc has neither), 49° 0_' is 49° 05.55', 49° is 49° 35.55'.
    #[test]
    fn with_digits_left_out() {
        is_at(&from(b"!4903.5 N/07201.7 W-"), 49.05917, -72.02917);
        is_at(&from(b"!4903.  N/07201.  W-"), 49.05917, -72.02583);
        is_at(&from(b"!490 .  N/0720 .  W-"), 49.09250, -72.09250);
        is_at(&from(b"!49  .  N/072  .  W-"), 49.59250, -72.59250);
    }

    #[test]
    fn with_an_overlay_or_a_table_that_is_none() {
        assert_eq!(from(b"!6013.69NR02450.97E&").symbol, symbol(b'R', b'&'));
        assert_eq!(from(b"!6013.69N902450.97E&").symbol, symbol(b'9', b'&'));
        let odd = from(b"!6013.69N,02450.97E&");
        is_at(&odd, 60.22817, 24.8495);
        assert_eq!(odd.symbol, None);
    }

    #[test]
    fn malformed() {
        for payload in [
            &b"!6028.51N/02505.68E"[..],
            b"!6028.51X/02505.68E#",
            b"!6028.51N/02505.68X#",
            b"!9028.51N/02505.68E#",
            b"!6028.51N/18005.68E#",
            b"!6028,51N/02505.68E#",
            b"!6 28.51N/02505.68E#",
            b"!60-8.51N/02505.68E#",
            b"!+028.51N/02505.68E#",
            b"@234517h",
            b"/",
            b"@",
            b"! ",
        ] {
            has_no_position(payload);
            assert_eq!(from(payload).types, Types::POSITION, "its first octet says so");
        }
    }

    /// What a receiver says before it has a fix.
    #[test]
    fn without_a_fix() {
        for payload in [
            &b"!0000.00N/00000.00E#"[..],
            b"!0000.00S/09000.00W#",
            b"!8959.99N/00000.00E#",
            b"!8959.99S/00000.00W#",
        ] {
            has_no_position(payload);
            assert_eq!(from(payload).symbol, symbol(b'/', b'#'));
        }
        is_at(&from(b"!0000.01N/00000.00E#"), 0.000_167, 0.0);
    }

    /// TNCs put text before it: the `!` may be the fortieth octet at most.
    #[test]
    fn after_other_text() {
        let late = |before: usize| {
            let mut payload = vec![b'x'; before];
            payload.extend_from_slice(b"!4903.50N/07201.75W-");
            from(&payload)
        };
        for before in [1, 39] {
            is_at(&late(before), 49.05833, -72.02917);
            assert_eq!(late(before).types, Types::POSITION);
        }
        assert_eq!((late(40).position, late(40).types), (None, Types::default()));
        has_no_position(b"Hello world! 4903.50N/07201.75W-");
        has_no_position(b"Hello!");
    }
}

mod compressed_positions {
    use super::*;

    /// The example of chapter 9: 49° 30' north, 72° 45' west.
    #[test]
    fn of_the_reference() {
        let packet = from(b"=/5L!!<*e7>7P[");
        is_at(&packet, 49.5, -72.75);
        assert_eq!((packet.symbol, packet.types), (symbol(b'/', b'>'), Types::POSITION));
    }

    #[test]
    fn of_real_stations() {
        let igate = packet(b"OH2KKU-15>APRS,TCPIP*:!I0-X;T_Wv&{-Aigate testing");
        is_at(&igate, 60.0520, 24.5045);
        assert_eq!(igate.symbol, symbol(b'I', b'&'));
        let car = packet(b"OH2LCQ-10>APZMDR,WIDE3-2:!//zPHTfVv>!V_ Tero, Green Volvo 960");
        is_at(&car, 60.3582, 24.8084);
        let weather = packet(b"SV4IKL-2>APU25N,WIDE2-2:@011444z/:JF!T/W-_e!bg000t054r000p010h65");
        assert_eq!(weather.types, Types::POSITION | Types::WEATHER);
    }

    /// A digit cannot be the first octet, so overlays 0 to 9 are the letters a to j.
    #[test]
    fn with_a_digit_over_the_symbol() {
        assert_eq!(from(b"=a5L!!<*e7>7P[").symbol, symbol(b'0', b'>'));
        assert_eq!(from(b"=j5L!!<*e7>7P[").symbol, symbol(b'9', b'>'));
        has_no_position(b"=k5L!!<*e7>7P[");
    }

    #[test]
    fn malformed() {
        has_no_position(b"=/5L!!<*e7>7P");
        has_no_position(b"=/5L! <*e7>7P[");
        has_no_position(b"=/5L!|<*e7>7P[");
        has_no_position(b"=/5L!\xff<*e7>7P[");
        // 91^4 - 1 over 380926 is 180.02: further south than the pole.
        has_no_position(b"=/{{{{<*e7>7P[");
    }
}

mod trackers {
    use super::*;

    #[test]
    fn in_every_quarter() {
        let chesapeake = packet(b"N3HF-9>S7PU3R:`h7Oq+F>/`\"3{}_");
        is_at(&chesapeake, 37.0887, -76.4585);
        assert_eq!((chesapeake.symbol, chesapeake.types), (symbol(b'/', b'>'), Types::POSITION));
        is_at(&packet(b"OH7LZB-13>SX15S6,TCPIP*:'I',l \x1c>/]"), -38.2560, 145.1860);
        is_at(&packet(b"OH7LZB-2>TQ4W2V,WIDE2-1:`c51!f?>/]\"3x}="), 41.7877, -71.4202);
        // The SSID is not part of the latitude.
        is_at(&packet(b"OH7LZB-2>TQ4W2V-1:`c51!f?>/]"), 41.7877, -71.4202);
    }

    /// Longitudes of 0 to 9 degrees are sent as 90 to 99 with 100 to be added, 100 to 109 as 80 to
    /// 89 with it. By hand: `v` is 118, so 90 + 100 is 190, hence 0 degrees; `l` is 108, so 80 +
    /// 100 is 180, hence 100; `X` is 88 and so 60, hence 0 minutes; `O` is 79, so 51 hundredths.
    #[test]
    fn near_greenwich_and_at_a_hundred_degrees() {
        is_at(&packet(b"A1A>TQ4WR2:`vXOl \x1c>/"), 41.78700, 0.00850);
        is_at(&packet(b"A1A>TQ4WRV:`lXOl \x1c>/"), 41.78767, -100.00850);
    }

    /// Digits left out of the latitude are left out of the longitude too; the middle is taken.
    /// Latitude 37° 05.3_' is 05.35', 05' is 05.55', 0_' is 05.55', and of the degree alone 35.55'.
    /// Longitude 76° 27.5_' is 27.55', 27' is 27.50', 2_' is 25', of the degree alone 30'.
    #[test]
    fn with_digits_left_out() {
        is_at(&packet(b"A1A>S7PU3Z:`h7Oq+F>/"), 37.08917, -76.45917);
        is_at(&packet(b"A1A>S7PUZZ:`h7Oq+F>/"), 37.09250, -176.45833);
        is_at(&packet(b"A1A>S7PZ3R:`h7Oq+F>/"), 37.08867, -76.41667);
        is_at(&packet(b"A1A>S7ZU3R:`h7Oq+F>/"), 37.58867, -76.50000);
        assert_eq!(packet(b"A1A>SZPU3R:`h7Oq+F>/").position, None);
    }

    #[test]
    fn malformed() {
        for line in [
            &b"A1A>5U2V08:`'O<l!{,,\"4R}"[..],
            b"A1A>S7PU3:`h7Oq+F>/",
            b"A1A>S7PU3RX:`h7Oq+F>/",
            b"A1A>M7PU3R:`h7Oq+F>/",
            b"A1A>S7PA3R:`h7Oq+F>/",
            b"A1A>S7PU3R:`h7Oq+F~/",
            b"A1A>S7PU3R:`\x20\x37Oq+F>/",
            b"A1A>S7PU3R:`\xff\x37Oq+F>/",
        ] {
            assert_eq!(packet(line).position, None, "{}", String::from_utf8_lossy(line));
        }
        assert_eq!(packet(b"A1A>S7PU3R:`h7Oq+F>").types, Types::default(), "too short for one");
    }
}

mod gps {
    use super::*;

    #[test]
    fn sentences() {
        // 38° 32.7107' = 38.54518°, 58° 44.1957' = 58.73660°.
        let rmc = packet(
            b"OH1XYZ>GPSMW:$GPRMC,184649,A,3832.7107,S,05844.1957,W,0.0,0.0,130909,4.5,W*62",
        );
        is_at(&rmc, -38.54518, -58.73660);
        assert_eq!((rmc.symbol, rmc.types), (symbol(b'/', b'?'), Types::POSITION));
        is_at(
            &from(b"$GPRMC,000043,V,4411.7761,N,07927.0448,W,0.000,0.0,290697,10.7,W*57"),
            44.19627,
            -79.45075,
        );
        is_at(
            &from(b"$GPGGA,175059,3347.4969,N,11805.7319,W,2,12,1.0,6.8,M,-32.1,M,,*7D"),
            33.79162,
            -118.09553,
        );
        is_at(
            &from(b"$GPGGA,193115.00,3302.50182,N,11651.22581,W,1,08,01.6,00465.90,M"),
            33.04170,
            -116.85376,
        );
        is_at(&from(b"$GPGLL,2554.459,N,08020.187,W,154027.281,A"), 25.90765, -80.33645);
        is_at(&from(b"$GPWPL,4610.586,N,00607.754,E,4*70"), 46.17643, 6.12923);
        is_at(&from(b"$GNRMC,175050,A,4117.8935,N,10535.0871,W,0.0,324.3"), 41.29823, -105.58479);
        is_at(
            &from(b"$PNTS,1,0,11,01,2002,231932,3539.687,N,13944.480,E,0,000,5,Roppongi,000,1*35"),
            35.66145,
            139.74133,
        );
    }

    #[test]
    fn malformed_or_without_a_position() {
        for payload in [
            &b"$GPGGA,,,,,,0,00,,,,,,,*66"[..],
            b"$GPRMC,000000,V,0000.0000,0,00000.0000,0,000,000,000000,,*01/It wasn't me :)",
            b"$GPRMC,184649,X,3832.7107,S,05844.1957,W",
            b"$GPRMC,184649,A,3832.7107,Q,05844.1957,W",
            b"$GPRMC,184649,A,3x32.7107,S,05844.1957,W",
            b"$GPRMC,184649,A,38327.7107,S,05844.1957,W",
            b"$GPRMC,184649,A,38,S,05844.1957,W",
            b"$GPRMC,184649,A,3832.7107,S",
            b"$GPGSV,3,1,09,20,57,269,39,13,48,217,34",
            b"$PNTS,2,0,11,01,2002,231932,3539.687,N,13944.480,E,0",
            b"$PNTS,1,00,11,01,2002,231932,3539.687,N,13944.480,E,0",
            b"$",
            b"$,,,,,,,,,",
            b"$GPRMC",
        ] {
            let packet = from(payload);
            assert_eq!((packet.position, packet.types), (None, Types::default()));
        }
    }

    /// Ultimeter 2000 sends its own sentence.
    #[test]
    fn weather() {
        assert_eq!(from(b"$ULTW0031003702CE0069").types, Types::WEATHER);
    }

    /// Chapter 20: `GPSMV` is a car, `SPCxyz` and `SYMxyz` the same, `GPSC` and `GPSE` by number.
    #[test]
    fn symbols_of_the_destination() {
        let of = |destination: &[u8]| {
            let line = [b"A1A>", destination, b":$GPGLL,2554.459,N,08020.187,W,154027.281,A"];
            packet(&line.concat()).symbol
        };
        for (destination, expected) in [
            (&b"GPSMV"[..], symbol(b'/', b'>')),
            (b"GPSMV-7", symbol(b'/', b'>')),
            (b"SPCBB", symbol(b'/', b'!')),
            (b"SYMHW", symbol(b'/', b'_')),
            (b"GPSLK", symbol(b'/', b'k')),
            (b"GPSJ1", symbol(b'/', b'{')),
            (b"GPSPZ", symbol(b'/', b'Z')),
            (b"GPSOB", symbol(b'\\', b'!')),
            (b"GPSA0", symbol(b'\\', b'0')),
            (b"GPSNV5", symbol(b'5', b'>')),
            (b"GPSC30", symbol(b'/', b'>')),
            (b"GPSE30", symbol(b'\\', b'>')),
            (b"GPSMV5", None),
            (b"GPSXY", None),
            (b"GPSM", None),
            (b"APRS", None),
            (b"GPSCX9", None),
        ] {
            assert_eq!(of(destination), expected, "{}", String::from_utf8_lossy(destination));
        }
    }
}

mod objects_and_items {
    use super::*;

    #[test]
    fn object_with_its_name() {
        let line = b"OH2KKU-1>APRS,TCPIP*:;SRAL HQ  *100927zS0%E/Th4_a  AKaupinmaenpolku9";
        let headquarters = packet(line);
        is_at(&headquarters, 60.2305, 24.8790);
        assert_eq!(headquarters.name(), Some(&b"SRAL HQ"[..]));
        assert_eq!(headquarters.subject(), b"SRAL HQ");
        assert_eq!((headquarters.symbol, headquarters.types), (symbol(b'S', b'a'), Types::OBJECT));
        let killed = from(b";LEADER   _092345z4903.50N/07201.75W>088/036");
        is_at(&killed, 49.05833, -72.02917);
        assert_eq!(killed.name(), Some(&b"LEADER"[..]));
        let weather = from(b";WX NOW   *092345h4903.50N/07201.75W_220/004g005");
        assert_eq!(weather.types, Types::OBJECT | Types::WEATHER);
        assert!(from(b";LOCALTIME*092345/4903.50N/07201.75W>").position.is_some());
    }

    #[test]
    fn malformed_objects() {
        for payload in [
            &b";LEADER   x092345z4903.50N/07201.75W>"[..],
            b";LEADER   *092345x4903.50N/07201.75W>",
            b";LEAD\x01ER  *092345z4903.50N/07201.75W>",
            b";LEAD\xe4ER  *092345z4903.50N/07201.75W>",
            b";         *092345z4903.50N/07201.75W>",
        ] {
            let packet = from(payload);
            assert_eq!((packet.name(), packet.position, packet.types), (None, None, Types::OBJECT));
        }
        let nowhere = from(b";LEADER   *092345z nowhere to be found");
        assert_eq!((nowhere.name(), nowhere.position), (Some(&b"LEADER"[..]), None));
        assert_eq!(from(b";LEADER   *092345z/5L!!<*e7>7").types, Types::default(), "too short");
    }

    #[test]
    fn item_with_its_name() {
        let aid = from(b")AID #2!4903.50N/07201.75WA");
        is_at(&aid, 49.05833, -72.02917);
        assert_eq!(
            (aid.name(), aid.symbol, aid.types),
            (Some(&b"AID #2"[..]), symbol(b'/', b'A'), Types::ITEM)
        );
        let killed = from(b")MOB_/5L!!<*e7>7P[");
        is_at(&killed, 49.5, -72.75);
        assert_eq!(killed.name(), Some(&b"MOB"[..]));
        let padded = from(b")AID  !4903.50N/07201.75WA");
        assert_eq!(padded.name(), Some(&b"AID"[..]));
        is_at(&padded, 49.05833, -72.02917);
        assert_eq!(from(b")G/WB4APR-1!4903.50N/07201.75WA").name(), None, "ten octets");
        assert_eq!(from(b")G/WB4APR!4903.50N/07201.75WA").name(), Some(&b"G/WB4APR"[..]));
    }

    #[test]
    fn malformed_items() {
        for payload in [
            &b")AI!4903.50N/07201.75WA"[..],
            b")AID\x01#2!4903.50N/07201.75WA",
            b")    !4903.50N/07201.75WA",
            b")AID number 2!4903.50N/07201.75WA",
        ] {
            let packet = from(payload);
            assert_eq!((packet.name(), packet.position, packet.types), (None, None, Types::ITEM));
        }
        assert_eq!(from(b")AID!").types, Types::default());
    }
}

mod messages {
    use super::*;

    #[test]
    fn to_a_station() {
        let packet = from(b":N3HEV-9  :ack26");
        assert_eq!((packet.addressee(), packet.types), (Some(&b"N3HEV-9"[..]), Types::MESSAGE));
        assert_eq!(from(b":BLN0     :bulletin").addressee(), Some(&b"BLN0"[..]));
        assert_eq!(from(b":WIDE2-1-9:nine octets").addressee(), Some(&b"WIDE2-1-9"[..]));
        assert_eq!(from(b":SHORT:no spaces").addressee(), Some(&b"SHORT"[..]));
        assert_eq!(from(b":         :nobody").addressee(), None);
        assert_eq!(from(b":").addressee(), None);
        assert_eq!(from(b":").types, Types::MESSAGE);
    }

    #[test]
    fn of_a_weather_service() {
        for addressee in [&b"NWS-WARN "[..], b"NWS_MLBZ ", b"SKYCYS   "] {
            let packet = from(&[b":", addressee, b":text"].concat());
            assert_eq!(packet.types, Types::MESSAGE | Types::NWS);
        }
    }

    /// A station tells everybody how to read its telemetry in messages to itself.
    #[test]
    fn that_define_telemetry() {
        for kind in ["PARM", "UNIT", "EQNS", "BITS"] {
            let packet = from(format!(":N0QBF-11 :{kind}.Battery,Btemp").as_bytes());
            assert_eq!(packet.types, Types::TELEMETRY);
            assert_eq!(packet.addressee(), Some(&b"N0QBF-11"[..]));
        }
        assert_eq!(from(b":N0QBF-11 :PARMESAN").types, Types::MESSAGE);
    }

    #[test]
    fn to_no_station() {
        for addressee in ["javaMSG", "JAVATITLE", "USERLIST", "KIPSS"] {
            let line = format!("SRC>APRS::{addressee:9}:KipSS Login:OK1xx-1{{16");
            assert_eq!(build(line.as_bytes()), Err(DropReason::DisallowedRecipient));
        }
    }

    /// Queries to one station are messages; those to everybody go nowhere.
    #[test]
    fn queries() {
        assert_eq!(from(b":KH2Z     :?APRSD").types, Types::MESSAGE | Types::QUERY);
        for payload in ["?APRS?", "?WX?", "?FOOBAR?", "}S>D,NET,GATE*:?APRS?"] {
            let line = format!("SRC>DST,DIGI:{payload} general query");
            assert_eq!(build(line.as_bytes()), Err(DropReason::GeneralQuery), "{payload}");
        }
    }
}

#[test]
fn other_types() {
    for (payload, types) in [
        (&b">Net Control Center"[..], Types::STATUS),
        (b"<IGATE,MSG_CNT=43,LOC_CNT=14", Types::CAPABILITIES),
        (b"T#005,199,000,255,073,123,01101001", Types::TELEMETRY),
        (b"The text of a beacon", Types::default()),
        (b"_10090556c220s004g005t077", Types::WEATHER),
        (b"#50B7500820082", Types::WEATHER),
        (b"*7007600820082", Types::WEATHER),
        (b"!!006B00580292", Types::WEATHER),
        (b"!4903.50N/07201.75W_220/004g005t077", Types::POSITION | Types::WEATHER),
        (b"!4903.50N\\07201.75W@088/036/HC", Types::POSITION | Types::WEATHER),
        (b"{Q1qwerty", Types::USER_DEFINED),
        (b"\x00\xff\xfe", Types::default()),
        (b",test", Types::default()),
    ] {
        assert_eq!(from(payload).types, types, "{}", String::from_utf8_lossy(payload));
    }
}

#[test]
fn weather_observers() {
    for source in ["CW0003", "EW1234", "FW0727", "GW1"] {
        let line = format!("{source}>APRS,TCPIP*:>text");
        assert_eq!(packet(line.as_bytes()).types, Types::STATUS | Types::CWOP, "{source}");
    }
    for source in ["CW", "CW1A", "HW1234", "CW0003-1", "XCW0003"] {
        let line = format!("{source}>APRS,TCPIP*:>text");
        assert_eq!(packet(line.as_bytes()).types, Types::STATUS, "{source}");
    }
}

mod third_parties {
    use super::*;

    #[test]
    fn have_their_own_source_and_content() {
        let station = packet(b"UU0AA>TEST:}OG7LZB>DST,NET,GATE*:!6013.69NR02450.97E&");
        assert_eq!(station.types, Types::THIRD_PARTY | Types::POSITION);
        assert_eq!(station.inner_source(), Some(&b"OG7LZB"[..]));
        assert_eq!((station.source(), station.subject()), (&b"UU0AA"[..], &b"OG7LZB"[..]));
        is_at(&station, 60.22817, 24.8495);
        let object =
            packet(b"UU0AA>TEST:}OG7LZB>DST,NET,GATE*:;LEADER   *092345z4903.50N/07201.75W>");
        assert_eq!((object.subject(), object.name()), (&b"LEADER"[..], Some(&b"LEADER"[..])));
        let message = packet(b"UU0AA>TEST:}OG7LZB>DST,NET,GATE*::N3HEV-9  :ack26");
        assert_eq!(message.addressee(), Some(&b"N3HEV-9"[..]));
    }

    /// The latitude is in the destination of the tracker, not in the igate's.
    #[test]
    fn are_trackers_too() {
        is_at(&packet(b"UU0AA>TEST:}OH7LZB-2>TQ4W2V,NET,GATE*:`c51!f?>/]"), 41.7877, -71.4202);
    }

    #[test]
    fn in_third_parties() {
        let line = b"UU1AA>TEST:}OF7LZB>DST,NET,GATE:}OF7LZC>DST,NET2,GATE2:\
            }OF7LZD>DST,NET2,GATE2:}OF7LZE>DST,NET2,GATE2:!6013.69NR02450.97E&";
        let nested = packet(line);
        is_at(&nested, 60.22817, 24.8495);
        assert_eq!(nested.inner_source(), Some(&b"OF7LZE"[..]));
    }

    #[test]
    fn with_a_bad_header_are_dropped() {
        for (payload, reason) in [
            ("}KB3ONM>APK102,KV3B-1::N3HEV-9  :ack26", DropReason::InvalidThirdParty),
            ("}KB3ONM>APK102,A,B-:>text", DropReason::InvalidThirdParty),
            ("}KB3ONM>APK102:>text", DropReason::InvalidThirdParty),
            ("}KB3ONM>:>text", DropReason::InvalidThirdParty),
            ("}KB3 NM>APK102,A,B:>text", DropReason::InvalidSource),
            ("}KB3ONM>AP_102,A,B:>text", DropReason::InvalidDestination),
            ("}S>D,A,B:}S>D,A:>text", DropReason::InvalidThirdParty),
        ] {
            let line = format!("KG4LAA>APWW08,WIDE:{payload}");
            assert_eq!(build(line.as_bytes()), Err(reason), "{payload}");
        }
        for payload in ["}", "}no colon", "}no greater sign: is there", "}S>D,A,B:", "}S>D,A,B,C*:"]
        {
            let line = format!("KG4LAA>APWW08,WIDE:{payload}");
            assert_eq!(packet(line.as_bytes()).types, Types::THIRD_PARTY, "{payload}");
        }
    }
}
