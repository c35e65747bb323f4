//! TLS: ports, login by certificate, revoked ones, uplinks.

use super::common::{Client, Server, passcode, passes_as_is};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType, IsCa, Issuer,
    KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber, date_time_ymd,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// TrustedQSL's attribute for a callsign.
const OID_CALLSIGN: [u64; 9] = [1, 3, 6, 1, 4, 1, 12348, 1, 1];

/// An authority that issues certificates, and files of what it issued.
struct Authority {
    dir: tempfile::TempDir,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key.
#[derive(Clone)]
struct Pair {
    certificate: PathBuf,
    key: PathBuf,
}

impl Authority {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name.push(DnType::CommonName, "An authority");
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().pem();
        fs::write(dir.path().join("ca.pem"), certificate).unwrap();
        Self { dir, issuer: Issuer::new(params, key) }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A certificate with the callsign in it, if there is one.
    fn issue(&self, serial: u8, host: &str, callsign: Option<&str>) -> Pair {
        let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        params.serial_number = Some(SerialNumber::from(vec![serial]));
        if let Some(callsign) = callsign {
            let attribute = DnType::CustomDnType(OID_CALLSIGN.to_vec());
            params.distinguished_name.push(attribute, callsign);
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let pair = Pair {
            certificate: self.file(&format!("{serial}.pem")),
            key: self.file(&format!("{serial}.key")),
        };
        fs::write(&pair.certificate, certificate.pem()).unwrap();
        fs::write(&pair.key, key.serialize_pem()).unwrap();
        pair
    }

    /// A list that revokes this one.
    fn revoke(&self, serial: u8) -> PathBuf {
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2024, 1, 1),
            next_update: date_time_ymd(2999, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: vec![RevokedCertParams {
                serial_number: SerialNumber::from(vec![serial]),
                revocation_time: date_time_ymd(2024, 1, 1),
                reason_code: None,
                invalidity_date: None,
            }],
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let path = self.file("crl.pem");
        fs::write(&path, list.signed_by(&self.issuer).unwrap().pem().unwrap()).unwrap();
        path
    }
}

/// A client with TLS, and a certificate if it has one.
struct TlsClient(BufReader<StreamOwned<ClientConnection, TcpStream>>);

impl TlsClient {
    fn connect(authority: &Authority, address: SocketAddr, pair: Option<&Pair>) -> Self {
        let mut roots = RootCertStore::empty();
        let root = CertificateDer::from_pem_file(authority.file("ca.pem")).unwrap();
        roots.add(root).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let config = match pair {
            Some(pair) => config
                .with_client_auth_cert(
                    vec![CertificateDer::from_pem_file(&pair.certificate).unwrap()],
                    PrivateKeyDer::from_pem_file(&pair.key).unwrap(),
                )
                .unwrap(),
            None => config.with_no_client_auth(),
        };
        let name = "localhost".to_owned().try_into().unwrap();
        let tls = ClientConnection::new(Arc::new(config), name).unwrap();
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        Self(BufReader::new(StreamOwned::new(tls, stream)))
    }

    fn send(&mut self, line: &str) {
        self.0.get_mut().write_all(format!("{line}\r\n").as_bytes()).unwrap();
    }

    /// The next line that begins so.
    #[track_caller]
    fn line(&mut self, beginning: &str) -> String {
        loop {
            let mut line = String::new();
            let octets = self.0.read_line(&mut line).unwrap();
            assert!(octets > 0, "the server closed the connection before {beginning:?}");
            if line.starts_with(beginning) {
                return line.trim_end().to_owned();
            }
        }
    }

