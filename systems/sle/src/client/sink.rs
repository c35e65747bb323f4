//! Destination of received frames.

use crate::pdu::FrameOrNotification;

/// Takes what transfer buffers bring, in the thread of the connection: while it works nothing more
/// is read.
pub type FrameSink = Box<dyn FnMut(Vec<FrameOrNotification>) + Send>;
