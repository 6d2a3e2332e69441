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
        Adding,
        Start,
        RecentFile,
        Demo,
        LakeLog,
        SourceKind,
        OpenQuery,
        ConnectQuery,
        FileQuery,
        Added,
        LogInfo,
        Problem,
        Damage,
        Stragglers,
        Alignment,
        AlignedBy,
        MatchedEdges,
        Channels,
        Channel,
        Field,
        Layouts,
        NamedLayout,
        KeepLayout,
        PanesQuery,
        Panes,
        Pane,
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

#[test]
fn units_of_the_page_are_those_of_the_library() {
    let mut text = String::from(UNITS_HEAD);
    for family in logpose::UNITS {
        let _ = writeln!(text, "  {{\n    name: {:?},\n    units: [", family.name);
        for unit in family.units {
            let (symbol, factor, offset) = (unit.symbol, unit.factor, unit.offset);
            let _ = writeln!(text, "      {{ symbol: {symbol:?}, factor: {factor}, offset: {offset} }},");
        }
        text.push_str("    ],\n  },\n");
    }
    text.push_str("];\n");
    golden(&workspace().join("web/src/api/units.ts"), text);
}

const UNITS_HEAD: &str =
    "/** Generated from crates/files/src/unit/table.rs by a test of crates/viewer: `make bless` writes it. */

/** Units that measure the same quantity: `value × factor + offset` is in the first one. */
export interface UnitFamily {
  name: string;
  units: { symbol: string; factor: number; offset: number }[];
}

export const UNITS: UnitFamily[] = [
";

const HEAD: &str = "/** Generated from crates/viewer/src/api.rs by its tests: `make bless` writes it. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
";
