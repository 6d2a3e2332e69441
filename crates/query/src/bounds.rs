//! How large and how deep a question may be.
//!
//! Parsing, planning and running a question walk its tree by recursion, and so does dropping it. Brackets are counted by
//! the parser; a chain without any (`1 + 1 + …`, `UNION ALL`, joins, one `WITH` after the other) makes a tree that is as
//! deep as it is long. So chains are counted too: roughly before parsing, exactly afterwards.
//!
//! The fuzz target `questions_sql` compiles this file by itself, with the parser and without DataFusion.

use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::Error;
use crate::sqlparser::ast::{Expr, ObjectName, Query, Select, Statement, Visit, Visitor};
use crate::sqlparser::dialect::GenericDialect;
use crate::sqlparser::keywords::Keyword;
use crate::sqlparser::tokenizer::{Token, Tokenizer};

/// Refuses a text that cannot be parsed within bounds. What is no SQL at all is left to the parser.
pub(crate) fn check_text(sql: &str) -> Result<(), Error> {
    if sql.len() > LONGEST {
        let message = format!("the query has {} bytes, more than {LONGEST}", sql.len());
        return Err(Error::new("too-complex", message).with_help("split it into several queries"));
    }
    match Tokenizer::new(&GenericDialect {}, sql).tokenize() {
        Ok(tokens) if longest_chain(&tokens) > LONGEST_CHAIN => Err(too_deep()),
        Ok(tokens) if nested_cases(&tokens) > MOST_CASES => {
            let message = format!("the query nests CASE too deeply: expected at most {MOST_CASES} levels");
            Err(Error::new("too-complex", message).with_help("add WHEN branches to one CASE instead"))
        }
        _ => Ok(()),
    }
}

/// Refuses a statement that cannot be planned within bounds.
pub(crate) fn check_statement(statement: &Statement) -> Result<(), Error> {
    match statement.visit(&mut Measure::default()) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

fn too_deep() -> Error {
    let message = format!("the query is too deep: expected chains of at most {DEEPEST} operators");
    Error::new("too-complex", message).with_help("use IN (…) instead of a chain of OR, or split the query")
}

/// The longest chain of tokens that may each make the tree a level deeper. Commas and `WHEN` end a chain: what stands
/// between them is a list. Operators between queries go on across them.
fn longest_chain(tokens: &[Token]) -> usize {
    /// What stands between two brackets.
    #[derive(Default)]
    struct Level {
        queries: usize,
        chain: usize,
        longest: usize,
    }
    impl Level {
        fn cut(&mut self) {
            self.longest = self.longest.max(self.chain);
            self.chain = 0;
        }
        fn depth(&self) -> usize {
            self.queries + self.longest.max(self.chain)
        }
    }
    let (mut open, mut level, mut longest) = (Vec::new(), Level::default(), 0);
    for token in tokens {
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => open.push(std::mem::take(&mut level)),
            Token::RParen | Token::RBracket | Token::RBrace => {
                let inner = level.depth();
                longest = longest.max(inner);
                level = open.pop().unwrap_or_default();
                level.chain += 1 + inner;
            }
            Token::Comma => level.cut(),
            Token::SemiColon => {
                longest = longest.max(level.depth());
                (open, level) = (Vec::new(), Level::default());
            }
            Token::Word(word) => match word.keyword {
                Keyword::NoKeyword => {}
                Keyword::WHEN => level.cut(),
                Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT | Keyword::MINUS => {
                    level.queries += 1;
                    level.cut();
                }
                _ => level.chain += 1,
            },
            Token::Whitespace(_) | Token::EOF | Token::Number(..) => {}
            Token::SingleQuotedString(_) | Token::DoubleQuotedString(_) | Token::DollarQuotedString(_) => {}
            _ => level.chain += 1,
        }
    }
    // Brackets that were never closed go on to the end.
    open.into_iter().map(|level| level.depth() + 1).sum::<usize>().max(longest) + level.depth()
}

/// How deep `CASE` is nested. The parser's time doubles with each level.
fn nested_cases(tokens: &[Token]) -> usize {
    let (mut nested, mut deepest) = (0_usize, 0);
    for token in tokens {
        match token {
            Token::Word(word) if word.keyword == Keyword::CASE => nested += 1,
            Token::Word(word) if word.keyword == Keyword::END => nested = nested.saturating_sub(1),
            Token::SemiColon => nested = 0,
            _ => {}
        }
        deepest = deepest.max(nested);
    }
    deepest
}

/// What a statement is made of.
#[derive(Default)]
struct Measure {
    depth: usize,
    expressions: usize,
    queries: Vec<Frame>,
}

