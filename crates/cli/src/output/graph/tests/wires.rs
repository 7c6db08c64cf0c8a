//! Wires lead where edges do, and nobody takes one for another.

use std::collections::{BTreeMap, BTreeSet};

use super::super::Graph;
use super::super::boxes::STEPS;
use super::super::layout::{Layout, Placed, Plan};
use super::super::text;
use super::samples::{any, shop, tangled, totals};

/// From which boxes to which wires lead.
fn joined(layout: &Layout) -> BTreeSet<(usize, usize)> {
    let inside = |placed: &Placed, y: usize| (placed.y..placed.y + placed.height).contains(&y);
    let leaving =
        |x: usize, y: usize| layout.boxes.iter().position(|placed| placed.x + placed.width == x && inside(placed, y));
    let entered =
        |x: usize, y: usize| layout.boxes.iter().position(|placed| placed.x == x + 1 && inside(placed, y)).unwrap();
    let mut ends: BTreeMap<usize, (BTreeSet<usize>, BTreeSet<usize>)> = BTreeMap::new();
    for path in &layout.paths {
        let (from, to) = ends.entry(path.wire).or_default();
        from.extend(path.left.iter().filter_map(|&(y, x)| leaving(x, y)));
        to.extend(path.right.iter().filter(|(.., into_box)| *into_box).map(|&(y, x, _)| entered(x, y)));
    }
    ends.into_values()
        .flat_map(|(from, to)| from.into_iter().flat_map(move |a| to.clone().into_iter().map(move |b| (a, b))))
        .collect()
}

/// A straight part of a wire: which wire, its row or column, from, to.
type Part = (usize, usize, usize, usize);

/// The parts of a layout's wires: those across, and those up and down.
fn parts(layout: &Layout) -> (Vec<Part>, Vec<Part>) {
    let (mut across, mut upright) = (Vec::new(), Vec::new());
    for path in &layout.paths {
        let turn = path.spine.map(|(x, top, bottom)| {
            upright.push((path.wire, x, top, bottom));
            x
        });
        for &(y, from) in &path.left {
            across.push((path.wire, y, from, turn.unwrap_or_else(|| path.right[0].1)));
        }
        for &(y, to, _) in &path.right {
            across.extend(turn.map(|x| (path.wire, y, x, to)));
        }
        across.extend(path.bottom.map(|(y, from, to)| (path.wire, y, from, to)));
    }
    (across, upright)
}

/// A wire that comes into a row in which another ends must not touch it, unless both go into the same box there.
fn assert_apart(parts: &[Part], shared: &BTreeSet<(usize, usize)>) {
    for (at, a) in parts.iter().enumerate() {
        for b in &parts[at + 1..] {
            let touch = a.0 != b.0 && a.1 == b.1 && a.2 <= b.3 && b.2 <= a.3;
            let common = touch && [a.3, b.3].iter().all(|end| shared.contains(&(a.1, *end)));
            assert!(!touch || common, "{a:?} and {b:?}");
        }
    }
}

#[track_caller]
fn check(graph: &Graph) {
    let layout = Plan::new(graph).measure(STEPS[0]);
    assert_eq!(joined(&layout), graph.joins().into_iter().collect());
    let (across, upright) = parts(&layout);
    let entries: BTreeSet<(usize, usize)> =
        layout.paths.iter().flat_map(|path| &path.right).map(|&(y, x, _)| (y, x)).collect();
    assert_apart(&across, &entries);
    assert_apart(&upright, &BTreeSet::new());
    for (at, a) in layout.boxes.iter().enumerate() {
        for b in &layout.boxes[at + 1..] {
            let apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
            assert!(apart, "{a:?} and {b:?}");
        }
        for &(_, y, from, to) in &across {
            let through = (a.y..a.y + a.height).contains(&y) && from < a.x + a.width && to >= a.x;
            assert!(!through, "a wire in row {y} through {a:?}");
        }
        for &(_, x, top, bottom) in &upright {
            let through = (a.x..a.x + a.width).contains(&x) && top < a.y + a.height && bottom >= a.y;
            assert!(!through, "a wire in column {x} through {a:?}");
        }
    }
}

#[test]
fn wires_join_what_edges_join_and_nothing_else() {
    check(&shop());
    check(&totals());
    check(&tangled());
    for seed in 0..60 {
        let nodes = 2 + usize::try_from(seed).unwrap();
        check(&any(seed, nodes, 1 + nodes % 6));
    }
}

#[test]
fn sources_of_the_same_models_share_a_wire() {
    let mut graph = any(0, 20, 2);
    graph.edges = (0..10).flat_map(|from| (10..20).map(move |to| (from, to))).collect();
    check(&graph);
    let layout = Plan::new(&graph).measure(STEPS[0]);
    assert_eq!(layout.paths.len(), 1);
}

#[test]
fn five_hundred_models_fit_on_a_sheet() {
    let graph = any(7, 500, 6);
    check(&graph);
    let text = text(&graph, None, &|text, _| text.to_owned());
    assert!((0..500).all(|at| text.contains(&format!("model_{at} "))));
    let layout = Plan::new(&graph).measure(STEPS[0]);
    // What stands side by side depends on its models, not on all of its wires.
    assert!(layout.height < 3 * 500, "{} rows", layout.height);
}

#[test]
fn a_chain_of_models_is_one_row() {
    let mut graph = any(0, 500, 1);
    graph.edges = (1..500).map(|to| (to - 1, to)).collect();
    graph.nodes.iter_mut().for_each(|node| node.lines.clear());
    check(&graph);
    assert_eq!(Plan::new(&graph).measure(STEPS[0]).height, 4);
}

#[test]
fn all_with_all_ends() {
    let mut graph = any(0, 40, 3);
    graph.edges = (0..40).flat_map(|from| (0..40).map(move |to| (from, to))).collect();
    check(&graph);
}
