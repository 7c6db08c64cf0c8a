//! Patterns over column names, for `COLUMNS('…')` and `* LIKE '…'`: those parts of regular expressions that
//! names need. A pattern beyond them is not read, rather than read wrongly.

/// Whether a name is one of those meant.
pub(super) type Matcher = Box<dyn Fn(&str) -> bool>;

/// A regular expression as a machine: it follows all ways at once, so no pattern takes long.
pub(super) struct Pattern {
    program: Vec<Instruction>,
    any_case: bool,
}

#[derive(Debug, Clone)]
enum Instruction {
    One(Set),
    Start,
    End,
    /// Goes on at both places.
    Split(usize, usize),
    Jump(usize),
    Match,
}

/// Which characters may stand at a place.
#[derive(Debug, Clone, Default)]
struct Set {
    ranges: Vec<(char, char)>,
    negated: bool,
}

enum Node {
    One(Set),
    Start,
    End,
    Sequence(Vec<Node>),
    Either(Vec<Node>),
    Repeat(Box<Node>, usize, Option<usize>),
}

/// Copies of a part that `{n,m}` may make.
const REPETITIONS_MAX: usize = 64;
/// Steps that a machine may have: repetitions multiply when nested.
const PROGRAM_MAX: usize = 10_000;
/// Groups within groups.
const DEPTH_MAX: usize = 50;

/// Whether a name is like a pattern with `%` and `_`, if the pattern is a plain one.
pub(super) fn like(pattern: &str, any_case: bool) -> Option<Matcher> {
    let mut nodes = vec![Node::Start];
    for letter in pattern.chars() {
        nodes.push(match letter {
            '%' => Node::Repeat(Box::new(Node::One(Set::any())), 0, None),
            '_' => Node::One(Set::any()),
            '\\' => return None,
            other => Node::One(Set::of(other)),
        });
    }
    nodes.push(Node::End);
    let pattern = Pattern::compiled(&Node::Sequence(nodes), any_case)?;
    Some(Box::new(move |name| pattern.finds(name)))
}

impl Pattern {
    /// Reads a regular expression.
    pub(super) fn read(pattern: &str) -> Option<Self> {
        let (any_case, pattern) = match pattern.strip_prefix("(?i)") {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        let letters: Vec<char> = pattern.chars().collect();
        let mut parser = Parser { letters: &letters, at: 0, depth: 0 };
        let node = parser.either()?;
        (parser.at == letters.len()).then(|| Self::compiled(&node, any_case)).flatten()
    }

    fn compiled(node: &Node, any_case: bool) -> Option<Self> {
        let mut program = Vec::new();
        emit(node, &mut program)?;
        program.push(Instruction::Match);
        Some(Self { program, any_case })
    }

    /// Whether it occurs anywhere in `text`.
    pub(super) fn finds(&self, text: &str) -> bool {
        let letters: Vec<char> = text.chars().collect();
        let mut places: Vec<usize> = Vec::new();
        for at in 0..=letters.len() {
            places.push(0);
            let reached = self.reached(&places, at == 0, at == letters.len());
            let one = |&place: &usize| match &self.program[place] {
                Instruction::One(set) if letters.get(at).is_some_and(|&letter| self.has(set, letter)) => {
                    Some(place + 1)
                }
                _ => None,
            };
            if reached.iter().any(|&place| matches!(self.program[place], Instruction::Match)) {
                return true;
            }
            places = reached.iter().filter_map(one).collect();
        }
        false
    }

    /// All places that can be reached without reading a letter.
    fn reached(&self, places: &[usize], at_start: bool, at_end: bool) -> Vec<usize> {
        let mut seen = vec![false; self.program.len()];
        let mut open = places.to_vec();
        let mut reached = Vec::new();
        while let Some(place) = open.pop() {
            if std::mem::replace(&mut seen[place], true) {
                continue;
            }
            match self.program[place] {
                Instruction::Start if at_start => open.push(place + 1),
                Instruction::End if at_end => open.push(place + 1),
                Instruction::Start | Instruction::End => {}
                Instruction::Split(one, other) => open.extend([one, other]),
                Instruction::Jump(to) => open.push(to),
                Instruction::One(_) | Instruction::Match => reached.push(place),
            }
        }
        reached
    }

    fn has(&self, set: &Set, letter: char) -> bool {
        if !self.any_case {
            return set.has(letter);
        }
        // A negated set must hold in every case.
        let (lower, upper) = (set.has(letter.to_ascii_lowercase()), set.has(letter.to_ascii_uppercase()));
        if set.negated { lower && upper } else { lower || upper }
    }
}

impl Set {
    fn of(letter: char) -> Self {
        Self { ranges: vec![(letter, letter)], negated: false }
    }

