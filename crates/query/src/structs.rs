//! Tables of structs: the samples of all channels of one struct type, with a column for each field.
//!
//! Logs may have different versions of a struct. Fields that only some of them have are columns that are NULL elsewhere; a
//! log in which a field has another type begins another table, `struct_Pose2d_2`. A lake decides the same, log by log in
//! the order in which they are added.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use arrow_schema::{DataType, Field, FieldRef, Fields, TimeUnit};
use logpose_core::ChannelId;
use logpose_model::{Shape, widen};

use crate::logs::Logs;

/// The tables of the types that have one name.
pub(crate) struct Structs {
    /// What the first of them is called.
    pub name: String,
    members: Vec<(usize, ChannelId)>,
    tables: OnceLock<Vec<Members>>,
}

/// The channels of one table.
#[derive(Clone)]
pub(crate) struct Members {
    /// The columns of the fields.
    pub fields: Fields,
    pub channels: Vec<Member>,
}

/// A channel of a log.
#[derive(Clone)]
pub(crate) struct Member {
    pub log: usize,
    pub id: ChannelId,
    /// Where each column is among the fields of its struct.
    pub places: Arc<[Option<usize>]>,
}

/// A table whose columns are not all known yet.
struct Growing {
    columns: Vec<FieldRef>,
    /// The channels, with the columns of each.
    channels: Vec<(usize, ChannelId, Vec<FieldRef>)>,
}

impl Structs {
    /// All of them, found by the names of types alone.
    pub(crate) fn of(logs: &Logs) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for (log, opened) in logs.logs.iter().enumerate() {
            for (id, found) in (0..).zip(&opened.index.channels) {
                let channel = &found.channel;
                // A family is a table of its own, and a list of structs is no struct.
                let Some(name) = channel.type_name.strip_prefix("struct:").filter(|name| !name.ends_with(']')) else {
                    continue;
                };
                if channel.family.is_some() {
                    continue;
                }
                let name = table_name(name);
                match all.iter_mut().find(|one| one.name.eq_ignore_ascii_case(&name)) {
                    Some(one) => one.members.push((log, id)),
                    None => all.push(Self { name, members: vec![(log, id)], tables: OnceLock::new() }),
                }
            }
        }
        all
    }

    /// The tables, in their order. The first call reads the schemas of the logs.
    pub(crate) fn tables(&self, logs: &Logs) -> &[Members] {
        self.tables.get_or_init(|| {
            let mut tables: Vec<Growing> = Vec::new();
            for (log, id) in &self.members {
                let Some(opened) = logs.log(*log) else { continue };
                let Some(found) = opened.index.channels.get(*id as usize) else { continue };
                let shape = Shape::of(&found.channel, opened.schemas().registry());
                let fields = match shape.data_type() {
                    DataType::Struct(fields) => columns(fields),
                    // The log does not say what is in it.
                    _ => Vec::new(),
                };
                let channel = (*log, *id, fields.clone());
                match tables.iter_mut().find_map(|table| widen(&mut table.columns, &fields).then_some(table)) {
                    Some(table) => table.channels.push(channel),
                    None => tables.push(Growing { columns: fields, channels: vec![channel] }),
                }
            }
            let members = |table: Growing| {
                let places = |fields: &[FieldRef]| {
                    let place = |column: &FieldRef| fields.iter().position(|field| field.name() == column.name());
                    table.columns.iter().map(place).collect()
                };
                let member = |(log, id, fields): &(usize, ChannelId, Vec<FieldRef>)| Member {
                    log: *log,
                    id: *id,
                    places: places(fields),
                };
                Members { channels: table.channels.iter().map(member).collect(), fields: table.columns.clone().into() }
            };
            tables.into_iter().map(members).collect()
        })
    }

    /// What a table is called.
    pub(crate) fn table_name(&self, place: usize) -> String {
        if place == 0 { self.name.clone() } else { format!("{}_{}", self.name, place + 1) }
    }

    /// The place of the table of that name, in any case.
    pub(crate) fn find(&self, name: &str, logs: &Logs) -> Option<usize> {
        let begin = name.get(..self.name.len()).filter(|begin| begin.eq_ignore_ascii_case(&self.name))?;
        let place = match name.get(begin.len()..)? {
            "" => 0,
            rest => rest.strip_prefix('_')?.parse::<usize>().ok()?.checked_sub(1).filter(|place| *place > 0)?,
        };
        (place == 0 || place < self.tables(logs).len()).then_some(place)
    }
}

/// The name of a table, which is the name of a folder in a lake too.
fn table_name(type_name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    format!("{PREFIX}{}", type_name.chars().map(plain).take(LONGEST_NAME).collect::<String>())
}

/// The columns of fields: of types that every reader of a lake knows, with names that the table does not use otherwise.
fn columns(fields: &Fields) -> Vec<FieldRef> {
    let mut taken: HashSet<String> = ["log", "time", "time_ns", "channel"].map(str::to_owned).into();
    let mut column = |field: &FieldRef| {
        let mut name = field.name().clone();
        // Not all readers tell upper and lower case apart.
        for number in 2.. {
            if taken.insert(name.to_lowercase()) {
                break;
            }
            name = format!("{}_{number}", field.name());
        }
        Arc::new(Field::new(name, plain(field.data_type()), true))
    };
    fields.iter().map(&mut column).collect()
}

/// The type that every reader of a lake knows.
pub(crate) fn plain(data_type: &DataType) -> DataType {
    let part = |field: &FieldRef| Arc::new(Field::new(field.name(), plain(field.data_type()), field.is_nullable()));
    match data_type {
        DataType::Dictionary(_, values) => plain(values),
        DataType::Timestamp(TimeUnit::Nanosecond, _)
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::UInt64
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32 => DataType::Int64,
        DataType::List(item) | DataType::FixedSizeList(item, _) => DataType::List(part(item)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(part).collect::<Fields>()),
        other => other.clone(),
    }
}

/// What the names of these tables begin with.
pub(crate) const PREFIX: &str = "struct_";
/// Letters of a type's name in the name of its table.
const LONGEST_NAME: usize = 100;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::{DataType, Field, Fields};

    use super::{columns, table_name};

    #[test]
    fn names_of_tables_are_names_of_folders() {
        assert_eq!(table_name("Pose2d"), "struct_Pose2d");
        assert_eq!(table_name("../../etc/passwd"), "struct_______etc_passwd");
        assert!(table_name(&"x".repeat(1000)).len() < 120);
    }

    #[test]
    fn fields_keep_clear_of_the_columns_of_every_table() {
        let field = |name: &str| Arc::new(Field::new(name, DataType::Int32, false));
        let fields: Fields = ["time", "x", "X", "x_2", "log"].into_iter().map(field).collect();
        let columns = columns(&fields);
        let names: Vec<&str> = columns.iter().map(|field| field.name().as_str()).collect();
        assert_eq!(names, ["time_2", "x", "X_2", "x_2_2", "log_2"]);
        assert!(columns.iter().all(|field| field.is_nullable() && *field.data_type() == DataType::Int64));
    }
}
