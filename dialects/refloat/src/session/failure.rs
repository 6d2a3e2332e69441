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
        "nobody answers: no VESC was heard in {seconds:.1} s{}; is the board on, and does no other program use the link? \
         (The bridge of VESC Tool answers only while VESC Tool is connected to a board.)",
        .skipped.map(|n| format!(", only {n} bytes that are no frames (another baud rate?)")).unwrap_or_default(),
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
        "{device} answers, and no Refloat does{}; is the package installed, and is this the right board?",
        through(.nodes.as_deref())
    )]
    NoRefloat {
        /// What answers.
        device: String,
        /// The CAN nodes that were asked; `None` if there was no answer to what they are.
        nodes: Option<Vec<u8>>,
    },
    /// More than one Refloat answers on the CAN bus.
    #[error("several boards answer on the CAN bus: {}; `--can ID` chooses one", list(.boards))]
    Several {
        /// Their CAN ids and what they are.
        boards: Vec<(u8, String)>,
    },
    /// The package is older than the recorder.
    #[error("{package} cannot record: that came with Refloat 1.1")]
    TooOld {
        /// What is there.
        package: String,
    },
    /// The firmware has no memory for recordings.
    #[error(
        "{package} could record, but the firmware {firmware} keeps no memory for it: \
         that needs a recorder firmware for this controller (Refloat Extras, which calls itself rflt-xtras)"
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
    #[error("the board no longer answers: {what} was asked for {tries} times in {:.1} s", .after.as_secs_f64())]
    Silent {
        /// What was asked for.
        what: String,
        /// How often.
        tries: u32,
        /// In which time.
        after: Duration,
    },
    /// The board answers, and what was wanted is not so.
    #[error("the board did not take `{}`, which was sent {tries} times", Wish(*.control))]
    NotTaken {
        /// What was wanted.
        control: Control,
        /// How often it was sent.
        tries: u32,
    },
    /// It would have to be stopped.
    #[error("the board is recording, and a download would end that; stop it first, or permit it")]
    Recording,
    /// It has another recording.
    #[error("{0}; what was received is of no use for that, begin anew")]
    Changed(Change),
    /// It claims more than there can be.
    #[error(
        "the board claims to hold {size} samples of {sample_len} bytes: more than the {limit} bytes that are permitted"
    )]
    TooLarge {
        /// How many samples.
        size: u32,
        /// How long each is.
        sample_len: usize,
        /// How many bytes are permitted.
        limit: usize,
    },
    /// It does not give what it claims to have.
    #[error("the board claims to hold {size} samples and gives none at {at}")]
    Missing {
        /// How many samples it claims to hold.
        size: u32,
        /// Where it gives none.
        at: u32,
    },
    /// What is held is no part of a recording.
    #[error("what is there of the recording makes no sense: {0}")]
    Held(&'static str),
    /// Somebody did not want it any more.
    #[error("aborted")]
    Aborted,
}

fn through(nodes: Option<&[u8]>) -> String {
    match nodes {
        None => String::new(),
        Some([]) => ", and nobody is on its CAN bus".to_owned(),
        Some([one]) => format!(", also not through CAN node {one}"),
        Some(all) => {
            format!(", also not through CAN nodes {}", all.iter().map(u8::to_string).collect::<Vec<_>>().join(", "))
        }
    }
}

fn list(boards: &[(u8, String)]) -> String {
    boards.iter().map(|(id, what)| format!("{id} ({what})")).collect::<Vec<_>>().join(", ")
}
