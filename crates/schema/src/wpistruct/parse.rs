use std::collections::HashSet;

use super::Scalar;
use crate::{ParseError, ParseErrorKind};

/// A parsed schema text. Two texts that differ only in blanks are equal here.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Schema {
    /// The fields in declaration order; none is legal.
    pub fields: Vec<Declaration>,
}

/// One field as declared.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Declaration {
    /// Unique within the struct.
    pub name: String,
    /// What one element is.
    pub type_name: TypeName,
    /// The number in brackets; an array of one element is still an array.
    pub array: Option<u64>,
    /// The number after the colon.
    pub bits: Option<u32>,
    /// Names for numbers, as listed. WPILib accepts them on any type.
    pub names: Vec<(String, i64)>,
}

/// The type of a field, as far as the text alone shows.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TypeName {
    /// One of the fixed types.
    Scalar(Scalar),
    /// Any other identifier: a struct with a schema of its own.
    Struct(String),
}

impl Schema {
    /// Parses a whole schema text.
    ///
    /// ```
    /// use logpose_schema::wpistruct::Schema;
    ///
    /// let schema = Schema::parse("enum {off=0, on=1} uint8 state : 2; double x[3];")?;
    /// assert_eq!(schema.fields.len(), 2);
    /// assert!(Schema::parse("double x : 2").is_err());
    /// # Ok::<(), logpose_schema::ParseError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut parser = Parser { text, at: 0 };
        let mut fields = Vec::new();
        let mut names = HashSet::new();
        loop {
            match parser.token() {
                Token { kind: TokenKind::End, .. } => return Ok(Self { fields }),
                token if token.is(";") => {}
                token => {
                    let (at, field, last) = parser.declaration(token)?;
                    if !names.insert(field.name.clone()) {
                        return Err(ParseError { at, kind: ParseErrorKind::Duplicate { name: field.name } });
                    }
                    fields.push(field);
                    if last {
                        return Ok(Self { fields });
                    }
                }
            }
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    /// A declaration that starts with `token`: where its name is, itself, and whether the text ends with it.
    fn declaration(&mut self, mut token: Token<'a>) -> Result<(usize, Declaration, bool), ParseError> {
        let mut names = Vec::new();
        if token.is("enum") {
            token = self.token();
            if !token.is("{") {
                return Err(token.unexpected("`{` after `enum`"));
            }
        }
        if token.is("{") {
            names = self.names()?;
            token = self.token();
        }
        let type_token = token;
        let type_text = token.word("a type")?;
        let name_token = self.token();
        let name = name_token.word("a field name")?.to_owned();
        let type_name =
            Scalar::from_name(type_text).map_or_else(|| TypeName::Struct(type_text.to_owned()), TypeName::Scalar);

        let mut array = None;
        let mut bits = None;
        let mut end = self.token();
        if end.is("[") {
            array = Some(self.token().positive("array size")?);
            let close = self.token();
            if !close.is("]") {
                return Err(close.unexpected("`]`"));
            }
            end = self.token();
        } else if end.is(":") {
            let token = self.token();
            let width = token.positive("bit width")?;
            bits = Some(bit_width(type_text, &type_name, width).map_err(|kind| ParseError {
                at: if matches!(kind, ParseErrorKind::BitFieldType { .. }) { type_token.at } else { token.at },
                kind,
            })?);
            end = self.token();
        }
        let last = end.kind == TokenKind::End;
        if !last && !end.is(";") {
            return Err(end.unexpected("`;`"));
        }
        Ok((name_token.at, Declaration { name, type_name, array, bits, names }, last))
    }

    /// The pairs of an enum after its `{`, and its `}`.
    fn names(&mut self) -> Result<Vec<(String, i64)>, ParseError> {
        let mut names = Vec::new();
        let mut token = self.token();
        while !token.is("}") {
            let name = token.word("a name or `}`")?.to_owned();
            let equals = self.token();
            if !equals.is("=") {
                return Err(equals.unexpected("`=`"));
            }
            let number = self.token();
            names.push((name, number.number("a number")?));
            token = self.token();
            if token.is(",") {
                token = self.token();
            } else if !token.is("}") {
                return Err(token.unexpected("`,` or `}`"));
            }
        }
        Ok(names)
    }

    fn token(&mut self) -> Token<'a> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        let at = self.at + blank;
        let rest = rest.get(blank..).unwrap_or_default();
        let Some(&first) = rest.as_bytes().first() else {
            self.at = at;
            return Token { at, text: "", kind: TokenKind::End };
        };
        let (kind, len) = match first {
            b'-' => (TokenKind::Number, 1 + run(rest.get(1..), |byte| byte.is_ascii_digit())),
            _ if first.is_ascii_digit() => (TokenKind::Number, run(Some(rest), |byte| byte.is_ascii_digit())),
            _ if is_word(first) => (TokenKind::Word, run(Some(rest), |byte| is_word(byte) || byte.is_ascii_digit())),
            _ => (TokenKind::Mark, 1),
        };
        self.at = at + len;
        Token { at, text: rest.get(..len).unwrap_or_default(), kind }
    }
}

