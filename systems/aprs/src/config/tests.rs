//! Whole files.

use super::{Acl, Batching, Config, ConfigErrors, DIRECTIVES, PortKind, Protocol, Surroundings};
use super::{UplinkKind, parse};
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

const BASIC: &str = "ServerId t2test\nMyAdmin \"Admin, N0CALL\"\n\
    Listen \"Full feed\" fullfeed tcp :: 10152\n";

fn files(path: &Path) -> io::Result<Vec<u8>> {
    match path.to_str() {
        Some("all.acl") => Ok(b"allow 0.0.0.0/0\nallow ::/0\n".to_vec()),
        Some("bad.acl") => Ok(b"allow everybody\n".to_vec()),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}

fn names(name: &str) -> io::Result<Vec<IpAddr>> {
    match name {
        "localhost" => Ok(vec!["127.0.0.1".parse().unwrap()]),
        "both.example" => Ok(vec!["::1".parse().unwrap(), "127.0.0.1".parse().unwrap()]),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}

fn read(text: &str) -> Result<Config, ConfigErrors> {
    parse(text.as_bytes(), "x.conf".as_ref(), &Surroundings { read: &files, resolve: &names })
}

fn config(lines: &str) -> Config {
    read(&format!("{BASIC}{lines}")).unwrap()
}

/// The faults of lines that are appended to a file that is right.
fn faults(lines: &str) -> Vec<String> {
    let errors = read(&format!("{BASIC}{lines}")).unwrap_err();
    errors.to_string().lines().map(str::to_owned).collect()
}

#[test]
fn defaults_are_aprscs() {
    let config = config("");
    assert_eq!(config.server_id.to_string(), "T2TEST");
    assert_eq!((config.clients_max, config.workers, config.file_limit), (500, 2, None));
    assert_eq!(config.upstream_timeout, Duration::from_secs(30));
    assert_eq!(config.client_timeout, Duration::from_secs(48 * 3600));
    assert_eq!((config.q_protocol, config.disallow_other_q_protocols), (b'A', true));
    assert!(config.disallow_unverified && !config.quirks_mode);
    let port = &config.listeners[0];
    assert_eq!(
        (port.kind, port.protocol, port.clients_max),
        (PortKind::FullFeed, Protocol::Tcp, 200)
    );
    assert_eq!((&*port.name, port.address.to_string()), ("Full feed", "[::]:10152".to_owned()));
    assert_eq!(config.warnings, []);
}

#[test]
fn every_directive_is_read() {
    let config = config(
        "PASSCODE 31421\nmyemail email@example.com\nFake_version \"x 1\"\nRunDir data\n\
         LogRotate 10 5\nMaxClients 900\nWorkerThreads 3\nFileLimit 10000\nStatsInterval 2m\n\
         ExpiryInterval 31\nLastPositionCache 48h\nUpstreamTimeout 15s\nClientTimeout 1h\n\
         LoginTimeout 20s\nStaleAfter 5s\nBatching latency\nQ_Protocol_Id O\n\
         Disallow_Other_Protocol_Id no\nDisallow_Unverified off\nQuirks_Mode on\n\
         DisallowLoginCall P1RAT* P?ROT*\nDisallowSourceCall A\nDisallowSourceCall B\n\
         DisallowIgateCall qAY\nHTTPStatus :: 14501\nHTTPUpload 127.0.0.1 8080\n\
         HTTPStatusOptions ShowEmail=1\nHTTPAllowHost a.example b.example\nUplinkBind 127.0.0.1\nUplinkBind ::1\n\
         Uplink \"Core rotate\" full tcp rotate.example 10152\n\
         PeerGroup T udp 127.0.0.1:16404 \\\n SELF 127.0.0.1:16404 \\\n P1 127.0.0.1:16405\n",
    );
    assert_eq!((config.passcode, config.log_rotate), (31421, Some((10 << 20, 5))));
    assert_eq!(config.my_email.as_deref(), Some("email@example.com"));
    assert_eq!((config.clients_max, config.workers), (900, 3));
    assert_eq!(config.stale_after, Duration::from_secs(5));
    assert_eq!((config.batching, config.q_protocol), (Batching::Latency, b'O'));
    let batching = |text: &str| self::config(&format!("Batching {text}\n")).batching;
    assert_eq!(batching("12ms"), Batching::Within(Duration::from_millis(12)));
    assert!(!config.disallow_other_q_protocols && !config.disallow_unverified);
    assert!(config.quirks_mode && config.show_email);
    assert_eq!(config.disallow_source, ["A", "B"]);
    assert_eq!(config.http_allow_hosts, ["a.example", "b.example"]);
    assert_eq!((config.uplink_bind.len(), config.http_status.len()), (2, 1));
    let uplink = &config.uplinks[0];
    assert_eq!(
        (uplink.kind, &*uplink.host, uplink.port),
        (UplinkKind::Full, "rotate.example", 10152)
    );
    let group = &config.peer_groups[0];
    assert_eq!(group.local.to_string(), "127.0.0.1:16404");
    let peers: Vec<_> = group.peers.iter().map(|peer| peer.server_id.to_string()).collect();
    assert_eq!(peers, ["P1"], "our own address is left out");
    // Each name in the list is known to the reader: with no value, it asks for one.
    for name in DIRECTIVES {
        let complaint = faults(name).join(" ");
        assert!(complaint.contains("needs more"), "{name}: {complaint}");
    }
}

#[test]
fn ports_and_their_options() {
    let config = config(
        "Listen a igate tcp localhost 14580 filter \"m/350 t/m\" maxclients 7 acl all.acl hidden\n\
         Listen a igate udp localhost 14580 acl all.acl\n\
         Listen s igate sctp ::0 14580\nListen w igate websocket ::1 14581\n\
         Listen d dupefeed tcp 0.0.0.0 10153\nListen u udpsubmit udp 0.0.0.0 8080 maxclients 9\n\
         Listen t userfilter tcp 0.0.0.0 24580 sslkey k.pem tlscert c.pem tlsca ca.pem tlscrl r.pem\n\
         Listen k clientonly tcp 127.0.0.1 0\nListen k clientonly tcp 127.0.0.1 0\n",
    );
    let port = &config.listeners[1];
    assert_eq!((port.filter.as_deref(), port.clients_max), (Some("m/350 t/m"), 7));
    assert!(port.hidden && port.acl.as_deref().is_some_and(|acl: &Acl| acl.rules.len() == 2));
    assert!(config.listeners[5].hidden, "dupefeed is never shown");
    assert_eq!(config.listeners[6].clients_max, 1);
    let tls = config.listeners[7].tls.as_ref().unwrap();
    assert_eq!(tls.key.as_deref(), Some("k.pem".as_ref()));
    assert_eq!(tls.crl.as_deref(), Some("r.pem".as_ref()));
    assert_eq!(config.listeners[4].protocol, Protocol::WebSocket);
}

#[test]
fn every_fault_has_its_place() {
    let found = faults(
        "MyCall N0CALL\nLissten x\nUplink a full udp h 1\nListen a igate tcp ::1\n\
         ClientTimeout 5x\n  Listen a messageonly tcp ::1 1\nListen a igate tcp nowhere 1\n\
         PeerGroup p tcp ::1:9 A ::1:8\nListen a igate tcp ::1 3 tlskey k\n\
         Listen a igate tcp ::1 4 acl bad.acl\nListen a igate tcp ::1 5 acl none.acl\n\
         MyAdmin \"open\nListen a udpsubmit tcp ::1 6\nPeerGroup p udp ::1 X\n\
         Listen a igate tcp ::1 70000\nHTTPStatus :: 10152\nListen a igate udp ::1 7 tlsca x\n\
         PeerGroup g udp 127.0.0.1:9 A [::1]:9\nListen a igate tcp ::1 8 loud\n\
         Listen a igate tcp ::1 9 filter \"t/m r/x\"\n",
    );
    let starts = [
        "x.conf:4:1: unknown directive \"MyCall\": its name is ServerId now",
        "x.conf:5:1: unknown directive \"Lissten\"; is it Listen?",
        "x.conf:6:15: \"udp\" is not a valid protocol of an uplink",
        "x.conf:7:1: Listen needs more arguments: Listen NAME KIND",
        "x.conf:8:15: \"5x\" is not a valid interval",
        "x.conf:9:12: \"messageonly\" is not a valid kind of port",
        "x.conf:10:20: no address was found for \"nowhere\"",
        "x.conf:11:13: \"tcp\" is not a valid protocol of a peer group",
        "x.conf:12:8: tlskey and tlscert belong together: tlscert is missing",
        "x.conf:14:30: cannot be read: the ACL file none.acl",
        "x.conf:15:9: the quote is not closed",
        "x.conf:16:20: tcp cannot be used with a udpsubmit port",
        "x.conf:17:17: \"::1\" is not a valid address with port",
        "x.conf:18:24: 70000 is not within 0 to 65535",
        "x.conf:19:15: tcp [::]:10152 is already used in line 3",
        "x.conf:20:16: TLS cannot be used with a port with udp",
        "x.conf:21:31: the peer [::1]:9 and the local address 127.0.0.1:9",
        "x.conf:22:26: unknown option \"loud\"",
        "x.conf:23:33: in the filter: ",
        "bad.acl:1:7: no address was found for \"everybody\"",
        "x.conf: PassCode is missing",
    ];
    let expected = &starts[..starts.len() - 1]; // the uplink was not read
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (line, start) in found.iter().zip(expected) {
        assert!(line.starts_with(start), "{line}\n{start}");
    }
}

#[test]
fn what_is_missing_is_said() {
    let errors = read("MyEmail a@b.example\n").unwrap_err().to_string();
    assert!(errors.contains("x.conf: ServerId is missing"), "{errors}");
    assert!(errors.contains("MyAdmin is missing"), "{errors}");
    let errors = read("ServerId T2X\nMyAdmin a\n").unwrap_err().to_string();
    assert_eq!(errors, "x.conf: no Listen directive: add one, the server has no port");
    assert_eq!(faults("Uplink u ro tcp h 1")[0], "x.conf: PassCode is missing: uplinks ask for it");
    let mixed = faults("PassCode 1\nUplink u ro tcp h 1\nUplink v multiro tcp h 1");
    assert!(mixed[0].starts_with("x.conf:6:1: multiro uplinks cannot be mixed"), "{mixed:?}");
}

#[test]
fn what_is_odd_is_a_warning() {
    let config = config(
        "MyAdmin My Name\nWorkerThreads 64 # all of them\nFileLimit 100\n\
         Listen a igate tcp both.example 1\n",
    );
    let warnings: Vec<_> = config.warnings.iter().map(ToString::to_string).collect();
    let starts = [
        "x.conf:4:1: MyAdmin was already given in line 2",
        "x.conf:4:12: \"Name\" is ignored",
        "x.conf:5:15: 64 is outside the allowed range: 32 is used",
        "x.conf:7:20: \"both.example\" has 2 addresses, and ::1 is used",
        "x.conf:6:1: MaxClients 500 needs a FileLimit of at least 550, but FileLimit is 100",
    ];
    assert_eq!(warnings.len(), starts.len(), "{warnings:#?}");
    for (line, start) in warnings.iter().zip(starts) {
        assert!(line.starts_with(start), "{line}\n{start}");
    }
    assert_eq!((&*config.my_admin, config.workers), ("My", 32));
}

/// What aprsc takes does not keep the server from starting.
#[test]
fn what_is_of_no_use_is_a_warning_and_no_fault() {
    let config = config(
        "Listen f fullfeed tcp ::1 2 filter t/m maxclients 7\nListen d dupefeed tcp ::1 3 filter t/m\n\
         Listen s udpsubmit udp ::1 4 filter t/m\nPeerGroup p sctp ::1:9 A ::1:8\n\
         HTTPStatus :: 14501 all\nHTTPUpload ::1 8080 # of phones\nHTTPUpload ::1 8081 a b\n\
         LogRotate 10 5 days\n",
    );
    let warnings: Vec<_> = config.warnings.iter().map(ToString::to_string).collect();
    let starts = [
        "x.conf:4:29: filter is ignored, because it has no effect for a fullfeed port",
        "x.conf:5:29: filter is ignored, because it has no effect for a dupefeed port",
        "x.conf:6:30: filter is ignored, because it has no effect for a udpsubmit port",
        "x.conf:7:13: \"sctp\" is not a supported protocol of a peer group, so the line is ignored",
        "x.conf:8:21: \"all\" is ignored, because it is one argument too many: HTTPStatus ADDRESS \
         PORT",
        "x.conf:10:21: \"a\" is ignored, because it is one argument too many: HTTPUpload ADDRESS \
         PORT",
        "x.conf:11:16: \"days\" is ignored, because it is one argument too many: LogRotate \
         MEGABYTES",
    ];
    assert_eq!(warnings.len(), starts.len(), "{warnings:#?}");
    for (line, start) in warnings.iter().zip(starts) {
        assert!(line.starts_with(start), "{line}\n{start}");
    }
    assert_eq!((&config.listeners[1].filter, config.listeners[1].clients_max), (&None, 7));
    assert_eq!((config.listeners.len(), config.peer_groups.len()), (4, 0));
    assert_eq!((config.http_status.len(), config.http_upload.len()), (1, 2));
    assert_eq!(config.log_rotate, Some((10 << 20, 5)));
    let wrong = faults("Listen f fullfeed tcp ::1 2 filter r/x\n");
    assert!(wrong[0].starts_with("x.conf:4:36: in the filter: "), "{wrong:?}");
}

#[test]
fn a_file_on_disk_needs_its_run_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.conf");
    let text = format!("{BASIC}RunDir {}\n", super::quote(folder.path().to_str().unwrap()));
    std::fs::write(&path, &text).unwrap();
    assert_eq!(super::read(&path).unwrap().run_dir.as_deref(), Some(folder.path()));
    std::fs::write(&path, text.replace("RunDir ", "RunDir /nowhere")).unwrap();
    let error = super::read(&path).unwrap_err().to_string();
    assert!(error.contains("cannot be used"), "{error}");
    let error = super::read(&folder.path().join("b.conf")).unwrap_err().to_string();
    assert!(error.contains("b.conf: cannot be read: No such file"), "{error}");
}
