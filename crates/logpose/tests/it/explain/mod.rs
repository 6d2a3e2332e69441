//! Why boards stopped.

mod any;
mod boards;
mod documented;
mod logs;
mod made;
mod rules;

use logpose::refloat::{Cause, Explanation, Options, Rule, Series, explain_series};

fn explained(series: &Series) -> Explanation {
    explain_series(series, &Options::default())
}

fn cause(series: &Series) -> Cause {
    explained(series).verdict.cause
}

fn rules(explanation: &Explanation) -> Vec<Rule> {
    explanation.lines.iter().map(|line| line.rule).collect()
}
