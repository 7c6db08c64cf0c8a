//! The type of a column as lib functions are told it, read from the name that the engine gives it
//! (chapter 03 §3.4): such names do not change with the layout of trees.

use std::fmt;

use types::quote;

/// A declared type. What a lib function cannot know better is told as `VARCHAR`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeclaredType {
    /// A simple type by its one name: `INTEGER`, `TIMESTAMPTZ`.
    Scalar(String),
    /// `DECIMAL(width,scale)`.
    Decimal {
        /// Digits.
        width: u8,
        /// Those of them behind the point.
        scale: u8,
    },
    /// `T[]`.
    List(Box<DeclaredType>),
    /// `T[n]`.
    Array(Box<DeclaredType>, u32),
    /// Fields in the order of their declaration.
    Struct(Vec<(String, DeclaredType)>),
    /// `MAP(K, V)`, in the engine's words.
    Map(String),
    /// `UNION(…)`, in the engine's words.
    Union(String),
}

/// Simple types that keep their name.
const KEPT: [&str; 25] = [
    "BIGINT",
    "BIT",
    "BLOB",
    "BOOLEAN",
    "DATE",
    "DOUBLE",
    "FLOAT",
    "HUGEINT",
    "INTEGER",
    "INTERVAL",
    "JSON",
    "SMALLINT",
    "TIME",
    "TIME_NS",
    "TIMESTAMP",
    "TIMESTAMP_MS",
    "TIMESTAMP_NS",
    "TIMESTAMP_S",
    "TINYINT",
    "UBIGINT",
    "UHUGEINT",
    "UINTEGER",
    "USMALLINT",
    "UTINYINT",
    "UUID",
];

impl DeclaredType {
    /// Whether values of it have no parts, so that a text carries one exactly.
    pub fn is_simple(&self) -> bool {
        matches!(self, Self::Scalar(_) | Self::Decimal { .. })
    }

    /// Reads a type's name as the engine writes it (`typeof`, `DESCRIBE`); what cannot be read is `VARCHAR`.
    pub fn parse(name: &str) -> Self {
        let mut reader = Reader { text: name.trim(), at: 0 };
        reader.type_name().filter(|_| reader.rest().is_empty()).unwrap_or_else(varchar)
    }

    /// The types of a map's keys and values.
    pub fn map_types(&self) -> Option<(Self, Self)> {
        let Self::Map(name) = self else { return None };
        let mut reader = Reader { text: name, at: 0 };
        reader.word();
        reader.eat('(').then_some(())?;
        let key = reader.type_name()?;
        reader.eat(',').then_some(())?;
        Some((key, reader.type_name()?))
    }
}

impl fmt::Display for DeclaredType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(name) | Self::Map(name) | Self::Union(name) => f.write_str(name),
            Self::Decimal { width, scale } => write!(f, "DECIMAL({width},{scale})"),
            Self::List(item) => write!(f, "{item}[]"),
            Self::Array(item, length) => write!(f, "{item}[{length}]"),
            Self::Struct(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, field)| format!("{} {field}", quote(name))).collect();
                write!(f, "STRUCT({})", fields.join(", "))
            }
        }
    }
}

fn varchar() -> DeclaredType {
    DeclaredType::Scalar("VARCHAR".into())
}

fn scalar(words: &str) -> DeclaredType {
    let name = words.to_uppercase();
    match name.as_str() {
        "TIMESTAMP WITH TIME ZONE" | "TIMESTAMPTZ" => DeclaredType::Scalar("TIMESTAMPTZ".into()),
        "TIME WITH TIME ZONE" | "TIMETZ" => DeclaredType::Scalar("TIMETZ".into()),
        kept if KEPT.contains(&kept) => DeclaredType::Scalar(name),
        _ => varchar(),
    }
}

