//! A provider in this process, and a good user who works while others do their worst.

use crate::peer::{FORWARD, PATIENCE, RETURN};
use chronoscope_clock as clock;
use chronoscope_sle::client::{ClientSettings, CltuTransfer, User};
use chronoscope_sle::config::Config;
use chronoscope_sle::pdu::UnbindReason;
use chronoscope_sle::provider::{self, ProviderLog, RunningProvider};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

pub(crate) struct Station {
    pub(crate) running: RunningProvider,
    pub(crate) config: Config,
}

impl Station {
    /// FCLTU `good` and `cltu1`, RAF `onlc1`; what else is configured. The RAF instance has a
    /// generator where nothing is said of it.
    pub(crate) fn with(more: &str, of_return: &str) -> Self {
        let generator = "[instance.return.generator]\nrate = 100";
        let of_return = if of_return.is_empty() { generator } else { of_return };
        let text = format!(
            "[provider]\nid = \"STATION\"\npassword = \"station-pw\"\nlisten = [\"127.0.0.1:0\"]\n\
             listen_csts = [\"127.0.0.1:0\"]\n\
             [user]\nid = \"MCC\"\npassword = \"centre-pw\"\nreturn_timeout_s = 30\n{more}\n\
             [[instance]]\nid = \"{FORWARD}good\"\n[[instance]]\nid = \"{FORWARD}cltu1\"\n\
             [[forward_frame]]\nname = \"ff1\"\nid = \"1.3.112.4.7.1/1.3.112.4.6.1/1.3.112.4.4.1.2.3/1\"\n\
             [[instance]]\nid = \"{RETURN}onlc1\"\n[instance.return]\n{of_return}\n"
        );
        let config = Config::parse(&text).unwrap();
        let log = ProviderLog::new(|said| eprintln!("provider: {said}"));
        Self { running: provider::run(&config, log).unwrap(), config }
    }

    pub(crate) fn new() -> Self {
        Self::with("", "")
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.running.addresses()[0]
    }

    pub(crate) fn settings(&self, instance: &str) -> ClientSettings {
        let mut settings = ClientSettings::of(&self.config, Some(instance)).unwrap();
        settings.address = self.address().to_string();
        settings
    }

    /// The line of an instance in the operator's `status`.
    pub(crate) fn status(&self, instance: &str) -> String {
        let all = self.running.order("status");
        let of = |line: &&str| line.split(' ').next().is_some_and(|id| id.ends_with(instance));
        all.lines().find(of).unwrap().to_owned()
    }

    pub(crate) fn is_free(&self, instance: &str) -> bool {
        self.status(instance).contains("no user bound")
    }

    /// Binds, sends a CLTU, and unbinds: what anybody could do before can be done.
    pub(crate) fn serves(&self, instance: &str) {
        until(|| self.is_free(instance));
        let user = User::connect(self.settings(instance)).unwrap();
        user.bind().unwrap();
        user.start_forward(0).unwrap();
        user.transfer(cltu(0)).unwrap();
        user.drain().unwrap();
        user.stop().unwrap();
        user.unbind(UnbindReason::End).unwrap();
    }
}

pub(crate) fn cltu(number: u32) -> CltuTransfer {
    CltuTransfer { data: number.to_be_bytes().repeat(4).into(), ..CltuTransfer::default() }
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn until(mut is_so: impl FnMut() -> bool) {
    let end_ns = clock::monotonic_ns() + u64::try_from(PATIENCE.as_nanos()).unwrap();
    while !is_so() {
        assert!(clock::monotonic_ns() < end_ns, "it never was");
        clock::sleep(Duration::from_millis(5));
    }
}

/// Somebody who sends CLTUs to `good` the whole time.
pub(crate) struct Neighbour {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<(u64, u64)>,
}

impl Neighbour {
    pub(crate) fn start(station: &Station) -> Self {
        Self::with(station.settings("good"))
    }

    pub(crate) fn with(settings: ClientSettings) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let user = User::connect(settings).unwrap();
        user.bind().unwrap();
        user.start_forward(0).unwrap();
        let stops = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            // Once at least, also where those who do their worst are done at once.
            loop {
                user.transfer(cltu(0)).unwrap();
                if stops.load(Ordering::Relaxed) {
                    break;
                }
                clock::sleep(Duration::from_millis(1));
            }
            user.drain().unwrap();
            user.stop().unwrap();
            user.unbind(UnbindReason::End).unwrap();
            let counts = user.statistics();
            (counts.sent, counts.acknowledged)
        });
        Self { stop, thread }
    }

    /// It sent the whole time, and all was taken.
    pub(crate) fn noticed_nothing(self) {
        self.stop.store(true, Ordering::Relaxed);
        let (sent, acknowledged) = self.thread.join().unwrap();
        assert!(sent > 0);
        assert_eq!(sent, acknowledged);
    }
}
