//! All tests of the CARLA dialect: one binary, one module for each question.

#[cfg(test)]
mod corrupt;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod edit;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod recover;
#[cfg(test)]
mod vectors;
#[cfg(test)]
mod writer;
