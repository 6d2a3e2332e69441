//! Words as a tree (a Pratt parser).

use std::ops::Range;

use super::QueryError;
use super::lex::{Kind, Token, tokens};
use logpose_files::Step;

/// A part of an expression and where it stands, in bytes.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) what: What,
    pub(super) at: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    /// A number and its unit.
    Number(f64, String),
    Text(String),
    Boolean(bool),
    /// A channel, in whole or abbreviated, with fields in its bare name perhaps, and the steps behind it.
    Signal {
        name: String,
        quoted: bool,
        steps: Vec<Step>,
    },
    Not(Box<Expr>),
    Negative(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Math(Math, Box<Expr>, Box<Expr>),
    Compare(Compare, Box<Expr>, Box<Expr>),
    In(Box<Expr>, Vec<Expr>),
    Between(Box<Expr>, Box<Expr>, Box<Expr>),
    Call(Function, Vec<Expr>),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Math {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Compare {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Function {
    Abs,
    Min,
    Max,
    Sqrt,
    Floor,
    Rate,
    Delta,
    Changed,
    Age,
    Contains,
}

impl Function {
    const ALL: [(&'static str, Self); 10] = [
        ("abs", Self::Abs),
        ("min", Self::Min),
        ("max", Self::Max),
        ("sqrt", Self::Sqrt),
        ("floor", Self::Floor),
        ("rate", Self::Rate),
        ("delta", Self::Delta),
        ("changed", Self::Changed),
        ("age", Self::Age),
        ("contains", Self::Contains),
    ];

    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name)
    }

    /// How many arguments it takes: at least and at most.
    fn arguments(self) -> (usize, usize) {
        match self {
            Self::Min | Self::Max => (2, MOST_ARGUMENTS),
            Self::Contains => (2, 2),
            _ => (1, 1),
        }
    }
}

pub(super) fn parse(text: &str) -> Result<Expr, QueryError> {
    let mut parser = Parser { text, tokens: tokens(text)?, next: 0, depth: 0 };
    if let Some(token) = parser.tokens.get(MOST_WORDS) {
        return Err(QueryError::new(format!("the expression is too long (max {MOST_WORDS} words)"), token.at.clone()));
    }
    if parser.peek().kind == Kind::End {
        let error = QueryError::new("the expression is empty", 0..text.len());
        return Err(error.with_help("example: BatteryVoltage < 10"));
    }
    let expr = parser.expression(0)?;
    if parser.peek().kind == Kind::End { Ok(expr) } else { Err(parser.unexpected()) }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
}

/// How strongly operators bind.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const COMPARE: u8 = 4;
const ADD: u8 = 5;
const MULTIPLY: u8 = 6;
const SIGN: u8 = 7;

enum Operator {
    Or,
    And,
    Compare(Compare),
    In,
    Between,
    Math(Math),
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        const END: &Token = &Token { kind: Kind::End, at: 0..0 };
        self.tokens.get(self.next).or(self.tokens.last()).unwrap_or(END)
    }

    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    fn takes(&mut self, sign: &str) -> bool {
        let fits = matches!(self.peek().kind, Kind::Sign(found) if found == sign);
        self.next += usize::from(fits);
        fits
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(&self.peek().kind, Kind::Name(name) if name.eq_ignore_ascii_case(word))
    }

    fn expect(&mut self, sign: &str, what: &str) -> Result<Range<usize>, QueryError> {
        let at = self.peek().at.clone();
        if self.takes(sign) {
            return Ok(at);
        }
        Err(QueryError::new(format!("missing `{sign}` {what}, before {}", self.shown()), at))
    }

    /// The next word, for sentences.
    fn shown(&self) -> String {
        let token = self.peek();
        match token.kind {
            Kind::End => "the end".to_owned(),
            _ => format!("`{}`", self.text.get(token.at.clone()).unwrap_or("")),
        }
    }

    fn operator(&self) -> Option<(Operator, u8)> {
        Some(match &self.peek().kind {
            Kind::Sign("||") => (Operator::Or, OR),
            Kind::Sign("&&") => (Operator::And, AND),
            Kind::Sign("=" | "==") => (Operator::Compare(Compare::Equal), COMPARE),
            Kind::Sign("!=") => (Operator::Compare(Compare::Unequal), COMPARE),
            Kind::Sign("<") => (Operator::Compare(Compare::Less), COMPARE),
            Kind::Sign("<=") => (Operator::Compare(Compare::LessOrEqual), COMPARE),
            Kind::Sign(">") => (Operator::Compare(Compare::Greater), COMPARE),
            Kind::Sign(">=") => (Operator::Compare(Compare::GreaterOrEqual), COMPARE),
            Kind::Sign("+") => (Operator::Math(Math::Add), ADD),
            Kind::Sign("-") => (Operator::Math(Math::Subtract), ADD),
            Kind::Sign("*") => (Operator::Math(Math::Multiply), MULTIPLY),
            Kind::Sign("/") => (Operator::Math(Math::Divide), MULTIPLY),
            Kind::Sign("%") => (Operator::Math(Math::Remainder), MULTIPLY),
            Kind::Name(_) if self.is_word("or") => (Operator::Or, OR),
            Kind::Name(_) if self.is_word("and") => (Operator::And, AND),
            Kind::Name(_) if self.is_word("in") => (Operator::In, COMPARE),
            Kind::Name(_) if self.is_word("between") => (Operator::Between, COMPARE),
            _ => return None,
        })
    }

    /// An expression whose operators all bind more strongly than `min`.
    fn expression(&mut self, min: u8) -> Result<Expr, QueryError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(QueryError::new("the expression is nested too deeply", self.peek().at.clone()));
        }
        let mut left = self.value()?;
        while let Some((operator, strength)) = self.operator() {
            if strength <= min {
                break;
            }
            self.next += 1;
            let start = left.at.start;
            let left_one = Box::new(left);
            let what = match operator {
                Operator::Or => What::Or(left_one, self.right(OR)?),
                Operator::And => What::And(left_one, self.right(AND)?),
                Operator::Math(math) => What::Math(math, left_one, self.right(strength)?),
                Operator::Compare(compare) => What::Compare(compare, left_one, self.right(COMPARE)?),
                Operator::In => What::In(left_one, self.list()?),
                Operator::Between => {
                    let low = self.right(COMPARE)?;
                    if !self.is_word("and") {
                        let message = format!("missing `and` after `between …`, before {}", self.shown());
                        let error = QueryError::new(message, self.peek().at.clone());
                        return Err(error.with_help("write: x between 1 and 2"));
                    }
                    self.next += 1;
                    What::Between(left_one, low, self.right(COMPARE)?)
                }
            };
            if strength == COMPARE
                && let Some((_, COMPARE)) = self.operator()
            {
                let error = QueryError::new("comparisons cannot be chained", self.peek().at.clone());
                return Err(error.with_help("write: x between 1 and 2, or: 1 < x and x < 2"));
            }
            left = Expr { what, at: start..self.end() };
        }
        self.depth -= 1;
        Ok(left)
    }

    fn right(&mut self, min: u8) -> Result<Box<Expr>, QueryError> {
        self.expression(min).map(Box::new)
    }

    /// Where the word before ended.
    fn end(&self) -> usize {
        self.next.checked_sub(1).and_then(|place| self.tokens.get(place)).map_or(0, |token| token.at.end)
    }

    fn value(&mut self) -> Result<Expr, QueryError> {
        let token = self.take();
        let start = token.at.start;
        let what = match token.kind {
            Kind::Number(number, unit) => What::Number(number, unit),
            Kind::Text(text) => What::Text(text),
            Kind::Quoted(name) => What::Signal { name, quoted: true, steps: self.steps()? },
            Kind::Sign("(") => {
                let inner = self.expression(0)?;
                self.expect(")", "to close the bracket")?;
                return Ok(Expr { at: start..self.end(), ..inner });
            }
            Kind::Sign("-") => What::Negative(self.right(SIGN)?),
            Kind::Sign("!") => What::Not(self.right(SIGN)?),
            Kind::Name(name) => match name.to_ascii_lowercase().as_str() {
                "not" => What::Not(self.right(NOT)?),
                "true" => What::Boolean(true),
                "false" => What::Boolean(false),
                "and" | "or" | "in" | "between" => {
                    self.next -= 1;
                    return Err(self.no_value());
                }
                _ if matches!(self.peek().kind, Kind::Sign("(")) => self.call(&name, &token.at)?,
                _ => What::Signal { name, quoted: false, steps: self.steps()? },
            },
            Kind::Field(_) | Kind::Sign(_) | Kind::End => {
                self.next -= 1;
                return Err(self.no_value());
            }
        };
        Ok(Expr { what, at: start..self.end() })
    }

    /// `[0].x`, as far as they go.
    fn steps(&mut self) -> Result<Vec<Step>, QueryError> {
        let mut steps = Vec::new();
        loop {
            if self.takes("[") {
                let token = self.take();
                match token.kind {
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked beside it")]
                    Kind::Number(n, unit) if unit.is_empty() && n.fract() == 0.0 && n < 1e9 => {
                        steps.push(Step::Element(n as usize));
                    }
                    _ => {
                        let error = QueryError::new("expected an element number in brackets", token.at);
                        return Err(error.with_help("the first one is [0]"));
                    }
                }
                self.expect("]", "to close the bracket")?;
            } else if let Kind::Field(name) = &self.peek().kind {
                steps.push(Step::Field(name.clone()));
                self.next += 1;
            } else {
                return Ok(steps);
            }
        }
    }

    /// `(a, b, …)`
    fn list(&mut self) -> Result<Vec<Expr>, QueryError> {
        self.expect("(", "to open the list")?;
        let mut items = Vec::new();
        loop {
            items.push(self.expression(0)?);
            if items.len() > MOST_ARGUMENTS {
                return Err(QueryError::new(format!("more than {MOST_ARGUMENTS} items"), self.peek().at.clone()));
            }
            if !self.takes(",") {
                self.expect(")", "to close the list")?;
                return Ok(items);
            }
        }
    }

    fn call(&mut self, name: &str, at: &Range<usize>) -> Result<What, QueryError> {
        let known = Function::ALL.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
        let Some((_, function)) = known else {
            let names: Vec<_> = Function::ALL.iter().map(|(name, _)| *name).collect();
            let error = QueryError::new(format!("unknown function {name:?}"), at.clone());
            return Err(error.with_help(format!("expected one of {}", names.join(", "))));
        };
        let arguments = self.list()?;
        let (min, most) = function.arguments();
        if arguments.len() < min || arguments.len() > most {
            let wanted = match (min, most) {
                (1, 1) => "one argument".to_owned(),
                (2, 2) => "two arguments".to_owned(),
                _ => format!("at least {min} arguments"),
            };
            let message = format!("{} takes {wanted}, not {}", function.name(), arguments.len());
            return Err(QueryError::new(message, at.start..self.end()));
        }
        Ok(What::Call(*function, arguments))
    }

    fn no_value(&self) -> QueryError {
        let after = match self.next.checked_sub(1).and_then(|place| self.tokens.get(place)) {
            Some(token) => format!(" after `{}`", self.text.get(token.at.clone()).unwrap_or("")),
            None => String::new(),
        };
        let message = format!("missing value{after}, before {}", self.shown());
        QueryError::new(message, self.peek().at.clone())
    }

    fn unexpected(&self) -> QueryError {
        let token = self.peek();
        let error = |message: String| QueryError::new(message, token.at.clone());
        match &token.kind {
            Kind::Sign(sign @ (")" | "]")) => error(format!("unmatched `{sign}`")),
            Kind::Name(name) if name.starts_with('/') => error(format!("missing operator before {}", self.shown()))
                .with_help("if `/` is a division here, put spaces around it"),
            Kind::Name(_) if self.is_word("is") => {
                error("unknown operator `is`".to_owned()).with_help("write `=` instead")
            }
            Kind::Name(_) if self.is_word("not") => {
                error("put `not` before the condition".to_owned()).with_help("write: not (x in (1, 2))")
            }
            _ => error(format!("missing operator before {}", self.shown()))
                .with_help("put names with spaces in double quotes"),
        }
    }
}

