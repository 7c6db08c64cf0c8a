//! `ondatrasql queue retry`, `drop` and `reset`.

use std::process::ExitCode;

use runtime::{KnownTarget, QueueOptions, Reset};
use serde_json::{Value, json};

use super::{counted, document, options, warn};
use crate::args::{QueueDropArgs, QueueResetArgs, QueueRetryArgs};
use crate::error::CliError;
use crate::ui::Ui;

pub(crate) fn retry(args: &QueueRetryArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let options = options(args.wait.state_wait, ui)?;
    let (one, many, then) = if args.dead {
        ("dead letter", "dead letters", "in the queue again")
    } else {
        ("waiting event", "waiting events", "due now")
    };
    let (target, count, gone) = if args.dead {
        let (target, revived) = runtime::retry_dead(&options, &args.target, args.id)?;
        (target, revived.events, revived.of_gone_tables)
    } else {
        let (target, count) = runtime::retry(&options, &args.target, args.id)?;
        (target, count, 0)
    };
    let told = format!("{} of {target}: {then}", counted(count, one, many));
    let warning = if gone > 0 {
        let of = counted(gone, "dead letter is", "dead letters are");
        let drop = format!("ondatrasql queue drop {target} --dead");
        Some(format!(
            "{of} of a table that was dropped: the rows cannot be read any more; `{drop}` removes dead letters"
        ))
    } else {
        (count == 0).then(|| missing(&target, one, args.id))
    };
    let keys = json!({"target": target, "dead": args.dead, "events": count});
    tell(ui, keys, &told, warning.as_slice())
}

pub(crate) fn remove(args: &QueueDropArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    if args.dead == args.all {
        return Err(CliError::usage(
            "queue drop needs --dead or --all",
            "--dead removes dead letters, --all everything that is queued of a target whose model is gone",
        ));
    }
    let options = options(args.wait.state_wait, ui)?;
    if !args.yes {
        confirm(&question(&runtime::find_target(&options, &args.target)?, args), ui)?;
    }
    let (one, many) = if args.all { ("event", "events") } else { ("dead letter", "dead letters") };
    let (target, count) = if args.all {
        runtime::drop_all(&options, &args.target)?
    } else {
        runtime::drop_dead(&options, &args.target, args.id)?
    };
    // A target without events may have had a position.
    let none = (args.dead && count == 0).then(|| missing(&target, one, args.id));
    let told = format!("{} of {target}: removed", counted(count, one, many));
    let keys = json!({"target": target, "dead": args.dead, "events": count});
    tell(ui, keys, &told, none.as_slice())
}

/// What is about to be lost.
fn question(known: &KnownTarget, args: &QueueDropArgs) -> String {
    let KnownTarget { name, queue, has_model } = known;
    let queued = queue.as_ref().map_or(0, |queue| {
        queue.pending + queue.waiting + queue.in_flight.iter().map(|worker| worker.events).sum::<u64>()
    });
    let dead = counted(queue.as_ref().map_or(0, |queue| queue.dead), "dead letter", "dead letters");
    match args.id {
        Some(id) => format!("Remove dead letter {id} of {name} for good?"),
        None if args.dead => format!("Remove {dead} of {name} for good?"),
        None => {
            let events = counted(queued, "undelivered event", "undelivered events");
            let again = if *has_model { " A model pushes it: its next run sends the whole table again." } else { "" };
            format!("Remove {events} and {dead} of {name} for good?{again}")
        }
    }
}

fn confirm(question: &str, ui: &Ui) -> Result<(), CliError> {
    match ui.ask(question) {
        Some(true) => Ok(()),
        Some(false) => Err(CliError::Summary("nothing was removed".into())),
        None => Err(CliError::usage(
            "queue drop needs --yes without a terminal",
            "add --yes if what is removed may never be delivered",
        )),
    }
}

pub(crate) fn reset(args: &QueueResetArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    if args.from_now == args.resend {
        return Err(CliError::usage(
            "queue reset needs --from-now or --resend",
            "--from-now skips what is pending and sends later changes only, --resend sends the whole table again",
        ));
    }
    let options: QueueOptions = options(args.wait.state_wait, ui)?;
    let to = if args.resend { Reset::Resend } else { Reset::FromNow };
    let (target, dropped) = runtime::reset(&options, &args.target, to)?;
    let events = counted(dropped, "undelivered event", "undelivered events");
    let (word, then) = match to {
        Reset::FromNow => ("now", "only later changes are sent"),
        Reset::Resend => ("beginning", "the next run sends the whole table again, as inserts"),
    };
    let keys = json!({"target": target, "position": word, "dropped": dropped});
    tell(ui, keys, &format!("{events} of {target}: dropped; {then}"), &[])
}

fn missing(target: &str, what: &str, id: Option<i64>) -> String {
    id.map_or_else(|| format!("{target} has no {what}"), |id| format!("{target} has no {what} with the number {id}"))
}

fn tell(ui: &Ui, keys: Value, text: &str, warnings: &[String]) -> Result<ExitCode, CliError> {
    if ui.json {
        ui.result(&document(keys, warnings))?;
    } else if warnings.is_empty() || keys["events"] != 0 {
        ui.line(text);
    }
    warn(ui, warnings);
    Ok(ExitCode::SUCCESS)
}
