//! A user as a program works with it: calls that wait for their returns, CLTUs as fast as a window
//! lets them go, frames as they come.
//!
//! ```no_run
//! use chronoscope_sle::client::{Settings, Transfer, User};
//! use chronoscope_sle::config::Config;
//! use chronoscope_sle::pdu::UnbindReason;
//!
//! let config = Config::load("sle.toml".as_ref())?;
//! let user = User::connect(Settings::of(&config, Some("cltu1"))?)?;
//! user.bind()?;
//! user.start_forward(0)?;
//! for number in 0..1000u32 {
//!     user.transfer(Transfer { data: number.to_be_bytes().repeat(4).into(), ..Transfer::default() })?;
//! }
//! user.drain()?;
//! user.stop()?;
//! user.unbind(UnbindReason::End)?;
//! println!("{:?}", user.fates());
//! # Ok::<(), anyhow::Error>(())
//! ```
//!
//! One thread drives the connection; calls may come from any thread. However the association ends,
//! what became of every CLTU that was handed over is known afterwards ([`User::fates`]).

mod call;
mod connection;
mod end;
mod error;
pub mod frames;
pub mod notation;
mod service;
mod services;
mod settings;
mod sink;
mod state;

pub use crate::association::AssociationEnd;
pub use crate::net::ConnectionCounters;
pub use crate::service::fcltu::{CltuFate, CltuRange, CltuTransfer, SettledCltus};
pub use error::ClientError;
pub use services::{SleOccurrence, UserStatistics};
pub use settings::{ClientSettings, ClientSettingsError};
pub use sink::FrameSink;

use crate::pdu::{PeerAbortDiagnostic, ServiceType, UnbindReason};
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

    /// Which service.
    #[must_use]
    pub fn service(&self) -> ServiceType {
        self.service
    }

    /// Whether it is a forward service's.
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

    /// How the association ended, once it has.
    #[must_use]
    pub fn ending(&self) -> Option<AssociationEnd> {
        self.connection.ending()
    }

    /// What was done so far.
    #[must_use]
    pub fn statistics(&self) -> UserStatistics {
        self.connection.shared.lock().statistics()
    }

    /// What the connection did so far.
    #[must_use]
    pub fn counters(&self) -> ConnectionCounters {
        self.connection.counters()
    }

    /// What became of CLTUs, in the order in which it was told; neighbours with one fate together.
    /// After the end of the association every CLTU that was handed over is in it: those that were
    /// not answered are unknown.
    #[must_use]
    pub fn fates(&self) -> Vec<SettledCltus> {
        self.connection.fates()
    }

    /// What happened next that nobody asked for, within so long.
    #[must_use]
    pub fn next_occurrence(&self, within: Duration) -> Option<SleOccurrence> {
        self.connection.next_occurrence(within)
    }
}
