//! Fields that several categories have alike: an entry of a profile each, by macro, because the
//! functions of a [`Field`](super::wire::Field) know the record's type.

/// The data source identifier, the first field of each profile.
macro_rules! source {
    ($name:literal) => {
        Some($crate::asterix::wire::Field {
            name: $name,
            layout: $crate::asterix::wire::Layout::Fixed(2),
            decode: |r, o| r.source = $crate::asterix::DataSource { sac: o[0], sic: o[1] },
            encode: |r, out| {
                out.extend_from_slice(&[r.source.sac, r.source.sic]);
                Ok(true)
            },
        })
    };
}

/// A field that two functions convert: `$of(octets)`, and `$put(value, out)`, which may fail.
macro_rules! item {
    ($name:literal, $layout:expr, $field:ident, $of:expr, $put:expr) => {
        Some($crate::asterix::wire::Field {
            name: $name,
            layout: $layout,
            decode: |r, o| r.$field = Some($of(o)),
            encode: |r, out| $crate::asterix::wire::some(r.$field, |v| $put(v, out)),
        })
    };
}

/// An [`item!`] whose errors give its name: `$put(name, value, out)`.
macro_rules! named_item {
    ($name:literal, $layout:expr, $field:ident, $of:expr, $put:expr) => {
        item!($name, $layout, $field, $of, |value, out: &mut Vec<u8>| $put($name, value, out))
    };
}

/// A callsign of eight characters in six octets.
macro_rules! callsign {
    ($name:literal, $field:ident) => {
        item!(
            $name,
            $crate::asterix::wire::Layout::Fixed(6),
            $field,
            |o: &[u8]| $crate::asterix::Callsign::from_bits($crate::asterix::wire::unsigned(o)),
            |c: $crate::asterix::Callsign, out: &mut Vec<u8>| {
                Ok($crate::asterix::wire::put(out, c.bits(), 6))
            }
        )
    };
}

/// A time of day in three octets.
macro_rules! time_of_day {
    ($name:literal, $field:ident) => {
        item!(
            $name,
            $crate::asterix::wire::Layout::Fixed(3),
            $field,
            |o: &[u8]| $crate::asterix::TimeOfDay::from_ticks($crate::asterix::wire::u24_of(o)),
            |t: $crate::asterix::TimeOfDay, out: &mut Vec<u8>| Ok($crate::asterix::wire::put(
                out,
                t.ticks().into(),
                3
            ))
        )
    };
}

/// An integer of `$bits`, the lowest of `$octets` octets.
macro_rules! integer {
    ($name:literal, $field:ident, $octets:literal, $bits:literal) => {
        Some($crate::asterix::wire::Field {
            name: $name,
            layout: $crate::asterix::wire::Layout::Fixed($octets),
            decode: |r, o| {
                let value = $crate::asterix::wire::unsigned(o) & ((1_u64 << $bits) - 1);
                r.$field = value.try_into().ok();
            },
            encode: |r, out| {
                $crate::asterix::wire::some(r.$field, |v| {
                    let value = $crate::asterix::wire::fits($name, v.into(), $bits)?;
                    Ok($crate::asterix::wire::put(out, value, $octets))
                })
            },
        })
    };
}

/// An unsigned quantity in all of `$octets` octets.
macro_rules! quantity {
    ($name:literal, $field:ident, $octets:literal, $lsb:expr) => {
        item!(
            $name,
            $crate::asterix::wire::Layout::Fixed($octets),
            $field,
            |o: &[u8]| $crate::asterix::wire::quantity(o, $lsb),
            |v: f64, out: &mut Vec<u8>| {
                let value = $crate::asterix::wire::to_unsigned($name, v, 8 * $octets, $lsb)?;
                Ok($crate::asterix::wire::put(out, value, $octets))
            }
        )
    };
}

