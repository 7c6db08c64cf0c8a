//! Functions that belong to no module: `abort`, `fail`, `sleep`, `print`, `lookup`, and the module `env`.

use std::time::Duration;

use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::values::dict::AllocDict;
use starlark::values::none::NoneType;
use starlark::values::tuple::UnpackTuple;
use starlark::values::{Heap, Value};
use types::Diagnose;

use super::http_arguments::{self, SECONDS_MAX};
use super::{arguments, failure, failure_with_help};
use crate::bounds::weigh;
use crate::explain::{Abort, Stopped};
use crate::host_value::{HostValue, elements};
use crate::surroundings::Surroundings;

/// Adds the functions.
pub(super) fn register(builder: &mut GlobalsBuilder) {
    functions(builder);
    builder.namespace("env", environment);
}

#[starlark::starlark_module]
fn functions(builder: &mut GlobalsBuilder) {
    /// Ends the fetch without an error and without rows.
    fn abort<'v>(#[starlark(args)] args: UnpackTuple<Value<'v>>) -> starlark::Result<NoneType> {
        arguments::none("abort", &args)?;
        Err(starlark::Error::new_other(Abort))
    }

    /// Fails the model with a message.
    fn fail<'v>(
        #[starlark(args)] args: UnpackTuple<Value<'v>>,
        #[starlark(require = named, default = " ")] sep: &str,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<NoneType> {
        let message = joined(&args, sep, eval.heap())?;
        Err(starlark::Error::new_kind(starlark::ErrorKind::Fail(Message(message).into())))
    }

    /// Waits.
    fn sleep<'v>(s: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<NoneType> {
        let seconds = http_arguments::seconds("sleep", "s", s)?.min(SECONDS_MAX);
        let duration = Duration::try_from_secs_f64(seconds);
        let duration = duration.map_err(|_| failure("sleep", "`s` must be 0 or more seconds"))?;
        let stop = &Surroundings::of(eval)?.stop;
        stop.sleep(duration).map_err(|_| Stopped)?;
        Ok(NoneType)
    }

    /// Writes a line to standard error.
    fn print<'v>(
        #[starlark(args)] args: UnpackTuple<Value<'v>>,
        #[starlark(require = named, default = " ")] sep: &str,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<NoneType> {
        Surroundings::of(eval)?.host.print(&joined(&args, sep, eval.heap())?);
        Ok(NoneType)
    }

    /// Values of the lake's rows.
    fn lookup<'v>(
        table: Value<'v>,
        key: Value<'v>,
        value: Value<'v>,
        r#where: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let heap = eval.heap();
        let items = elements(r#where, heap).ok_or_else(|| arguments::wrong_type("lookup", "where", "list", r#where))?;
        let keys: Vec<HostValue> = items
            .iter()
            .map(|item| match HostValue::from_value(*item, heap) {
                Ok(key @ (HostValue::Text(_) | HostValue::Int(_))) => Ok(key),
                _ => Err(arguments::wrong_type("lookup", "where", "list of str or int", *item)),
            })
            .collect::<Result<_, _>>()?;
        let text = |name, value| arguments::text("lookup", name, value);
        let (table, key, value) = (text("table", table)?, text("key", key)?, text("value", value)?);
        let lookup = Surroundings::of(eval)?.host.options().lookup.clone();
        let lookup = lookup.ok_or_else(|| failure("lookup", "there is no lake here"))?;
        let found = lookup.lookup(table, key, value, &keys).map_err(|message| failure("lookup", message))?;
        let pairs = found.into_iter().map(|(at, value)| {
            let item = items.get(at).ok_or_else(|| failure("lookup", "the lake gave a key that was not asked for"))?;
            Ok((*item, on_heap(&value, heap)?))
        });
        Ok(heap.alloc(AllocDict(pairs.collect::<starlark::Result<Vec<_>>>()?)))
    }
}

#[starlark::starlark_module]
fn environment(builder: &mut GlobalsBuilder) {
    /// A variable of the environment or of `.env`.
    fn get<'v>(
        name: Value<'v>,
        default: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<String> {
        let name = arguments::text("env.get", "name", name)?;
        let default = default.map(|default| arguments::text("env.get", "default", default)).transpose()?;
        let found = Surroundings::of(eval)?.host.variable(name);
        let found = found.map_err(|error| failure_with_help("env.get", &error, error.help()))?;
        Ok(found.unwrap_or_else(|| default.unwrap_or_default().to_owned()))
    }

    /// Sets a variable for this command.
    fn set<'v>(name: Value<'v>, value: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<NoneType> {
        let name = arguments::text("env.set", "name", name)?;
        let value = arguments::text("env.set", "value", value)?;
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(failure("env.set", "`name` is no name of a variable"));
        }
        let surroundings = Surroundings::of(eval)?;
        surroundings.host.set_variable(name, value);
        surroundings.authorization.keep_secret(&surroundings.host);
        Ok(NoneType)
    }
}

/// What `fail` says.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Message(String);

fn joined<'v>(args: &UnpackTuple<Value<'v>>, sep: &str, heap: Heap<'v>) -> starlark::Result<String> {
    let shown = |value: &Value<'v>| weigh(*value, heap).map(|_| value.to_str());
    let texts: Vec<String> = args.items.iter().map(shown).collect::<Result<_, _>>()?;
    Ok(texts.join(sep))
}

fn on_heap<'v>(value: &HostValue, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
    value.to_value(heap).map_err(|error| failure("lookup", error))
}
