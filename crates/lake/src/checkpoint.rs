//! Checkpoints of a table's log: everything that its versions up to one of them come to, as one Parquet file.

use std::sync::Arc;

use arrow_json::{LineDelimitedWriter, ReaderBuilder};
use arrow_schema::{DataType, Field, Fields, Schema};
use logpose::bridges::{LakeWriter, read_lake_file};
use serde_json::Value as Json;

use crate::Error;

/// The actions as a file.
pub(crate) fn write(actions: &[Json]) -> Result<Vec<u8>, Error> {
    let internal = |error: arrow_schema::ArrowError| Error::new("internal-error", error.to_string());
    let schema = Arc::new(schema());
    let mut decoder = ReaderBuilder::new(schema.clone()).with_batch_size(BATCH).build_decoder().map_err(internal)?;
    let mut out = Vec::new();
    let mut writer = LakeWriter::new(&mut out, &schema, &schema, &[])?;
    for actions in actions.chunks(BATCH) {
        decoder.serialize(actions).map_err(internal)?;
        if let Some(batch) = decoder.flush().map_err(internal)? {
            writer.write(&batch)?;
        }
    }
    writer.finish()?;
    Ok(out)
}

/// The actions in a file, which may be another program's and then has more columns.
pub(crate) fn read(file: &[u8]) -> Result<Vec<Json>, String> {
    let (_, batches) = read_lake_file(file).map_err(|error| error.to_string())?;
    let mut actions = Vec::new();
    for batch in batches {
        let mut lines = LineDelimitedWriter::new(Vec::new());
        lines.write(&batch?).map_err(|error| error.to_string())?;
        for line in lines.into_inner().split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            actions.push(serde_json::from_slice(line).map_err(|error| error.to_string())?);
        }
    }
    Ok(actions)
}

/// The columns that the protocol names: of each row one is filled.
fn schema() -> Schema {
    let field = |name: &str, data_type| Field::new(name, data_type, true);
    let text = |name: &str| field(name, DataType::Utf8);
    let long = |name: &str| field(name, DataType::Int64);
    let flag = |name: &str| field(name, DataType::Boolean);
    let part = |name: &str, fields: Vec<Field>| field(name, DataType::Struct(fields.into()));
    let map = |name: &str| {
        let pair: Fields = vec![Field::new("key", DataType::Utf8, false), text("value")].into();
        let entries = Field::new("key_value", DataType::Struct(pair), false);
        field(name, DataType::Map(Arc::new(entries), false))
    };
    let texts = |name: &str| field(name, DataType::List(Arc::new(text("element"))));
    Schema::new(vec![
        part("txn", vec![text("appId"), long("version"), long("lastUpdated")]),
        part(
            "add",
            vec![
                text("path"),
                map("partitionValues"),
                long("size"),
                long("modificationTime"),
                flag("dataChange"),
                text("stats"),
                map("tags"),
            ],
        ),
        part("remove", vec![text("path"), long("deletionTimestamp"), flag("dataChange")]),
        part(
            "metaData",
            vec![
                text("id"),
                text("name"),
                text("description"),
                part("format", vec![text("provider"), map("options")]),
                text("schemaString"),
                texts("partitionColumns"),
                long("createdTime"),
                map("configuration"),
            ],
        ),
        part("protocol", vec![field("minReaderVersion", DataType::Int32), field("minWriterVersion", DataType::Int32)]),
    ])
}

const BATCH: usize = 4096;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{read, write};

    #[test]
    fn actions_come_back_from_a_checkpoint() {
        let actions = [
            json!({"txn": {"appId": "log:ab", "version": 3}}),
            json!({"add": {
                "path": "a%20b.parquet", "partitionValues": {}, "size": 5, "modificationTime": 7, "dataChange": false,
                "stats": "{\"numRecords\":1}", "tags": {"logpose.ingest": "x"},
            }}),
            json!({"remove": {"path": "c", "deletionTimestamp": 9, "dataChange": false}}),
            json!({"metaData": {
                "id": "1", "name": "t", "description": "d", "format": {"provider": "parquet", "options": {}},
                "schemaString": "{}", "partitionColumns": [], "createdTime": 2, "configuration": {"k": "v"},
            }}),
            json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}),
        ];
        let many: Vec<_> = actions.iter().cycle().take(10_000).cloned().collect();
        assert_eq!(read(&write(&many).unwrap()).unwrap(), many);
        assert!(read(b"PAR1 and more").is_err());
    }
}
