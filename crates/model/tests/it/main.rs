//! Arrays against what they were made of.
#![cfg(test)]
#![allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small")]

mod corpus;
mod long;
mod nested;
mod plain;
mod support;
