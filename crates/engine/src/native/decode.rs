//! Reads single values out of the engine's vectors.

use libduckdb_sys as ffi;

use super::connection::owned_text;
use crate::Value;

/// A column's type with the types inside it.
pub(super) struct LogicalType {
    raw: ffi::duckdb_logical_type,
    id: ffi::duckdb_type,
    json: bool,
    children: Vec<(String, LogicalType)>,
}

impl LogicalType {
    /// # Safety
    /// `raw` must be a live logical type; it is owned from here on.
    pub(super) unsafe fn own(raw: ffi::duckdb_logical_type) -> Self {
        // SAFETY: the calls match the type id; returned texts are freed after copying.
        unsafe {
            let id = ffi::duckdb_get_type_id(raw);
            let alias = ffi::duckdb_logical_type_get_alias(raw);
            let json = owned_text(alias) == "JSON";
            ffi::duckdb_free(alias.cast());
            let unnamed = |raw| vec![(String::new(), Self::own(raw))];
            let children = match id {
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_LIST => unnamed(ffi::duckdb_list_type_child_type(raw)),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_ARRAY => unnamed(ffi::duckdb_array_type_child_type(raw)),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_MAP => {
                    let mut children = unnamed(ffi::duckdb_map_type_key_type(raw));
                    children.extend(unnamed(ffi::duckdb_map_type_value_type(raw)));
                    children
                }
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_STRUCT => (0..ffi::duckdb_struct_type_child_count(raw))
                    .map(|at| {
                        let name = ffi::duckdb_struct_type_child_name(raw, at);
                        let child = (owned_text(name), Self::own(ffi::duckdb_struct_type_child_type(raw, at)));
                        ffi::duckdb_free(name.cast());
                        child
                    })
                    .collect(),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_UNION => (0..ffi::duckdb_union_type_member_count(raw))
                    .map(|at| (String::new(), Self::own(ffi::duckdb_union_type_member_type(raw, at))))
                    .collect(),
                _ => Vec::new(),
            };
            Self { raw, id, json, children }
        }
    }

    /// Whether [`Vector::value`] knows the type and every type inside it.
    pub(super) fn is_decodable(&self) -> bool {
        // The ids up to TIMESTAMP_TZ and a few behind them, without the gaps between.
        let known = (ffi::DUCKDB_TYPE_DUCKDB_TYPE_BOOLEAN..=ffi::DUCKDB_TYPE_DUCKDB_TYPE_ARRAY).contains(&self.id)
            || [ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIME_NS, ffi::DUCKDB_TYPE_DUCKDB_TYPE_SQLNULL].contains(&self.id);
        known && self.children.iter().all(|(_, child)| child.is_decodable())
    }
}

impl Drop for LogicalType {
    fn drop(&mut self) {
        // SAFETY: owned since `own`.
        unsafe { ffi::duckdb_destroy_logical_type(&raw mut self.raw) }
    }
}

/// A column of a chunk.
pub(super) struct Vector<'a> {
    raw: ffi::duckdb_vector,
    data: *const u8,
    validity: *mut u64,
    logical: &'a LogicalType,
    children: Vec<Vector<'a>>,
}

impl<'a> Vector<'a> {
    /// # Safety
    /// `raw` must be a vector of type `logical` whose chunk outlives the result.
    pub(super) unsafe fn new(raw: ffi::duckdb_vector, logical: &'a LogicalType) -> Self {
        let inner = &logical.children;
        // SAFETY: the calls match the type id.
        let children = unsafe {
            match logical.id {
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_LIST => {
                    vec![Self::new(ffi::duckdb_list_vector_get_child(raw), &inner[0].1)]
                }
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_ARRAY => {
                    vec![Self::new(ffi::duckdb_array_vector_get_child(raw), &inner[0].1)]
                }
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_MAP => {
                    let entries = ffi::duckdb_list_vector_get_child(raw);
                    (0..)
                        .zip(inner)
                        .map(|(at, (_, child))| Self::new(ffi::duckdb_struct_vector_get_child(entries, at), child))
                        .collect()
                }
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_STRUCT => (0..)
                    .zip(inner)
                    .map(|(at, (_, child))| Self::new(ffi::duckdb_struct_vector_get_child(raw, at), child))
                    .collect(),
                // Member 0 of a union's vector is the tag.
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_UNION => (1..)
                    .zip(inner)
                    .map(|(at, (_, child))| Self::new(ffi::duckdb_struct_vector_get_child(raw, at), child))
                    .collect(),
                _ => Vec::new(),
            }
        };
        // SAFETY: the vector is alive.
        let (data, validity) =
            unsafe { (ffi::duckdb_vector_get_data(raw).cast(), ffi::duckdb_vector_get_validity(raw)) };
        Self { raw, data, validity, logical, children }
    }

    /// # Safety
    /// The vector must hold values of layout `T`, at least `row + 1` of them.
    unsafe fn read<T: Copy>(&self, row: usize) -> T {
        // SAFETY: the caller answers for layout and length; alignment is not assumed.
        unsafe { self.data.cast::<T>().add(row).read_unaligned() }
    }

