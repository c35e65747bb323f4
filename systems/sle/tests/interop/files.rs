//! Configuration files: what UTL writes is imported and used, what we export is read and used by UTL.

use crate::peer::{Session, hex, utl};
use crate::station::{Auth, cltu, of_peer};
use chronoscope_sle::client::{ClientSettings, CltuTransfer, User};
use chronoscope_sle::config::Config;
use chronoscope_sle::exchange::{ExchangeRole, utl as file};
use chronoscope_sle::pdu::{ServiceType, UnbindReason};
use chronoscope_sle::provider::{self, ProviderLog};
use std::net::TcpListener;
use tempfile::TempDir;

const AUTH: Auth = ("all", "sha256");

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

/// A session of FCLTU with a provider of UTL.
fn send(config: &Config, theirs: &Session) {
    let user = User::connect(ClientSettings::of(config, Some("cltu1")).unwrap()).unwrap();
    assert_eq!(user.bind().unwrap(), 5);
    user.start_forward(1).unwrap();
    for number in 1..=5 {
        let data = cltu(number).into();
        user.transfer(CltuTransfer { data, ..CltuTransfer::default() }).unwrap();
        assert_eq!(theirs.event("cltu")["octets"], hex(&cltu(number)));
    }
    user.drain().unwrap();
    user.stop().unwrap();
    user.unbind(UnbindReason::End).unwrap();
    theirs.state("UNBOUND");
}

/// The library's own writer makes the file; our user binds with what is in it.
#[test]
fn a_file_that_utl_wrote_is_imported_and_used() {
    let Some(peer) = utl("a configuration file of UTL") else { return };
    let folder = tempfile::tempdir().unwrap();
    let theirs = peer.session(&format!("provider fcltu {}", of_peer(AUTH, 5)));
    let port = theirs.event("listening")["port"].as_u64().unwrap();
    let name = path(&folder, "user.xml");
    theirs.done(&format!("save {name} user fcltu port={port} {}", of_peer(AUTH, 5)));
    let imported = file::import(&std::fs::read_to_string(&name).unwrap(), None).unwrap();
    let losses: Vec<_> = imported.notes.iter().filter(|note| note.is_loss).collect();
    assert!(losses.is_empty(), "{losses:?}");
    let config = Config::parse(&imported.text()).unwrap();
    let services: Vec<_> =
        config.instance.iter().map(|one| one.get_ref().service().unwrap()).collect();
    assert_eq!(
        services,
        [ServiceType::Fcltu, ServiceType::Raf, ServiceType::Rcf, ServiceType::Rocf]
    );
    assert_eq!((config.transport.heartbeat_s, config.transport.dead_factor), (25, 5));
    send(&config, &theirs);
}

/// One configuration of ours; its two files are read by the library, one for each side.
#[test]
fn our_export_is_read_and_used_by_utl() {
    let Some(peer) = utl("an exported configuration") else { return };
    let folder = tempfile::tempdir().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let text = format!(
        "[security]\nauth = \"all\"\n[provider]\nid = \"STATION\"\n\
         password = \"hex:0102030405060708\"\nlisten = [\"127.0.0.1:{port}\"]\n\
         [user]\nid = \"CENTRE\"\npassword = \"secret-of-centre\"\n\
         [[instance]]\nid = \"sagr=7.spack=P.fsl-fg=1.cltu=cltu1\"\nport = \"TC\"\n\
         [instance.forward]\ncltu_max = 2000\n[instance.forward.uplink]\n\
         modulation_frequency_dhz = 160000\nplop = \"plop-1\"\nclcw_channel = \"12.0.3\"\n"
    );
    let config = Config::parse(&text).unwrap();
    for (role, name) in [(ExchangeRole::Provider, "provider.xml"), (ExchangeRole::User, "user.xml")]
    {
        let exported = file::export(&config, Some(role)).unwrap();
        std::fs::write(path(&folder, name), &exported.files[0].1).unwrap();
    }
    let theirs = peer.session(&format!("provider fcltu file={}", path(&folder, "provider.xml")));
    theirs.event("listening");
    send(&config, &theirs);
    drop(theirs);

    // On another port, because the library may keep the first one for a while.
    let ours = config.clone();
    let other = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut ours = ours;
    ours.provider.as_mut().unwrap().listen = vec![other];
    let exported = file::export(&ours, Some(ExchangeRole::User)).unwrap();
    std::fs::write(path(&folder, "user.xml"), &exported.files[0].1).unwrap();
    let _running = provider::run(&ours, ProviderLog::new(|said| eprintln!("{said}"))).unwrap();
    let user = peer.session(&format!("user fcltu file={}", path(&folder, "user.xml")));
    user.order("bind");
    user.operation("BIND-RETURN", &["STATION", "positive:5"]);
    user.state("READY");
    for (parameter, value) in [
        ("MODULATION_FREQUENCY", "parameterValue:160000"),
        ("PLOP_IN_EFFECT", "parameterValue:0"),
        ("MAXIMUM_SLDU_LENGTH", "parameterValue:2000"),
        ("CLCW_GLOBAL_VCID", "spacecraftId:12"),
    ] {
        user.order(&format!("parameter {parameter}"));
        user.operation("GET-PARAMETER-RETURN", &["positiveResult", value]);
    }
    user.order("unbind");
    user.state("UNBOUND");
}
