//! An engine whose session is in a zone of its own, and values sent through it.

use std::sync::Arc;

use engine::{Connection, Database, Value};
use fetch::{BadValue, Carriers, Column, Converter, select_list};
use lib_functions::testing::with_rows;
use query::DeclaredType;
use types::literal;

pub struct Lab {
    pub connection: Connection,
}

/// A column `v` of rows, as the alias `out`.
pub fn column(sql_type: &str) -> Column {
    Column {
        source: "v".into(),
        alias: "out".into(),
        declared: DeclaredType::parse(sql_type),
        sql_type: sql_type.into(),
        is_try: false,
        is_masked: false,
    }
}

/// The carrier of the value of an expression; `None` for NULL.
pub fn carrier(column: &Column, expression: &str) -> Result<Option<String>, BadValue> {
    with_rows(&format!("[{{'v': {expression}}}]"), |rows| {
        let mut out = Carriers::new();
        Converter::new(vec![column.clone()]).row(rows[0], &mut out)?;
        Ok(out.iter().next().unwrap().map(str::to_owned))
    })
}

/// The SQL of the list that a row's JSON text stands for.
pub fn list_of(text: &str) -> String {
    format!("from_json({text}, '[\"VARCHAR\"]')")
}

/// A relation of texts, in a column `text`.
pub fn relation(texts: &[String]) -> String {
    let json = serde_json::to_string(texts).unwrap();
    format!("(SELECT unnest({}) AS text)", list_of(&literal(&json)))
}

impl Lab {
    pub fn open() -> Self {
        let connection = Arc::new(Database::open(&[]).unwrap()).connect().unwrap();
        connection.execute("SET TimeZone = 'America/New_York'").unwrap();
        Self { connection }
    }

    /// The text of SQL's value, in UTC.
    pub fn text(&self, sql: &str) -> Result<Option<String>, String> {
        let made = format!("CREATE OR REPLACE TEMP TABLE made AS SELECT {sql} AS out");
        let text = self.connection.execute(&made).and_then(|()| {
            self.connection.execute("SET TimeZone = 'UTC'")?;
            let text = self.connection.query_value("SELECT CAST(out AS VARCHAR) FROM made");
            self.connection.execute("SET TimeZone = 'America/New_York'")?;
            text
        });
        text.map(Value::into_text).map_err(|error| error.to_string())
    }

    /// The text of the value that a carrier is cast to.
    pub fn cast(&self, column: &Column, carrier: Option<&str>) -> Result<Option<String>, String> {
        let json = carrier.map_or("[null]".into(), |text| format!("[{}]", serde_json::to_string(text).unwrap()));
        let texts = format!("CAST(CAST({} AS JSON) AS VARCHAR[])[1]", literal(&json));
        let list = select_list(std::slice::from_ref(column), |_| texts.clone());
        self.text(list.strip_suffix(" AS \"out\"").unwrap())
    }

    /// The text of the value that an expression of a script becomes in a column; else why not.
    pub fn value(&self, column: &Column, expression: &str) -> Result<Option<String>, String> {
        let carrier = carrier(column, expression).map_err(|bad| bad.to_string())?;
        self.cast(column, carrier.as_deref())
    }

    /// Fails unless each expression becomes the text on the right, as a column of the type, or is refused with a
    /// message that holds the text; and unless `TRY_CAST` makes NULL of what is refused, and the same of all else.
    #[track_caller]
    pub fn all(&self, sql_type: &str, cases: &[(&str, Result<Option<&str>, &str>)]) {
        let column = column(sql_type);
        let lenient = Column { is_try: true, ..column.clone() };
        for (expression, expected) in cases {
            let found = self.value(&column, expression);
            match expected {
                Ok(text) => assert_eq!(found, Ok(text.map(str::to_owned)), "{expression} as {sql_type}"),
                Err(part) => {
                    let error = found.expect_err(&format!("{expression} as {sql_type}"));
                    assert!(error.contains(part), "{expression} as {sql_type}\n  gave: {error}\n  not: {part}");
                }
            }
            let text = expected.unwrap_or(None).map(str::to_owned);
            assert_eq!(self.value(&lenient, expression), Ok(text), "{expression} tried as {sql_type}");
        }
    }
}

/// A string literal of the script's language.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            ' '..='!' | '#'..='[' | ']'..='~' => out.push(character),
            _ => out.push_str(&format!("\\U{:08x}", u32::from(character))),
        }
    }
    out + "\""
}

/// Random numbers, always the same ones.
pub struct Dice(u64);

impl Dice {
    pub fn new() -> Self {
        Self(1)
    }

    pub fn bits(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.bits() % limit as u64).unwrap()
    }

    /// A text of up to `longest` pieces.
    pub fn text(&mut self, pieces: &[&str], longest: usize) -> String {
        let length = self.below(longest + 1);
        (0..length).map(|_| pieces[self.below(pieces.len())]).collect()
    }
}
