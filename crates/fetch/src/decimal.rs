//! Decimal numbers as written, exactly: read from text, made integral or rounded to a scale.

use crate::{Refusal, Written};

/// Exponents beyond are as good as infinite, and can still be added to a text's length.
const EXPONENT_LIMIT: i64 = 1 << 40;

/// A number: its digits, times a power of ten.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    is_negative: bool,
    /// Values 0 to 9, the first of which is not 0; none for zero.
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    /// Reads what DuckDB reads as a number: `-1.5`, `.5`, `5.`, `1e3`, `1_000`, with blanks around.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim_matches(is_blank).as_bytes();
        let (is_negative, unsigned) = match text.first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let mut digits = Vec::with_capacity(unsigned.len());
        let mut rest = take_digits(unsigned, &mut digits)?;
        let whole = digits.len();
        if let Some(behind) = rest.strip_prefix(b".") {
            rest = take_digits(behind, &mut digits)?;
        }
        if digits.is_empty() {
            return None;
        }
        let fraction = i64::try_from(digits.len() - whole).ok()?;
        let exponent = match rest {
            [] => 0,
            [b'e' | b'E', exponent @ ..] => read_exponent(exponent)?,
            _ => return None,
        };
        let zeros = digits.iter().take_while(|&&digit| digit == 0).count();
        digits.drain(..zeros);
        Some(Self { is_negative, digits, exponent: exponent - fraction })
    }

    /// The sign and the magnitude of an integer; magnitudes of more than 39 digits are as good as infinite.
    ///
    /// # Errors
    /// When there is a fraction.
    pub(crate) fn integer(&self) -> Written<(bool, Option<u128>)> {
        let length = i64::try_from(self.digits.len()).unwrap_or(i64::MAX);
        let whole = usize::try_from((length + self.exponent).clamp(0, length)).unwrap_or(0);
        if self.digits[whole..].iter().any(|&digit| digit != 0) {
            return Err(Refusal::new("it has a fraction, which is never rounded"));
        }
        let zeros = if self.digits.is_empty() { 0 } else { self.exponent.max(0) };
        let zeros = u32::try_from(zeros).unwrap_or(u32::MAX);
        let magnitude = self.digits[..whole]
            .iter()
            .try_fold(0_u128, |magnitude, &digit| magnitude.checked_mul(10)?.checked_add(u128::from(digit)));
        let power = 10_u128.checked_pow(zeros);
        Ok((self.is_negative, magnitude.zip(power).and_then(|(magnitude, power)| magnitude.checked_mul(power))))
    }

    /// Appends the number with `scale` digits behind the point, rounded half away from zero.
    ///
    /// # Errors
    /// When it needs more than `width` digits.
    pub(crate) fn write_rounded(mut self, width: u8, scale: u8, out: &mut String) -> Written {
        self.round(i64::from(scale));
        let (width, scale) = (usize::from(width), usize::from(scale));
        let length = i64::try_from(self.digits.len()).unwrap_or(i64::MAX);
        let zeros = self.exponent + i64::try_from(scale).unwrap_or(0);
        if !self.digits.is_empty() && length.saturating_add(zeros) > i64::try_from(width).unwrap_or(0) {
            return Err(Refusal::new("it has too many digits before the point"));
        }
        if self.digits.is_empty() {
            self.is_negative = false;
        } else {
            self.digits.resize(self.digits.len() + usize::try_from(zeros).unwrap_or(0), 0);
        }
        if self.is_negative {
            out.push('-');
        }
        let missing = (scale + 1).saturating_sub(self.digits.len());
        self.digits.splice(0..0, std::iter::repeat_n(0, missing));
        for (at, digit) in self.digits.iter().enumerate() {
            if at + scale == self.digits.len() {
                out.push('.');
            }
            out.push(char::from(b'0' + digit));
        }
        Ok(())
    }

    /// Drops digits until at most `scale` are behind the point.
    fn round(&mut self, scale: i64) {
        let surplus = -scale - self.exponent;
        if surplus <= 0 {
            return;
        }
        let length = i64::try_from(self.digits.len()).unwrap_or(i64::MAX);
        self.exponent = -scale;
        if surplus > length {
            self.digits.clear();
            return;
        }
        let kept = usize::try_from(length - surplus).unwrap_or(0);
        let up = self.digits.get(kept).is_some_and(|&digit| digit >= 5);
        self.digits.truncate(kept);
        if !up {
            return;
        }
        let nines = self.digits.iter().rev().take_while(|&&digit| digit == 9).count();
        let nines_from = kept - nines;
        self.digits[nines_from..].fill(0);
        match nines_from.checked_sub(1) {
            Some(last) => self.digits[last] += 1,
            None => self.digits.insert(0, 1),
        }
    }
}

/// What DuckDB skips around numbers.
pub(crate) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

