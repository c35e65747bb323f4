//! Octets of ASTERIX, read by layout and written by value.
//!
//! A category is a table of [`Field`]s in the order of its user application profile. Reading a
//! record walks the table: every field is measured by its [`Layout`], so an item that nobody
//! decodes is skipped exactly; then the field's `decode` sees a slice of just the right size.

use super::AsterixError;

/// Length of a field.
pub(super) enum Layout {
    /// A fixed number of octets.
    Fixed(usize),
    /// Parts of so many octets, each but the last with its lowest bit set (FX).
    Extended(usize),
    /// A count octet, then so many times so many octets.
    Repetitive(usize),
    /// A length octet that counts itself, then the rest.
    Explicit,
    /// Random field sequencing (RFS): a count octet, then so many times the field reference number of
    /// another field of the same profile, and that field.
    Random,
    /// A field specification and subfields; the function skips them.
    Compound(fn(&mut Cursor<'_>) -> Result<(), AsterixError>),
}

/// One field of a record, or one subfield of a compound item.
pub(super) struct Field<R: 'static> {
    /// Name, as `I048/040` or `I062/380/ADR`.
    pub(super) name: &'static str,
    pub(super) layout: Layout,
    /// Takes the value out of exactly the octets that the layout measured.
    pub(super) decode: fn(&mut R, &[u8]),
    /// Appends the value; false when the record has none.
    pub(super) encode: fn(&R, &mut Vec<u8>) -> Result<bool, AsterixError>,
}

impl<R> Field<R> {
    /// A field that is stepped over and never written.
    pub(super) const fn skipped(name: &'static str, layout: Layout) -> Option<Self> {
        Some(Self { name, layout, decode: |_, _| {}, encode: |_, _| Ok(false) })
    }
}

/// The fields of a record or compound item by field reference number; `None` where the edition
/// leaves one free.
pub(super) type Fields<R> = [Option<Field<R>>];

/// Position of reading and end of the block.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub(super) octets: &'a [u8],
    pub(super) at: usize,
    pub(super) end: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor over all of `octets`.
    pub(super) fn over(octets: &'a [u8]) -> Self {
        Self { octets, at: 0, end: octets.len() }
    }

