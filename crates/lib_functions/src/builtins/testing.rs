//! Tests of builtins run scripts, as users do.

use starlark::environment::{GlobalsBuilder, LibraryExtension, Module};
use starlark::eval::Evaluator;
use starlark::syntax::{AstModule, Dialect};
use starlark::values::{Heap, Value};

/// What is made of the value of a script's last expression, or the error's message.
fn run<T>(script: &str, take: impl for<'v> FnOnce(Value<'v>, Heap<'v>) -> T) -> Result<T, String> {
    let globals = GlobalsBuilder::extended_by(&[LibraryExtension::SetType]).with(super::register_pure).build();
    let dialect = Dialect { enable_f_strings: true, ..Dialect::Extended };
    let ast = AstModule::parse("test.star", script.to_owned(), &dialect).map_err(|error| error.to_string())?;
    Module::with_temp_heap(|module| {
        let mut evaluator = Evaluator::new(&module);
        match evaluator.eval_module(ast, &globals) {
            Ok(value) => Ok(take(value, module.heap())),
            Err(error) => Err(error.without_diagnostic().to_string()),
        }
    })
}

/// The value of a script's last expression, as `repr` prints it, or the error's message.
pub(crate) fn eval(script: &str) -> Result<String, String> {
    run(script, |value, _| value.to_repr())
}

/// What is made of the value of a script's last expression.
pub(crate) fn with_value<T>(script: &str, take: impl for<'v> FnOnce(Value<'v>, Heap<'v>) -> T) -> T {
    run(script, take).unwrap()
}

/// Fails unless each script gives the value of its expression on the right.
#[track_caller]
pub(crate) fn all_equal(cases: &[(&str, &str)]) {
    for (script, expected) in cases {
        let expected = eval(expected);
        assert!(expected.is_ok(), "{expected:?}");
        assert_eq!(eval(script), expected, "{script}");
    }
}

/// Fails unless each script ends in an error that holds the given text.
#[track_caller]
pub(crate) fn all_fail(cases: &[(&str, &str)]) {
    for (script, expected) in cases {
        let error = eval(script).expect_err(script);
        assert!(error.contains(expected), "{script}\n  gave: {error}\n  not: {expected}");
    }
}

/// A string literal of the language that stands for the text.
pub(crate) fn literal(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            ' '..='!' | '#'..='[' | ']'..='~' => quoted.push(character),
            _ => quoted.push_str(&format!("\\U{:08x}", u32::from(character))),
        }
    }
    quoted + "\""
}

/// Texts of up to `longest` pieces, always the same ones.
pub(crate) fn texts(pieces: &[&str], longest: u64, count: usize) -> impl Iterator<Item = String> {
    let mut state = 1_u64;
    let mut below = move |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    (0..count).map(move |_| {
        let length = 1 + below(longest);
        let picked = (0..length).map(|_| pieces[usize::try_from(below(pieces.len() as u64)).unwrap()]);
        picked.collect()
    })
}
