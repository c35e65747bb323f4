//! What the series prints becomes figures.
