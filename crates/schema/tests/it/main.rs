//! All integration tests, in one binary.
#![cfg(test)]

mod corpus;
mod crashes;
mod guess;
mod hostile;
mod json;
mod layout;
mod objects;
mod parse;
mod photon;
mod proto;
mod registry;
mod support;
mod tree_shape;
mod vectors;
