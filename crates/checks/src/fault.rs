//! What keeps a check from ever running, whatever the data: told without an engine (`validate`), and to explain what the
//! engine says (`run`).

use model::closest_name;

use crate::argument::OPERATORS;
use crate::check::ParamKind;
use crate::{Argument, Call, Stage, shipped_in};

/// Why a check can never run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFault {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl Call {
    /// What can be told by name, number and words of the arguments. `own` are the macros of the project, in lower case;
    /// `None` if not all are known, and then an unknown name is no fault.
    pub fn fault<'a>(&self, own: Option<impl IntoIterator<Item = &'a str>>) -> Option<CallFault> {
        let Some(check) = self.shipped else {
            let own = own.filter(|_| !self.is_own())?;
            return Some(CallFault {
                message: format!("there is no {} `{}`", self.stage, self.name),
                help: unknown_help(self.stage, &self.name, own),
            });
        };
        let (given, taken) = (self.arguments.len(), check.params.len());
        if given != taken {
            let quoted = check.params.iter().all(|param| param.kind == ParamKind::Expressions) && given > 1;
            let given = if given == 1 { "1 argument".to_owned() } else { format!("{given} arguments") };
            return Some(CallFault {
                message: format!("`{}` has {given}, {} takes {taken}", self.written.value, check.signature()),
                help: if quoted { format!("write the list in quotes: {}", check.example) } else { self.usage() },
            });
        }
        let operator = check.params.iter().zip(&self.arguments).find(|(param, _)| param.kind == ParamKind::Operator);
        let operator = operator.map(|(_, argument)| argument.written())?;
        (!OPERATORS.contains(&operator.as_str())).then(|| CallFault {
            message: format!("unknown operator `{operator}` in `{}`", self.written.value),
            help: format!("use one of {}", OPERATORS.join(", ")),
        })
    }

    /// How the check is written.
    pub fn usage(&self) -> String {
        let own = || format!("correct the directive, or the macro {} in config/macros/", self.macro_name());
        self.shipped.map_or_else(own, |check| {
            format!("it is used as {}, for example `-- @{}: {}`", check.signature(), self.stage, check.example)
        })
    }

    /// For each argument that becomes SQL text, a SELECT that can be parsed if the argument is what it stands for.
    pub fn probes(&self) -> Vec<(&Argument, String)> {
        let params = self.shipped.map_or(&[][..], |check| check.params);
        let probe = |(param, argument): (&crate::Param, &'_ Argument)| {
            let text = argument.written();
            match param.kind {
                ParamKind::Expression => Some(format!("SELECT ({text})")),
                ParamKind::Expressions => Some(format!("SELECT row({text})")),
                ParamKind::Table => Some(format!("SELECT * FROM {text}")),
                ParamKind::Type => Some(format!("SELECT CAST(NULL AS {text})")),
                ParamKind::Operator
                | ParamKind::Value
                | ParamKind::Text
                | ParamKind::Age
                | ParamKind::Name
                | ParamKind::Label => None,
            }
        };
        params
            .iter()
            .zip(&self.arguments)
            .filter_map(|(param, argument)| Some((argument, probe((param, argument))?)))
            .collect()
    }
}

/// What to do about a check that nothing answers; `own` are the macros of the project, in lower case.
pub fn unknown_help<'a>(stage: Stage, name: &str, own: impl IntoIterator<Item = &'a str>) -> String {
    let prefix = stage.macro_name("");
    let own = own.into_iter().filter_map(|macro_name| macro_name.strip_prefix(prefix.as_str()));
    let known: Vec<&str> = shipped_in(stage).iter().map(|check| check.name).chain(own).collect();
    match closest_name(name, known) {
        Some(other) => format!("did you mean `{other}`?"),
        None => format!(
            "`ondatrasql help check` lists what there is; a macro {} in config/macros/ is a check of your own",
            stage.macro_name(&name.to_lowercase())
        ),
    }
}

#[cfg(test)]
mod tests {
    use model::Written;

    use crate::{Call, Stage};

    const OWN: [&str; 2] = ["ondatra_constraint_positive", "ondatra_audit_balanced"];

    fn call(value: &str) -> Call {
        let own = |name: &str| OWN.contains(&name).then_some("memory.main");
        Call::read(Stage::Constraint, &Written { value: value.into(), span: 0..0 }, own).unwrap()
    }

    #[test]
    fn what_can_never_run_is_told_with_what_to_write() {
        for (value, message, help) in [
            (
                "nope(x)",
                "there is no constraint `nope`",
                "`ondatrasql help check` lists what there is; a macro \
              ondatra_constraint_nope in config/macros/ is a check of your own",
            ),
            ("composit_unique('a, b')", "there is no constraint `composit_unique`", "did you mean `composite_unique`?"),
            ("positiv(a)", "there is no constraint `positiv`", "did you mean `positive`?"),
            // One of another stage is no help.
            (
                "balance(a)",
                "there is no constraint `balance`",
                "`ondatrasql help check` lists what there is; a macro \
              ondatra_constraint_balance in config/macros/ is a check of your own",
            ),
            (
                "not_null(x, y)",
                "`not_null(x, y)` has 2 arguments, not_null(col) takes 1",
                "it is used as not_null(col), \
              for example `-- @constraint: not_null(customer_id)`",
            ),
            (
                "not_null",
                "`not_null` has 0 arguments, not_null(col) takes 1",
                "it is used as not_null(col), for example \
              `-- @constraint: not_null(customer_id)`",
            ),
            (
                "composite_unique(a, b)",
                "`composite_unique(a, b)` has 2 arguments, composite_unique(cols) takes 1",
                "write \
              the list in quotes: composite_unique('order_id, line')",
            ),
            ("compare(x, <>, 1)", "unknown operator `<>` in `compare(x, <>, 1)`", "use one of >=, <=, >, <, =, !="),
        ] {
            let fault = call(value).fault(Some(OWN)).unwrap_or_else(|| panic!("{value}"));
            assert_eq!((fault.message.as_str(), fault.help.as_str()), (message, help), "{value}");
        }
        for value in ["positive(a, b, c)", "not_null(x)", "composite_unique('a, b')", "compare(x, !=, 1)"] {
            assert_eq!(call(value).fault(Some(OWN)), None, "{value}");
        }
        assert_eq!(call("nope(x)").fault(None::<[&str; 0]>), None, "there may be such a macro");
    }

    #[test]
    fn only_what_becomes_sql_text_is_probed() {
        let probes = |value: &str| call(value).probes().into_iter().map(|(_, sql)| sql).collect::<Vec<_>>();
        assert_eq!(
            probes("references(a + 1, '(SELECT 1)', b)"),
            ["SELECT (a + 1)", "SELECT * FROM (SELECT 1)", "SELECT (b)"]
        );
        assert_eq!(probes("composite_unique('a, b')"), ["SELECT row(a, b)"]);
        assert_eq!(probes("compare(a, >, 'x +')"), ["SELECT (a)"]);
        assert_eq!(probes("valid_type(a, 'DECIMAL(1, 2)')"), ["SELECT (a)", "SELECT CAST(NULL AS DECIMAL(1, 2))"]);
        assert_eq!(probes("positive('x +')"), Vec::<String>::new());
    }
}
