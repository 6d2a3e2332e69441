use anyhow::Result;

use super::Ingest;
use crate::failure::Outcome;
use crate::screen::Screen;

pub(super) fn run(_: &Ingest, _: &mut Screen) -> Result<Outcome> {
    Err(crate::commands::lake::missing().into())
}
