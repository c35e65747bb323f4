//! Whole users and providers through communication servers, and the program killed.

use crate::ends::until;
use crate::server::{address, start};
use chronoscope_sle::client::frames::{FrameSettings, FrameUser};
use chronoscope_sle::client::{
    AssociationEnd, ClientSettings, CltuFate, CltuTransfer, FrameSink, User,
};
use chronoscope_sle::communication::{CommunicationServer, SessionLimits};
use chronoscope_sle::config::Config;
use chronoscope_sle::pdu::{
    FrameOrNotification, PeerAbortDiagnostic, RequestedFrameQuality, ReturnSelection, ReturnStart,
    UnbindReason,
};
use chronoscope_sle::provider::{self, ProviderLog, RunningProvider};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use tempfile::TempDir;

/// A provider and its users, with two communication servers between: the user's application on a
/// local link, a network, the provider's application on a local link.
struct Link {
    config: Config,
    provider: RunningProvider,
    /// Of the user, of the provider.
    servers: Vec<CommunicationServer>,
    _folder: TempDir,
}

impl Link {
    fn new(more: &str) -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let [of_provider, of_user] =
            ["provider.sock", "user.sock"].map(|name| folder.path().join(name));
        let text = format!(
            "[security]\nauth = \"all\"\n[transport]\nheartbeat_s = 3\n\
             [provider]\nid = \"STATION\"\npassword = \"station-pw\"\nlisten = [\"127.0.0.1:0\"]\n\
             listen_local = [{of_provider:?}]\n\
             [user]\nid = \"MCC\"\npassword = \"centre-pw\"\nreturn_timeout_s = 10\n{more}"
        );
        let config = Config::parse(&text).unwrap();
        let provider =
            provider::run(&config, ProviderLog::new(|said| eprintln!("{said}"))).unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let limits = SessionLimits::default();
        let far = start(&[&format!("127.0.0.1:0=unix:{}", of_provider.display())], limits, &log);
        let near = start(&[&format!("unix:{}={}", of_user.display(), address(&far))], limits, &log);
        Self { config, provider, servers: vec![near, far], _folder: folder }
    }

    fn settings(&self, instance: &str, directly: bool) -> ClientSettings {
        let mut settings = ClientSettings::of(&self.config, Some(instance)).unwrap();
        settings.address = match directly {
            true => self.provider.addresses()[0].to_string(),
            false => address(&self.servers[0]),
        };
        settings
    }
}

const FORWARD: &str =
    "[[instance]]\nid = \"sagr=1.spack=A.fsl-fg=1.cltu=cltu1\"\n[instance.forward]\n";
const RETURN: &str = "[[instance]]\nid = \"sagr=1.spack=A.rsl-fg=1.raf=onlc1\"\n[instance.return]\n\
                      [instance.return.generator]\noctets = 500\n\
                      count = 3000\n";

/// Forward frames one by one: both applications on local links, with a window that follows the path.
#[test]
fn forward_frames_have_local_links_too() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let [of_provider, of_user] = ["csts.sock", "user.sock"].map(|name| folder.path().join(name));
    let text = format!(
        "[security]\nauth = \"all\"\n\
         [provider]\nid = \"STATION\"\npassword = \"station-pw\"\nlisten = [\"127.0.0.1:0\"]\n\
         listen_csts_local = [{of_provider:?}]\n\
         [user]\nid = \"MCC\"\npassword = \"centre-pw\"\naddress_csts = \"unix:{}\"\n\
         [[forward_frame]]\nname = \"ff1\"\nprocedure = \"sequence-controlled\"\n\
         id = \"1.3.112.4.7.1/1.3.112.4.6.1/1.3.112.4.4.1.2.3/1\"\n",
        of_user.display()
    );
    let config = Config::parse(&text).unwrap();
    let provider = provider::run(&config, ProviderLog::new(|said| eprintln!("{said}"))).unwrap();
    assert!(provider.addresses_csts().is_empty());
    let log = Arc::new(Mutex::new(Vec::new()));
    let limits = SessionLimits::default();
    let far = start(&[&format!("127.0.0.1:0=unix:{}", of_provider.display())], limits, &log);
    let _near = start(&[&format!("unix:{}={}", of_user.display(), address(&far))], limits, &log);
    let user = FrameUser::connect(FrameSettings::of(&config, Some("ff1")).unwrap()).unwrap();
    user.bind().unwrap();
    user.start(5).unwrap();
    for number in 0..3000_u32 {
        user.process(number.to_be_bytes().repeat(20).into()).unwrap();
    }
    user.drain(Duration::from_secs(30)).unwrap();
    let counts = user.statistics();
    assert_eq!((counts.sent, counts.acknowledged, counts.refused), (3000, 3000, 0));
    assert!(counts.window >= 1024, "{counts:?}");
    user.stop().unwrap();
    user.unbind().unwrap();
}

