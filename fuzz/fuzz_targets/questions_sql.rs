#![no_main]
//! The bounds on SQL, and the parser that they protect. What DataFusion makes of a query is tested in `crates/query`, which
//! has DataFusion compiled already.

use std::thread;

use ::sqlparser; // also for `bounds`, as `crate::sqlparser`
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

#[path = "../../crates/query/src/bounds.rs"]
mod bounds;

/// What `bounds` refuses a query with.
pub struct Error;

impl Error {
    fn new(_: &str, _: impl Into<String>) -> Self {
        Self
    }

    fn with_help(self, _: &str) -> Self {
        self
    }
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(sql) = str::from_utf8(data) else { return };
    if bounds::check_text(sql).is_err() {
        return;
    }
    // Parsing, visiting, copying and dropping a tree are recursions. The engine's threads have four times that stack.
    thread::scope(|scope| {
        let parse = || {
            let statements = Parser::parse_sql(&GenericDialect {}, sql).unwrap_or_default();
            for statement in statements.iter().filter(|statement| bounds::check_statement(statement).is_ok()) {
                drop(statement.clone());
            }
        };
        thread::Builder::new().stack_size(16 << 20).spawn_scoped(scope, parse).expect("a thread");
    });
});
