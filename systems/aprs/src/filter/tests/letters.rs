//! Each letter, by its examples.

use super::packet;
use crate::filter::{Context, Facts, Filter, FilterSet, Stations};
use crate::packet::Position;
use std::sync::Arc;

const HELSINKI: Position = Position { latitude: 60.1873, longitude: 24.8363 };
const TAMPERE: Position = Position { latitude: 61.5, longitude: 23.75 };

/// OH2TI is in Helsinki, the client in Tampere; nobody else is known.
struct Known;

impl Context for Known {
    fn position_of(&self, name: &[u8]) -> Option<Position> {
        (name == b"OH2TI").then_some(HELSINKI)
    }

    fn own_position(&self) -> Option<Position> {
        Some(TAMPERE)
    }
}

fn set(forced: &str, user: &str) -> FilterSet {
    let filter = |text: &str| Some(Arc::new(Filter::parse(text).unwrap()));
    FilterSet { forced: filter(forced), user: filter(user) }
}

fn matches_with(set: &FilterSet, line: &str, facts: Facts) -> bool {
    let packet = packet(line);
    set.matches(&packet, Facts { position: packet.position.or(facts.position), ..facts }, &Known)
}

fn matches(filter: &str, line: &str) -> bool {
    matches_with(&set("", filter), line, Facts::default())
}

/// All of `passed` match the filter, and none of `held`.
fn assert_filter(filter: &str, passed: &[&str], held: &[&str]) {
    for line in passed {
        assert!(matches(filter, line), "{filter} should pass {line}");
    }
    for line in held {
        assert!(!matches(filter, line), "{filter} should hold back {line}");
    }
}

#[test]
fn a_area() {
    assert_filter(
        "a/60.1874/24.8362/60.1872/24.8365",
        &["OH2TI>APRX1M,qAR,GATE:/054048h6011.24N/02450.18E_c212s003g006t053h82b10046"],
        &[
            "OH2TI>APRX1M,qAR,GATE:/054048h6011.30N/02450.18E_c212s003g006t053h82b10046",
            "OH2TI>APRX1M,qAR,GATE:>no position",
        ],
    );
    assert_filter(
        "a/-23.5679/-47.3288/-23.5688/-47.3278",
        &["PU2TFG>APN390,qAR,PY2PE-1:!2334.10S/04719.70W# in"],
        &[
            "PU2TFG>APN390,qAR,PY2PE-1:!2334.10N/04719.70W# north",
            "PU2TFG>APN390,qAR,PY2PE-1:!2334.10S/04719.70E# east",
        ],
    );
}

#[test]
fn b_budlist_is_exact_but_for_wildcards_and_case() {
    assert_filter(
        "b/OH0TES/oh2tes b/OH7*",
        &["OH0TES>APRS,qAR,GATE:>a", "OH2TES>APRS,qAR,GATE:>a", "OH7XYZ-9>APRS,qAR,GATE:>a"],
        &["OH0TES-9>APRS,qAR,GATE:>a", "G0TES>APRS,qAR,GATE:>a"],
    );
    // A wildcard anywhere is one at the end.
    assert_filter("b/O*H2", &["OH2ABC>APRS,qAR,GATE:>a"], &["OXH2>APRS,qAR,GATE:>a"]);
    assert_filter("b/*", &[], &["OH2ABC>APRS,qAR,GATE:>a"]);
}

#[test]
fn b_and_p_mean_the_innermost_source_as_well() {
    let line = "GATE-1>APRS,TCPIP*,qAC,T2X:}OH2ABC>APRS,WIDE1-1,GATE-1*:>third party";
    for filter in ["b/OH2ABC", "p/OH2", "b/GATE-1", "p/GATE"] {
        assert!(matches(filter, line), "{filter}");
    }
    let object = "OH2ABC>APRS,qAR,GATE:;LEADER   *092345z4903.50N/07201.75W>";
    assert!(!matches("b/LEADER p/LEA", object));
}

#[test]
fn d_digipeater_must_be_used() {
    let pos = ":!6016.66NT02515.26E#";
    for (path, passes) in [
        ("OH7RDA*", true),
        ("OH7RDA", false),
        ("OH7RDA,OH8RDA*", true),
        ("OH8RDA*,OH7RDA", false),
        ("OH7RDA,OH8RDA", false),
        ("OH9RDA*", true),
        ("OH9RDA,OH8RDA*", true),
        ("OH7RDA-1*", false),
    ] {
        let line = format!("SRC>APRS,{path},qAR,GATE{pos}");
        assert_eq!(matches("d/OH7RDA/OH2RDS/OH9*", &line), passes, "{path}");
    }
    assert!(!matches("d/GATE", &format!("SRC>APRS,qAR,GATE{pos}")));
}

#[test]
fn e_entry_is_the_first_after_the_q_construct() {
    assert_filter(
        "e/N5CAL-1/IGA*",
        &["SRC>APRS,qAR,N5CAL-1:>a", "SRC>APRS,qAR,IGATE1:>a"],
        &["SRC>APRS,qAR,BAA:>a", "SRC>APRS,qAR,FOO,IGATE2:>a", "N5CAL-1>APRS,qAR,BAA:>a"],
    );
}

