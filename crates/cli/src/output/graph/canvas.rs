//! A sheet of cells to draw on: wires, which join where they are of one kind and cross where they are not, and texts.

use crate::output::measure::characters;
use crate::ui::Color;

const EAST: u8 = 1;
const WEST: u8 = 2;
const NORTH: u8 = 4;
const SOUTH: u8 = 8;
const EAST_WEST: u8 = EAST | WEST;
const NORTH_SOUTH: u8 = NORTH | SOUTH;

#[derive(Debug, Clone, Default)]
struct Cell {
    /// In which directions wires lead away.
    arms: u8,
    /// The wires that are there across.
    across: Vec<usize>,
    /// The wire that is there up and down.
    upright: Option<usize>,
    /// A character, with what is to be drawn upon it; nothing in the right half of a wide one.
    text: Option<(String, Option<Color>)>,
}

/// The sheet.
#[derive(Debug)]
pub(super) struct Canvas {
    width: usize,
    cells: Vec<Cell>,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self { width, cells: vec![Cell::default(); width * height] }
    }

    /// A wire across, both ends included.
    pub(super) fn across(&mut self, wire: usize, y: usize, (from, to): (usize, usize)) {
        for x in from..=to {
            let Some(cell) = self.cell(x, y) else { continue };
            cell.arms |= if x > from { WEST } else { 0 } | if x < to { EAST } else { 0 };
            cell.across.push(wire);
        }
    }

    /// A wire up and down, both ends included.
    pub(super) fn upright(&mut self, wire: usize, x: usize, (from, to): (usize, usize)) {
        for y in from..=to {
            let Some(cell) = self.cell(x, y) else { continue };
            cell.arms |= if y > from { NORTH } else { 0 } | if y < to { SOUTH } else { 0 };
            cell.upright = Some(wire);
        }
    }

    /// A text, over whatever is there.
    pub(super) fn text(&mut self, x: usize, y: usize, text: &str, color: Option<Color>) {
        let mut at = x;
        for (character, columns) in characters(text) {
            for part in 0..columns.max(1) {
                let Some(cell) = self.cell(at + part, y) else { return };
                cell.text = Some((if part == 0 { character.to_owned() } else { String::new() }, color));
            }
            at += columns;
        }
    }

    /// The lines, without blanks at their ends.
    pub(super) fn lines(&self, paint: &dyn Fn(&str, Color) -> String) -> Vec<String> {
        self.cells.chunks(self.width.max(1)).map(|row| line(row, paint)).collect()
    }

    fn cell(&mut self, x: usize, y: usize) -> Option<&mut Cell> {
        if x < self.width { self.cells.get_mut(y * self.width + x) } else { None }
    }
}

fn line(row: &[Cell], paint: &dyn Fn(&str, Color) -> String) -> String {
    let used = row.iter().rposition(|cell| cell.arms != 0 || cell.text.as_ref().is_some_and(|(text, _)| text != " "));
    let mut out = String::new();
    let mut run = (String::new(), None);
    for cell in &row[..used.map_or(0, |last| last + 1)] {
        let (text, color) = cell.text.clone().unwrap_or_else(|| (wire(cell).to_string(), None));
        if color != run.1 {
            finish(&mut out, &run, paint);
            run = (String::new(), color);
        }
        run.0.push_str(&text);
    }
    finish(&mut out, &run, paint);
    out
}

fn finish(out: &mut String, (text, color): &(String, Option<Color>), paint: &dyn Fn(&str, Color) -> String) {
    match color {
        Some(color) if !text.is_empty() => out.push_str(&paint(text, *color)),
        _ => out.push_str(text),
    }
}

/// The line of a cell. One wire passes over another: where they only cross, the one across is interrupted.
fn wire(cell: &Cell) -> char {
    let joined = cell.upright.is_none_or(|wire| cell.across.is_empty() || cell.across.contains(&wire));
    let arms = if joined { cell.arms } else { cell.arms & (NORTH | SOUTH) };
    match arms {
        0 => ' ',
        EAST | WEST | EAST_WEST => '─',
        NORTH | SOUTH | NORTH_SOUTH => '│',
        a if a == EAST | SOUTH => '╭',
        a if a == WEST | SOUTH => '╮',
        a if a == EAST | NORTH => '╰',
        a if a == WEST | NORTH => '╯',
        a if a == NORTH_SOUTH | EAST => '├',
        a if a == NORTH_SOUTH | WEST => '┤',
        a if a == EAST_WEST | SOUTH => '┬',
        a if a == EAST_WEST | NORTH => '┴',
        _ => '┼',
    }
}
