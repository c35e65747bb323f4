//! Our numbers beside peers’.