    fn take(&mut self, count: usize, item: &'static str) -> Result<&'a [u8], AsterixError> {
        let left = self.end - self.at;
        if count > left {
            return Err(AsterixError::Truncated { item, at: self.at, needed: count, left });
        }
        let taken = &self.octets[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    /// Steps over one field and gives its octets.
    fn field<R>(&mut self, field: &Field<R>) -> Result<&'a [u8], AsterixError> {
        let (start, name) = (self.at, field.name);
        match field.layout {
            Layout::Fixed(octets) => drop(self.take(octets, name)?),
            Layout::Extended(octets) => {
                while self.take(octets, name)?.last().is_some_and(|last| last & 1 == 1) {}
            }
            Layout::Repetitive(octets) => {
                let count = usize::from(self.take(1, name)?[0]);
                self.take(count * octets, name)?;
            }
            Layout::Explicit => {
                let length = usize::from(self.take(1, name)?[0]);
                let content = length
                    .checked_sub(1)
                    .ok_or(AsterixError::ZeroLength { item: name, at: start })?;
                self.take(content, name)?;
            }
            Layout::Compound(skip) => skip(self)?,
            // Its fields are visited one by one; within another one it has no place.
            Layout::Random => {
                return Err(AsterixError::RandomField { item: name, at: start });
            }
        }
        Ok(&self.octets[start..self.at])
    }

    /// Reads a field specification of at most as many octets as `fields` need. Bit i of the result
    /// is field reference number i + 1.
    fn specification(&mut self, item: &'static str, fields: usize) -> Result<u64, AsterixError> {
        let (start, octets_max) = (self.at, fields.div_ceil(7));
        let mut present = 0;
        for index in 0..octets_max {
            let octet = self.take(1, item)?[0];
            // FRN 1 is the highest bit of the first octet; FX the lowest of each.
            present |= u64::from((octet >> 1).reverse_bits() >> 1) << (7 * index);
            if octet & 1 == 0 {
                return Ok(present);
            }
        }
        Err(AsterixError::FieldSpecification { item, at: start, octets_max })
    }

    /// Reads a field specification and its fields, giving each present one to `visit`.
    pub(super) fn fields<R>(
        &mut self,
        item: &'static str,
        fields: &Fields<R>,
        mut visit: impl FnMut(&Field<R>, &'a [u8]),
    ) -> Result<(), AsterixError> {
        let mut present = self.specification(item, fields.len())?;
        while present != 0 {
            let index = present.trailing_zeros() as usize;
            present &= present - 1;
            let Some(Some(field)) = fields.get(index) else {
                let field_reference = index + 1;
                return Err(AsterixError::UnknownField { item, at: self.at, field_reference });
            };
            if matches!(field.layout, Layout::Random) {
                self.random_fields(item, fields, &mut visit)?;
            } else {
                visit(field, self.field(field)?);
            }
        }
        Ok(())
    }

    /// Reads the fields of a random field sequence, giving each to `visit`.
    fn random_fields<R>(
        &mut self,
        item: &'static str,
        fields: &Fields<R>,
        visit: &mut impl FnMut(&Field<R>, &'a [u8]),
    ) -> Result<(), AsterixError> {
        for _ in 0..self.take(1, item)?[0] {
            let at = self.at;
            let field_reference = usize::from(self.take(1, item)?[0]);
            let field =
                field_reference.checked_sub(1).and_then(|index| fields.get(index)?.as_ref());
            let field = field.ok_or(AsterixError::UnknownField { item, at, field_reference })?;
            visit(field, self.field(field)?);
        }
        Ok(())
    }
}

/// Steps over a compound item.
pub(super) fn skip_compound<R>(
    cursor: &mut Cursor<'_>,
    item: &'static str,
    fields: &Fields<R>,
) -> Result<(), AsterixError> {
    cursor.fields(item, fields, |_, _| {})
}

/// Decodes a compound item that has been measured.
pub(super) fn decode_compound<R: Default>(
    item: &'static str,
    fields: &Fields<R>,
    octets: &[u8],
) -> R {
    let mut value = R::default();
    let walked = Cursor::over(octets).fields(item, fields, |f, o| (f.decode)(&mut value, o));
    debug_assert!(walked.is_ok(), "{item} was measured by the same table: {walked:?}");
    value
}

/// Appends a field specification and the fields that `value` has; false (and nothing appended)
/// when it has none.
pub(super) fn encode_fields<R>(
    fields: &Fields<R>,
    value: &R,
    out: &mut Vec<u8>,
) -> Result<bool, AsterixError> {
    let start = out.len();
    let octets_max = fields.len().div_ceil(7);
    // Room for the longest specification; unused octets are removed at the end.
    out.resize(start + octets_max, 0);
    let mut octets_used = 0;
    for (index, field) in fields.iter().enumerate() {
        let Some(field) = field else { continue };
        if (field.encode)(value, out)? {
            out[start + index / 7] |= 0x80 >> (index % 7);
            octets_used = index / 7 + 1;
        }
    }
    for octet in &mut out[start..start + octets_used.saturating_sub(1)] {
        *octet |= 1;
    }
    out.drain(start + octets_used..start + octets_max);
    Ok(octets_used > 0)
}

/// Writes a value that is there; false when there is none.
pub(super) fn some<T>(
    value: Option<T>,
    write: impl FnOnce(T) -> Result<(), AsterixError>,
) -> Result<bool, AsterixError> {
    value.map_or(Ok(false), |value| write(value).map(|()| true))
}

/// The unsigned number in at most eight octets, most significant first.
pub(super) fn unsigned(octets: &[u8]) -> u64 {
    octets.iter().fold(0, |value, octet| value << 8 | u64::from(*octet))
}

/// The 16-bit number in the first two octets.
pub(super) fn u16_of(octets: &[u8]) -> u16 {
    u16::from_be_bytes([octets[0], octets[1]])
}

/// The 24-bit number in the first three octets.
pub(super) fn u24_of(octets: &[u8]) -> u32 {
    u32::from_be_bytes([0, octets[0], octets[1], octets[2]])
}

/// The quantity in all of `octets`, unsigned, in units of `lsb`.
pub(super) fn quantity(octets: &[u8], lsb: f64) -> f64 {
    // At most 32 bits reach here: exact.
    unsigned(octets) as f64 * lsb
}

/// The quantity in the lowest `bits` of `octets`, in two's complement, in units of `lsb`.
pub(super) fn signed_quantity(octets: &[u8], bits: u32, lsb: f64) -> f64 {
    let shift = 64 - bits;
    ((unsigned(octets) << shift).cast_signed() >> shift) as f64 * lsb
}

/// Two signed quantities that share all of `o`.
pub(super) fn pair_of(o: &[u8], lsb: f64) -> (f64, f64) {
    let (a, b) = o.split_at(o.len() / 2);
    let bits = [0, 8, 16, 24, 32][a.len().min(4)];
    (signed_quantity(a, bits, lsb), signed_quantity(b, bits, lsb))
}

/// Appends two signed quantities of `octets_each`.
pub(super) fn put_pair(
    item: &'static str,
    a: f64,
    b: f64,
    octets_each: usize,
    lsb: f64,
    out: &mut Vec<u8>,
) -> Result<(), AsterixError> {
    let bits = [0, 8, 16, 24, 32][octets_each];
    put(out, to_signed(item, a, bits, lsb)?, octets_each);
    put(out, to_signed(item, b, bits, lsb)?, octets_each);
    Ok(())
}

/// Appends octets of seven bits, the lowest saying whether one follows; false when there are none.
pub(super) fn put_sevens(
    item: &'static str,
    values: &[u8],
    out: &mut Vec<u8>,
) -> Result<bool, AsterixError> {
    for (index, value) in values.iter().enumerate() {
        let more = flag(index + 1 < values.len(), 0);
        put(out, fits(item, (*value).into(), 7)? << 1 | more, 1);
    }
    Ok(!values.is_empty())
}

/// Appends parts of seven bits as an extended item: as many as say something, the first always.
pub(super) fn put_parts(parts: &[u64], out: &mut Vec<u8>) {
    let last = parts.iter().rposition(|part| *part != 0).unwrap_or(0);
    put_all_parts(&parts[..=last], out);
}

/// Appends all parts of seven bits as an extended item.
pub(super) fn put_all_parts(parts: &[u64], out: &mut Vec<u8>) {
    for (index, part) in parts.iter().enumerate() {
        put(out, part | flag(index + 1 < parts.len(), 0), 1);
    }
}

/// Appends the lowest `octets` octets of `value`.
pub(super) fn put(out: &mut Vec<u8>, value: u64, octets: usize) {
    out.extend_from_slice(&value.to_be_bytes()[8 - octets..]);
}

/// The nearest multiple of `lsb` as an unsigned number of `bits`.
pub(super) fn to_unsigned(
    item: &'static str,
    value: f64,
    bits: u32,
    lsb: f64,
) -> Result<u64, AsterixError> {
    let max = ((1_u64 << bits) - 1) as f64;
    let steps = (value / lsb).round();
    if !(0.0..=max).contains(&steps) {
        return Err(AsterixError::OutOfRange { item, value, min: 0.0, max: max * lsb });
    }
    #[allow(clippy::cast_possible_truncation, reason = "within 0 and 2^bits by the check above")]
    Ok(steps as u64)
}

/// The nearest multiple of `lsb` in two's complement of `bits`, the higher bits zero.
pub(super) fn to_signed(
    item: &'static str,
    value: f64,
    bits: u32,
    lsb: f64,
) -> Result<u64, AsterixError> {
    let half = (1_u64 << (bits - 1)) as f64;
    let steps = (value / lsb).round();
    if !(-half..half).contains(&steps) {
        let (min, max) = (-half * lsb, (half - 1.0) * lsb);
        return Err(AsterixError::OutOfRange { item, value, min, max });
    }
    #[allow(clippy::cast_possible_truncation, reason = "within ±2^(bits-1) by the check above")]
    let steps = steps as i64;
    Ok(steps.cast_unsigned() & (u64::MAX >> (64 - bits)))
}

/// An angle in degrees as a fraction of 2^16 of the circle, any turn taken off.
pub(super) fn to_angle(item: &'static str, degrees: f64) -> Result<u64, AsterixError> {
    if !degrees.is_finite() {
        let (min, max) = (0.0, 360.0);
        return Err(AsterixError::OutOfRange { item, value: degrees, min, max });
    }
    // 359.999° is nearest to 2^16 steps, which is north again.
    Ok(to_unsigned(item, degrees.rem_euclid(360.0), 17, ANGLE_LSB)? & 0xFFFF)
}

/// Whether bit `index` of an octet is set, 0 the lowest.
pub(super) fn bit(octet: u8, index: u32) -> bool {
    octet >> index & 1 == 1
}

/// A flag at bit `index` of a number, 0 the lowest.
pub(super) fn flag(set: bool, index: u32) -> u64 {
    u64::from(set) << index
}

/// 360°/2^16, in degrees.
pub(super) const ANGLE_LSB: f64 = 360.0 / 65_536.0;

/// Checks that an integer fits into so many bits.
pub(super) fn fits(item: &'static str, value: u64, bits: u32) -> Result<u64, AsterixError> {
    to_unsigned(item, value as f64, bits, 1.0)
}

/// Appends an explicit-length field; false when there is no content.
pub(super) fn put_explicit(
    item: &'static str,
    content: &[u8],
    out: &mut Vec<u8>,
) -> Result<bool, AsterixError> {
    if content.is_empty() {
        return Ok(false);
    }
    let too_many = AsterixError::TooMany { item, count: content.len(), max: 254 };
    out.push(u8::try_from(content.len() + 1).map_err(|_| too_many)?);
    out.extend_from_slice(content);
    Ok(true)
}

/// Appends the count octet of a repetitive field.
pub(super) fn put_count(
    item: &'static str,
    count: usize,
    out: &mut Vec<u8>,
) -> Result<(), AsterixError> {
    out.push(u8::try_from(count).map_err(|_| AsterixError::TooMany { item, count, max: 255 })?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_near_north_wrap() {
        assert_eq!(to_angle("a", 359.999), Ok(0));
        assert_eq!(to_angle("a", -90.0), Ok(0xC000));
        assert!(to_angle("a", f64::NAN).is_err());
    }

    #[test]
    fn quantities_are_refused_past_their_range() {
        assert_eq!(to_signed("I048/090", -0.25, 14, 0.25), Ok(0x3FFF));
        assert_eq!(
            to_unsigned("I048/040", 256.0, 16, 1.0 / 256.0).unwrap_err().to_string(),
            "I048/040 can hold values from 0 to 255.99609375, not 256"
        );
        assert!(to_signed("x", f64::NAN, 8, 1.0).is_err());
        assert_eq!(to_signed("x", -128.0, 8, 1.0), Ok(0x80));
        assert!(to_signed("x", 128.0, 8, 1.0).is_err());
    }

    #[test]
    fn field_specification_bits() {
        let mut cursor = Cursor::over(&[0b1000_0011, 0b0100_0000]);
        // FRN 1 and 7 in the first octet, FRN 9 in the second.
        assert_eq!(cursor.specification("x", 14), Ok(1 | 1 << 6 | 1 << 8));
        assert_eq!(
            Cursor::over(&[0x81, 0x81, 0x80]).specification("x", 14),
            Err(AsterixError::FieldSpecification { item: "x", at: 0, octets_max: 2 })
        );
    }
}