/// Deeper nesting is no question of a person.
const DEEPEST: usize = 64;
const MOST_ARGUMENTS: usize = 1000;
/// A long row of operators is a deep tree too.
const MOST_WORDS: usize = 2000;

#[cfg(test)]
mod tests {
    use super::{Expr, What, parse};

    /// The tree, with brackets around everything.
    fn shown(expr: &Expr) -> String {
        match &expr.what {
            What::Number(x, _) => x.to_string(),
            What::Text(text) => format!("'{text}'"),
            What::Boolean(b) => b.to_string(),
            What::Signal { name, steps, .. } => {
                format!("{name}{}", steps.iter().map(ToString::to_string).collect::<String>())
            }
            What::Not(x) => format!("(not {})", shown(x)),
            What::Negative(x) => format!("(-{})", shown(x)),
            What::And(a, b) => format!("({} and {})", shown(a), shown(b)),
            What::Or(a, b) => format!("({} or {})", shown(a), shown(b)),
            What::Math(math, a, b) => format!("({} {math:?} {})", shown(a), shown(b)),
            What::Compare(compare, a, b) => format!("({} {compare:?} {})", shown(a), shown(b)),
            What::In(a, list) => format!("({} in {})", shown(a), list.iter().map(shown).collect::<Vec<_>>().join(",")),
            What::Between(a, b, c) => format!("({} between {} and {})", shown(a), shown(b), shown(c)),
            What::Call(f, list) => format!("{}({})", f.name(), list.iter().map(shown).collect::<Vec<_>>().join(",")),
        }
    }

