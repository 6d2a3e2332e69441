//! All tests of the CARLA dialect: one binary, one module for each question.
#![cfg(test)]
#![allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small")]

/// One check as two tests: on our own recordings in every checkout, and on real ones where the corpus of real logs is.
macro_rules! on_recordings {
    ($check:ident: $own:ident, $real:ident) => {
        #[test]
        fn $own() {
            crate::fixtures::own().iter().for_each(|(name, log)| $check(name, log));
        }

        #[test]
        #[ignore = "needs the corpus of real logs"]
        fn $real() {
            crate::fixtures::real().iter().for_each(|(name, log)| $check(name, log));
        }
    };
}

mod corrupt;
mod crashes;
mod edit;
mod fixtures;
mod golden;
mod model;
mod model_kit;
mod parallel;
mod queries;
mod recover;
mod replay_trace;
mod replayed;
mod state;
mod stream;
mod tracks;
mod vectors;
mod writer;