    fn any() -> Self {
        Self { ranges: vec![], negated: true }
    }

    /// The set behind a backslash.
    fn escaped(letter: char) -> Option<Self> {
        let ranges = match letter.to_ascii_lowercase() {
            'd' => vec![('0', '9')],
            'w' => vec![('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
            's' => vec![('\t', '\n'), ('\x0c', '\r'), (' ', ' ')],
            other if !other.is_alphanumeric() => return Some(Self::of(letter)),
            _ => return None,
        };
        Some(Self { ranges, negated: letter.is_ascii_uppercase() })
    }

    fn has(&self, letter: char) -> bool {
        self.ranges.iter().any(|&(from, to)| (from..=to).contains(&letter)) != self.negated
    }
}

/// Writes the instructions of a part; nothing if they become too many.
fn emit(node: &Node, program: &mut Vec<Instruction>) -> Option<()> {
    if program.len() > PROGRAM_MAX {
        return None;
    }
    match node {
        Node::One(set) => program.push(Instruction::One(set.clone())),
        Node::Start => program.push(Instruction::Start),
        Node::End => program.push(Instruction::End),
        Node::Sequence(nodes) => nodes.iter().try_for_each(|node| emit(node, program))?,
        Node::Either(nodes) => emit_either(nodes, program)?,
        Node::Repeat(node, least, most) => emit_repeat(node, *least, *most, program)?,
    }
    Some(())
}

fn emit_either(nodes: &[Node], program: &mut Vec<Instruction>) -> Option<()> {
    let mut jumps = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let split = program.len();
        if at + 1 < nodes.len() {
            program.push(Instruction::Split(split + 1, 0));
        }
        emit(node, program)?;
        if at + 1 < nodes.len() {
            jumps.push(program.len());
            program.push(Instruction::Jump(0));
            program[split] = Instruction::Split(split + 1, program.len());
        }
    }
    let end = program.len();
    for jump in jumps {
        program[jump] = Instruction::Jump(end);
    }
    Some(())
}

fn emit_repeat(node: &Node, least: usize, most: Option<usize>, program: &mut Vec<Instruction>) -> Option<()> {
    for _ in 0..least {
        let before = program.len();
        emit(node, program)?;
        if program.len() == before {
            // Nothing, however often.
            return Some(());
        }
    }
    let Some(most) = most else {
        let split = program.len();
        program.push(Instruction::Split(split + 1, 0));
        emit(node, program)?;
        program.push(Instruction::Jump(split));
        program[split] = Instruction::Split(split + 1, program.len());
        return Some(());
    };
    for _ in least..most {
        let split = program.len();
        program.push(Instruction::Split(split + 1, 0));
        emit(node, program)?;
        program[split] = Instruction::Split(split + 1, program.len());
    }
    Some(())
}

struct Parser<'a> {
    letters: &'a [char],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn next_is(&mut self, letter: char) -> bool {
        let is = self.letters.get(self.at) == Some(&letter);
        self.at += usize::from(is);
        is
    }

    fn letter(&mut self) -> Option<char> {
        let letter = self.letters.get(self.at).copied();
        self.at += 1;
        letter
    }

    fn either(&mut self) -> Option<Node> {
        let mut ways = vec![self.sequence()?];
        while self.next_is('|') {
            ways.push(self.sequence()?);
        }
        Some(Node::Either(ways))
    }

    fn sequence(&mut self) -> Option<Node> {
        let mut nodes = Vec::new();
        while let Some(letter) = self.letters.get(self.at).filter(|letter| !matches!(letter, '|' | ')')) {
            self.at += 1;
            let one = self.one(*letter)?;
            nodes.push(self.repeated(one)?);
        }
        Some(Node::Sequence(nodes))
    }

    fn one(&mut self, letter: char) -> Option<Node> {
        Some(match letter {
            '.' => Node::One(Set::any()),
            '^' => Node::Start,
            '$' => Node::End,
            '[' => Node::One(self.set()?),
            '\\' => Node::One(Set::escaped(self.letter()?)?),
            '(' => self.group()?,
            '*' | '+' | '?' | '{' => return None,
            other => Node::One(Set::of(other)),
        })
    }

    fn group(&mut self) -> Option<Node> {
        self.depth += 1;
        // Flags and named groups are not read.
        if self.depth > DEPTH_MAX || (self.next_is('?') && !self.next_is(':')) {
            return None;
        }
        let node = self.either()?;
        self.depth -= 1;
        self.next_is(')').then_some(node)
    }

