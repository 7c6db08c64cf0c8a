//! The module `csv` (RFC 4180): tables of texts.

use std::collections::HashSet;

use csv::{ReaderBuilder, StringRecord, WriterBuilder};
use num_bigint::BigInt;
use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::values::dict::{AllocDict, DictRef};
use starlark::values::list::AllocList;
use starlark::values::{Heap, UnpackValue, Value};

use super::json::{Style, to_text};
use super::{arguments, csv_quotes, failure};
use crate::host_value::elements;
use crate::surroundings::Surroundings;

const DECODE: &str = "csv.decode";
const ENCODE: &str = "csv.encode";

/// Adds the namespace `csv`.
pub(super) fn register(builder: &mut GlobalsBuilder) {
    builder.namespace("csv", members);
}

#[starlark::starlark_module]
fn members(builder: &mut GlobalsBuilder) {
    /// The rows of a text: dicts by the names of the first line, or lists.
    fn decode<'v>(
        s: Value<'v>,
        delimiter: Option<Value<'v>>,
        header: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        Surroundings::pace(eval)?;
        let heap = eval.heap();
        let text = arguments::text(DECODE, "s", s)?;
        let delimiter = delimiter.map_or(Ok(","), |value| arguments::text(DECODE, "delimiter", value))?;
        let header = match header.map(|value| (value, value.unpack_bool())) {
            None => true,
            Some((_, Some(header))) => header,
            Some((value, None)) => return Err(arguments::wrong_type(DECODE, "header", "bool", value)),
        };
        let rows = delimiter_byte(delimiter).and_then(|delimiter| read(text, delimiter));
        rows.and_then(|rows| values(&rows, header, heap)).map_err(|error| failure(DECODE, error))
    }

    /// The text of rows that are dicts, or lists.
    fn encode<'v>(
        rows: Value<'v>,
        header: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<String> {
        Surroundings::pace(eval)?;
        let heap = eval.heap();
        let Some(items) = elements(rows, heap) else {
            return Err(arguments::wrong_type(ENCODE, "rows", "list", rows));
        };
        let names = match header.filter(|value| !value.is_none()) {
            None => None,
            Some(value) => Some(column_names(value, heap)?),
        };
        written(&items, names.as_deref(), heap).map_err(|error| failure(ENCODE, error))
    }
}

fn delimiter_byte(delimiter: &str) -> Result<u8, String> {
    match delimiter.as_bytes() {
        [b'"' | b'\n' | b'\r'] => Err(format!("{delimiter:?} cannot be a delimiter")),
        [byte] => Ok(*byte),
        _ => Err(format!("the delimiter must be one ASCII character, not {delimiter:?}")),
    }
}

/// The records of a text, all of the same length.
fn read(text: &str, delimiter: u8) -> Result<Vec<StringRecord>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    csv_quotes::check(text, delimiter)?;
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes());
    let mut records: Vec<StringRecord> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let expected = records.first().map_or(record.len(), StringRecord::len);
        let blank = record.len() == 1 && record[0].trim().is_empty();
        if blank && (expected > 1 || records.is_empty() && !record[0].is_empty()) {
            continue;
        }
        if record.len() != expected {
            let line = line_of(text, &record);
            return Err(format!("line {line}: expected {expected} fields, found {}", record.len()));
        }
        records.push(record);
    }
    if records.is_empty() { Err("the text is empty".to_owned()) } else { Ok(records) }
}

/// The line that a record begins in. The reader counts blank lines before a record as part of it.
fn line_of(text: &str, record: &StringRecord) -> usize {
    let at = record.position().and_then(|position| usize::try_from(position.byte()).ok()).unwrap_or(0);
    let (before, from) = text.split_at(text.floor_char_boundary(at));
    let blank = from.len() - from.trim_start_matches(['\r', '\n']).len();
    1 + before.bytes().chain(from.bytes().take(blank)).filter(|&byte| byte == b'\n').count()
}

