//! Compound items of category 021 that all editions have alike and that are stepped over.

use super::super::AsterixError;
use super::super::wire::{Cursor, Field, Layout, skip_compound};

/// I021/220, weather.
pub(super) fn skip_weather(cursor: &mut Cursor<'_>) -> Result<(), AsterixError> {
    static WEATHER: [Option<Field<()>>; 4] = [
        Field::skipped("I021/220/WS", Layout::Fixed(2)),
        Field::skipped("I021/220/WD", Layout::Fixed(2)),
        Field::skipped("I021/220/TMP", Layout::Fixed(2)),
        Field::skipped("I021/220/TRB", Layout::Fixed(1)),
    ];
    skip_compound(cursor, "I021/220", &WEATHER)
}

/// I021/110, trajectory intent.
pub(super) fn skip_intent(cursor: &mut Cursor<'_>) -> Result<(), AsterixError> {
    static INTENT: [Option<Field<()>>; 2] = [
        Field::skipped("I021/110/TIS", Layout::Extended(1)),
        Field::skipped("I021/110/TID", Layout::Repetitive(15)),
    ];
    skip_compound(cursor, "I021/110", &INTENT)
}
