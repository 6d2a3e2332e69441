//! The columns of tables: as Arrow has them, and as the log of a table has them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{RecordBatch, new_null_array};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use serde_json::{Value as Json, json};

use crate::Error;

/// The same columns with an id each, by which readers such as Iceberg's know them: the columns first, then their parts, as
/// Iceberg itself numbers the columns of a new table.
pub(crate) fn with_ids(schema: &Schema) -> SchemaRef {
    numbered(schema, None)
}

/// The same for a table to which columns are added: the parts of the third column are 3001, 3002 and so on, however many
/// columns follow it.
pub(crate) fn with_lasting_ids(schema: &Schema) -> SchemaRef {
    numbered(schema, Some(1000))
}

/// Numbers columns from 1 on, and their parts behind the columns, or within a room that each column has.
fn numbered(schema: &Schema, room: Option<i64>) -> SchemaRef {
    let mut next = i64::try_from(schema.fields().len()).unwrap_or(i64::MAX) + 1;
    let field = |(column, field): (i64, &Arc<Field>)| {
        if let Some(room) = room {
            next = column * room + 1;
        }
        with_id(field, column).with_data_type(inner(field.data_type(), &mut next))
    };
    Arc::new(Schema::new((1..).zip(schema.fields()).map(field).collect::<Vec<_>>()))
}

fn with_id(field: &Field, id: i64) -> Field {
    field.clone().with_metadata(HashMap::from([(FIELD_ID.to_owned(), id.to_string())]))
}

/// A type whose parts have ids: those beside each other first, then what is within them.
fn inner(data_type: &DataType, next: &mut i64) -> DataType {
    let mut take = || {
        let id = *next;
        *next += 1;
        id
    };
    match data_type {
        DataType::List(item) => {
            // What Parquet calls it; some readers find it by that name only.
            let item = with_id(item, take()).with_name("element");
            let within = inner(item.data_type(), next);
            DataType::List(Arc::new(item.with_data_type(within)))
        }
        DataType::Struct(fields) => {
            let fields: Vec<Field> = fields.iter().map(|field| with_id(field, take())).collect();
            let within = fields.into_iter().map(|field| {
                let within = inner(field.data_type(), next);
                field.with_data_type(within)
            });
            DataType::Struct(within.collect())
        }
        // The entries themselves have no id.
        DataType::Map(entries, sorted) => {
            let within = inner(entries.data_type(), next);
            DataType::Map(Arc::new(Field::clone(entries).with_name("key_value").with_data_type(within)), *sorted)
        }
        other => other.clone(),
    }
}

/// The columns as the log of a table has them.
pub(crate) fn to_delta(schema: &Schema) -> Result<String, Error> {
    Ok(struct_json(schema.fields())?.to_string())
}

fn struct_json(fields: &Fields) -> Result<Json, Error> {
    let fields = fields.iter().map(|field| {
        let id = field.metadata().get(FIELD_ID).and_then(|id| id.parse::<i32>().ok());
        let metadata = id.map_or_else(|| json!({}), |id| json!({ ID: id }));
        let data_type = type_json(field.data_type())?;
        Ok(json!({"name": field.name(), "type": data_type, "nullable": field.is_nullable(), "metadata": metadata}))
    });
    Ok(json!({"type": "struct", "fields": fields.collect::<Result<Vec<_>, Error>>()?}))
}

fn type_json(data_type: &DataType) -> Result<Json, Error> {
    Ok(match data_type {
        DataType::Utf8 => "string".into(),
        DataType::Int64 => "long".into(),
        DataType::Int32 => "integer".into(),
        DataType::Float64 => "double".into(),
        DataType::Float32 => "float".into(),
        DataType::Boolean => "boolean".into(),
        DataType::Binary => "binary".into(),
        DataType::List(item) => json!({
            "type": "array", "elementType": type_json(item.data_type())?, "containsNull": item.is_nullable(),
        }),
        DataType::Struct(fields) => struct_json(fields)?,
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) if fields.len() == 2 => json!({
                "type": "map",
                "keyType": fields.first().map(|field| type_json(field.data_type())).transpose()?,
                "valueType": fields.last().map(|field| type_json(field.data_type())).transpose()?,
                "valueContainsNull": fields.last().is_some_and(|field| field.is_nullable()),
            }),
            other => return Err(unknown(&other.to_string())),
        },
        other => return Err(unknown(&other.to_string())),
    })
}

/// The columns that the log of a table tells.
pub(crate) fn from_delta(text: &str) -> Result<SchemaRef, Error> {
    let json: Json = serde_json::from_str(text).map_err(|error| unknown(&error.to_string()))?;
    match from_json(&json)? {
        DataType::Struct(fields) => Ok(Arc::new(Schema::new(fields))),
        other => Err(unknown(&other.to_string())),
    }
}

