//! Files of other programs, to our configuration and back.
#![allow(clippy::unwrap_used)]

use chronoscope_sle::config::{Config, Finding};
use chronoscope_sle::exchange::{ExchangeNote, ExchangeRole, Imported, esa, toml_text, utl};
use proptest::prelude::*;
use std::process::Command;

const USER: &str = include_str!("user.xml");
const PROXY: &str = include_str!("proxy.txt");
const ELEMENT: &str = include_str!("element.txt");

fn losses(notes: &[ExchangeNote]) -> Vec<String> {
    notes.iter().filter(|note| note.is_loss).map(ToString::to_string).collect()
}

/// The text of an import is a configuration without errors, and says the same as its structure.
fn checked(imported: &Imported) -> Config {
    let text = imported.text();
    let config = Config::parse(&text).unwrap();
    assert_eq!(toml_text(&config), toml_text(&imported.config));
    let wrong: Vec<String> =
        config.check().iter().filter(|found| found.is_wrong()).map(Finding::to_string).collect();
    let expected: &[&str] = if imported.config.instance.is_empty() {
        &["wrong: there is no [[instance]]: nobody could bind to anything"]
    } else {
        &[]
    };
    assert_eq!(wrong, expected, "{text}");
    config
}

#[test]
fn a_users_file_of_utl() {
    let imported = utl::import(USER, None).unwrap();
    let config = checked(&imported);
    let user = config.user.as_ref().unwrap();
    assert_eq!(user.id, "CENTRE");
    assert_eq!(user.password.octets(), [0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0]);
    assert_eq!(config.security.delay_s, 200);
    let station = config.party("STATION").unwrap();
    assert_eq!(station.password.octets(), [10, 11, 12, 13, 14, 15]);
    assert_eq!(format!("{:?} {:?}", station.auth, station.hash), "All Sha1");
    assert_eq!((config.transport.heartbeat_s, config.transport.dead_factor), (30, 5));
    let cltu = config.find(Some("cltu1")).unwrap();
    assert_eq!(config.address_of(cltu).unwrap(), "station.example:5102");
    assert_eq!((cltu.proposed_version(), config.return_timeout_of(cltu)), (4, 120));
    let forward = cltu.forward();
    assert_eq!((forward.cltu_max, forward.minimum_delay_us), (1000, 5000));
    assert!(forward.continue_after_abort && forward.uplink.bit_lock_required);
    assert_eq!(forward.uplink.clcw_physical_channel.as_deref(), Some("CH&1"));
    assert_eq!(forward.uplink.modulation_frequency_dhz, 700);
    let rocf = config.find(Some("onlt1")).unwrap().returns();
    assert_eq!((rocf.latency_s, rocf.frames_per_buffer), (3, 10));
    assert_eq!(rocf.tc_channels, Some(vec![0, 7]));
    assert_eq!(
        losses(&imported.notes),
        [
            "not converted: line 7: attribute colour of <mapping> is not known",
            "not converted: line 11: a password is not pairs of hexadecimal digits",
            "not converted: line 60: <weather> in <rocf> is not known, or stands there again",
            "not converted: line 62: sagr=1.spack=PASS1.rsl-fg=1.raf=onlc9: a provider that binds is \
             not supported",
            "not converted: line 6: port TM_PORT: its heartbeats and buffers differ from those of \
             TC_PORT, which are taken for all",
        ]
    );
    assert!(!imported.text().contains("abc"), "no part of a wrong password is in the output");
}

#[test]
fn files_of_the_esa_sle_api() {
    let imported = esa::import(&[ELEMENT, PROXY]).unwrap();
    let config = checked(&imported);
    let provider = config.provider.as_ref().unwrap();
    assert_eq!(provider.id, "GS-TLM");
    let listen: Vec<String> = provider.listen.iter().map(ToString::to_string).collect();
    assert_eq!(listen, ["0.0.0.0:5008", "127.0.0.1:5009"]);
    assert_eq!((config.security.delay_s, config.transport.startup_s), (90, 170));
    assert_eq!(config.transport.heartbeat_range_s, [20, 60]);
    assert_eq!(config.transport.dead_factor_range, [2, 10]);
    assert!(!config.transport.without_heartbeats);
    assert_eq!(config.transport.send_buffer, Some(32_768));
    assert_eq!(format!("{:?}", config.party("MCC-B").unwrap().auth), "All");
    let text = imported.text();
    assert!(text.contains("# Services and their versions: RAF 1 2 5, CLTU 4"), "{text}");
    assert!(text.contains("# port = \"GS-TC1\"\n# min_reporting_cycle_s = 8\n"), "{text}");
    assert_eq!(
        losses(&imported.notes),
        [
            "not converted: line 7: MAX_REPORTINGCYCLE = 60: here the maximum is 600 s",
            "not converted: line 8: SERVER_TYPES: there is no service FSP here",
            "not converted: line 23: REMOTE_PEERS: COLOUR is not known",
            "not converted: line 49: WEATHER is not known",
            "not converted: line 32: port GS-TC1: its heartbeats and buffers differ from those of \
             GS-TM1, which are taken for all",
        ]
    );
}