    #[test]
    fn operators_bind_as_in_mathematics() {
        let cases = [
            ("a < 1 or b > 2 and not c", "((a Less 1) or ((b Greater 2) and (not c)))"),
            ("a - b - c * 2 = -d", "(((a Subtract b) Subtract (c Multiply 2)) Equal (-d))"),
            ("not a = b", "(not (a Equal b))"),
            ("!a && b || c", "(((not a) and b) or c)"),
            ("x between 1 and 2 and y", "((x between 1 and 2) and y)"),
            ("mode in ('auto', 'test')", "(mode in 'auto','test')"),
            ("abs(rate(\"my x\"[0].y)) >= 5m/s", "(abs(rate(my x[0].y)) GreaterOrEqual 5)"),
            ("(a or b) and c", "((a or b) and c)"),
            ("a AND b Or c", "((a and b) or c)"),
        ];
        cases.iter().for_each(|(text, tree)| assert_eq!(shown(&parse(text).unwrap()), *tree, "{text}"));
    }

    #[test]
    fn errors_point_at_their_place() {
        let cases = [
            ("", 0..0, "the expression is empty"),
            ("a <", 3..3, "missing value after `<`, before the end"),
            ("a < and b", 4..7, "missing value after `<`, before `and`"),
            ("(a", 2..2, "missing `)` to close the bracket, before the end"),
            ("a)", 1..2, "unmatched `)`"),
            ("a b", 2..3, "missing operator before `b`"),
            ("5 /x", 2..4, "missing operator before `/x`"),
            ("1 < x < 2", 6..7, "comparisons cannot be chained"),
            ("x between 1 or 2", 12..14, "missing `and` after `between …`, before `or`"),
            ("foo(x)", 0..3, "unknown function \"foo\""),
            ("abs(x, y) > 1", 0..9, "abs takes one argument, not 2"),
            ("x[y]", 2..3, "expected an element number in brackets"),
            ("* 5", 0..1, "missing value, before `*`"),
        ];
        for (text, at, message) in cases {
            let error = parse(text).unwrap_err();
            assert_eq!((&*error.message, error.at), (message, at), "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_and_not_fatal() {
        for text in ["(".repeat(1000), "not ".repeat(1000), "-".repeat(1000)] {
            assert_eq!(parse(&text).unwrap_err().message, "the expression is nested too deeply");
        }
        assert_eq!(parse(&"a or ".repeat(100_000)).unwrap_err().message, "the expression is too long (max 2000 words)");
    }
}
