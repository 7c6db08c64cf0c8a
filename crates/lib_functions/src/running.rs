//! Executes functions of a lib file: its top level once, then as many calls as are asked for.

use std::collections::BTreeMap;
use std::sync::Arc;

use http_client::RateLimiter;
use starlark::environment::{FrozenModule, Globals, Module};
use starlark::eval::{Evaluator, FileLoader};
use starlark::values::structs::AllocStruct;
use starlark::values::{FrozenHeapName, Heap, Value};

use crate::authorization::Authorization;
use crate::bounds::{Excess, weigh};
use crate::builtins::globals;
use crate::explain::{CallError, explain, explain_top_level};
use crate::host::Host;
use crate::host_value::{HostValue, HostValueError};
use crate::parse::parse_executed;
use crate::surroundings::{NoJson, Surroundings};
use crate::{Lib, LibError, LibErrorKind, Transport};

/// Stack of a thread that runs scripts: enough for the deepest recursion that is allowed.
const STACK_BYTES: usize = 512 << 20;

/// Which way data goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Out of the API.
    Fetch,
    /// Into it.
    Push,
}

/// A lib whose top level was executed.
pub struct Running<'a> {
    pub(crate) lib: &'a Lib,
    pub(crate) host: &'a Host,
    module: FrozenModule,
    transport: Transport,
    authorization: Authorization,
    limiter: Option<Arc<RateLimiter>>,
    pub(crate) no_json: NoJson,
}

/// An argument of a call.
pub(crate) enum Argument<'a> {
    Value(&'a HostValue),
    /// The page that is asked for.
    Page {
        /// What the page before gave as `next`.
        cursor: &'a HostValue,
        /// How many rows a page has, as the file says.
        size: u64,
    },
}

/// Executes a lib's top level and hands it to `work`, on a thread of its own: scripts may recurse deeply.
pub fn with_lib<R: Send>(
    lib: &Lib,
    host: &Host,
    direction: Direction,
    work: impl FnOnce(&mut Running<'_>) -> R + Send,
) -> Result<R, LibError> {
    let run = || {
        let mut running = Running::start(lib, host, direction)?;
        Ok(work(&mut running))
    };
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name(lib.name.clone()).stack_size(STACK_BYTES);
        let thread = builder.spawn_scoped(scope, run).map_err(|error| broken(lib, host, &error.to_string()))?;
        thread.join().unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked");
            Err(if is_too_large(text) { too_large(lib) } else { broken(lib, host, text) })
        })
    })
}

/// Whether the language gave up on a text or a list that is larger than it can hold.
fn is_too_large(panic: &str) -> bool {
    ["len overflow", "must not exceed u32::MAX", "capacity overflow"].iter().any(|sign| panic.contains(sign))
}

fn too_large(lib: &Lib) -> LibError {
    LibError {
        kind: LibErrorKind::Failed,
        message: format!("{}: a text or a list is larger than the memory limit allows", lib.name),
        help: "give back fewer rows a page, and keep less".into(),
        place: None,
    }
}

/// Our own fault: it fails the model, not the process.
fn broken(lib: &Lib, host: &Host, cause: &str) -> LibError {
    LibError {
        kind: LibErrorKind::Failed,
        message: host.redact(&format!("{}: internal error: {cause}", lib.name)),
        help: "this is a fault of ondatrasql: report it with the lib file".into(),
        place: None,
    }
}

impl<'a> Running<'a> {
    fn start(lib: &'a Lib, host: &'a Host, direction: Direction) -> Result<Self, LibError> {
        let authorization = Authorization::of(lib, host)?;
        let transport = match direction {
            Direction::Fetch => lib.api.fetch_transport(),
            Direction::Push => lib.api.push_transport(),
        };
        // For pushing it bounds the calls of `push`, not the requests in them.
        let limit = transport.rate_limit.filter(|_| direction == Direction::Fetch);
        let limiter = host.limiter(&lib.name, limit);
        let globals = globals().map_err(|error| broken(lib, host, &error.to_string()))?;
        let no_json = NoJson::default();
        let mut modules: BTreeMap<String, FrozenModule> = BTreeMap::new();
        let mut running = None;
        for module in lib.program.modules() {
            let path = module.source.path.display().to_string();
            let loads = module
                .loads
                .iter()
                .filter_map(|(text, target)| Some((text.clone(), modules.get(&target.display().to_string())?.clone())));
            let loaded = Loaded(loads.collect());
            let surroundings = Surroundings::new(lib, host, &transport, &authorization, limiter.as_ref(), &no_json);
            let frozen = execute(&module.source, &globals, &loaded, &surroundings, host)
                .map_err(|error| explain_top_level(lib, host, &surroundings, &path, &error))?;
            modules.insert(path, frozen.clone());
            running = Some(frozen);
        }
        let module = running.ok_or_else(|| broken(lib, host, "it has no module"))?;
        Ok(Self { lib, host, module, transport, authorization, limiter, no_json })
    }