/// One query.
#[derive(Default)]
struct Frame {
    /// Tables and `SELECT`s, each as often as it is planned.
    parts: usize,
    /// The queries that `WITH` names here, by their place in memory.
    named: Vec<(*const Query, String)>,
    /// Their parts: a named query is planned anew for each use.
    known: HashMap<String, usize>,
}

impl Measure {
    fn add(&mut self, parts: usize) -> ControlFlow<Error> {
        let Some(frame) = self.queries.last_mut() else { return ControlFlow::Continue(()) };
        frame.parts = frame.parts.saturating_add(parts);
        if frame.parts <= MOST_PARTS {
            return ControlFlow::Continue(());
        }
        let message = format!("the query is too large: more than {MOST_PARTS} tables and SELECTs, WITH included");
        ControlFlow::Break(Error::new("too-complex", message).with_help("split it into several queries"))
    }
}

impl Visitor for Measure {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        let named = query.with.iter().flat_map(|with| &with.cte_tables);
        let named = named.map(|one| (&raw const *one.query, one.alias.name.value.to_lowercase())).collect();
        self.queries.push(Frame { named, ..Frame::default() });
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        let parts = self.queries.pop().map_or(0, |frame| frame.parts);
        if let Some(outer) = self.queries.last_mut()
            && let Some((_, name)) = outer.named.iter().find(|(place, _)| std::ptr::eq(*place, query))
        {
            outer.known.insert(name.clone(), parts);
            return ControlFlow::Continue(());
        }
        self.add(parts)
    }

    fn pre_visit_select(&mut self, _: &Select) -> ControlFlow<Error> {
        self.add(1)
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<Error> {
        let name = relation.to_string().replace('"', "").to_lowercase();
        let known = self.queries.iter().rev().find_map(|frame| frame.known.get(&name).copied());
        self.add(known.unwrap_or(1))
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Error> {
        self.depth += 1;
        self.expressions += 1;
        // A list here, but each step is a call around the last in the plan.
        let steps = match expr {
            Expr::CompoundFieldAccess { access_chain, .. } => access_chain.len(),
            Expr::CompoundIdentifier(names) => names.len(),
            _ => 0,
        };
        if self.depth.saturating_add(steps) > DEEPEST {
            return ControlFlow::Break(too_deep());
        }
        if self.expressions > MOST_EXPRESSIONS {
            let message = format!("the query is too large: more than {MOST_EXPRESSIONS} values and operators");
            return ControlFlow::Break(Error::new("too-complex", message).with_help("split it into several queries"));
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, _: &Expr) -> ControlFlow<Error> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }
}

/// Bytes of a text.
const LONGEST: usize = 1 << 20;
/// Levels of an expression.
const DEEPEST: usize = 1000;
/// Tokens in a row that may make a level each: a comparison of a column of a table has three for one.
const LONGEST_CHAIN: usize = 4 * DEEPEST;
const MOST_CASES: usize = 8;
const MOST_PARTS: usize = 500;
const MOST_EXPRESSIONS: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::{LONGEST_CHAIN, check_text, longest_chain};
    use crate::sqlparser::dialect::GenericDialect;
    use crate::sqlparser::tokenizer::Tokenizer;

    fn chain(sql: &str) -> usize {
        longest_chain(&Tokenizer::new(&GenericDialect {}, sql).tokenize().unwrap())
    }

    #[test]
    fn lists_are_no_chains() {
        let many = |one: &str| one.repeat(10_000);
        for sql in [
            format!("SELECT a {}", many(", -a.b")),
            format!("SELECT a IN (1{})", many(", 2")),
            format!("SELECT CASE {} END", many("WHEN a = 1 THEN 2 ")),
            many("SELECT 1 + 1; "),
            format!("SELECT '{}'", many("+ ")),
        ] {
            assert!(chain(&sql) < 20 && check_text(&sql).is_ok(), "{:?}: {}", sql.get(..30), chain(&sql));
        }
    }

    #[test]
    fn chains_are_counted_through_brackets() {
        for (sql, least) in [
            (format!("SELECT 1{}", " + 1".repeat(5000)), 5000),
            (format!("SELECT 1{}", ", 2 UNION SELECT 1".repeat(5000)), 5000),
            (format!("SELECT {}1", "(1 + ".repeat(3000)), 6000),
            (format!("SELECT {}1{}", "f(1 + ".repeat(3000), ")".repeat(3000)), 6000),
        ] {
            assert!(chain(&sql) >= least, "{:?}: {}", sql.get(..30), chain(&sql));
            assert_eq!(check_text(&sql).unwrap_err().code, "too-complex");
        }
        assert!(chain(&format!("SELECT a{}", " OR t.a = 1".repeat(990))) < LONGEST_CHAIN);
    }
}
