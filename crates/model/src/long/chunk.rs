use std::sync::Arc;

use arrow_array::types::Float32Type;
use arrow_array::{Array as _, ArrayRef, Float32Array, Float64Array, RecordBatch};
use logpose_core::{Channel, ChannelId, Chunk, Layout, Type, Value};

use super::cells::{Arrays, Cells, null_arrays};
use super::rows::batch;
use super::{VALUES, is_signalling, widen};
use crate::memory::{Payloads, numbers};
use crate::{Memory, plain, times};

/// One chunk of one channel as rows of the table, memory taken over where the column is of the channel's own type.
/// `names` is the [`dictionary`](super::dictionary) of the log's channels, `id` the channel's place in it.
#[must_use]
pub fn of_chunk(id: ChannelId, names: &ArrayRef, channel: &Channel, memory: &Memory, chunk: &Chunk) -> RecordBatch {
    let ty = channel.ty();
    let payloads = Payloads::new(memory, chunk);
    let rows = payloads.rows;
    let values = match taken_over(ty, &payloads) {
        Some(values) => {
            let mut arrays = null_arrays(rows);
            if let Some(place) = VALUES.iter().zip(&mut arrays).find(|((_, held), _)| *held == column_of(ty)) {
                *place.1 = values;
            }
            arrays
        }
        None => copied(ty, &payloads),
    };
    // A number beyond the names would be a fault of the caller; the first name then stands in.
    let key = i32::try_from(id).ok().filter(|_| (id as usize) < names.len()).unwrap_or(0);
    batch(times(memory, chunk), vec![key; rows], names, values)
}

/// Which column holds values of a type: floats are widened.
fn column_of(ty: Type) -> Type {
    match ty {
        Type::Float => Type::Double,
        Type::FloatArray => Type::DoubleArray,
        ty => ty,
    }
}

/// The column of the type, if it can hold all payloads exactly.
fn taken_over(ty: Type, payloads: &Payloads) -> Option<ArrayRef> {
    let payloads = plain::fit(ty, payloads.clone());
    if payloads.nulls.is_some() {
        return None;
    }
    Some(match ty {
        Type::Float => Arc::new(widened(&plain::scalars::<Float32Type>(&payloads))?),
        Type::FloatArray => {
            let len = payloads.bytes.len() / 4;
            let values = Float32Array::new(numbers(&payloads.bytes, len), None);
            plain::list(&payloads, 4, Arc::new(widened(&values)?))
        }
        Type::String => Arc::new(plain::text(&payloads)?),
        Type::BooleanArray if payloads.bytes.iter().any(|byte| *byte > 1) => return None,
        Type::StringArray => return None,
        ty => plain::array(ty, payloads),
    })
}

fn widened(values: &Float32Array) -> Option<Float64Array> {
    let fit = !values.values().iter().any(|x| is_signalling(*x));
    fit.then(|| values.values().iter().map(|x| widen(*x)).collect::<Vec<f64>>().into())
}

/// The columns, value by value.
fn copied(ty: Type, payloads: &Payloads) -> Arrays {
    let mut cells = Cells::default();
    for (row, payload) in payloads.iter().enumerate() {
        let Some(payload) = payload else { continue };
        // What has no room here had none in a payload's offsets either, and those are null already.
        let _ = match Value::parse(ty, payload, Layout::Little) {
            Ok(value) => cells.push(row, &value),
            Err(_) => cells.push_payload(row, payload),
        };
    }
    cells.finish(payloads.rows)
}