    /// The value of a row.
    ///
    /// # Safety
    /// `row` must be below the vector's length.
    pub(super) unsafe fn value(&self, row: usize) -> Value {
        // SAFETY: the validity mask covers every row of the chunk; a null mask means that all are valid.
        if !self.validity.is_null() && !unsafe { ffi::duckdb_validity_row_is_valid(self.validity, row as u64) } {
            return Value::Null;
        }
        // SAFETY: each type id is read with the layout that the C API documents for it.
        unsafe {
            match self.logical.id {
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_BOOLEAN => Value::Bool(self.read::<u8>(row) != 0),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_TINYINT => Value::Int(self.read::<i8>(row).into()),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_SMALLINT => Value::Int(self.read::<i16>(row).into()),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_INTEGER => Value::Int(self.read::<i32>(row).into()),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_BIGINT => Value::Int(self.read::<i64>(row).into()),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_UTINYINT => Value::Int(self.read::<u8>(row).into()),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_USMALLINT => Value::Int(self.read::<u16>(row).into()),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_UINTEGER => Value::Int(self.read::<u32>(row).into()),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_UBIGINT => Value::Int(self.read::<u64>(row).into()),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT => Value::Int(self.read::<i128>(row)),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_UHUGEINT => Value::UHuge(self.read::<u128>(row)),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_FLOAT => Value::Float(self.read(row)),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE => Value::Double(self.read(row)),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_DECIMAL => self.decimal(row),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR if self.logical.json => Value::Json(self.text(row)),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR => Value::Text(self.text(row)),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_BLOB => Value::Blob(self.bytes(row)),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_BIT => Value::Text(bits(&self.bytes(row))),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_ENUM => self.enumerated(row),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_UUID => Value::Text(uuid(self.read(row))),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_DATE => Value::Text(date(self.read(row))),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIME => Value::Text(time(self.read(row), 6)),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIME_NS => Value::Text(time(self.read(row), 9)),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIME_TZ => Value::Text(time_with_zone(self.read(row))),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_S => Value::Text(timestamp(self.read(row), 0)),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_MS => Value::Text(timestamp(self.read(row), 3)),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP | ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_TZ => {
                    Value::Text(timestamp(self.read(row), 6))
                }
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_NS => Value::Text(timestamp(self.read(row), 9)),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_INTERVAL => Value::Text(interval(self.read(row))),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_LIST => {
                    Value::List(self.entries(row).map(|at| self.children[0].value(at)).collect())
                }
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_ARRAY => {
                    let size = usize::try_from(ffi::duckdb_array_type_array_size(self.logical.raw)).unwrap_or(0);
                    Value::List((row * size..(row + 1) * size).map(|at| self.children[0].value(at)).collect())
                }
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_MAP => Value::Map(
                    self.entries(row).map(|at| (self.children[0].value(at), self.children[1].value(at))).collect(),
                ),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_STRUCT => Value::Struct(
                    self.logical
                        .children
                        .iter()
                        .zip(&self.children)
                        .map(|((name, _), child)| (name.clone(), child.value(row)))
                        .collect(),
                ),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_UNION => {
                    let tags =
                        ffi::duckdb_vector_get_data(ffi::duckdb_struct_vector_get_child(self.raw, 0)).cast::<u8>();
                    let tag = usize::from(tags.add(row).read());
                    self.children.get(tag).map_or(Value::Null, |member| member.value(row))
                }
                // SQLNULL, and types that callers cast to text first (see `is_decodable`).
                _ => Value::Null,
            }
        }
    }

    /// # Safety
    /// The vector must be of a list-like type.
    unsafe fn entries(&self, row: usize) -> std::ops::Range<usize> {
        // SAFETY: list-like vectors hold entries of this layout.
        let entry: ffi::duckdb_list_entry = unsafe { self.read(row) };
        let start = usize::try_from(entry.offset).unwrap_or(0);
        start..start + usize::try_from(entry.length).unwrap_or(0)
    }

    /// # Safety
    /// The vector must be of a string-like type.
    unsafe fn bytes(&self, row: usize) -> Vec<u8> {
        // SAFETY: string-like vectors hold this layout; the data lives as long as the chunk.
        unsafe {
            let mut string: ffi::duckdb_string_t = self.read(row);
            let len = ffi::duckdb_string_t_length(string) as usize;
            std::slice::from_raw_parts(ffi::duckdb_string_t_data(&raw mut string).cast::<u8>(), len).to_vec()
        }
    }

    /// # Safety
    /// As [`Self::bytes`].
    unsafe fn text(&self, row: usize) -> String {
        // SAFETY: as the caller promises.
        String::from_utf8_lossy(&unsafe { self.bytes(row) }).into_owned()
    }

