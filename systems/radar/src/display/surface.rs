//! Surface that updates are shown on: a picture in memory, or browsers.

use super::browser::{Health, SharedAir};
use super::classes::REDRAW;
use super::picture::Picture;
use super::status::{self, Status};
use crate::asterix::cat062;
use chronoscope_record::{Correlator, Status as Stop};
use std::sync::{MutexGuard, PoisonError};

/// Surface on which targets are shown.
pub enum Surface {
    /// Drawn here, into memory.
    Picture(Box<Picture>),
    /// Drawn by the browsers that are there; kept here.
    Browsers(SharedAir),
}

impl From<Picture> for Surface {
    fn from(picture: Picture) -> Self {
        Self::Picture(Box::new(picture))
    }
}

impl From<SharedAir> for Surface {
    fn from(air: SharedAir) -> Self {
        Self::Browsers(air)
    }
}

/// Locks the air situation. Poisoning is ignored: every update is a single step.
fn air(shared: &SharedAir) -> MutexGuard<'_, super::browser::Air> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Surface {
    /// Number of targets shown.
    pub(super) fn target_count(&self) -> usize {
        match self {
            Self::Picture(picture) => picture.target_count(),
            Self::Browsers(shared) => air(shared).target_count(),
        }
    }

    /// Moves a target. `now_ns`: when the track was as reported.
    pub(super) fn recalculate(&mut self, track: &cat062::Track, now_ns: u64) {
        match self {
            Self::Picture(picture) => picture.recalculate(track, now_ns),
            Self::Browsers(shared) => air(shared).recalculate(track, now_ns),
        }
    }

    /// Draws one target that was moved. `parent`: of its `TargetView_redraw`. On browsers each of
    /// them has its own, which ends when it has been shown; without any there is none.
    pub(super) fn redraw(&mut self, number: u16, parent: &Correlator, now_ns: u64) {
        match self {
            Self::Picture(picture) => {
                let redraw = REDRAW.begin_with(parent);
                picture.redraw();
                redraw.stop(Stop::Good);
            }
            Self::Browsers(shared) => air(shared).redraw(number, parent, now_ns),
        }
    }

    /// Draws all targets that were moved, each with its parent. On a picture all last as long as
    /// the one drawing that they share, because each target is to be seen only when it is done.
    pub(super) fn redraw_all<'a>(
        &mut self,
        moved: impl Iterator<Item = (u16, &'a Correlator)>,
        now_ns: u64,
    ) {
        match self {
            Self::Picture(picture) => {
                let redraws: Vec<_> = moved.map(|(_, parent)| REDRAW.start_with(parent)).collect();
                picture.redraw_all();
                for redraw in redraws {
                    redraw.stop(Stop::Good);
                }
            }
            Self::Browsers(shared) => {
                let mut air = air(shared);
                for (number, parent) in moved {
                    air.redraw(number, parent, now_ns);
                }
            }
        }
    }

    /// Ends the processing of received updates: browsers get them now.
    pub(super) fn hand_over(&self) {
        if let Self::Browsers(shared) = self {
            air(shared).hand_over();
        }
    }

    /// Takes a target off.
    pub(super) fn remove(&mut self, number: u16, now_ns: u64) {
        match self {
            Self::Picture(picture) => {
                picture.remove(number);
                picture.redraw();
            }
            Self::Browsers(shared) => air(shared).remove(number, now_ns),
        }
    }

    /// Once a second: what fell silent, and how the process is.
    pub(super) fn tick(&mut self, health: Health, now_ns: u64) {
        match self {
            Self::Picture(picture) => {
                picture.sweep(now_ns);
                picture.redraw_all();
                let status = Status {
                    utc_ns: health.utc_ns,
                    targets: picture.target_count(),
                    mode: health.mode,
                    connected: health.connected,
                    updates: health.updates,
                    picture: health.picture,
                    tracker: health.tracker,
                };
                let view = picture.view().clone();
                status::draw(picture.frame_mut(), &view, status);
            }
            Self::Browsers(shared) => air(shared).tick(health, now_ns),
        }
    }
}
