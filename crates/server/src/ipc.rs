use std::collections::HashMap;

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::error::Refusal;

/// Bytes of an Arrow IPC stream.
pub(crate) struct Arrow(pub Vec<u8>);

impl Arrow {
    /// A stream of batches.
    pub(crate) fn of(schema: &Schema, batches: &[RecordBatch]) -> Result<Self, Refusal> {
        let write = || -> Result<Vec<u8>, ArrowError> {
            let mut writer = StreamWriter::try_new(Vec::new(), schema)?;
            for batch in batches {
                writer.write(batch)?;
            }
            writer.into_inner()
        };
        write().map(Self).map_err(|error| {
            Refusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal-error",
                format!("the answer cannot be written: {error}"),
            )
        })
    }
}

impl IntoResponse for Arrow {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/vnd.apache.arrow.stream")], self.0).into_response()
    }
}

/// A schema with one entry of metadata.
pub(crate) fn schema(fields: Vec<Field>, key: &str, about: String) -> SchemaRef {
    Schema::new_with_metadata(fields, HashMap::from([(key.to_owned(), about)])).into()
}