    /// Calls a function with the arguments that it declares, and hands its value to `take`.
    pub(crate) fn call<T>(
        &self,
        function: &str,
        arguments: &[(&str, Argument<'_>)],
        take: impl for<'v> FnOnce(Value<'v>, Heap<'v>) -> T,
    ) -> Result<T, CallError> {
        let Self { lib, host, module: own, transport, authorization, limiter, no_json } = self;
        let surroundings = Surroundings::new(lib, host, transport, authorization, limiter.as_ref(), no_json);
        let accepted = lib.functions.get(function);
        let passed = arguments.iter().filter(|(name, _)| accepted.is_none_or(|signature| signature.accepts(name)));
        let called = Module::with_temp_heap(|module| {
            let heap = module.heap();
            let owned = own.get(function).map_err(starlark::Error::new_other)?;
            let callee = heap.access_owned_frozen_value(&owned);
            let named: Vec<(&str, Value<'_>)> = passed
                .map(|(name, argument)| Ok((*name, argument.value(heap).map_err(starlark::Error::new_other)?)))
                .collect::<Result<_, starlark::Error>>()?;
            let mut eval = evaluator(&module, &surroundings, host)?;
            let value = eval.eval_function(callee, &[], &named)?;
            drop(eval);
            Ok(take(value, heap))
        });
        called.map_err(|error| explain(lib, host, &surroundings, function, &error))
    }
}

impl Argument<'_> {
    fn value<'v>(&self, heap: Heap<'v>) -> Result<Value<'v>, HostValueError> {
        match self {
            Self::Value(value) => value.to_value(heap),
            Self::Page { cursor, size } => {
                let size = HostValue::Int((*size).into()).to_value(heap)?;
                Ok(heap.alloc(AllocStruct([("cursor", cursor.to_value(heap)?), ("size", size)])))
            }
        }
    }
}

/// Executes a module's top level, and freezes it: no state survives between calls.
fn execute(
    source: &crate::source::Source,
    globals: &Globals,
    loaded: &Loaded,
    surroundings: &Surroundings,
    host: &Host,
) -> Result<FrozenModule, starlark::Error> {
    let module = parse_executed(source)?;
    Module::with_temp_heap(|environment| {
        {
            let mut eval = evaluator(&environment, surroundings, host)?;
            eval.set_loader(loaded);
            // Collecting recurses, like freezing does.
            eval.disable_gc();
            eval.eval_module(module, globals)?;
        }
        for value in environment.names().filter_map(|name| environment.get(&name)) {
            if weigh(value, environment.heap()).is_err_and(|excess| excess == Excess::Deep) {
                return Err(Excess::Deep.into());
            }
        }
        let name = FrozenHeapName::User(Box::new(source.path.display().to_string()));
        environment.freeze_named(name).map_err(starlark::Error::from)
    })
}

fn evaluator<'v, 'a>(
    module: &'a Module<'v>,
    surroundings: &'a Surroundings,
    host: &Host,
) -> Result<Evaluator<'v, 'a, 'a>, starlark::Error> {
    let limits = host.options().limits;
    let mut eval = Evaluator::new(module);
    eval.extra = Some(surroundings);
    eval.set_max_callstack_size(limits.depth).map_err(starlark::Error::new_other)?;
    eval.set_max_heap_size(limits.heap_bytes).map_err(starlark::Error::new_other)?;
    eval.set_max_tick_count(limits.steps).map_err(starlark::Error::new_other)?;
    let stop = surroundings.stop.clone();
    eval.set_check_cancelled(Box::new(move || stop.is_requested()));
    Ok(eval)
}

/// Modules for `load`, by the text that a module loads them with.
struct Loaded(BTreeMap<String, FrozenModule>);

impl FileLoader for Loaded {
    fn load(&self, path: &str) -> starlark::Result<FrozenModule> {
        let found = self.0.get(path).cloned();
        found.ok_or_else(|| {
            starlark::Error::new_other(std::io::Error::other(format!("load of \"{path}\" is not known")))
        })
    }
}
