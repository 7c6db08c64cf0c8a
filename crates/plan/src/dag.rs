//! The order in which models run (chapter 02 §1.2).

use std::collections::BTreeMap;

use types::{Code, Diagnose, Target};

/// Models that depend on each other in a circle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("circular dependency detected: {}", path(.0))]
pub struct Cycle(pub Vec<Target>);

fn path(targets: &[Target]) -> String {
    let first = targets.first().into_iter();
    targets.iter().chain(first).map(ToString::to_string).collect::<Vec<_>>().join(" -> ")
}

impl Diagnose for Cycle {
    fn code(&self) -> Code {
        Code::Cycle
    }

    fn help(&self) -> String {
        "break the circle: let one of these models read something else".into()
    }
}

/// Depth-first over the targets sorted by name, dependencies first: the same project gives the same order.
/// `depends` holds, for each target in lower case, its targets in lower case; other names are ignored.
pub fn order(targets: &[Target], depends: &BTreeMap<String, Vec<String>>) -> Result<Vec<Target>, Cycle> {
    let by_key: BTreeMap<String, &Target> = targets.iter().map(|target| (target.key(), target)).collect();
    let mut walk = Walk { by_key: &by_key, depends, path: Vec::new(), done: Vec::new(), visited: BTreeMap::new() };
    for key in by_key.keys() {
        walk.visit(key)?;
    }
    Ok(walk.done)
}

struct Walk<'a> {
    by_key: &'a BTreeMap<String, &'a Target>,
    depends: &'a BTreeMap<String, Vec<String>>,
    path: Vec<Target>,
    done: Vec<Target>,
    /// Whether the target is finished; unfinished ones are on the path.
    visited: BTreeMap<String, bool>,
}

impl Walk<'_> {
    fn visit(&mut self, key: &str) -> Result<(), Cycle> {
        let Some(&target) = self.by_key.get(key) else { return Ok(()) };
        match self.visited.get(key) {
            Some(true) => return Ok(()),
            Some(false) => {
                let start = self.path.iter().position(|on_path| on_path.key() == key).unwrap_or(0);
                return Err(Cycle(self.path.split_off(start)));
            }
            None => {}
        }
        self.visited.insert(key.to_owned(), false);
        self.path.push(target.clone());
        for dependency in self.depends.get(key).into_iter().flatten() {
            self.visit(dependency)?;
        }
        self.path.pop();
        self.visited.insert(key.to_owned(), true);
        self.done.push(target.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use types::Target;

    use super::order;

    fn run(edges: &[(&str, &[&str])]) -> Result<Vec<String>, String> {
        let target = |name: &str| {
            let (schema, table) = name.split_once('.').unwrap();
            Target::new(schema, table)
        };
        let targets: Vec<Target> = edges.iter().map(|(name, _)| target(name)).collect();
        let depends: BTreeMap<String, Vec<String>> = edges
            .iter()
            .map(|(name, on)| (name.to_lowercase(), on.iter().map(|on| on.to_lowercase()).collect()))
            .collect();
        order(&targets, &depends)
            .map(|targets| targets.iter().map(ToString::to_string).collect())
            .map_err(|cycle| cycle.to_string())
    }

    #[test]
    fn dependencies_come_first_then_names() {
        let edges: &[(&str, &[&str])] =
            &[("mart.a", &["staging.z", "other.x"]), ("staging.Z", &["raw.b"]), ("raw.b", &[]), ("raw.a", &[])];
        assert_eq!(run(edges).unwrap(), ["raw.b", "staging.Z", "mart.a", "raw.a"]);
    }

    #[test]
    fn cycles_show_their_path_only() {
        assert_eq!(run(&[("a.x", &["a.x"])]).unwrap_err(), "circular dependency detected: a.x -> a.x");
        assert_eq!(
            run(&[("a.a", &["a.x"]), ("a.x", &["a.y"]), ("a.y", &["a.x"])]).unwrap_err(),
            "circular dependency detected: a.x -> a.y -> a.x"
        );
    }
}
