//! An extracted Mode S register.

/// One extracted Mode S register (I048/250).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ModeSRegister {
    /// The 56-bit message.
    pub message: [u8; 7],
    /// Register number: BDS1 in the high four bits, BDS2 in the low.
    pub register: u8,
}
