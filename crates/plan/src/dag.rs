//! The order in which models run (chapter 02 §1.2).

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

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

/// Every target that depends on itself, with the shortest circle through it, written from its first name: a project
/// is told of all of them. By name; the arguments are those of [`order`].
pub fn cycles(targets: &[Target], depends: &BTreeMap<String, Vec<String>>) -> Vec<(Target, Cycle)> {
    let by_key: BTreeMap<String, &Target> = targets.iter().map(|target| (target.key(), target)).collect();
    let places: BTreeMap<&str, usize> = by_key.keys().enumerate().map(|(at, key)| (key.as_str(), at)).collect();
    let targets: Vec<&Target> = by_key.values().copied().collect();
    let edges_of = |key: &String| {
        let on = depends.get(key).into_iter().flatten();
        on.filter_map(|name| places.get(name.as_str()).copied()).collect()
    };
    let edges: Vec<Vec<usize>> = by_key.keys().map(edges_of).collect();
    let edges = without_ends(edges);
    let of = |start: usize| {
        let mut circle = circle(start, &edges)?;
        let first = (0..circle.len()).min_by_key(|&at| circle[at]).unwrap_or(0);
        circle.rotate_left(first);
        Some((targets[start].clone(), Cycle(circle.into_iter().map(|at| targets[at].clone()).collect())))
    };
    (0..targets.len()).filter_map(of).collect()
}

/// The edges without those of what leads into no circle; of a project without one, nothing is left.
fn without_ends(mut edges: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut needed_by = vec![Vec::new(); edges.len()];
    edges.iter().enumerate().for_each(|(at, on)| on.iter().for_each(|&other| needed_by[other].push(at)));
    let mut open: Vec<usize> = edges.iter().map(Vec::len).collect();
    let mut ends: Vec<usize> = (0..edges.len()).filter(|&at| open[at] == 0).collect();
    while let Some(end) = ends.pop() {
        edges[end].clear();
        for &at in &needed_by[end] {
            open[at] -= 1;
            if open[at] == 0 {
                ends.push(at);
            }
        }
    }
    edges
}

/// The shortest way from a place back to itself.
fn circle(start: usize, edges: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut came_from: BTreeMap<usize, usize> = BTreeMap::new();
    let mut pending = VecDeque::from([start]);
    while let Some(at) = pending.pop_front() {
        for &next in &edges[at] {
            if next == start {
                let mut back: Vec<usize> = std::iter::successors(Some(at), |at| came_from.get(at).copied()).collect();
                back.reverse();
                return Some(back);
            }
            if let Entry::Vacant(entry) = came_from.entry(next) {
                entry.insert(at);
                pending.push_back(next);
            }
        }
    }
    None
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

    use super::{cycles, order};

    type Edges<'a> = &'a [(&'a str, &'a [&'a str])];

    fn graph(edges: Edges<'_>) -> (Vec<Target>, BTreeMap<String, Vec<String>>) {
        let target = |name: &str| {
            let (schema, table) = name.split_once('.').unwrap();
            Target::new(schema, table)
        };
        let on = |on: &[&str]| on.iter().map(|on| on.to_lowercase()).collect();
        let depends = edges.iter().map(|(name, names)| (name.to_lowercase(), on(names)));
        (edges.iter().map(|(name, _)| target(name)).collect(), depends.collect())
    }

    fn run(edges: Edges<'_>) -> Result<Vec<String>, String> {
        let (targets, depends) = graph(edges);
        order(&targets, &depends)
            .map(|targets| targets.iter().map(ToString::to_string).collect())
            .map_err(|cycle| cycle.to_string())
    }

    #[test]
    fn dependencies_come_first_then_names() {
        let edges: Edges<'_> =
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

    #[test]
    fn every_member_of_every_circle_is_told_and_nobody_else() {
        let edges: Edges<'_> = &[
            ("a.a", &["a.z"]),
            ("a.z", &["a.X", "ext.t"]),
            ("a.X", &["a.y", "a.z"]),
            ("a.y", &["a.z", "a.end"]),
            ("a.end", &[]),
            ("b.own", &["b.own", "a.x"]),
        ];
        let (targets, depends) = graph(edges);
        let found: Vec<String> =
            cycles(&targets, &depends).iter().map(|(target, cycle)| format!("{target}: {cycle}")).collect();
        let short = "circular dependency detected: a.X -> a.z -> a.X";
        assert_eq!(
            found,
            [
                format!("a.X: {short}"),
                "a.y: circular dependency detected: a.X -> a.y -> a.z -> a.X".into(),
                format!("a.z: {short}"),
                "b.own: circular dependency detected: b.own -> b.own".into(),
            ]
        );
        let (targets, depends) = graph(&edges[..1]);
        assert!(cycles(&targets, &depends).is_empty());
    }
}
