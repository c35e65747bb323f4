//! What holds for any octets as a capture; the fuzz target and the replay of its corpus share it.

use chronoscope_sle::dump::{
    CaptureDump, DumpContent, DumpEntry, DumpField, DumpParts, DumpSettings, page,
};

/// The entries of a capture, until it cannot be read further.
///
/// # Panics
/// When one of the promises below does not hold.
pub(crate) fn check(octets: &[u8]) -> Vec<DumpEntry> {
    let mut all = Vec::new();
    // By what connections begin with, and with every connection taken for one of ISP1.
    for ports in [Vec::new(), vec![5008]] {
        let settings = DumpSettings { ports, ..DumpSettings::default() };
        let Ok(dump) = CaptureDump::new(octets, settings) else { return Vec::new() };
        let entries: Vec<DumpEntry> = dump.map_while(Result::ok).collect();
        for (index, entry) in entries.iter().enumerate() {
            assert_eq!(entry.number, index as u64 + 1);
            one(entry);
        }
        // Nothing that a peer has sent begins or ends an element.
        let page = page("", &entries, 0);
        assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (2, 2));
        all = entries;
    }
    all
}

fn one(entry: &DumpEntry) {
    let parts = DumpParts { fields: true, octets: true };
    assert!(entry.text(parts).ends_with('\n'));
    assert_eq!(entry.json(parts)["number"], entry.number);
    let DumpContent::Pdu(pdu) = &entry.content else { return };
    for field in &pdu.fields {
        within(field, 8, entry.octets.len());
    }
    if let Some(answers) = pdu.answers {
        assert!(answers.number < entry.number);
    }
}

/// A field lies in the one that it is part of.
fn within(field: &DumpField, from: usize, until: usize) {
    let range = &field.range;
    assert!(from <= range.start && range.start <= range.end && range.end <= until, "{field:?}");
    for inner in &field.fields {
        within(inner, range.start, range.end);
    }
}