/// What was imported is exported and imported again: it says the same, and nothing is lost.
#[test]
fn what_is_imported_goes_back() {
    let first = utl::import(USER, None).unwrap();
    let exported = utl::export(&first.config, None).unwrap();
    assert_eq!(losses(&exported.notes), [""; 0]);
    let again = utl::import(&exported.files[0].1, None).unwrap();
    assert_eq!(toml_text(&again.config), toml_text(&first.config));
    assert_eq!(losses(&again.notes), [""; 0]);

    let first = esa::import(&[PROXY]).unwrap();
    let exported = esa::export(&first.config, None).unwrap();
    let texts: Vec<&str> = exported.files.iter().map(|(_, text)| text.as_str()).collect();
    let again = esa::import(&texts).unwrap();
    // Ports are of instances, and there are none.
    let without = |text: String| {
        let lines =
            text.lines().filter(|line| !line.starts_with("listen") && !line.contains("_buffer"));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(without(toml_text(&again.config)), without(toml_text(&first.config)));
}

/// The configuration that is shipped, for both roles; what the formats cannot say is named.
#[test]
fn the_shipped_configuration_is_exported() {
    let config = Config::parse(include_str!("../../dist/sle.toml")).unwrap();
    assert!(utl::export(&config, None).unwrap_err().to_string().contains("name a role"));
    for role in [ExchangeRole::User, ExchangeRole::Provider] {
        let exported = utl::export(&config, Some(role)).unwrap();
        let again = utl::import(&exported.files[0].1, Some(role)).unwrap();
        checked(&again);
        let lost = losses(&exported.notes).join("\n");
        assert!(lost.contains("versions: the format can only say [5]"), "{lost}");
        assert!(lost.contains("[[forward_frame]]"), "{lost}");
        assert!(!lost.contains("password"), "{lost}");

        let exported = esa::export(&config, Some(role)).unwrap();
        let proxy = &exported.files[0].1;
        assert!(proxy.contains("PORT_NAME = PORT\n"), "{proxy}");
        let lost = losses(&exported.notes).join("\n");
        assert!(lost.contains("cltu=cltu1\": the format has no place for it"), "{lost}");
    }
}

#[test]
fn what_is_no_file_of_the_format_is_refused() {
    for (text, said) in [
        ("<a/>", "line 1: <a> instead of <utl-configuration-file>"),
        ("<utl-configuration-file/>", "there is no <peer-configuration>"),
    ] {
        assert_eq!(utl::import(text, None).unwrap_err().to_string(), said);
    }
    let said = esa::import(&["A = 1\n"]).unwrap_err().to_string();
    assert_eq!(said, "PROXY_ROLE is in no file of the proxy");
}

proptest! {
    /// Files with octets changed are read or refused; a text that is read is a configuration.
    #[test]
    fn changed_files_are_read_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[ -~\\n]"), 1..6),
        end in any::<prop::sample::Index>(),
    ) {
        for (text, is_utl) in [(USER, true), (PROXY, false)] {
            let mut text = text.to_owned();
            for (at, letter) in &changes {
                let at = at.index(text.len());
                text.replace_range(at..=at, letter);
            }
            text.truncate(text.len() - end.index(text.len()) % 40);
            let imported =
                if is_utl { utl::import(&text, Some(ExchangeRole::User)) } else { esa::import(&[&text]) };
            if let Ok(imported) = imported {
                prop_assert!(Config::parse(&imported.text()).is_ok(), "{}", imported.text());
            }
        }
    }
}

#[test]
fn the_program_converts_files_and_never_replaces_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let sle = |args: &[&str]| {
        let done =
            Command::new(env!("CARGO_BIN_EXE_sle")).arg("config").args(args).output().unwrap();
        let said = [done.stdout, done.stderr].map(|octets| String::from_utf8(octets).unwrap());
        (done.status.code(), said)
    };
    std::fs::write(path("user.xml"), USER).unwrap();
    let (code, [out, err]) =
        sle(&["import", "--from", "utl", &path("user.xml"), "-o", &path("sle.toml")]);
    assert_eq!((code, out.as_str()), (Some(3), ""), "{err}");
    assert!(err.contains("not converted: line 7: attribute colour"), "{err}");
    let mode = std::fs::metadata(path("sle.toml")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o777, 0o600);
    let (code, [_, err]) =
        sle(&["import", "--from", "utl", &path("user.xml"), "-o", &path("sle.toml")]);
    assert_eq!(code, Some(1));
    assert!(err.contains("name a file that does not exist"), "{err}");
    let (code, [out, _]) = sle(&["export", "--to", "utl", &path("sle.toml")]);
    assert_eq!(code, Some(0));
    assert!(out.contains("<responder-port-id>TC_PORT</responder-port-id>"), "{out}");
    let (code, [_, err]) = sle(&["export", "--to", "esa", &path("sle.toml"), "-o", &path("esa")]);
    assert_eq!(code, Some(3), "{err}");
    let proxy = std::fs::read_to_string(path("esa/proxy.txt")).unwrap();
    assert!(proxy.contains("FOREIGN_LOGICAL_PORTS = {"), "{proxy}");
    // Our programs take the result.
    let done = Command::new(env!("CARGO_BIN_EXE_sle-user"))
        .args(["--check", "-c", &path("sle.toml")])
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stdout));
}
