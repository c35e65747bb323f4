//! A user for programs: calls that wait for their returns, CLTUs as fast as a window permits, frames
//! as they are received.
//!
//! ```no_run
//! use chronoscope_sle::client::{ClientSettings, CltuTransfer, User};
//! use chronoscope_sle::config::Config;
//! use chronoscope_sle::pdu::UnbindReason;
//!
//! let config = Config::load("sle.toml".as_ref())?;
//! let user = User::connect(ClientSettings::of(&config, Some("cltu1"))?)?;
//! user.bind()?;
//! user.start_forward(0)?;
//! for number in 0..1000u32 {
//!     let data = number.to_be_bytes().repeat(4).into();
//!     user.transfer(CltuTransfer { data, ..CltuTransfer::default() })?;
//! }
//! user.drain()?;
//! user.stop()?;
//! user.unbind(UnbindReason::End)?;
//! println!("{:?}", user.fates());
//! # Ok::<(), anyhow::Error>(())
//! ```
//!
//! One thread drives the connection; calls may come from any thread. After the end of the
//! association, [`User::fates`] has the fate of every CLTU that was sent.

mod call;
mod connection;
mod end;
mod error;
pub mod frames;
pub mod notation;
mod refused;
mod service;
mod services;
mod settings;
mod sink;
mod state;
pub(crate) mod window;

pub use crate::association::AssociationEnd;
pub use crate::net::ConnectionCounters;
pub use crate::service::fcltu::{CltuFate, CltuRange, CltuTransfer, SettledCltus};
pub use error::ClientError;
pub use services::{SleOccurrence, UserStatistics};
pub use settings::{ClientSettings, ClientSettingsError};
pub use sink::FrameSink;
pub use state::FateCursor;

use crate::pdu::{CltuId, PeerAbortDiagnostic, ServiceType, UnbindReason};
use crate::time::Now;
use connection::{ConnectionSettings, UserConnection};
use end::UserEnd;
use services::SleService;
use std::fmt;
use std::time::Duration;

/// A user of one service instance, with one association.
pub struct User {
    connection: UserConnection<SleService, UserEnd>,
    service: ServiceType,
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").field("service", &self.service).finish_non_exhaustive()
    }
}

impl User {
    /// Connects, and binds nothing yet. Frames are only counted.
    ///
    /// # Errors
    /// [`ClientError::Connect`].
    pub fn connect(settings: ClientSettings) -> Result<Self, ClientError> {
        Self::connect_with(settings, Box::new(drop))
    }

    /// As [`Self::connect`]; `sink` takes frames.
    ///
    /// # Errors
    /// [`ClientError::Connect`].
    pub fn connect_with(settings: ClientSettings, sink: FrameSink) -> Result<Self, ClientError> {
        let service = settings.association.service;
        let opening = ConnectionSettings {
            name: "sle-user",
            address: &settings.address,
            options: &settings.options,
            limits: settings.limits,
            interrupt: settings.interrupt,
        };
        let association = settings.association;
        let state = SleService::new(service, settings.window);
        let connection = UserConnection::open(opening, state, |shared| {
            UserEnd::new(association, shared, sink, Now::read())
        })?;
        Ok(Self { connection, service })
    }

    /// The service of the instance.
    #[must_use]
    pub fn service(&self) -> ServiceType {
        self.service
    }

    /// Whether the service is a forward service.
    #[must_use]
    pub fn is_forward(&self) -> bool {
        self.service == ServiceType::Fcltu
    }

    /// Binds; the version that is spoken from here on.
    ///
    /// # Errors
    /// [`ClientError::BindRefused`], or how the association ended.
    pub fn bind(&self) -> Result<u16, ClientError> {
        self.connection.bind()
    }

    /// Unbinds, and waits for the connection's end.
    ///
    /// # Errors
    /// How the association ended, where it did not end so.
    pub fn unbind(&self, reason: UnbindReason) -> Result<(), ClientError> {
        self.connection.unbind(reason)
    }

    /// Aborts, ahead of all that waits to be sent, and waits until the association is over and the
    /// peer was told; for a second at most where he takes nothing.
    pub fn abort(&self, diagnostic: PeerAbortDiagnostic) {
        self.connection.abort(diagnostic);
    }

    /// Breaks the connection as a crash would.
    pub fn reset(&self) {
        self.connection.reset();
    }

    /// The end of the association, if it has ended.
    #[must_use]
    pub fn ending(&self) -> Option<AssociationEnd> {
        self.connection.ending()
    }

    /// Counters of CLTUs and frames.
    #[must_use]
    pub fn statistics(&self) -> UserStatistics {
        self.connection.shared.lock().statistics()
    }

    /// Counters of the connection.
    #[must_use]
    pub fn counters(&self) -> ConnectionCounters {
        self.connection.counters()
    }

    /// The fates of CLTUs, in the order of the reports. Adjacent CLTUs with the same fate are one
    /// entry. After the end of the association every CLTU has one fate: without a return it is
    /// unknown. A CLTU that was refused, sent again with its number and accepted has the later fate
    /// only; one that was not sent again is told as refused at the end, or at the next START.
    #[must_use]
    pub fn fates(&self) -> Vec<SettledCltus> {
        self.connection.fates()
    }

    /// The fates that were reported since `from`, which is then after them: for a journal.
    #[must_use]
    pub fn fates_since(&self, from: &mut FateCursor) -> Vec<SettledCltus> {
        self.connection.fates_since(from)
    }

    /// The CLTUs that the provider reported as radiated after it had reported their loss, each once,
    /// from the one at `from` on in the order of the reports. Their fate stays as it was.
    #[must_use]
    pub fn contradicted_since(&self, from: usize) -> Vec<CltuId> {
        let state = self.connection.shared.lock();
        state.service.contradicted.get(from..).unwrap_or_default().to_vec()
    }

    /// The next unsolicited event; waits for at most `within`.
    #[must_use]
    pub fn next_occurrence(&self, within: Duration) -> Option<SleOccurrence> {
        self.connection.next_occurrence(within)
    }
}
