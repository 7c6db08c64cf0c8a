//! The one list of shipped functions: helpers for models, and what masking tags call (chapter 01 §4.6). Sessions make them,
//! and the comments of a new project are made from the list; `docs/masking.md` is held to it by a test.

use std::collections::BTreeSet;

/// A shipped function. What its macro does is SQL.
#[derive(Debug)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub params: &'static str,
    /// What it gives.
    pub gives: &'static str,
    /// Whether it is there for masking tags.
    pub masks: bool,
    /// What it calls is named where it is: on the path of a caller, macros of the lake may stand before.
    body: &'static str,
}

/// All of them.
pub const FUNCTIONS: [Function; 6] = [
    Function {
        name: "safe_divide",
        params: "a, b",
        gives: "a / b as DOUBLE; NULL where b is 0 or either is NULL",
        masks: false,
        body: "a::DOUBLE / system.main.nullif(b::DOUBLE, 0)",
    },
    Function {
        name: "cents_to_dollars",
        params: "c",
        gives: "c / 100 as DOUBLE: 1999 gives 19.99",
        masks: false,
        body: "c::DOUBLE / 100",
    },
    Function {
        name: "mask_email",
        params: "v",
        gives: "alice@example.com gives a***@example.com; what has nothing before the last @ gives ***",
        masks: true,
        // What has no character before the last @ is no address, and hidden as a whole.
        body: r"CASE
        WHEN v IS NULL THEN NULL
        WHEN system.main.regexp_full_match(v::VARCHAR, '(?s).+@[^@]*')
            THEN system.main.regexp_replace(v::VARCHAR, '(?s)^(.).*@([^@]*)$', '\1***@\2')
        ELSE '***' END",
    },
    Function {
        name: "mask_ssn",
        params: "v",
        gives: "123-45-6789 gives ***-**-6789; four characters or fewer give ***-**-****",
        masks: true,
        // Four characters would be shown in full.
        body: "CASE
        WHEN v IS NULL THEN NULL
        WHEN system.main.length(v::VARCHAR) > 4 THEN '***-**-' || system.main.right(v::VARCHAR, 4)
        ELSE '***-**-****' END",
    },
    Function {
        name: "hash_pii",
        params: "v",
        gives: "the SHA-256 of the text, unsalted, as 64 hex digits: equal values stay equal",
        masks: true,
        body: "system.main.sha256(v::VARCHAR)",
    },
    Function { name: "redact", params: "v", gives: "[REDACTED], for NULL too", masks: true, body: "'[REDACTED]'" },
];

impl Function {
    /// `name(parameter, …)`.
    pub fn signature(&self) -> String {
        format!("{}({})", self.name, self.params)
    }

    fn create(&self) -> String {
        format!("CREATE MACRO memory.main.{} AS {};\n", self.signature(), self.body)
    }
}

/// The statements that make them, without those whose names the project's macros, in lower case, take.
pub fn create_functions(own: &BTreeSet<String>) -> String {
    FUNCTIONS.iter().filter(|function| !own.contains(function.name)).map(Function::create).collect()
}

/// Those that mask or those that do not, one a line: how to call each, and what it gives. The lines begin with `margin`.
pub fn function_summary(masks: bool, margin: &str) -> String {
    let listed: Vec<&Function> = FUNCTIONS.iter().filter(|function| function.masks == masks).collect();
    let width = listed.iter().map(|function| function.signature().len()).max().unwrap_or_default();
    let line = |function: &&Function| format!("{margin}{:width$}  {}\n", function.signature(), function.gives);
    listed.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{FUNCTIONS, create_functions, function_summary};

    #[test]
    fn the_page_and_the_comments_of_a_new_project_name_all_of_them() {
        let page = include_str!("../../../docs/masking.md");
        for function in FUNCTIONS {
            assert!(
                page.contains(&format!("| `{}` | {} |", function.signature(), function.gives)),
                "{}",
                function.name
            );
            assert!(function_summary(function.masks, "-- ").contains(&format!("-- {}", function.signature())));
        }
    }

    #[test]
    fn a_name_that_the_project_takes_is_left_to_it() {
        let own = BTreeSet::from(["redact".to_owned()]);
        let made = create_functions(&own);
        assert!(made.contains(".hash_pii(v)") && !made.contains(".redact("), "{made}");
    }
}
