use std::time::Duration;

use super::event::Change;
use super::job::Wish;
use crate::wire::Control;

/// Why a job could not be done, in a sentence for people.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// Not one frame came.
    #[error(
        "no answer from a VESC within {seconds:.1} s{}; check that the board is on and that no other program uses the link. \
         The bridge of VESC Tool only answers while VESC Tool is connected to a board",
        .skipped.map(|n| format!(", only {n} invalid bytes (perhaps the wrong baud rate)")).unwrap_or_default(),
        seconds = .after.as_secs_f64()
    )]
    Nobody {
        /// How long it was asked.
        after: Duration,
        /// Bytes that came and made no sense.
        skipped: Option<u64>,
    },
    /// A VESC answers, and Refloat does not.
    #[error(
        "{device} answers, but Refloat does not{}; check that the package is installed and that this is the right board",
        through(.nodes.as_deref())
    )]
    NoRefloat {
        /// What answers.
        device: String,
        /// The CAN nodes that were asked; `None` if there was no answer to what they are.
        nodes: Option<Vec<u8>>,
    },
    /// More than one Refloat answers on the CAN bus.
    #[error("several boards answer on the CAN bus: {}; select one with --can ID", list(.boards))]
    Several {
        /// Their CAN ids and what they are.
        boards: Vec<(u8, String)>,
    },
    /// The package is older than the recorder.
    #[error("{package} cannot record: recording needs Refloat 1.1")]
    TooOld {
        /// What is there.
        package: String,
    },
    /// The firmware has no memory for recordings.
    #[error(
        "{package} can record, but the firmware {firmware} reserves no memory for it: \
         install a recorder firmware for this controller (Refloat Extras, named rflt-xtras)"
    )]
    NoBuffer {
        /// What is there.
        package: String,
        /// The firmware of the controller, if it is known.
        firmware: String,
    },
    /// This version cannot do that.
    #[error("{what} needs Refloat {since}; the board has {package}")]
    Unsupported {
        /// What was wanted.
        what: String,
        /// Since when there is such a thing.
        since: &'static str,
        /// What is there.
        package: String,
    },
    /// The board has answered before, and does not any more.
    #[error("the board stopped answering: requested {what} {tries} times in {:.1} s", .after.as_secs_f64())]
    Silent {
        /// What was asked for.
        what: String,
        /// How often.
        tries: u32,
        /// In which time.
        after: Duration,
    },
    /// The board answers, and what was wanted is not so.
    #[error("the board did not accept `{}`, sent {tries} times", Wish(*.control))]
    NotTaken {
        /// What was wanted.
        control: Control,
        /// How often it was sent.
        tries: u32,
    },
    /// It would have to be stopped.
    #[error("the board is recording, and a download would stop it; stop the recording first, or allow it")]
    Recording,
    /// It has another recording.
    #[error("{0}; the partial download cannot be continued, start a new one")]
    Changed(Change),
    /// It claims more than there can be.
    #[error("the board reports {size} samples of {sample_len} bytes, more than the limit of {limit} bytes")]
    TooLarge {
        /// How many samples.
        size: u32,
        /// How long each is.
        sample_len: usize,
        /// How many bytes are permitted.
        limit: usize,
    },
    /// It does not give what it claims to have.
    #[error("the board reports {size} samples but returns none at {at}")]
    Missing {
        /// How many samples it claims to hold.
        size: u32,
        /// Where it gives none.
        at: u32,
    },
    /// What is held is no part of a recording.
    #[error("the partial download is invalid: {0}")]
    Held(&'static str),
    /// Somebody did not want it any more.
    #[error("aborted")]
    Aborted,
}

fn through(nodes: Option<&[u8]>) -> String {
    match nodes {
        None => String::new(),
        Some([]) => ", and its CAN bus is empty".to_owned(),
        Some([one]) => format!(", nor over CAN node {one}"),
        Some(all) => {
            format!(", nor over CAN nodes {}", all.iter().map(u8::to_string).collect::<Vec<_>>().join(", "))
        }
    }
}

fn list(boards: &[(u8, String)]) -> String {
    boards.iter().map(|(id, what)| format!("{id} ({what})")).collect::<Vec<_>>().join(", ")
}
