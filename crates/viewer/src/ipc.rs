use std::collections::HashMap;

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};

use crate::error::RequestError;

/// Batches as the bytes of an Arrow IPC stream.
pub(crate) fn stream(schema: &Schema, batches: &[RecordBatch]) -> Result<Vec<u8>, RequestError> {
    let write = || -> Result<Vec<u8>, ArrowError> {
        let mut writer = StreamWriter::try_new(Vec::new(), schema)?;
        for batch in batches {
            writer.write(batch)?;
        }
        writer.into_inner()
    };
    write().map_err(|error| RequestError::internal(format!("cannot write the response: {error}")))
}

/// A schema with one entry of metadata.
pub(crate) fn schema(fields: Vec<Field>, key: &str, about: String) -> SchemaRef {
    Schema::new_with_metadata(fields, HashMap::from([(key.to_owned(), about)])).into()
}