    fn set(&mut self) -> Option<Set> {
        let mut set = Set { ranges: Vec::new(), negated: self.next_is('^') };
        loop {
            let from = match self.letter()? {
                ']' if !set.ranges.is_empty() => return Some(set),
                // Named classes, and a bracket at the start of a set.
                '[' | ']' => return None,
                '\\' => {
                    let escaped = Set::escaped(self.letter()?)?;
                    match escaped.ranges.as_slice() {
                        &[(from, to)] if from == to => from,
                        _ if escaped.negated => return None,
                        _ => {
                            set.ranges.extend(escaped.ranges);
                            continue;
                        }
                    }
                }
                letter => letter,
            };
            let is_range = self.letters.get(self.at) == Some(&'-') && self.letters.get(self.at + 1) != Some(&']');
            if !is_range {
                set.ranges.push((from, from));
                continue;
            }
            self.at += 1;
            let to = self.letter().filter(|&to| to != '\\' && to != '[' && to >= from)?;
            set.ranges.push((from, to));
        }
    }

    fn repeated(&mut self, node: Node) -> Option<Node> {
        let (least, most) = match self.letters.get(self.at) {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                self.at += 1;
                let (least, most) = self.counts()?;
                return Some(self.repeat(node, least, most));
            }
            _ => return Some(node),
        };
        self.at += 1;
        Some(self.repeat(node, least, most))
    }

    fn repeat(&mut self, node: Node, least: usize, most: Option<usize>) -> Node {
        // Whether it prefers few or many does not change whether it matches.
        self.next_is('?');
        Node::Repeat(Box::new(node), least, most)
    }

    /// `n}`, `n,}` or `n,m}`.
    fn counts(&mut self) -> Option<(usize, Option<usize>)> {
        let least = self.number()?;
        let most = match self.letter()? {
            '}' => return Some((least, Some(least))),
            ',' if self.next_is('}') => return Some((least, None)),
            ',' => self.number()?,
            _ => return None,
        };
        (self.next_is('}') && least <= most).then_some((least, Some(most)))
    }

    fn number(&mut self) -> Option<usize> {
        let start = self.at;
        while self.letters.get(self.at).is_some_and(char::is_ascii_digit) {
            self.at += 1;
        }
        let digits: String = self.letters[start..self.at].iter().collect();
        digits.parse().ok().filter(|&number| number <= REPETITIONS_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::{Pattern, like};

    #[test]
    fn patterns_find_names() {
        let cases = [
            ("a", "bab", true),
            ("A", "a", false),
            ("(?i)A", "a", true),
            ("^a", "ba", false),
            ("^a.*z$", "abcz", true),
            ("^(?:a|bc)+$", "abca", true),
            ("^(?:a|bc)+$", "abc_", false),
            ("^x[0-9]{2,3}$", "x12", true),
            ("^x[0-9]{2,3}$", "x1234", false),
            (r"^\w+_\d$", "ab_1", true),
            (r"a\.b", "axb", false),
            ("^[^a-c_]+$", "xyz", true),
            ("^[^a-c_]+$", "xbz", false),
            ("", "anything", true),
            ("^(a*)*b$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
            ("ä+", "Bär", true),
            ("a??b", "b", true),
            ("^$", "", true),
            ("^(a|)$", "", true),
            ("^((((((((((){60}){60}){60}){60}){60}){60}){60}){60}){60})a$", "a", true),
        ];
        for (pattern, name, expected) in cases {
            let read = Pattern::read(pattern).unwrap();
            assert_eq!(read.finds(name), expected, "{pattern} in {name}");
        }
    }

    #[test]
    fn patterns_beyond_it_are_not_read() {
        for pattern in [
            "(",
            ")",
            "[",
            "a{",
            "*",
            "a**",
            r"\b",
            "(?P<n>a)",
            "[[:alpha:]]",
            "a{9999}",
            "((((a{60}){60}){60}){60})",
            r"\",
            "[]a]",
            "(?i",
            "[z-a]",
            "a{2,1}",
        ] {
            assert!(Pattern::read(pattern).is_none(), "{pattern}");
        }
        assert!(Pattern::read(&"(".repeat(10_000)).is_none());
    }

    #[test]
    fn like_matches_whole_names() {
        let matches = |pattern: &str, any_case, name: &str| like(pattern, any_case).unwrap()(name);
        assert!(matches("a%", false, "abc"));
        assert!(!matches("a%", false, "ba"));
        assert!(matches("_b", false, "ab"));
        assert!(!matches("A%", false, "abc"));
        assert!(matches("A%", true, "abc"));
        assert!(!matches("a.c", false, "abc"));
        assert!(like(r"a\_b", false).is_none());
    }
}
