//! All tests of the WPILOG dialect: one binary, one module for each question.

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod corrupt;
#[cfg(test)]
mod crashes;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod log;
#[cfg(test)]
mod parallel;
#[cfg(test)]
mod quirks;
#[cfg(test)]
mod roundtrip;
#[cfg(test)]
mod support;
#[cfg(test)]
mod truncation;
#[cfg(test)]
mod vectors;
#[cfg(test)]
mod windows;
#[cfg(test)]
mod writer;