#[test]
fn f_friend_and_m_mine() {
    let near_helsinki = "OH1UK>APRS,TCPIP*,qAC,T2FINLAND:;OH2TA    *101302z6014.89N/02447.00Ey";
    let near_tampere = "OH3ABC>APRS,qAR,GATE:!6130.00N/02345.00E#";
    assert_filter("f/OH2TI/20", &[near_helsinki], &[near_tampere]);
    assert_filter("m/20", &[near_tampere], &[near_helsinki]);
    assert_filter("f/NOBODY/20000", &[], &[near_helsinki, near_tampere]);
    assert_filter("f/OH2TI/5", &[], &[near_helsinki]);
}

#[test]
fn g_message_recipient() {
    assert_filter(
        "g/BLN*/OH2ABC",
        &["SRC>APRS,qAR,GATE::BLN1WX   :storm", "SRC>APRS,qAR,GATE::oh2abc   :hello{1"],
        &["SRC>APRS,qAR,GATE::OH2ABC-1 :hello{1", "OH2ABC>APRS,qAR,GATE:>not a message"],
    );
}

#[test]
fn o_objects_and_items() {
    assert_filter(
        "o/OBJ1/PRE*",
        &[
            "SRC>APRS,qAR,GATE:;OBJ1     *090902z6010.78N/02451.11E-",
            "SRC>APRS,qAR,GATE:;PREFIX   *090902z6010.78N/02451.11E-",
            "SRC>APRS,qAR,GATE:)OBJ1!4903.50N/07201.75WA",
        ],
        &[
            "SRC>APRS,qAR,GATE:;OBJ12    *090902z6010.78N/02451.11E-",
            "OBJ1>APRS,qAR,GATE:!6010.78N/02451.11E-",
        ],
    );
}

#[test]
fn p_prefix() {
    assert_filter(
        "P/OG/of3/N",
        &["OG7LZB>APRS,qAR,GATE:>a", "OF3LZB>APRS,qAR,GATE:>a", "N1CAL>APRS,qAR,GATE:>a"],
        &["OH7LZB>APRS,qAR,GATE:>a", "OF2LZB>APRS,qAR,GATE:>a"],
    );
}

#[test]
fn q_constructs_by_letter_and_igates() {
    assert_filter(
        "q/RUo",
        &["A1B>APRS,qAR,G:>a", "A1B>APRS,qAU,G:>a", "A1B>APRS,qAo,SRV:>a"],
        &["A1B>APRS,qAr,G:>a", "A1B>APRS,qAO,G:>a", "A1B>APRS,qAC,G:>a"],
    );
    let mut stations = Stations::new(1);
    let hour_ns = 3_600_000_000_000;
    let mut facts = |line: &str, now_ns| stations.facts(&packet(line), || None, now_ns);
    let position = "IGATE>APRS,TCPIP*,qAC,T2X:!6010.78N/02451.11E&";
    assert!(!matches_with(&set("", "q//I"), position, facts(position, 0)));
    facts("SRC>APRS,qAR,IGATE:>heard", 5);
    assert!(matches_with(&set("", "q//I"), position, facts(position, hour_ns)));
    let status = "IGATE>APRS,TCPIP*,qAC,T2X:>no position";
    assert!(!matches_with(&set("", "q//I"), status, facts(status, hour_ns)));
    assert!(!matches_with(&set("", "q//I"), position, facts(position, hour_ns + 5)));
}

#[test]
fn r_range() {
    let at = |place: &str| format!("OH2RDP>BEACON,WIDE,qAR,GATE:!{place}#");
    assert_filter(
        "R/60.4752/25.0947/1 r/37.0887/-76.4585/100",
        &[&at("6028.51N/02505.68E"), &at("3705.00N/07627.00W")],
        &[&at("6258.51N/02505.68E"), "OH2RDP>BEACON,qAR,GATE:>none"],
    );
    // Over the date line, and over a pole.
    assert_filter("r/0/179.9/30", &[&at("0000.00N/17955.00W")], &[&at("0000.00N/17930.00W")]);
    assert_filter("r/89.9/0/30", &[&at("8954.00N/17900.00E")], &[&at("8930.00N/00000.00E")]);
}

#[test]
fn a_packet_without_position_is_where_its_source_was() {
    let line = "OH2TI>APRX1M,qAR,GATE:T#363,12.2,0.0,62.0,13.0,0.0,00000000";
    let facts = Facts { position: Some(HELSINKI), ..Facts::default() };
    assert!(matches_with(&set("", "r/60.1873/24.8363/1"), line, facts));
    assert!(!matches_with(&set("", "r/60.1873/24.8363/1"), line, Facts::default()));
}

