use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use regex::RegexSet;

use crate::Error;

/// Which channels are wanted, by name.
///
/// A pattern is a glob, in which `*` also matches `/` (`/Drive/*`, `*Voltage`, `/Module{0,1}/*`), or a regular
/// expression behind `re:`. A channel's whole name fits also where it has brackets in it. A channel is wanted if it fits any pattern to include, or there is none, and fits
/// no pattern to exclude.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    include: Patterns,
    exclude: Patterns,
}

impl Filter {
    /// A filter from patterns.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self, Error> {
        Ok(Self { include: Patterns::new(include)?, exclude: Patterns::new(exclude)? })
    }

    /// Whether a channel of that name is wanted.
    #[must_use]
    pub fn accepts(&self, name: &str) -> bool {
        (self.include.is_empty() || self.include.fit(name)) && !self.exclude.fit(name)
    }

    /// Whether every channel is wanted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty()
    }
}

#[derive(Clone, Debug, Default)]
struct Patterns {
    names: Vec<String>,
    globs: GlobSet,
    expressions: RegexSet,
}

impl Patterns {
    fn new(patterns: &[String]) -> Result<Self, Error> {
        let (expressions, globs): (Vec<&String>, Vec<&String>) =
            patterns.iter().partition(|p| p.starts_with(EXPRESSION));
        let bad = |pattern: &str, error: &dyn std::fmt::Display| {
            Error::usage(format!("invalid pattern {pattern:?}: {error}"))
        };
        let mut set = GlobSetBuilder::new();
        for pattern in globs {
            let glob = GlobBuilder::new(pattern).literal_separator(false).build();
            set.add(glob.map_err(|error| bad(pattern, error.kind()).with_help(HELP))?);
        }
        let globs = set.build().map_err(|error| Error::usage(error.to_string()))?;
        let bare = expressions.iter().filter_map(|pattern| pattern.strip_prefix(EXPRESSION));
        let expressions =
            RegexSet::new(bare).map_err(|error| Error::usage(format!("invalid regular expression: {error}")))?;
        Ok(Self { names: patterns.to_vec(), globs, expressions })
    }

    fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    fn fit(&self, name: &str) -> bool {
        self.globs.is_match(name) || self.expressions.is_match(name) || self.names.iter().any(|known| known == name)
    }
}

const EXPRESSION: &str = "re:";
const HELP: &str =
    "`*` matches any characters, `?` one, `[ab]` a or b, `\\[` a bracket; or use re: and a regular expression";
