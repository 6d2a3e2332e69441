use anyhow::Result;

use super::Open;
use crate::failure::{Complaint, Outcome};
use crate::screen::Screen;

pub(super) fn run(_: &Open, _: &mut Screen) -> Result<Outcome> {
    let message = "this logpose was built without the viewer";
    Err(Complaint::failed("no-viewer", message).help("build with the feature `viewer`, which is on by default").into())
}
