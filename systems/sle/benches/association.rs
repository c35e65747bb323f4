//! Cost of an operation in the associations of both sides: encoding, framing, signing, and the
//! reverse. No sockets, no service.
//!
//! `cargo bench -p chronoscope-sle --bench association`. CLTUs of 1544 octets, 64 on their way, each
//! with its return; transfer buffers of 80 frames of 100 octets. CPU time of this thread for both
//! sides together, the best of five runs. The limit beside it is one copy of the octets from one
//! buffer into another, which a connection makes at least twice.

use std::hint::black_box;
use std::sync::Arc;

use bytes::Bytes;
use chronoscope_clock as clock;
use chronoscope_sle::association::{
    Association, AssociationEvent, AuthenticationLevel, HashAlgorithm, Identity, Initiator,
    InstanceDirectory, SecuritySettings, ServiceInstance, UserSettings,
};
use chronoscope_sle::pdu::{
    AntennaId, CltuTransferData, CltuTransferDataReturn, FrameOrNotification, FrameQuality, Pdu,
    ServiceInstanceId, ServiceType, SiAttribute, TransferData,
};
use chronoscope_sle::time::{Now, Time};

const RUNS: usize = 5;
const CLTUS: u32 = 60_000;
const WINDOW: u32 = 64;
const BUFFERS: u32 = 2_000;
const FRAMES: usize = 80;
const NOW: Now = Now { monotonic_ns: 1, utc_ns: 1_700_000_000_000_000_000 };

fn main() {
    let copy = best(|| copied(1544 + 64));
    println!("{:<44} {:>10} {:>14}", "", "ns", "a second");
    let row = |what: &str, ns: f64| println!("{what:<44} {ns:>10.0} {:>14.0}", 1e9 / ns);
    row("one copy of a CLTU's octets (the limit)", copy);
    let levels = [
        ("none", AuthenticationLevel::None, HashAlgorithm::Sha256),
        ("bind", AuthenticationLevel::Bind, HashAlgorithm::Sha256),
        ("all, SHA-1", AuthenticationLevel::All, HashAlgorithm::Sha1),
        ("all, SHA-256", AuthenticationLevel::All, HashAlgorithm::Sha256),
    ];
    for (name, level, hash) in levels {
        let security = SecuritySettings { level, hash, ..SecuritySettings::default() };
        row(&format!("CLTU and its return, {name}"), best(|| cltus(security)));
    }
    for (name, level, hash) in levels {
        let security = SecuritySettings { level, hash, ..SecuritySettings::default() };
        row(&format!("frame of a transfer buffer, {name}"), best(|| frames(security)));
    }
}

fn best(run: impl Fn() -> f64) -> f64 {
    (0..RUNS).map(|_| run()).fold(f64::MAX, f64::min)
}

fn copied(octets: usize) -> f64 {
    let (from, mut to) = (vec![1u8; octets], Vec::new());
    let begin_ns = clock::thread_cpu_ns();
    for _ in 0..CLTUS {
        to.clear();
        to.extend_from_slice(black_box(&from));
        black_box(&to);
    }
    (clock::thread_cpu_ns() - begin_ns) as f64 / f64::from(CLTUS)
}

fn cltus(security: SecuritySettings) -> f64 {
    let (mut user, mut provider) = bound(ServiceType::Fcltu, security);
    let data = Bytes::from(vec![0xeb; 1544]);
    let begin_ns = clock::thread_cpu_ns();
    for first in (0..CLTUS).step_by(WINDOW as usize) {
        for cltu in first..first + WINDOW {
            let invoke_id = (cltu & 0xffff) as u16;
            let data = data.clone();
            let invocation = CltuTransferData {
                invoke_id,
                cltu,
                earliest: None,
                latest: None,
                delay_us: 0,
                notify_radiated: false,
                data,
            };
            user.send(Pdu::CltuTransferData(invocation), NOW).expect("it is bound");
        }
        carry(&mut user, &mut provider);
        while let Some(event) = provider.next_event() {
            let AssociationEvent::Pdu(Pdu::CltuTransferData(taken)) = event else {
                panic!("{event:?}")
            };
            let (invoke_id, next_cltu) = (taken.invoke_id, taken.cltu + 1);
            let result = Ok(());
            let buffer_available = 1 << 20;
            let answer = CltuTransferDataReturn { invoke_id, next_cltu, buffer_available, result };
            provider.send(Pdu::CltuTransferDataReturn(answer), NOW).expect("it is open");
        }
        carry(&mut provider, &mut user);
        while let Some(event) = user.next_event() {
            assert!(matches!(event, AssociationEvent::Pdu(_)), "{event:?}");
        }
    }
    (clock::thread_cpu_ns() - begin_ns) as f64 / f64::from(CLTUS.next_multiple_of(WINDOW))
}

fn frames(security: SecuritySettings) -> f64 {
    let (mut user, mut provider) = bound(ServiceType::Raf, security);
    let data = Bytes::from(vec![0x5a; 100]);
    let antenna = AntennaId::Local(Bytes::from_static(b"ANT1"));
    let begin_ns = clock::thread_cpu_ns();
    for _ in 0..BUFFERS {
        let frame = |_| {
            FrameOrNotification::Frame(TransferData {
                credentials: None,
                earth_receive_time: Time::from_utc_ns(NOW.utc_ns),
                antenna: antenna.clone(),
                data_link_continuity: 0,
                quality: Some(FrameQuality::Good),
                private_annotation: None,
                data: data.clone(),
            })
        };
        let buffer = (0..FRAMES).map(frame).collect();
        provider.send(Pdu::TransferBuffer(buffer), NOW).expect("it is bound");
        carry(&mut provider, &mut user);
        let event = user.next_event();
        let Some(AssociationEvent::Pdu(Pdu::TransferBuffer(parts))) = event else {
            panic!("{event:?}")
        };
        assert_eq!(black_box(parts).len(), FRAMES);
    }
    (clock::thread_cpu_ns() - begin_ns) as f64 / (f64::from(BUFFERS) * FRAMES as f64)
}

fn carry(from: &mut Association, to: &mut Association) {
    // As a driver does it: the buffer is written and used again.
    to.receive(&from.output().octets, NOW);
    from.output().octets.clear();
}

fn bound(service: ServiceType, security: SecuritySettings) -> (Association, Association) {
    let identity = |id: &str| Identity { id: id.into(), password: b"password1".to_vec() };
    let id = ServiceInstanceId(vec![(SiAttribute(52), "1".into())]);
    let mut directory = InstanceDirectory::new(identity("STATION"));
    let initiator = Initiator { identity: identity("CENTRE"), security };
    directory.add_initiator(initiator).expect("the first");
    let instance = ServiceInstance {
        id: id.clone(),
        service,
        versions: vec![5],
        initiators: vec!["CENTRE".into()],
        provision: None,
        responder_port: None,
        end_is_final: false,
    };
    directory.add_instance(instance).expect("the first");
    let settings = UserSettings {
        initiator: identity("CENTRE"),
        responder: identity("STATION"),
        responder_port: "PORT1".into(),
        security,
        ..UserSettings::new(service, id)
    };
    let mut user = Association::user(settings, NOW);
    let mut provider = Association::provider(Arc::new(directory), NOW);
    user.bind(NOW).expect("right settings");
    carry(&mut user, &mut provider);
    assert!(matches!(provider.next_event(), Some(AssociationEvent::Bound { .. })));
    carry(&mut provider, &mut user);
    assert!(matches!(user.next_event(), Some(AssociationEvent::Bound { .. })));
    (user, provider)
}
