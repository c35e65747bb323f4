//! A provider that contradicts itself, at `sle-user send`: what it said is in the journal.

use crate::peer::Peer;
use crate::providers::{Provider, start};
use chronoscope_sle::pdu::{
    CltuAsyncNotify, CltuLastOk, CltuLastProcessed, CltuNotification, CltuProductionStatus,
    CltuStatus, CltuTransferDataReturn, Pdu, UplinkStatus,
};
use chronoscope_sle::time::{Now, Time};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn notify(notification: CltuNotification, last: CltuLastProcessed, ok: Option<CltuLastOk>) -> Pdu {
    Pdu::CltuAsyncNotify(CltuAsyncNotify {
        notification,
        last_processed: Some(last),
        last_ok: ok,
        production: CltuProductionStatus::Operational,
        uplink: UplinkStatus::Nominal,
    })
}

/// Takes four CLTUs; tells that 0 was radiated and 1 has expired, then that 1 was radiated.
fn contradict(mut peer: Peer) {
    start(&mut peer);
    for number in 0..4 {
        let Pdu::CltuTransferData(one) = peer.hear() else { panic!() };
        assert_eq!(one.cltu, number);
        peer.say(Pdu::CltuTransferDataReturn(CltuTransferDataReturn {
            invoke_id: one.invoke_id,
            next_cltu: number + 1,
            buffer_available: 10_000,
            result: Ok(()),
        }));
    }
    let now = Time::from_utc_ns(Now::read().utc_ns);
    let ok = |cltu| Some(CltuLastOk { cltu, stop_radiation: now });
    let last = |cltu, start_radiation, status| CltuLastProcessed { cltu, start_radiation, status };
    peer.say(notify(CltuNotification::SlduExpired, last(1, None, CltuStatus::Expired), ok(0)));
    let radiated = last(1, Some(now), CltuStatus::Radiated);
    peer.say(notify(CltuNotification::CltuRadiated, radiated, ok(1)));
    loop {
        match peer.hear() {
            Pdu::Stop { invoke_id } => peer.say(Pdu::StopReturn { invoke_id, result: Ok(()) }),
            Pdu::Unbind(_) => return peer.say(Pdu::UnbindReturn),
            other => panic!("{other:?}"),
        }
    }
}

fn send(folder: &Path, address: &str, args: &[&str]) -> Output {
    let config = folder.join("sle.toml");
    let text = format!(
        "[user]\nid = \"MCC\"\naddress = \"{address}\"\n[[peer]]\nid = \"STATION\"\n\
         [[instance]]\nid = \"sagr=1.spack=A.fsl-fg=1.cltu=cltu1\"\n"
    );
    fs::write(&config, text).unwrap();
    Command::new(env!("CARGO_BIN_EXE_sle-user"))
        .args(["--json", "-qc", config.to_str().unwrap(), "send", "--generate", "4"])
        .args(args)
        .env("CHRONOSCOPE_DIR", folder)
        .output()
        .unwrap()
}

fn total(output: &Output) -> Value {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

/// It was printed and counted, and not in the journal.
#[test]
fn a_radiation_after_an_expiry_is_in_the_journal_and_not_sent_again() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("transfer.journal");
    let journal = journal.to_str().unwrap();
    let provider = Provider::listen(contradict);
    let address = provider.address().to_string();
    let output = send(folder.path(), &address, &["--journal", journal]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let result = total(&output);
    assert_eq!((&result["radiated"], &result["expired"]), (&1.into(), &1.into()), "{result}");
    assert_eq!(result["contradicted_cltus"], serde_json::json!([1]), "{result}");
    provider.join();
    let text = fs::read_to_string(journal).unwrap();
    assert!(text.contains("{\"contradicted\":1,\"told\":\"radiated\""), "{text}");
    // Of what is not known to be radiated, CLTUs 2 and 3 go again, and 1 does not.
    let provider = Provider::listen(|mut peer| {
        start(&mut peer);
        let mut counters = Vec::new();
        for number in 4..6 {
            let Pdu::CltuTransferData(one) = peer.hear() else { panic!() };
            assert_eq!(one.cltu, number);
            counters.push(u64::from_be_bytes(one.data[..8].try_into().unwrap()));
        }
        counters
    });
    let address = provider.address().to_string();
    let output = send(folder.path(), &address, &["--resume", journal, "--resend", "all"]);
    assert_eq!(output.status.code(), Some(5), "the provider has gone: {output:?}");
    assert_eq!(provider.join(), [2, 3]);
    assert_eq!(total(&output)["contradicted_cltus"], serde_json::json!([1]));
}
