use anyhow::Result;

use super::Verb;
use crate::failure::{Complaint, Outcome};
use crate::screen::Screen;

pub(super) fn run(_: &Verb, _: &mut Screen) -> Result<Outcome> {
    Err(missing().into())
}

/// The error for every command that needs a lake.
pub(crate) fn missing() -> Complaint {
    Complaint::failed("no-lake", "this logpose was built without lakes").help("build with `--features lake`")
}