/// A signed quantity in all of `$octets` octets.
macro_rules! signed {
    ($name:literal, $field:ident, $octets:literal, $lsb:expr) => {
        item!(
            $name,
            $crate::asterix::wire::Layout::Fixed($octets),
            $field,
            |o: &[u8]| $crate::asterix::wire::signed_quantity(o, 8 * $octets, $lsb),
            |v: f64, out: &mut Vec<u8>| {
                let value = $crate::asterix::wire::to_signed($name, v, 8 * $octets, $lsb)?;
                Ok($crate::asterix::wire::put(out, value, $octets))
            }
        )
    };
}

/// Two signed quantities of `$octets` octets each, as a type with two fields.
macro_rules! pair {
    ($name:literal, $field:ident, $octets:literal, $lsb:expr, $type:ident { $a:ident, $b:ident }) => {
        item!(
            $name,
            $crate::asterix::wire::Layout::Fixed(2 * $octets),
            $field,
            |o: &[u8]| {
                let ($a, $b) = $crate::asterix::wire::pair_of(o, $lsb);
                $type { $a, $b }
            },
            |v: $type, out: &mut Vec<u8>| $crate::asterix::wire::put_pair(
                $name, v.$a, v.$b, $octets, $lsb, out
            )
        )
    };
}

/// A Mode 3/A or Mode 2 code: V, G and L, and twelve bits.
macro_rules! code {
    ($name:literal, $field:ident) => {
        item!(
            $name,
            $crate::asterix::wire::Layout::Fixed(2),
            $field,
            |o: &[u8]| $crate::asterix::cat048::fields::code_of(o, 12),
            |m, out: &mut Vec<u8>| $crate::asterix::cat048::fields::put_code($name, m, 12, out)
        )
    };
}

/// A flight level: V and G, and fourteen bits.
macro_rules! flight_level {
    ($name:literal, $field:ident) => {
        item!(
            $name,
            $crate::asterix::wire::Layout::Fixed(2),
            $field,
            $crate::asterix::cat048::fields::flight_level_of,
            |f, out: &mut Vec<u8>| $crate::asterix::cat048::fields::put_flight_level($name, f, out)
        )
    };
}

/// A target identification: its origin, and eight characters.
macro_rules! identification {
    ($name:literal, $field:ident) => {
        item!(
            $name,
            $crate::asterix::wire::Layout::Fixed(7),
            $field,
            $crate::asterix::cat062::identification_of,
            |id, out: &mut Vec<u8>| $crate::asterix::cat062::put_identification($name, id, out)
        )
    };
}

/// Octets of seven bits, the lowest saying whether one follows.
macro_rules! sevens {
    ($name:literal, $field:ident) => {
        Some($crate::asterix::wire::Field {
            name: $name,
            layout: $crate::asterix::wire::Layout::Extended(1),
            decode: |r, o| r.$field = o.iter().map(|octet| octet >> 1).collect(),
            encode: |r, out| $crate::asterix::wire::put_sevens($name, &r.$field, out),
        })
    };
}

/// A field that states its own length: RE and SP.
macro_rules! explicit {
    ($name:literal, $field:ident) => {
        Some($crate::asterix::wire::Field {
            name: $name,
            layout: $crate::asterix::wire::Layout::Explicit,
            decode: |r, o| r.$field = o[1..].to_vec(),
            encode: |r, out| $crate::asterix::wire::put_explicit($name, &r.$field, out),
        })
    };
}

/// A compound item by the table of its subfields.
macro_rules! compound {
    ($name:literal, $field:ident, $table:ident) => {
        Some($crate::asterix::wire::Field {
            name: $name,
            layout: $crate::asterix::wire::Layout::Compound(|cursor| {
                $crate::asterix::wire::skip_compound(cursor, $name, &$table)
            }),
            decode: |r, o| {
                r.$field = Some($crate::asterix::wire::decode_compound($name, &$table, o));
            },
            encode: |r, out| match &r.$field {
                Some(value) => $crate::asterix::wire::encode_fields(&$table, value, out),
                None => Ok(false),
            },
        })
    };
}