fn from_json(json: &Json) -> Result<DataType, Error> {
    let part = |key: &str| from_json(json.get(key).unwrap_or(&Json::Null));
    let flag = |key: &str| json.get(key).and_then(Json::as_bool).unwrap_or(true);
    let kind = json.get("type").unwrap_or(json).as_str().unwrap_or_default();
    Ok(match kind {
        "string" => DataType::Utf8,
        "long" => DataType::Int64,
        "integer" => DataType::Int32,
        "double" => DataType::Float64,
        "float" => DataType::Float32,
        "boolean" => DataType::Boolean,
        "binary" => DataType::Binary,
        "array" => DataType::List(Arc::new(Field::new("item", part("elementType")?, flag("containsNull")))),
        "map" => {
            let key = Field::new("key", part("keyType")?, false);
            let value = Field::new("value", part("valueType")?, flag("valueContainsNull"));
            let entries = DataType::Struct(vec![key, value].into());
            DataType::Map(Arc::new(Field::new("entries", entries, false)), false)
        }
        "struct" => {
            let fields = json.get("fields").and_then(Json::as_array).map_or(&[][..], |fields| fields);
            let fields = fields.iter().map(|field| {
                let name =
                    field.get("name").and_then(Json::as_str).ok_or_else(|| unknown("a column without a name"))?;
                let nullable = field.get("nullable").and_then(Json::as_bool).unwrap_or(true);
                let data_type = from_json(field.get("type").unwrap_or(&Json::Null))?;
                Ok(Field::new(name, data_type, nullable))
            });
            DataType::Struct(fields.collect::<Result<_, Error>>()?)
        }
        other => return Err(unknown(other)),
    })
}

/// Rows with the columns of their table: those that came later are null in older files.
pub(crate) fn fitted(rows: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, String> {
    if let Some(more) = rows.schema().fields().iter().find(|field| schema.column_with_name(field.name()).is_none()) {
        return Err(format!("column {:?} is not in the table", more.name()));
    }
    let columns = schema.fields().iter().map(|field| match rows.column_by_name(field.name()) {
        None => Ok(new_null_array(field.data_type(), rows.num_rows())),
        Some(column) if column.data_type() == field.data_type() => Ok(column.clone()),
        Some(column) => cast(column, field.data_type()).map_err(|error| error.to_string()),
    });
    let columns = columns.collect::<Result<Vec<_>, String>>()?;
    RecordBatch::try_new(schema.clone(), columns).map_err(|error| error.to_string())
}

fn unknown(what: &str) -> Error {
    Error::new("unknown-type", format!("a column of the lake has a type that this logpose does not know: {what}"))
        .help("the lake was written by another program, or by a newer logpose")
}

/// What Parquet's writer takes for the id of a column.
const FIELD_ID: &str = "PARQUET:field_id";
/// The same in the log of a table, where Delta gives names of its own a meaning.
const ID: &str = "logpose.id";

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::{DataType, Field, Schema};

    use super::{FIELD_ID, from_delta, to_delta, with_ids, with_lasting_ids};

    #[test]
    fn columns_come_back_from_the_log_of_a_table() {
        let item = Field::new("item", DataType::Float64, false);
        let point = vec![Field::new("x", DataType::Float32, true), Field::new("y", DataType::Int32, false)];
        let pair = vec![Field::new("key", DataType::Utf8, false), Field::new("value", DataType::Utf8, true)];
        let entries = Field::new("entries", DataType::Struct(pair.into()), false);
        let schema = Schema::new(vec![
            Field::new("log", DataType::Utf8, false),
            Field::new("numbers", DataType::List(Arc::new(item)), true),
            Field::new("labels", DataType::Map(Arc::new(entries), false), true),
            Field::new("pose", DataType::Struct(point.into()), true),
            Field::new("bytes", DataType::Binary, true),
        ]);
        assert_eq!(*from_delta(&to_delta(&schema).unwrap()).unwrap(), schema);
        let numbered = with_ids(&schema);
        let ids: Vec<_> = numbered.fields().iter().map(|field| field.metadata()[FIELD_ID].as_str()).collect();
        assert_eq!(ids, ["1", "2", "3", "4", "5"]);
        let parts = |schema: &Schema, column: usize| -> Vec<String> {
            let fields = match schema.field(column).data_type() {
                DataType::List(item) => vec![item.clone()],
                DataType::Struct(fields) => fields.to_vec(),
                _ => Vec::new(),
            };
            fields.iter().map(|field| field.metadata()[FIELD_ID].clone()).collect()
        };
        assert_eq!((parts(&numbered, 1), parts(&numbered, 3)), (vec!["6".to_owned()], vec!["9".into(), "10".into()]));
        let lasting = with_lasting_ids(&schema);
        assert_eq!(parts(&lasting, 3), ["4001", "4002"]);
        assert!(to_delta(&Schema::new(vec![Field::new("a", DataType::Date32, true)])).is_err());
    }
}
