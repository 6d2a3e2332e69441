use arrow_array::ArrayRef;
use arrow_schema::DataType;
use logpose_core::{Channel, Chunk, Type};
use logpose_schema::Registry;

use crate::memory::Payloads;
use crate::{Memory, plain};

/// How the values of one channel become Arrow arrays. Made once for a channel; cheap to clone.
#[derive(Clone, Debug)]
pub struct Shape {
    data_type: DataType,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Plain(Type),
}

impl Shape {
    /// The shape of a channel's values, by its type and the schemas of its log. What no schema explains is binary.
    #[must_use]
    pub fn of(channel: &Channel, _registry: &Registry) -> Self {
        let ty = channel.ty();
        Self { data_type: plain::data_type(ty), kind: Kind::Plain(ty) }
    }

    /// The type of the arrays.
    #[must_use]
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// Whether values are decoded with a schema, so that the payload itself says more than the array.
    #[must_use]
    pub fn is_decoded(&self) -> bool {
        !matches!(self.kind, Kind::Plain(_))
    }

    /// The values of a chunk; a payload that does not decode is null.
    #[must_use]
    pub fn array(&self, memory: &Memory, chunk: &Chunk) -> ArrayRef {
        let payloads = Payloads::new(memory, chunk);
        match &self.kind {
            Kind::Plain(ty) => plain::array(*ty, payloads),
        }
    }
}