/// Reads from the left; every method leaves `at` behind what it took.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Takes `sign` and the blanks around it.
    fn eat(&mut self, sign: char) -> bool {
        let rest = self.rest().trim_start();
        let Some(behind) = rest.strip_prefix(sign) else { return false };
        self.at = self.text.len() - behind.trim_start().len();
        true
    }

    /// A type with its `[]`.
    fn type_name(&mut self) -> Option<DeclaredType> {
        let mut found = self.simple()?;
        while self.eat('[') {
            let digits = self.take(|c| c.is_ascii_digit());
            found = match digits {
                "" => DeclaredType::List(Box::new(found)),
                digits => DeclaredType::Array(Box::new(found), digits.parse().ok()?),
            };
            self.eat(']').then_some(())?;
        }
        Some(found)
    }

    fn simple(&mut self) -> Option<DeclaredType> {
        let start = self.at;
        let words = self.word();
        if !self.eat('(') {
            return Some(scalar(words));
        }
        let found = match words.to_uppercase().as_str() {
            "STRUCT" => DeclaredType::Struct(self.fields()?),
            "DECIMAL" => self.decimal()?,
            other => {
                self.skip()?;
                let text = || self.text[start..=self.at].to_owned();
                match other {
                    "MAP" => DeclaredType::Map(text()),
                    "UNION" => DeclaredType::Union(text()),
                    _ => varchar(),
                }
            }
        };
        self.eat(')').then_some(found)
    }

    fn decimal(&mut self) -> Option<DeclaredType> {
        let width = self.take(|c| c.is_ascii_digit()).parse().ok()?;
        let scale = if self.eat(',') { self.take(|c| c.is_ascii_digit()).parse().ok()? } else { 0 };
        Some(DeclaredType::Decimal { width, scale })
    }

    fn fields(&mut self) -> Option<Vec<(String, DeclaredType)>> {
        let mut fields = Vec::new();
        loop {
            let name = if self.rest().starts_with('"') {
                self.quoted('"')?
            } else {
                self.take(|c| !" (),[".contains(c)).into()
            };
            // A field without a name has no type behind it.
            self.rest().starts_with(' ').then_some(())?;
            self.at += 1;
            fields.push((name, self.type_name()?));
            if !self.eat(',') {
                return Some(fields);
            }
        }
    }

    /// Up to the parenthesis that closes the one before.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.rest().chars().next()? {
                quote @ ('"' | '\'') => {
                    self.quoted(quote)?;
                    continue;
                }
                ')' if depth == 0 => return Some(()),
                ')' => depth -= 1,
                '(' => depth += 1,
                _ => {}
            }
            self.at += self.rest().chars().next().map_or(0, char::len_utf8);
        }
    }

    /// The words of a type's name; a quoted one is none that is known.
    fn word(&mut self) -> &'a str {
        if self.rest().starts_with('"') && self.quoted('"').is_some() {
            return "";
        }
        self.take(|c| !"(),[]".contains(c)).trim()
    }

    fn take(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|c| !belongs(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    /// A name or text in quotes, its doubled quotes made single.
    fn quoted(&mut self, mark: char) -> Option<String> {
        let mut found = String::new();
        let mut chars = self.rest().char_indices().skip(1).peekable();
        while let Some((at, c)) = chars.next() {
            if c != mark {
                found.push(c);
            } else if chars.next_if(|&(_, next)| next == mark).is_some() {
                found.push(mark);
            } else {
                self.at += at + 1;
                return Some(found);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::DeclaredType;

    fn scalar(name: &str) -> DeclaredType {
        DeclaredType::Scalar(name.into())
    }

    fn decimal(width: u8, scale: u8) -> DeclaredType {
        DeclaredType::Decimal { width, scale }
    }

    fn list(item: DeclaredType) -> DeclaredType {
        DeclaredType::List(Box::new(item))
    }

    fn array(item: DeclaredType, length: u32) -> DeclaredType {
        DeclaredType::Array(Box::new(item), length)
    }

    fn fields(fields: &[(&str, DeclaredType)]) -> DeclaredType {
        DeclaredType::Struct(fields.iter().map(|(name, field)| ((*name).to_owned(), field.clone())).collect())
    }

    #[test]
    fn names_of_the_engine_are_read() {
        let integer = || scalar("INTEGER");
        let varchar = || scalar("VARCHAR");
        for (name, expected) in [
            ("INTEGER", integer()),
            (" varchar ", varchar()),
            ("TIMESTAMP WITH TIME ZONE", scalar("TIMESTAMPTZ")),
            ("TIME WITH TIME ZONE[]", list(scalar("TIMETZ"))),
            ("TIMESTAMP_NS", scalar("TIMESTAMP_NS")),
            ("JSON[]", list(scalar("JSON"))),
            ("DECIMAL(18,3)", decimal(18, 3)),
            ("DECIMAL(38, 0)", decimal(38, 0)),
            ("INTEGER[]", list(integer())),
            ("INTEGER[3]", array(integer(), 3)),
            ("INTEGER[3][][2]", array(list(array(integer(), 3)), 2)),
            ("ENUM('a', 'b')", varchar()),
            ("ENUM('it''s', '),(', '\"')[]", list(varchar())),
            ("STRUCT(a INTEGER, \"b c\" VARCHAR)", fields(&[("a", integer()), ("b c", varchar())])),
            ("STRUCT(\"a,)(\"\"\" INTEGER[], \"é\" ENUM(','), z DECIMAL(4,1))", {
                fields(&[("a,)(\"", list(integer())), ("é", varchar()), ("z", decimal(4, 1))])
            }),
            ("STRUCT(\"STRUCT(\" STRUCT(\"'\" JSON)[2], t TIMESTAMP WITH TIME ZONE)[]", {
                let inner = array(fields(&[("'", scalar("JSON"))]), 2);
                list(fields(&[("STRUCT(", inner), ("t", scalar("TIMESTAMPTZ"))]))
            }),
            ("MAP(VARCHAR, INTEGER)", DeclaredType::Map("MAP(VARCHAR, INTEGER)".into())),
            ("STRUCT(m MAP(VARCHAR, STRUCT(\")\" INTEGER[])), n DATE)", {
                let map = DeclaredType::Map("MAP(VARCHAR, STRUCT(\")\" INTEGER[]))".into());
                fields(&[("m", map), ("n", scalar("DATE"))])
            }),
            ("UNION(num INTEGER, str VARCHAR)[]", {
                list(DeclaredType::Union("UNION(num INTEGER, str VARCHAR)".into()))
            }),
            // What is not known, or no type at all.
            ("BIGNUM", varchar()),
            ("VARIANT[]", list(varchar())),
            ("GEOMETRY('EPSG:4326')", varchar()),
            ("\"NULL\"", varchar()),
            ("\"INTEGER\"", varchar()),
            ("\"my (type\"[]", list(varchar())),
            ("STRUCT(INTEGER, VARCHAR)", varchar()),
            ("STRUCT(a INTEGER", varchar()),
            ("STRUCT(\"a INTEGER)", varchar()),
            ("DECIMAL(1000,3)", varchar()),
            ("INTEGER[", varchar()),
            ("INTEGER]", varchar()),
            ("MAP(VARCHAR", varchar()),
            ("ENUM('", varchar()),
            ("é(", varchar()),
            ("", varchar()),
        ] {
            assert_eq!(DeclaredType::parse(name), expected, "{name}");
        }
    }

    #[test]
    fn a_map_knows_its_keys_and_values() {
        let map = DeclaredType::parse("MAP(DECIMAL(4,1), STRUCT(\"a,\" INTEGER)[])");
        assert_eq!(map.map_types(), Some((decimal(4, 1), list(fields(&[("a,", scalar("INTEGER"))])))));
        assert_eq!(DeclaredType::parse("INTEGER[]").map_types(), None);
    }

    #[test]
    fn a_type_is_shown_in_sql() {
        for (name, expected) in [
            (
                "STRUCT(a INTEGER[], \"b \"\"c\" DECIMAL(4,1)[2])",
                "STRUCT(\"a\" INTEGER[], \"b \"\"c\" DECIMAL(4,1)[2])",
            ),
            ("MAP(VARCHAR, DATE)", "MAP(VARCHAR, DATE)"),
            ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ"),
        ] {
            assert_eq!(DeclaredType::parse(name).to_string(), expected);
        }
    }
}