#[test]
fn a_window_that_is_configured_is_kept() {
    let text = "[provider]\nid = \"STATION\"\nlisten = [\"127.0.0.1:0\"]\n\
         listen_csts = [\"127.0.0.1:0\"]\n\
         [user]\nid = \"MCC\"\nwindow = 3\n\
         [[forward_frame]]\nname = \"ff1\"\nprocedure = \"sequence-controlled\"\n\
         id = \"1.3.112.4.7.1/1.3.112.4.6.1/1.3.112.4.4.1.2.3/1\"\n";
    let config = Config::parse(text).unwrap();
    let provider = provider::run(&config, ProviderLog::new(|said| eprintln!("{said}"))).unwrap();
    let mut settings = FrameSettings::of(&config, None).unwrap();
    settings.address = provider.addresses_csts()[0].to_string();
    let user = FrameUser::connect(settings).unwrap();
    user.bind().unwrap();
    user.start(0).unwrap();
    for _ in 0..100 {
        user.process(vec![7; 100].into()).unwrap();
        let counts = user.statistics();
        assert!(counts.sent - counts.acknowledged <= 3, "{counts:?}");
    }
    user.drain(Duration::from_secs(30)).unwrap();
    assert_eq!(user.statistics().window, 3);
}

/// With credentials, and CLTUs of all lengths: what became of them directly is what becomes of them
/// through two servers.
#[test]
fn cltus_have_the_fates_of_a_direct_association() {
    let link = Link::new(FORWARD);
    let fates = [true, false].map(|directly| {
        let user = User::connect(link.settings("cltu1", directly)).unwrap();
        assert_eq!(user.bind().unwrap(), 5);
        user.start_forward(7).unwrap();
        for number in 0..1500_u32 {
            let data = vec![0x55; 1 + (number as usize * 37) % 4096];
            user.transfer(CltuTransfer { data: data.into(), ..CltuTransfer::default() }).unwrap();
        }
        user.drain().unwrap();
        user.stop().unwrap();
        user.unbind(UnbindReason::End).unwrap();
        assert_eq!(user.ending(), Some(AssociationEnd::Closed));
        user.fates()
    });
    assert_eq!(fates[0], fates[1]);
    assert_eq!((fates[0].len(), fates[0][0].cltus.count), (1, 1500));
    // Both servers relayed the same, one behind the other.
    until(|| link.servers.iter().all(|server| server.relayed().1 == 1));
    let [near, far] = [0, 1].map(|one| link.servers[one].relayed().0);
    assert_eq!((near.pdus, near.octets), (far.pdus, far.octets));
    // BIND, START, STOP, UNBIND and the CLTUs.
    assert_eq!(near.pdus[0], 1504);
}

#[test]
fn frames_come_in_order_and_end() {
    let link = Link::new(RETURN);
    let (sender, frames) = mpsc::channel();
    let sink: FrameSink = Box::new(move |parts: Vec<FrameOrNotification>| {
        for part in parts {
            if let FrameOrNotification::Frame(frame) = part {
                let _ = sender.send(frame.data.len());
            }
        }
    });
    let user = User::connect_with(link.settings("onlc1", false), sink).unwrap();
    user.bind().unwrap();
    let select = ReturnSelection::Frames(RequestedFrameQuality::All);
    user.start_return(ReturnStart { start: None, stop: None, select }).unwrap();
    for number in 0..3000 {
        assert_eq!(frames.recv_timeout(Duration::from_secs(30)), Ok(500), "frame {number}");
    }
    user.stop().unwrap();
    user.unbind(UnbindReason::End).unwrap();
}