fn values<'v>(records: &[StringRecord], header: bool, heap: Heap<'v>) -> Result<Value<'v>, String> {
    let [names, rows @ ..] = records else { return Err("the text is empty".to_owned()) };
    if !header {
        return Ok(heap.alloc(AllocList(records.iter().map(|record| AllocList(record.iter())))));
    }
    let mut seen = HashSet::new();
    if let Some(name) = names.iter().find(|name| !seen.insert(*name)) {
        return Err(format!("the header names {name:?} twice"));
    }
    let names: Vec<Value> = names.iter().map(|name| heap.alloc(name)).collect();
    let rows = rows.iter().map(|row| AllocDict(names.iter().copied().zip(row.iter())));
    Ok(heap.alloc(AllocList(rows)))
}

fn column_names<'v>(header: Value<'v>, heap: Heap<'v>) -> starlark::Result<Vec<&'v str>> {
    let Some(names) = elements(header, heap) else {
        return Err(arguments::wrong_type(ENCODE, "header", "list of str", header));
    };
    names.into_iter().map(|name| arguments::text(ENCODE, "header", name)).collect()
}

fn written<'v>(rows: &[Value<'v>], names: Option<&[&'v str]>, heap: Heap<'v>) -> Result<String, String> {
    let mut out = WriterBuilder::new().from_writer(Vec::new());
    if rows.first().is_some_and(|row| DictRef::from_value(*row).is_some()) {
        write_dicts(&mut out, rows, names, heap)?;
    } else {
        write_lists(&mut out, rows, names, heap)?;
    }
    let bytes = out.into_inner().map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

type Writer = csv::Writer<Vec<u8>>;

fn write_dicts<'v>(
    out: &mut Writer,
    rows: &[Value<'v>],
    names: Option<&[&'v str]>,
    heap: Heap<'v>,
) -> Result<(), String> {
    let mut columns = names.unwrap_or_default().to_vec();
    let mut known: HashSet<&str> = columns.iter().copied().collect();
    let mut dicts = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        let dict = DictRef::from_value(*row).ok_or_else(|| mixed(at, *row, "dict"))?;
        for key in dict.keys() {
            let key = key.unpack_str().ok_or_else(|| format!("row {}: keys must be str", at + 1))?;
            if known.insert(key) {
                columns.push(key);
                if names.is_some() {
                    return Err(format!("row {}: the header does not name {key:?}", at + 1));
                }
            }
        }
        dicts.push(dict);
    }
    if columns.is_empty() {
        return Err("the rows have no columns".to_owned());
    }
    out.write_record(&columns).map_err(|error| error.to_string())?;
    for (at, dict) in dicts.iter().enumerate() {
        let fields =
            columns.iter().map(|name| dict.get_str(name).map_or(Ok(String::new()), |value| field(value, heap)));
        let fields = fields.collect::<Result<Vec<_>, _>>().map_err(|error| format!("row {}: {error}", at + 1))?;
        out.write_record(&fields).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn write_lists<'v>(
    out: &mut Writer,
    rows: &[Value<'v>],
    names: Option<&[&'v str]>,
    heap: Heap<'v>,
) -> Result<(), String> {
    let mut width = None;
    if let Some(names) = names {
        width = Some(names.len());
        out.write_record(names).map_err(|error| error.to_string())?;
    }
    for (at, row) in rows.iter().enumerate() {
        let items = elements(*row, heap).ok_or_else(|| mixed(at, *row, "list"))?;
        let expected = *width.get_or_insert(items.len());
        if items.len() != expected {
            return Err(format!("row {} has {} fields instead of {expected}", at + 1, items.len()));
        }
        let fields = items.into_iter().map(|item| field(item, heap)).collect::<Result<Vec<_>, _>>();
        let fields = fields.map_err(|error| format!("row {}: {error}", at + 1))?;
        out.write_record(&fields).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn mixed(at: usize, row: Value, expected: &str) -> String {
    if at == 0 {
        format!("rows must be dicts or lists, not {}", row.get_type())
    } else {
        format!("mixed rows: row {} is {}, the first is {expected}", at + 1, row.get_type())
    }
}

/// A value as it becomes text in a column: strings as they are, None empty, lists and dicts as JSON.
fn field<'v>(value: Value<'v>, heap: Heap<'v>) -> Result<String, String> {
    if let Some(text) = value.unpack_str() {
        return Ok(text.to_owned());
    }
    if value.is_none() {
        return Ok(String::new());
    }
    if let Ok(Some(number)) = BigInt::unpack_value(value) {
        return Ok(number.to_string());
    }
    to_text(value, heap, Style::Insertion).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use starlark::values::Heap;

    use super::super::testing::{all_equal, all_fail, texts};

    #[test]
    fn texts_become_dicts_of_strings() {
        all_equal(&[
            ("csv.decode('a,b\\n1,x\\n2,\\n')", "[{'a': '1', 'b': 'x'}, {'a': '2', 'b': ''}]"),
            ("csv.decode('\\ufeffa\\r\\n1\\r\\n')", "[{'a': '1'}]"),
            ("csv.decode('a,b')", "[]"),
            ("csv.decode('\\n\\na,b\\n\\n1,2\\n   \\n\\r\\n')", "[{'a': '1', 'b': '2'}]"),
            ("csv.decode('a;b\\n1,5;2', delimiter=';')", "[{'a': '1,5', 'b': '2'}]"),
            ("csv.decode('a\\tb\\n\\t\\n', '\\t')", "[{'a': '', 'b': ''}]"),
            ("csv.decode('1,2\\n3,4', header=False)", "[['1', '2'], ['3', '4']]"),
            ("csv.decode('a,a', ',', False)", "[['a', 'a']]"),
            ("csv.decode('a\\n\"x\"\"y\\n,z\"\\n\"\"')", "[{'a': 'x\"y\\n,z'}, {'a': ''}]"),
            ("csv.decode('a\\nx\"y')", "[{'a': 'x\"y'}]"),
            ("csv.decode('a,b\\n 1 ,\\x00\\U0001f600')", "[{'a': ' 1 ', 'b': '\\x00\\U0001f600'}]"),
            ("len(csv.decode('a\\n' + 'x' * 1000000)[0]['a'])", "1000000"),
        ]);
    }

    #[test]
    fn what_is_no_table_is_an_error() {
        all_fail(&[
            ("csv.decode('')", "csv.decode: the text is empty"),
            ("csv.decode('\\ufeff')", "csv.decode: the text is empty"),
            ("csv.decode(' \\n\\r\\n')", "csv.decode: the text is empty"),
            ("csv.decode('', header=False)", "csv.decode: the text is empty"),
            ("csv.decode('a,b\\n1,2\\n\\n3')", "csv.decode: line 4: expected 2 fields, found 1"),
            ("csv.decode('1\\n2,3', header=False)", "line 2: expected 1 fields, found 2"),
            ("csv.decode('a,b,a')", "csv.decode: the header names \"a\" twice"),
            ("csv.decode('a', delimiter=';;')", "the delimiter must be one ASCII character, not \";;\""),
            ("csv.decode('a', delimiter='')", "the delimiter must be one ASCII character"),
            ("csv.decode('a', delimiter='é')", "must be one ASCII character"),
            ("csv.decode('a', delimiter='\"')", "cannot be a delimiter"),
            ("csv.decode('a', delimiter='\\n')", "cannot be a delimiter"),
            ("csv.decode('a\\n\\n\"x\\ny')", "the quote in line 3 is not closed"),
            ("csv.decode('a\\n\"x\"y')", "text after a closing quote in line 2"),
            ("csv.decode(None)", "csv.decode: `s` must be str, not NoneType"),
            ("csv.decode('a', header=1)", "csv.decode: `header` must be bool, not int"),
            ("csv.decode('a', delimiter=1)", "csv.decode: `delimiter` must be str, not int"),
        ]);
    }

    #[test]
    fn rows_become_texts() {
        all_equal(&[
            ("csv.encode([])", "''"),
            ("csv.encode([{'a': 1, 'b': None}, {'c': 'x', 'a': True}])", "'a,b,c\\n1,,\\ntrue,,x\\n'"),
            ("csv.encode([[1, 2], (3, None)])", "'1,2\\n3,\\n'"),
            ("csv.encode([[1, 2]], header=['a', 'b'])", "'a,b\\n1,2\\n'"),
            ("csv.encode([[1]], header=None)", "'1\\n'"),
            ("csv.encode([], header=['a'])", "'a\\n'"),
            ("csv.encode([{'b': 1, 'a': 2}], header=['a', 'b', 'c'])", "'a,b,c\\n2,1,\\n'"),
            ("csv.encode([['x,y', 'q\"', 'l\\nm', 'r\\rs', ' ']])", "'\"x,y\",\"q\"\"\",\"l\\nm\",\"r\\rs\", \\n'"),
            (
                "csv.encode([[1.0, 9007199254740993, [1, 'a'], {'k': None}]])",
                "'1.0,9007199254740993,\"[1,\"\"a\"\"]\",\"{\"\"k\"\":null}\"\\n'",
            ),
            ("csv.encode([[None], ['']])", "'\"\"\\n\"\"\\n'"),
            (
                "csv.decode(csv.encode([{'a': 'x\"\\n,', 'b': '\\U0001f600'}]))",
                "[{'a': 'x\"\\n,', 'b': '\\U0001f600'}]",
            ),
        ]);
    }

    #[test]
    fn what_is_no_row_is_an_error() {
        all_fail(&[
            ("csv.encode([{}, []])", "csv.encode: mixed rows: row 2 is list, the first is dict"),
            ("csv.encode([[1], {'a': 1}])", "csv.encode: mixed rows: row 2 is dict, the first is list"),
            ("csv.encode([1])", "rows must be dicts or lists, not int"),
            ("csv.encode(['ab'])", "rows must be dicts or lists, not string"),
            ("csv.encode([[1, 2], [3]])", "row 2 has 1 fields instead of 2"),
            ("csv.encode([[1]], header=['a', 'b'])", "row 1 has 1 fields instead of 2"),
            ("csv.encode([{'a': 1}], header=['b'])", "row 1: the header does not name \"a\""),
            ("csv.encode([{1: 1}])", "row 1: keys must be str"),
            ("csv.encode([{}])", "the rows have no columns"),
            ("csv.encode([[len]])", "row 1: a value of type function is not JSON"),
            ("csv.encode([[float('nan')]])", "row 1: the float NaN is not finite"),
            ("csv.encode({})", "csv.encode: `rows` must be list, not dict"),
            ("csv.encode([[1]], header='a')", "csv.encode: `header` must be list of str, not string"),
            ("csv.encode([[1]], header=[1])", "csv.encode: `header` must be str, not int"),
        ]);
    }

    #[test]
    fn any_text_is_a_table_or_an_error_and_what_was_read_is_written_the_same() {
        const PIECES: [&str; 10] = ["a", ",", "\"", "\"\"", "\n", "\r\n", "\r", " ", "\u{e9}", "\"x\","];
        let mut accepted = 0;
        for text in texts(&PIECES, 9, 20_000) {
            let Ok(records) = super::read(&text, b',') else { continue };
            accepted += 1;
            Heap::temp(|heap| {
                let rows = super::values(&records, false, heap).unwrap();
                let items = super::elements(rows, heap).unwrap();
                let written = super::written(&items, None, heap).unwrap();
                let fields = |records: &[csv::StringRecord]| {
                    records.iter().map(|record| record.iter().map(str::to_owned).collect()).collect::<Vec<Vec<_>>>()
                };
                let again = super::read(&written, b',').map(|records| fields(&records));
                assert_eq!(again, Ok(fields(&records)), "{text:?} was written as {written:?}");
            });
        }
        assert!(accepted > 1000, "{accepted}");
    }
}
