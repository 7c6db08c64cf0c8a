//! No text makes the reader panic, hang or overflow the stack.

use crate::{assert_fails, good, project, read, registry};

const TEXT: &str = "# A file with a bit of everything.\nload(\"lib/helper.star\", \"x\", y = \"x\")\nAPI = {\n\t\"base_url\": 'https://x.y', \
    \"auth\": {\"env\": \"K\", \"hosts\": []},\r\n  \"headers\": {\"é\": r\"\\\"\"},\n  \"fetch\": {\"args\": [\"a\"], \"timeout\": +1.5e3, \
    \"retry\": 0x1F},\n}\ndef fetch(a, page, **kwargs):\n\twhile (lambda z: z)(a):  # while\n\t\tif a: break\n\t\telse: a = f\"{a[\"x\"]!r:}\"\n    \
    \tfor b in [c for c in \"\"\"while\n\"\"\"]: continue\n\twhile b: b -= 1; c()\n\treturn {'rows': [http.get(\"/é\", params = {}).json]}\n";

/// Random numbers that are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }
}

#[test]
fn no_mutation_of_a_file_panics() {
    let folder = project(&[("lib/helper.star", "x = 1\n")]);
    let pieces: Vec<&[u8]> = [
        "\"",
        "'",
        "\"\"\"",
        "\\",
        "\n",
        "\r",
        "\r\n",
        "\t",
        " ",
        "#",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ":",
        ",",
        ";",
        "while ",
        "lambda ",
        "f\"{",
        "f'''",
        "r'",
        "b\"",
        "API",
        " = ",
        "1e999",
        "-",
        "é",
        "\u{feff}",
        "\u{2028}",
        "def f():\n",
        "if x:\n",
    ]
    .map(str::as_bytes)
    .to_vec();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..1500 {
        let mut bytes = TEXT.as_bytes().to_vec();
        for _ in 0..=random.below(4) {
            if bytes.is_empty() {
                break;
            }
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] = u8::try_from(random.below(256)).unwrap(),
                1 => drop(bytes.splice(at..at, pieces[random.below(pieces.len())].iter().copied())),
                2 => drop(bytes.drain(at..(at + 1 + random.below(9)).min(bytes.len()))),
                _ => bytes.truncate(at + 1),
            }
        }
        std::fs::write(folder.path().join("lib/api.star"), &bytes).unwrap();
        for broken in registry(folder.path()).all_broken() {
            if let Some(place) = &broken.error.place {
                assert!(place.span().end <= place.source().len());
            }
        }
    }
}

#[test]
fn every_beginning_of_a_file_is_read_or_refused() {
    for (end, _) in TEXT.char_indices() {
        let folder = project(&[("lib/helper.star", "x = 1\n"), ("lib/api.star", &TEXT[..end])]);
        registry(folder.path());
    }
}

#[test]
fn deep_nesting_is_an_error() {
    let many = 10_000;
    let blocks = |head: &str| (1..1000).map(|at| format!("{}{head}\n", " ".repeat(at))).collect::<String>();
    for text in [
        format!("X = {}{}\n", "[".repeat(many), "]".repeat(many)),
        format!("X = {}", "(".repeat(many)),
        format!("X = {}\n", "{1:".repeat(many)),
        format!("X = {}1\n", "-".repeat(many)),
        format!("X = {}1\n", "not ".repeat(many)),
        format!("X = {}1\n", "lambda: ".repeat(many)),
        format!("X = {}1\n", "1 + ".repeat(many)),
        format!("X = {}1\n", "1 if 1 else ".repeat(many)),
        format!("X = f{}\n", "(1)".repeat(many)),
        format!("X = f{}\n", ".x".repeat(many)),
        format!("X = {}\n", "f\"{".repeat(many)),
        format!("def f():\n{}", blocks("if x:")),
        format!("def f():\n{}", blocks("while x:")),
        format!("def f():\n if x: y\n{}", " elif x: y\n".repeat(many)),
        format!("API = {}{}\n", "{\"fetch\": ".repeat(many), "}".repeat(many)),
    ] {
        let error = read(&text).unwrap_err();
        assert!(error.message.contains("the code nests too deep"), "{error}");
        assert!(!error.place.unwrap().span().is_empty());
    }
    assert_fails(&format!("X = {}\n", "[".repeat(many)), "the code nests too deep", 1, "[");
}

#[test]
fn what_is_just_below_the_bound_is_read() {
    let wide = format!("[{}]", "1, ".repeat(20_000));
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(75), close.repeat(75));
    let lines = |line: &dyn Fn(usize) -> String, count: usize| (1..count).map(line).collect::<String>();
    for value in [
        wide,
        deep("[", "]"),
        deep("(", ",)"),
        format!("{}1{}", "{1: ".repeat(75), "}".repeat(75)),
        deep("f(", ")"),
        format!("{}1{}", "f(*".repeat(75), ")".repeat(75)),
        format!("{}1{}", "[x for x in ".repeat(70), "]".repeat(70)),
        format!("{}1", "1 + ".repeat(780)),
        format!("{}1", "-".repeat(780)),
        format!("{}1", "not ".repeat(390)),
        format!("{}1", "lambda: ".repeat(390)),
        format!("{}1", "1 if 1 else ".repeat(390)),
        format!("f{}", "(1)".repeat(380)),
        format!("f{}", ".x".repeat(780)),
        format!("f\"{}{}\"", "{f'".repeat(45), "'}".repeat(45)),
    ] {
        good(&format!("API = {{\"fetch\": {{}}}}\ndef fetch(): pass\nX = {value}\n"));
    }
    for body in [
        lines(&|at| format!("{}if x:\n", " ".repeat(at)), 95) + &" ".repeat(96) + "pass\n",
        lines(&|at| format!("{}while x:\n", " ".repeat(at)), 95) + &" ".repeat(96) + "pass\n",
        lines(&|at| format!("{}def f():\n", " ".repeat(at)), 95) + &" ".repeat(96) + "pass\n",
        format!(" if x: y\n{}", " elif x: y\n".repeat(190)),
    ] {
        good(&format!("API = {{\"fetch\": {{}}}}\ndef fetch(): pass\ndef g():\n{body}"));
    }
}

#[test]
fn the_time_for_a_long_file_grows_with_its_length_only() {
    let begun = std::time::Instant::now();
    good(&format!(
        "API = {{\"fetch\": {{\"supported_columns\": [{}]}}, {}}}\ndef fetch(): pass\n{}",
        "\"a\", ".repeat(50_000),
        (0..20_000).map(|at| format!("\"k{at}\": 1, ")).collect::<String>(),
        (0..20_000).map(|at| format!("def f{at}(x):\n    while x: x -= 1\n")).collect::<String>(),
    ));
    assert!(begun.elapsed().as_secs() < 60);
}