    fn is_at_its_end(&mut self) -> bool {
        let mut rest = String::new();
        while matches!(self.0.read_line(&mut rest), Ok(octets) if octets > 0) {}
        matches!(self.0.read_line(&mut rest), Ok(0) | Err(_))
    }
}

fn server_with(authority: &Authority, more: &str) -> Server {
    let pair = authority.issue(1, "localhost", None);
    Server::start(&format!(
        "Listen tls fullfeed tcp 127.0.0.1 0 tlskey {} tlscert {} {more}\n\
         Listen plain fullfeed tcp 127.0.0.1 0\nHTTPStatus 127.0.0.1 0",
        pair.key.display(),
        pair.certificate.display(),
    ))
}

#[test]
fn packets_go_through_tls_and_out_of_it() {
    let authority = Authority::new();
    let server = server_with(&authority, "");
    let mut inside = TlsClient::connect(&authority, server.port("tls"), None);
    inside.send(&format!("user N0TLS pass {} vers test 1", passcode("N0TLS")));
    assert_eq!(inside.line("# logresp"), "# logresp N0TLS verified, server TESTING");
    let mut outside = Client::login(server.port("plain"), "N0OUT");
    // Many, so that records are filled and sockets, too.
    for number in 0..3000 {
        let line = format!("N0TLS>APRS,TCPIP*,qAC,TESTING:>{number} {}", "y".repeat(100));
        inside.send(&line);
    }
    for number in 0..3000 {
        let line = outside.packet();
        assert!(line.starts_with(format!("N0TLS>APRS,TCPIP*,qAC,TESTING:>{number} ").as_bytes()));
    }
    for number in 0..3000 {
        super::common::Sends::send(
            &mut outside,
            format!("N0OUT>APRS,TCPIP*,qAC,TESTING:>{number}"),
        );
    }
    for number in 0..3000 {
        assert_eq!(inside.line("N0OUT"), format!("N0OUT>APRS,TCPIP*,qAC,TESTING:>{number}"));
    }
}

#[test]
fn what_is_not_tls_is_cut_and_harms_nobody() {
    let authority = Authority::new();
    let server = server_with(&authority, "");
    let mut plain = Client::connect(server.port("tls"));
    plain.write("user N0AAA pass -1 vers test 1\r\n");
    plain.until_closed();
    let mut client = TlsClient::connect(&authority, server.port("tls"), None);
    client.line("# aprs-server");
}

#[test]
fn a_certificate_with_a_callsign_logs_in_without_a_passcode() {
    let authority = Authority::new();
    let revoked = authority.issue(9, "nobody", Some("N0BAD"));
    let (ca, crl) = (authority.file("ca.pem"), authority.revoke(9));
    let more = format!("tlsca {} tlscrl {}", ca.display(), crl.display());
    let server = server_with(&authority, &more);
    let login = |pair: Option<&Pair>, user: &str| {
        let mut client = TlsClient::connect(&authority, server.port("tls"), pair);
        client.send(&format!("user {user} vers test 1"));
        client
    };
    let good = authority.issue(2, "somebody", Some("N0CERT"));
    let answer = login(Some(&good), "N0CERT-7").line("# logresp");
    assert_eq!(answer, "# logresp N0CERT-7 verified, server TESTING");

    let mut client = login(Some(&revoked), "N0BAD");
    assert!(client.line("# Client certificate").contains("evoked"));
    assert!(client.is_at_its_end());

    let mut client = login(None, "N0CERT-7");
    assert!(client.line("# Client certificate").contains("did not present"));
    assert!(client.is_at_its_end());

    let unnamed = authority.issue(3, "somebody", None);
    let mut client = login(Some(&unnamed), "N0CERT-7");
    assert!(client.line("# Client certificate").contains("no callsign"));

    let other = Authority::new();
    let stranger = other.issue(4, "somebody", Some("N0CERT"));
    let mut client = login(Some(&stranger), "N0CERT-7");
    assert!(client.line("# Client certificate").contains("not accepted"));
}

#[test]
fn an_uplink_is_reached_through_tls_and_only_if_it_is_the_right_one() {
    let authority = Authority::new();
    let up = server_with(&authority, "");
    let port = up.port("tls").port();
    let ca = authority.file("ca.pem");
    let down = Server::named(
        "DOWN",
        &format!(
            "Listen full fullfeed tcp 127.0.0.1 0\n\
             Uplink up full tcp 127.0.0.1 {port} tlsca {}",
            ca.display()
        ),
    );
    let mut above = Client::login(up.port("plain"), "N0UP");
    let mut below = Client::login(down.port("full"), "N0DOWN");
    up.wait_for("the uplink is there", |status| status["clients"].to_string().contains("\"DOWN\""));
    // Downwards first: what comes after the answer to the login says that it was let in.
    passes_as_is(&mut above, &mut below, "N0UP>APRS,TCPIP*,qAC,TESTING:>down");
    passes_as_is(&mut below, &mut above, "N0DOWN>APRS,TCPIP*,qAC,DOWN:>up");

    let other = Authority::new();
    let wrong = Server::named(
        "WRONG",
        &format!(
            "Listen full fullfeed tcp 127.0.0.1 0\n\
             Uplink up full tcp 127.0.0.1 {port} tlsca {}",
            other.file("ca.pem").display()
        ),
    );
    let mut tries = 0;
    while !wrong.said().contains("no TLS") {
        tries += 1;
        assert!(tries < 6000, "{}", wrong.said());
        chronoscope_clock::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_upgrade_tells_clients_with_tls_that_they_are_cut() {
    let authority = Authority::new();
    let server = server_with(&authority, "");
    let mut inside = TlsClient::connect(&authority, server.port("tls"), None);
    inside.send("user N0TLS pass -1 vers test 1");
    inside.line("# logresp");
    server.signal("USR2");
    inside.line("# Server is being upgraded");
    assert!(inside.is_at_its_end());
    let mut tries = 0;
    while !server.dir().join("liveupgrade.json.old").exists() {
        tries += 1;
        assert!(tries < 1000, "{}", server.said());
        chronoscope_clock::sleep(Duration::from_millis(10));
    }
    let mut again = TlsClient::connect(&authority, server.port("tls"), None);
    again.line("# aprs-server");
}

/// The certificate that a port shows, in DER.
fn shown(authority: &Authority, address: SocketAddr) -> Vec<u8> {
    let mut client = TlsClient::connect(authority, address, None).0;
    let stream = client.get_mut();
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).unwrap();
    }
    stream.conn.peer_certificates().unwrap()[0].to_vec()
}

#[test]
fn a_renewed_certificate_is_shown_after_a_reload_by_tcp_and_websocket() {
    let authority = Authority::new();
    let pair = authority.issue(1, "localhost", None);
    let files = format!("tlskey {} tlscert {}", pair.key.display(), pair.certificate.display());
    let server = Server::start(&format!(
        "Listen tls fullfeed tcp 127.0.0.1 0 {files}\n\
         Listen wss igate websocket 127.0.0.1 0 {files}\n"
    ));
    let ports = [server.port("tls"), server.port("wss")];
    let before = ports.map(|port| shown(&authority, port));
    let renewed = authority.issue(2, "localhost", None);
    fs::copy(&renewed.key, &pair.key).unwrap();
    fs::copy(&renewed.certificate, &pair.certificate).unwrap();
    server.signal("USR1");
    for (port, before) in ports.iter().zip(before) {
        let mut tries = 0;
        while shown(&authority, *port) == before {
            tries += 1;
            assert!(tries < 3000, "{port} shows the old one: {}", server.said());
            chronoscope_clock::sleep(Duration::from_millis(20));
        }
    }
}
