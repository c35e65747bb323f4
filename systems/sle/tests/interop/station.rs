//! What the sessions have in common: levels of authentication, names and passwords, our provider,
//! our user.

use chronoscope_sle::client::{ClientSettings, FrameSink, User};
use chronoscope_sle::config::Config;
use chronoscope_sle::provider::{self, ProviderLog, RunningProvider};

/// Level and hash of credentials.
pub type Auth = (&'static str, &'static str);

/// All there are.
pub const LEVELS: [Auth; 5] =
    [("none", "sha256"), ("bind", "sha1"), ("bind", "sha256"), ("all", "sha1"), ("all", "sha256")];

/// All of these in the versions 2 to 5.
pub fn levels() -> impl Iterator<Item = (Auth, u16)> {
    LEVELS.into_iter().flat_map(|level| (2..=5).map(move |version| (level, version)))
}

/// What UTL and the Python package are told of an association.
pub fn of_peer((auth, hash): Auth, version: u16) -> String {
    let hash = hash.replace("sha", "sha-");
    format!(
        "version={version} auth={auth} hash={hash} user=TESTUSER user-password=000102030405060708 \
         provider=TESTPROV provider-password=0a0b0c0d0e0f port-id=TESTPORT"
    )
}

/// What a service's instance is called.
pub fn instance(service: &str) -> String {
    match service {
        "fcltu" => "sagr=1.spack=VST-PASS0001.fsl-fg=1.cltu=cltu1".to_owned(),
        other => format!("sagr=1.spack=VST-PASS0001.rsl-fg=1.{other}=onlc1"),
    }
}

fn security((auth, hash): Auth) -> String {
    format!("[security]\nauth = \"{auth}\"\nhash = \"{hash}\"\n")
}

/// Our provider of one instance, for the peer as user.
pub fn provider(service: &str, auth: Auth, version: u16, more: &str) -> RunningProvider {
    let text = format!(
        "{}[provider]\nid = \"TESTPROV\"\npassword = \"hex:0a0b0c0d0e0f\"\n\
         listen = [\"127.0.0.1:0\"]\n\
         [[peer]]\nid = \"TESTUSER\"\npassword = \"hex:000102030405060708\"\n\
         [[instance]]\nid = \"{}\"\nport = \"TESTPORT\"\nversions = [{version}]\n{more}",
        security(auth),
        instance(service)
    );
    let config = Config::parse(&text).unwrap();
    provider::run(&config, ProviderLog::new(|said| eprintln!("{said}"))).unwrap()
}

/// Our user of a peer's instance that listens there.
pub fn user(service: &str, auth: Auth, version: u16, port: u64, sink: Option<FrameSink>) -> User {
    let text = format!(
        "{}[user]\nid = \"TESTUSER\"\npassword = \"hex:000102030405060708\"\n\
         address = \"127.0.0.1:{port}\"\nreturn_timeout_s = 60\n\
         [[peer]]\nid = \"TESTPROV\"\npassword = \"hex:0a0b0c0d0e0f\"\n\
         [[instance]]\nid = \"{}\"\nport = \"TESTPORT\"\nversions = [{version}]\n",
        security(auth),
        instance(service)
    );
    let config = Config::parse(&text).unwrap();
    let settings = ClientSettings::of(&config, None).unwrap();
    match sink {
        Some(sink) => User::connect_with(settings, sink).unwrap(),
        None => User::connect(settings).unwrap(),
    }
}

/// A CLTU that tells itself from others.
pub fn cltu(number: u32) -> Vec<u8> {
    (0..40 + number).map(|at| (at + 7 * number).to_be_bytes()[3]).collect()
}

/// A TM transfer frame of spacecraft 1, virtual channel 0 with an operational control field (a
/// CLCW of virtual channel 0), numbered; 64 octets.
pub fn frame(number: u8) -> Vec<u8> {
    let mut frame = vec![0x00, 0x11, number, number, 0x18, 0x00];
    frame.extend((6..60).map(|at| number.wrapping_mul(3).wrapping_add(at)));
    frame.extend([0x01, 0x00, 0x00, number]);
    frame
}