#[test]
fn s_symbols() {
    let symbol =
        |table: char, code: char| format!("OH2RDS>APRS,qAR,GATE:!6016.66N{table}02515.26E{code}");
    let (house, car) = (symbol('/', '-'), symbol('/', '>'));
    let (digi, plain, over) = (symbol('/', '#'), symbol('\\', '#'), symbol('T', '#'));
    assert_filter("s/->", &[&house, &car], &[&digi, &plain, &symbol('\\', '-'), "A1B>C,qAR,G:>"]);
    assert_filter("s//#", &[&plain, &over], &[&digi, &car]);
    assert_filter("s//#/T", &[&over], &[&plain, &symbol('N', '#'), &digi]);
    assert_filter("s/-/#/T", &[&house, &over], &[&plain, &car]);
}

const STATUS: &str = "ST1>APRS,qAR,GATE:>status";
const POSITION: &str = "ST2>APRS,qAR,GATE:!6028.51N/02505.68E#";
const OBJECT: &str = "ST4>APRS,qAR,GATE:;OBJ1     *090902z6010.78N/02451.11E-Object 1";
const ITEM: &str = "ST6>APRS,qAR,GATE:)OBJ1!4903.50N/07201.75WA";
const TELEMETRY: &str = "ST3>APRS,qAR,GATE:T#931,113,000,000,000,000,00000000";
const USER_DEFINED: &str = "ST5>APRS,qAR,GATE:{Q1qwerty";
const MESSAGE: &str = "ST7>APRS,qAR,GATE::DSTC     :normal message{ac";
const QUERY: &str = "ST9>APRS,qAR,GATE::IGCALL   :?APRSD";
const WEATHER: &str = "ST10>APRS,qAR,GATE:@100857z5241.73N/00611.14E_086/002g008t064r000h63b10102";

#[test]
fn t_types() {
    assert_filter(
        "t/poimq -t/nw",
        &[POSITION, OBJECT, ITEM, MESSAGE, QUERY],
        &[STATUS, TELEMETRY, USER_DEFINED, WEATHER],
    );
    assert_filter(
        "T/STUNWQ/",
        &[STATUS, TELEMETRY, USER_DEFINED, WEATHER],
        &[POSITION, OBJECT, ITEM, MESSAGE],
    );
    assert_filter("t/q", &[QUERY], &[MESSAGE, STATUS, POSITION]);
    assert_filter("t/m", &[MESSAGE, QUERY], &[STATUS, POSITION]);
    let all = [STATUS, POSITION, OBJECT, ITEM, TELEMETRY, USER_DEFINED, MESSAGE, QUERY, WEATHER];
    assert_filter("t/*", &all, &[]);
}

#[test]
fn t_around_a_station() {
    assert_filter(
        "t/o/OH2TI/10",
        &["OH1UK>APRS,qAR,GATE:;OH2V     *100802z6013.32N/02445.49EyEspoo"],
        &[
            "OH2KXH>APX200,qAR,GATE:=6010.22N/02456.08E_193/000g000t047r000P000p000h93b10080XRSW",
            "OH2FRM>APRS,qAR,GATE:;OH2FRM   *092253z6017.00N/02457.34E-Tom",
        ],
    );
}

#[test]
fn t_weather_passes_positions_of_stations_whose_weather_has_none() {
    let mut stations = Stations::new(1);
    let weather = packet("OH2WX>APRS,qAR,GATE:_10090556c220s004g005t077r000p000P000h50b09900");
    assert_eq!(weather.position, None);
    stations.facts(&weather, || None, 0);
    let line = "OH2WX>APRS,qAR,GATE:!6016.66N/02515.26E>";
    let facts = stations.facts(&packet(line), || None, 1);
    assert!(facts.from_weather_station);
    assert!(matches_with(&set("", "t/w"), line, facts));
    assert!(!matches("t/w", line));
}

#[test]
fn u_destination() {
    assert_filter(
        "u/ALTNET/APZ*",
        &["USRC1>ALTNET,qAR,GATE:>a", "USRC3>APZMDR,qAR,GATE:>a"],
        &["USRC2>ALTBLA,qAR,GATE:>a", "USRC2>ALTNET-1,qAR,GATE:>a", "APZ1X>APRS,qAR,GATE:>a"],
    );
}

#[test]
fn exclusions_win_over_what_passes_in_their_filter() {
    let near = "OH2RDP>BEACON,qAR,GATE:!6028.51N/02505.68E#";
    let bud = "D3NY>BEACON,qAR,GATE:!6028.51N/02505.68E#";
    assert_filter("r/60.4752/25.0947/100 -b/D3NY", &[near], &[bud]);
    assert_filter("-b/D3NY r/60.4752/25.0947/100", &[near], &[bud]);
    assert_filter("-b/D3NY", &[], &[near, bud]);
}

#[test]
fn the_port_comes_before_the_client() {
    let line = "OH2RDP>BEACON,qAR,GATE:>a";
    for (forced, user, passes) in [
        ("p/OH", "-p/OH", true),
        ("-p/OH", "p/OH", false),
        ("p/OG", "p/OH", true),
        ("p/OG", "-p/OH2 p/OH", false),
        ("", "", false),
    ] {
        let set = set(forced, user);
        assert_eq!(matches_with(&set, line, Facts::default()), passes, "{forced:?} {user:?}");
    }
}