#[derive(Clone, Copy)]
struct Token<'a> {
    at: usize,
    text: &'a str,
    kind: TokenKind,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum TokenKind {
    Word,
    Number,
    Mark,
    End,
}

impl<'a> Token<'a> {
    fn is(self, text: &str) -> bool {
        self.text == text
    }

    fn word(self, wanted: &'static str) -> Result<&'a str, ParseError> {
        if self.kind == TokenKind::Word { Ok(self.text) } else { Err(self.unexpected(wanted)) }
    }

    fn number(self, wanted: &'static str) -> Result<i64, ParseError> {
        if self.kind != TokenKind::Number || self.text == "-" {
            return Err(self.unexpected(wanted));
        }
        self.text.parse().map_err(|_| self.error(ParseErrorKind::OutOfRange { number: clip(self.text) }))
    }

    fn positive(self, what: &'static str) -> Result<u64, ParseError> {
        let number = self.number(what)?;
        match u64::try_from(number) {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(self.error(ParseErrorKind::NotPositive { what, number: clip(self.text) })),
        }
    }

    fn unexpected(self, wanted: &'static str) -> ParseError {
        let found = match self.kind {
            TokenKind::End => "the end".to_owned(),
            _ => format!("`{}`", clip(self.text)),
        };
        self.error(ParseErrorKind::Unexpected { wanted, found })
    }

    fn error(self, kind: ParseErrorKind) -> ParseError {
        ParseError { at: self.at, kind }
    }
}

fn bit_width(type_text: &str, type_name: &TypeName, width: u64) -> Result<u32, ParseErrorKind> {
    let limit: u32 = match type_name {
        TypeName::Scalar(Scalar::Bool) => 1,
        TypeName::Scalar(scalar) if scalar.is_integer() => match scalar.size() {
            1 => 8,
            2 => 16,
            4 => 32,
            _ => 64,
        },
        _ => {
            return Err(ParseErrorKind::BitFieldType { type_name: clip(type_text) });
        }
    };
    match u32::try_from(width) {
        Ok(width) if width <= limit => Ok(width),
        _ => Err(ParseErrorKind::BitFieldWidth { type_name: clip(type_text), width, limit: limit.into() }),
    }
}

/// A letter, or any byte of a character beyond ASCII.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

/// How many bytes at the start of `text` pass.
fn run(text: Option<&str>, pass: impl Fn(u8) -> bool) -> usize {
    text.unwrap_or_default().bytes().take_while(|&byte| pass(byte)).count()
}

/// Text for a message: hostile schemas can hold tokens of any length.
fn clip(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

const SHOWN_CHARS: usize = 40;