/// Takes digits, between which `_` may stand, and gives what is behind them.
fn take_digits<'a>(text: &'a [u8], digits: &mut Vec<u8>) -> Option<&'a [u8]> {
    for (at, &byte) in text.iter().enumerate() {
        let is_digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
        match byte {
            b'0'..=b'9' => digits.push(byte - b'0'),
            b'_' if at > 0 && is_digit(at - 1) && is_digit(at + 1) => {}
            b'_' => return None,
            _ => return Some(&text[at..]),
        }
    }
    Some(&[])
}

fn read_exponent(text: &[u8]) -> Option<i64> {
    let (sign, digits) = match text.first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    if digits.is_empty() {
        return None;
    }
    let mut exponent = 0_i64;
    for digit in digits {
        let digit = digit.is_ascii_digit().then(|| i64::from(digit - b'0'))?;
        exponent = (exponent * 10 + digit).min(EXPONENT_LIMIT);
    }
    Some(sign * exponent)
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    fn rounded(text: &str, width: u8, scale: u8) -> Option<String> {
        let mut out = String::new();
        Decimal::parse(text)?.write_rounded(width, scale, &mut out).ok().map(|()| out)
    }

    #[test]
    fn numbers_are_rounded_half_away_from_zero() {
        for (text, width, scale, expected) in [
            ("0.285", 10, 2, Some("0.29")),
            ("-0.285", 10, 2, Some("-0.29")),
            ("0.2849999999999999999999", 10, 2, Some("0.28")),
            ("0.005", 10, 2, Some("0.01")),
            ("0.0049", 10, 2, Some("0.00")),
            ("-0.0049", 10, 2, Some("0.00")),
            ("-0.0", 10, 2, Some("0.00")),
            ("0e99999999999999999999", 10, 2, Some("0.00")),
            ("1e-99999999999999999999", 10, 2, Some("0.00")),
            ("9.995", 3, 2, None),
            ("9.994", 3, 2, Some("9.99")),
            ("99999999.99", 10, 2, Some("99999999.99")),
            ("99999999.995", 10, 2, None),
            ("0.5", 1, 0, Some("1")),
            ("9.5", 1, 0, None),
            ("0.95", 1, 1, None),
            ("0.94", 1, 1, Some("0.9")),
            ("1e400", 38, 0, None),
            ("1e99999999999999999999", 38, 0, None),
            ("12e3", 5, 0, Some("12000")),
            ("12e3", 7, 2, Some("12000.00")),
            ("12e3", 6, 2, None),
            ("1.5e-1", 10, 2, Some("0.15")),
            (" +.5 ", 10, 2, Some("0.50")),
            ("5.", 10, 2, Some("5.00")),
            ("1_000.2_5", 10, 2, Some("1000.25")),
            ("00000000000000000000001", 10, 2, Some("1.00")),
            ("99999999999999999999999999999999999999", 38, 0, Some("99999999999999999999999999999999999999")),
            ("0.99999999999999999999999999999999999999", 38, 38, Some("0.99999999999999999999999999999999999999")),
            ("999999999999999999999999999999999999999", 38, 0, None),
        ] {
            assert_eq!(rounded(text, width, scale).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn an_exponent_moves_the_point() {
        for digits in ["0", "5", "49", "50", "285", "995", "9995", "123456"] {
            for exponent in 0..9 {
                let padded = format!("{digits:0>10}");
                let (whole, fraction) = padded.split_at(padded.len() - exponent);
                let plain = format!("{whole}.{fraction}");
                let moved = format!("{digits}00e-{}", exponent + 2);
                assert_eq!(rounded(&moved, 9, 2), rounded(&plain, 9, 2), "{moved} {plain}");
                assert_eq!(Decimal::parse(&moved).unwrap().integer(), Decimal::parse(&plain).unwrap().integer());
            }
        }
    }

    #[test]
    fn integers_are_told_from_fractions() {
        for (text, expected) in [
            ("12", Ok((false, Some(12)))),
            ("-12.00", Ok((true, Some(12)))),
            ("1.2e1", Ok((false, Some(12)))),
            ("1200e-2", Ok((false, Some(12)))),
            ("0e5", Ok((false, Some(0)))),
            ("0e-5", Ok((false, Some(0)))),
            ("340282366920938463463374607431768211455", Ok((false, Some(u128::MAX)))),
            ("340282366920938463463374607431768211456", Ok((false, None))),
            ("1e39", Ok((false, None))),
            ("1e999999999999", Ok((false, None))),
            ("1.5", Err(())),
            ("1e-1", Err(())),
            ("1e-999999999999", Err(())),
            (".5", Err(())),
        ] {
            assert_eq!(Decimal::parse(text).unwrap().integer().map_err(|_| ()), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "", " ", "-", ".", "e1", ".e1", "1e", "1e+", "abc", "1a", "0x1", "--1", "+-1", "- 1", "_1", "1_", "1__0",
            "1._0", "1_.0", "1_e1", "1e1_0", "1e1.5", "nan", "inf", "１", "\u{a0}1", "1\0", "1 2",
        ] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }
}
