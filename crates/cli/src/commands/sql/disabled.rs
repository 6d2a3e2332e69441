use anyhow::Result;

use super::Sql;
use crate::failure::{Complaint, Outcome};
use crate::screen::Screen;

pub(super) fn run(_: &Sql, _: &mut Screen) -> Result<Outcome> {
    let message = "this logpose was built without SQL";
    Err(Complaint::failed("no-sql", message).help("build with the feature `sql`, which is on by default").into())
}
