use logpose_server::Sql;

use crate::args::Reading;

pub(in crate::commands::open) fn engine(_: &Reading) -> Option<Box<dyn Sql>> {
    None
}
