//! The documentation says what the code does.

use std::fs;

use logpose::refloat::{Cause, Rule, Thresholds};

fn page() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/refloat-explain.md")).unwrap()
}

/// The cells of the rows that begin with a name in backticks.
fn rows(page: &str) -> Vec<(String, Vec<String>)> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| {
        let (name, rest) = row.split_once('`')?;
        Some((name.to_owned(), rest.split('|').skip(1).map(|cell| cell.trim().to_owned()).collect()))
    })
    .collect()
}

#[test]
fn every_threshold_is_documented_with_its_value() {
    let page = page();
    let rows = rows(&page);
    for (name, value) in Thresholds::default().named() {
        let (_, cells) = rows.iter().find(|(row, _)| row == name).unwrap_or_else(|| panic!("{name} is not documented"));
        assert_eq!(cells[0].parse::<f64>().ok(), Some(value), "{name}");
    }
}

#[test]
fn every_rule_and_every_cause_is_documented() {
    let page = page();
    let rows = rows(&page);
    let has = |name: &str| rows.iter().any(|(row, _)| row == name);
    Rule::ALL.iter().for_each(|rule| assert!(has(rule.id()), "{}", rule.id()));
    Cause::ALL.iter().for_each(|cause| assert!(has(cause.name()), "{cause}"));
}

#[test]
fn ids_are_unique() {
    let mut ids: Vec<_> = Rule::ALL.iter().map(|rule| rule.id()).chain(Cause::ALL.iter().map(|c| c.name())).collect();
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    // A wheelslip is both.
    assert_eq!(ids.len(), count - 1);
}
