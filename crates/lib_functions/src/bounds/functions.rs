//! Functions of the language that show, compare, hash or gather what they are given: each looks first.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use starlark::collections::SmallMap;
use starlark::environment::{GlobalsBuilder, LibraryExtension};
use starlark::eval::Evaluator;
use starlark::values::tuple::UnpackTuple;
use starlark::values::{OwnedFrozenValue, Value};

use super::MAX_DIGITS;
use super::methods::number;
use super::operators::{bounded, fits, iterated};
use super::weight::Excess;
use crate::builtins::{failure, frozen};

static ORIGINALS: LazyLock<BTreeMap<&'static str, OwnedFrozenValue>> = LazyLock::new(|| {
    let text = NAMES.iter().map(|name| format!("of_{name} = {name}\n")).collect();
    let globals = GlobalsBuilder::extended_by(&[LibraryExtension::SetType]).build();
    let module = frozen(text, &globals).expect("the language has its own functions");
    NAMES.iter().filter_map(|name| Some((*name, module.get(&format!("of_{name}")).ok()?))).collect()
});

/// Replaces the functions.
pub(super) fn register(builder: &mut GlobalsBuilder) {
    functions(builder);
    shown(builder);
}

// Scripts call these often, so they are made anew.
#[starlark::starlark_module]
fn shown(builder: &mut GlobalsBuilder) {
    fn str<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        if a.unpack_str().is_some() {
            return Ok(a);
        }
        fits(1, a, eval)?;
        Ok(eval.heap().alloc(a.to_str()))
    }

    fn repr<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        fits(1, a, eval)?;
        Ok(eval.heap().alloc(a.to_repr()))
    }
}

macro_rules! functions {
    ($($name:ident),*) => {
        /// The language's own functions that are replaced here.
        const NAMES: &[&str] = &[$(stringify!($name)),*];

        #[starlark::starlark_module]
        fn functions(builder: &mut GlobalsBuilder) {
            $(fn $name<'v>(
                #[starlark(args)] args: UnpackTuple<Value<'v>>,
                #[starlark(kwargs)] kwargs: SmallMap<String, Value<'v>>,
                eval: &mut Evaluator<'v, '_, '_>,
            ) -> starlark::Result<Value<'v>> {
                call(stringify!($name), &args.items, &kwargs, eval)
            })*
        }
    };
}

functions!(any, all, dict, enumerate, getattr, int, list, max, min, reversed, set, sorted, tuple, zip);

/// Calls the language's own function, if what it is given is within bounds.
fn call<'v>(
    name: &'static str,
    args: &[Value<'v>],
    kwargs: &SmallMap<String, Value<'v>>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> starlark::Result<Value<'v>> {
    for value in args.iter().chain(kwargs.values()) {
        check(name, *value, eval)?;
    }
    let original = ORIGINALS.get(name).ok_or_else(|| failure(name, "is not known"))?;
    let original = eval.heap().access_owned_frozen_value(original);
    let named: Vec<(&str, Value<'v>)> = kwargs.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    eval.eval_function(original, args, &named)
}

fn check<'v>(name: &str, value: Value<'v>, eval: &Evaluator<'v, '_, '_>) -> starlark::Result<()> {
    match name {
        "int" if value.unpack_str().is_some_and(|text| text.len() > MAX_DIGITS) => Err(Excess::Digits.into()),
        "getattr" if value.unpack_str().is_some_and(|text| number(text).is_some()) => {
            Err(failure(name, format_args!("call {} directly, as a method", value.to_str())))
        }
        "dict" | "set" | "sorted" | "max" | "min" => {
            iterated(value, eval)?;
            bounded(value, eval.heap())
        }
        _ => iterated(value, eval),
    }
}
