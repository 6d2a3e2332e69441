//! The types of the API for the page: `web/src/api/types.ts`, written by `make bless` and compared otherwise.

use std::fmt::Write as _;

use logpose_testkit::{golden, workspace};
use ts_rs::{Config, TS};

use crate::api;

/// The declarations of some types, each on one line: the page's formatter leaves the file alone.
macro_rules! declarations {
    ($($name:ident),* $(,)?) => {{
        // Counts fit a number: no log has 2^53 samples.
        let config = Config::default().with_large_int("number");
        let mut text = String::from(HEAD);
        $(declare::<api::$name>(&config, &mut text);)*
        text
    }};
}

fn declare<T: TS>(config: &Config, out: &mut String) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "\nexport {}", T::decl(config));
}

#[test]
fn types_of_the_page_are_those_of_the_api() {
    let text = declarations!(
        Failure,
        ErrorBody,
        ValueKind,
        LogState,
        Preset,
        Level,
        ActorKind,
        Reference,
        Session,
        Limits,
        LogInfo,
        Problem,
        Channels,
        Channel,
        Field,
        PixelsQuery,
        SeriesSummary,
        ValuesQuery,
        Values,
        HeldValue,
        Events,
        Band,
        LogEvent,
        SqlQuery,
        StatesAnswer,
        States,
        RowsQuery,
        RowsSummary,
        TableQuery,
        Table,
        TableRow,
        ConsoleQuery,
        Console,
        ConsoleRow,
        StatsQuery,
        StatsAnswer,
        Stats,
        Histogram,
        ExportQuery,
        Subscription,
        Ticking,
        Tick,
        TickLog,
        MotionQuery,
        CarlaActors,
        CarlaActor,
        CarlaCollision,
    );
    golden(&workspace().join("web/src/api/types.ts"), text);
}

const HEAD: &str = "/** Generated from crates/viewer/src/api.rs by its tests: `make bless` writes it. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
";