    /// # Safety
    /// The vector must be of type DECIMAL.
    unsafe fn decimal(&self, row: usize) -> Value {
        // SAFETY: the internal type tells the layout.
        let (unscaled, scale) = unsafe {
            let unscaled: i128 = match ffi::duckdb_decimal_internal_type(self.logical.raw) {
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_SMALLINT => self.read::<i16>(row).into(),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_INTEGER => self.read::<i32>(row).into(),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_BIGINT => self.read::<i64>(row).into(),
                _ => self.read::<i128>(row),
            };
            (unscaled, usize::from(ffi::duckdb_decimal_scale(self.logical.raw)))
        };
        let sign = if unscaled < 0 { "-" } else { "" };
        let digits = format!("{:0width$}", unscaled.unsigned_abs(), width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        Value::Decimal(if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
    }

    /// # Safety
    /// The vector must be of type ENUM.
    unsafe fn enumerated(&self, row: usize) -> Value {
        // SAFETY: the internal type tells the layout; the dictionary text is freed after copying.
        unsafe {
            let index: u64 = match ffi::duckdb_enum_internal_type(self.logical.raw) {
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_UTINYINT => self.read::<u8>(row).into(),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_USMALLINT => self.read::<u16>(row).into(),
                _ => self.read::<u32>(row).into(),
            };
            let text = ffi::duckdb_enum_dictionary_value(self.logical.raw, index);
            let value = Value::Text(owned_text(text));
            ffi::duckdb_free(text.cast());
            value
        }
    }
}

/// The first byte counts the padding bits at the start of the second.
fn bits(bytes: &[u8]) -> String {
    let padding = bytes.first().map_or(0, |&count| usize::from(count));
    bytes.iter().skip(1).map(|byte| format!("{byte:08b}")).collect::<String>().chars().skip(padding).collect()
}

/// The engine stores UUIDs with the first bit flipped, so that they sort as signed numbers.
fn uuid(stored: i128) -> String {
    let hex = format!("{:032x}", stored.cast_unsigned() ^ (1 << 127));
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

fn date(days: i32) -> String {
    match days {
        i32::MAX => return "infinity".into(),
        d if d == -i32::MAX => return "-infinity".into(),
        _ => {}
    }
    // SAFETY: a pure computation on a number.
    let date = unsafe { ffi::duckdb_from_date(ffi::duckdb_date { days }) };
    if date.year < 1 {
        // ISO 8601 counts the year before year 1 as 0.
        return format!("-{:04}-{:02}-{:02}", -date.year, date.month, date.day);
    }
    format!("{:04}-{:02}-{:02}", date.year, date.month, date.day)
}

/// A time of day counted in units of 10^-digits seconds, with its fraction only as far as needed.
fn time(units: i64, digits: u32) -> String {
    let per_second = 10_i64.pow(digits);
    let (seconds, fraction) = (units.div_euclid(per_second), units.rem_euclid(per_second));
    let mut text = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if fraction != 0 {
        text.push('.');
        text.push_str(format!("{fraction:0width$}", width = digits as usize).trim_end_matches('0'));
    }
    text
}

fn time_with_zone(bits: u64) -> String {
    // SAFETY: a pure computation on a number.
    let parts = unsafe { ffi::duckdb_from_time_tz(ffi::duckdb_time_tz { bits }) };
    let micros = i64::from(parts.time.hour) * 3_600_000_000
        + i64::from(parts.time.min) * 60_000_000
        + i64::from(parts.time.sec) * 1_000_000
        + i64::from(parts.time.micros);
    let sign = if parts.offset < 0 { '-' } else { '+' };
    let offset = parts.offset.unsigned_abs();
    let mut text = format!("{}{sign}{:02}", time(micros, 6), offset / 3600);
    if offset % 3600 != 0 {
        text.push_str(&format!(":{:02}", offset / 60 % 60));
    }
    if offset % 60 != 0 {
        text.push_str(&format!(":{:02}", offset % 60));
    }
    text
}

/// A point in time as RFC 3339 in UTC, with its fraction only as far as needed.
fn timestamp(units: i64, digits: u32) -> String {
    match units {
        i64::MAX => return "infinity".into(),
        u if u == -i64::MAX => return "-infinity".into(),
        _ => {}
    }
    let per_day = 86_400 * 10_i64.pow(digits);
    let days = i32::try_from(units.div_euclid(per_day)).unwrap_or(i32::MAX - 1);
    format!("{}T{}Z", date(days), time(units.rem_euclid(per_day), digits))
}

/// The engine's own text form: `1 year 2 months 3 days 04:05:06`.
fn interval(value: ffi::duckdb_interval) -> String {
    let mut parts = Vec::new();
    let mut part = |count: i32, unit: &str| {
        if count != 0 {
            parts.push(format!("{count} {unit}{}", if count.abs() == 1 { "" } else { "s" }));
        }
    };
    part(value.months / 12, "year");
    part(value.months % 12, "month");
    part(value.days, "day");
    if value.micros != 0 || parts.is_empty() {
        let sign = if value.micros < 0 { "-" } else { "" };
        parts.push(format!("{sign}{}", time(value.micros.saturating_abs(), 6)));
    }
    parts.join(" ")
}
