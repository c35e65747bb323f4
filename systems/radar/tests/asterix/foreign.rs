//! Radars that are not ours, through the tracker.

use crate::oracle::python;
use crate::recordings::{payloads, recordings};
use chronoscope_radar::asterix::{Record, decode_block};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Summary of the tracker at the end of a capture.
fn track(capture: &Path, more: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_radar-tracker"))
        .args(["--json", "--capture"])
        .arg(capture)
        .args(more)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Datagrams in the FINAL format, all of them of one instant.
fn final_recording(datagrams: &[Vec<u8>]) -> Vec<u8> {
    let record = |datagram: &Vec<u8>| {
        let length = u16::try_from(datagram.len() + 12).unwrap();
        [&length.to_be_bytes()[..], &[1, 1, 1, 0x20, 0, 0], datagram, &[0xA5; 4]].concat()
    };
    datagrams.iter().flat_map(record).collect()
}

/// The same radars as a recording in the FINAL format, which asterix-decoder's example reads as well.
#[test]
fn a_final_recording_is_read_as_asterix_decoder_reads_it() {
    let Some(python) = python("asterix-decoder") else { return };
    let Some(dir) = recordings(&python) else { return };
    let capture = dir.join("cat_034_048.pcap");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plots.ff");
    let datagrams = payloads(&std::fs::read(&capture).unwrap());
    std::fs::write(&file, final_recording(&datagrams)).unwrap();
    let (heard, same) = (track(&capture, &[]), track(&file, &[]));
    for count in ["datagrams", "plots", "service_messages", "malformed", "other"] {
        assert_eq!(heard["processor"][count], same["processor"][count], "{count}");
    }
    assert_eq!(same["processor"]["datagrams"], 100, "{same:#}");

    // Its file's name is written into the example.
    let read = "import asterix, os, re, sys\n\
        path = os.path.join(os.path.dirname(asterix.__file__), 'examples/read_final_file.py')\n\
        text, found = re.subn(r\"(?m)^sample_filename = .*$\", 'sample_filename = sys.argv[1]', open(path).read())\n\
        assert found == 1\n\
        exec(text)\n";
    let output = Command::new(&python).args(["-c", read]).arg(&file).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("100.\ttime=") && said.contains("Finished"), "{said}");
}

/// The 0.44 s of seven real radars that asterix-decoder ships: every plot is decoded, and used once
/// it is known where its radar stands. Too short for a track: no radar has turned.
#[test]
fn recorded_radars_are_tracked() {
    let Some(python) = python("asterix-decoder") else { return };
    let Some(dir) = recordings(&python) else { return };
    let capture = dir.join("cat_034_048.pcap");
    let heard = track(&capture, &[]);
    assert_eq!(heard["processor"]["datagrams"], 100, "{heard:#}");
    assert_eq!(
        (&heard["processor"]["malformed"], &heard["processor"]["other"]),
        (&0.into(), &0.into())
    );
    assert_eq!((&heard["processor"]["plots"], &heard["radars"]), (&128.into(), &7.into()));
    // Half of the datagrams are copies of others, as two networks deliver them.
    assert_eq!(heard["processor"]["duplicate_plots"], 63, "{heard:#}");
    // One of the seven says where it is.
    assert_eq!(heard["processor"]["unusable"]["radar position unknown"], 56);
    assert_eq!(heard["tracker"]["plots"], 9);

    // The others, wherever they may be.
    let payloads = payloads(&std::fs::read(&capture).unwrap());
    let sources: BTreeSet<_> = payloads
        .iter()
        .flat_map(|payload| decode_block(payload))
        .map(|record| match record.unwrap() {
            Record::Plot(plot) => plot.source,
            Record::Service(message) => message.source,
            other => panic!("{other:?}"),
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let radars = folder.path().join("radars.csv");
    let mut lines = "radar,lat_deg,lon_deg,height_m,range_sigma_m,azimuth_sigma_deg\n".to_owned();
    for source in sources {
        lines += &format!("{source},45.8,16.0,200,50,0.07\n");
    }
    std::fs::write(&radars, lines).unwrap();
    let placed = track(&capture, &["--origin", "46,16", "--radars", radars.to_str().unwrap()]);
    eprintln!("{placed:#}");
    let unusable: u64 = placed["processor"]["unusable"]
        .as_object()
        .unwrap()
        .values()
        .filter_map(Value::as_u64)
        .sum();
    let used = placed["tracker"]["plots"].as_u64().unwrap();
    assert_eq!(used + unusable, 128 - 63);
    assert!(used >= 56, "{placed:#}");
}
