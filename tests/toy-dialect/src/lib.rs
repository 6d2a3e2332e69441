#![doc = include_str!("../README.md")]

mod dialect;
mod encode;
#[cfg(test)]
mod tests;
mod walk;
mod wire;

pub use dialect::Toy;
