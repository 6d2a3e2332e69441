//! The command line, from outside.

mod behaviour;
mod docs;
mod json;
mod logs;
mod run;
mod transcripts;
