//! An expression as words.

use std::ops::Range;

use super::QueryError;

/// A word and where it stands, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) at: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A number, and the unit behind it.
    Number(f64, String),
    /// A text in single quotes.
    Text(String),
    /// A bare name, a keyword or a function.
    Name(String),
    /// A name in double quotes.
    Quoted(String),
    /// `.x` behind a bracket or a quoted name.
    Field(String),
    /// An operator, bracket or comma.
    Sign(&'static str),
    /// Behind the last word.
    End,
}

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, QueryError> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next()?;
        let end = token.kind == Kind::End;
        tokens.push(token);
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Takes characters as long as they fit.
    fn take(&mut self, fits: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or("")
    }

    fn next(&mut self) -> Result<Token, QueryError> {
        self.take(char::is_whitespace);
        let start = self.at;
        let mut chars = self.rest().chars();
        let (first, second) = (chars.next(), chars.next());
        let begins_name = |c: char| c.is_ascii_alphabetic() || c == '_';
        let kind = match (first, second) {
            (None, _) => Kind::End,
            (Some('\''), _) => Kind::Text(self.quoted('\'', "text")?),
            (Some('"'), _) => Kind::Quoted(self.quoted('"', "name")?),
            (Some(c), _) if c.is_ascii_digit() => self.number(start)?,
            (Some('.'), Some(c)) if c.is_ascii_digit() => self.number(start)?,
            (Some('.'), Some(c)) if begins_name(c) => {
                self.at += 1;
                Kind::Field(self.take(|c| c.is_ascii_alphanumeric() || c == '_').to_owned())
            }
            (Some('/'), Some(c)) if begins_name(c) || c == '.' || c == '/' => Kind::Name(self.name()),
            (Some(c), _) if begins_name(c) => Kind::Name(self.name()),
            (Some(c), _) => match SIGNS.iter().find(|sign| self.rest().starts_with(**sign)) {
                Some(sign) => {
                    self.at += sign.len();
                    Kind::Sign(sign)
                }
                None => {
                    let end = start + c.len_utf8();
                    let error = QueryError::new(format!("unexpected {c:?}"), start..end);
                    return Err(
                        error.with_help("put names with such characters in double quotes and text in single quotes")
                    );
                }
            },
        };
        Ok(Token { kind, at: start..self.at })
    }

    fn name(&mut self) -> String {
        self.take(|c| c.is_ascii_alphanumeric() || "/_.:-".contains(c)).to_owned()
    }

    /// Takes what is between two quotes; a doubled one stands for itself.
    fn quoted(&mut self, quote: char, what: &str) -> Result<String, QueryError> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            text.push_str(self.take(|c| c != quote));
            if self.rest().is_empty() {
                let message = format!("unterminated {what}");
                return Err(QueryError::new(message, start..self.at).with_help(format!("close it with {quote}")));
            }
            self.at += 1;
            if !self.rest().starts_with(quote) {
                return Ok(text);
            }
            text.push(quote);
            self.at += 1;
        }
    }

    fn number(&mut self, start: usize) -> Result<Kind, QueryError> {
        let digit = |c: char| c.is_ascii_digit();
        self.take(digit);
        if self.rest().starts_with('.') {
            self.at += 1;
            self.take(digit);
        }
        let exponent = self.rest().strip_prefix(['e', 'E']).unwrap_or("");
        let signed = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if signed.starts_with(digit) {
            self.at += 1 + exponent.len() - signed.len();
            self.take(digit);
        }
        let digits = self.text.get(start..self.at).unwrap_or("");
        let number = digits.parse::<f64>();
        let number = number.map_err(|_| QueryError::new(format!("{digits:?} is not a number"), start..self.at))?;
        let unit = if self.rest().starts_with(|c: char| c.is_alphabetic() || c == '°') {
            self.take(|c| c.is_alphanumeric() || "/^°²³".contains(c)).to_owned()
        } else {
            String::new()
        };
        Ok(Kind::Number(number, unit))
    }
}

/// Longer ones before those that they begin with.
const SIGNS: [&str; 20] =
    ["&&", "||", "==", "!=", "<=", ">=", "<", ">", "=", "!", "+", "-", "*", "/", "%", "(", ")", "[", "]", ","];

#[cfg(test)]
mod tests {
    use super::{Kind, tokens};

    fn kinds(text: &str) -> Vec<Kind> {
        tokens(text).unwrap().into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn names_numbers_and_operators_part_at_blanks() {
        let name = |text: &str| Kind::Name(text.into());
        assert_eq!(
            kinds("/a/b-c.x - 2.5e3V/s"),
            [name("/a/b-c.x"), Kind::Sign("-"), Kind::Number(2500.0, "V/s".into()), Kind::End]
        );
        assert_eq!(kinds("a / b"), [name("a"), Kind::Sign("/"), name("b"), Kind::End]);
        assert_eq!(kinds("x[0].y"), {
            let [open, close] = ["[", "]"].map(Kind::Sign);
            [name("x"), open, Kind::Number(0.0, String::new()), close, Kind::Field("y".into()), Kind::End]
        });
        assert_eq!(kinds("'it''s' \"a b\""), [Kind::Text("it's".into()), Kind::Quoted("a b".into()), Kind::End]);
        assert_eq!(
            kinds("5<=.5"),
            [Kind::Number(5.0, String::new()), Kind::Sign("<="), Kind::Number(0.5, String::new()), Kind::End]
        );
    }

    #[test]
    fn what_is_no_word_is_pointed_at() {
        for (text, at) in [("a $ b", 2..3), ("a = 'x", 4..6), ("\"x", 0..2), ("a ä", 2..4)] {
            assert_eq!(tokens(text).unwrap_err().at, at, "{text}");
        }
    }
}