/// An abort of either program is the same abort for the other.
#[test]
fn an_abort_reaches_the_other_program() {
    let link = Link::new(FORWARD);
    let user = User::connect(link.settings("cltu1", false)).unwrap();
    user.bind().unwrap();
    assert_eq!(link.provider.order("abort cltu1"), "ok");
    until(|| user.ending().is_some());
    let aborted = PeerAbortDiagnostic::OperationalRequirement;
    assert_eq!(user.ending(), Some(AssociationEnd::PeerAborted(aborted)));

    let user = bound_soon(&link);
    user.abort(PeerAbortDiagnostic::OtherReason);
    // The instance is free again.
    bound_soon(&link).unbind(UnbindReason::End).unwrap();
}

/// Binds when the instance is free.
fn bound_soon(link: &Link) -> User {
    let mut bound = None;
    until(|| {
        let user = User::connect(link.settings("cltu1", false)).unwrap();
        bound = user.bind().is_ok().then_some(user);
        bound.is_some()
    });
    bound.unwrap()
}

/// The program, killed when dropped.
struct Program(Child, String);

impl Program {
    fn new(route: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sle-comm"))
            .args(["-q", "--json", route])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        let listening = lines.next().unwrap().unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), "ready");
        let address = listening.strip_prefix("listening ").unwrap().to_owned();
        Self(child, address)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Killed in the middle of a transfer: every fate is known, the user is told, and the instance is
/// free for whoever comes directly.
#[test]
fn a_server_that_is_killed_leaves_no_fate_open() {
    let link = Link::new(FORWARD);
    let mut program = Program::new(&format!("127.0.0.1:0={}", link.provider.addresses()[0]));
    let mut settings = link.settings("cltu1", true);
    settings.address = program.1.clone();
    let user = User::connect(settings).unwrap();
    user.bind().unwrap();
    user.start_forward(0).unwrap();
    let cltu = || CltuTransfer { data: vec![0x55; 100].into(), ..CltuTransfer::default() };
    let mut sent = 0_u64;
    while user.statistics().acknowledged < 200 {
        user.transfer(cltu()).unwrap();
        sent += 1;
    }
    program.0.kill().unwrap();
    while user.transfer(cltu()).is_ok() {
        sent += 1;
    }
    until(|| user.ending().is_some());
    assert_ne!(user.ending(), Some(AssociationEnd::Closed));
    let fates = user.fates();
    let of = |is: fn(&CltuFate) -> bool| -> u64 {
        fates.iter().filter(|own| is(&own.fate)).map(|own| u64::from(own.cltus.count)).sum()
    };
    let unknown = of(|fate| matches!(fate, CltuFate::Unknown));
    let known = of(|fate| !matches!(fate, CltuFate::Unknown));
    assert!(known >= 200, "{fates:?}");
    // The last one may have been refused by the connection that was over.
    assert!((sent..=sent + 1).contains(&(known + unknown)), "{sent}: {fates:?}");
    let mut bound = None;
    until(|| {
        let user = User::connect(link.settings("cltu1", true)).unwrap();
        bound = user.bind().is_ok().then_some(user);
        bound.is_some()
    });
}

#[test]
fn the_program_says_what_it_relayed() {
    let link = Link::new(FORWARD);
    let mut program = Program::new(&format!("127.0.0.1:0={}", link.provider.addresses()[0]));
    let mut settings = link.settings("cltu1", true);
    settings.address = program.1.clone();
    let user = User::connect(settings).unwrap();
    user.bind().unwrap();
    user.unbind(UnbindReason::End).unwrap();
    let pid = program.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let mut said = String::new();
    std::io::Read::read_to_string(program.0.stdout.as_mut().unwrap(), &mut said).unwrap();
    let json: serde_json::Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!((&json["format"], &json["sessions"]), (&1.into(), &1.into()), "{json}");
    assert_eq!(json["pdus"]["of_initiators"], 2, "BIND and UNBIND");
    assert_eq!(json["pdus"]["of_responders"], 2);
    assert!(program.0.wait().unwrap().success());
}
