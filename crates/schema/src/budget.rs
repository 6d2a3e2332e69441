use crate::SchemaError;

/// What one decoded value may still cost in memory.
///
/// A few bytes of payload can stand for a large tree: a protobuf message with a thousand unset
/// fields is two bytes on the wire. So decoders pay here before they build a node.
#[derive(Debug)]
pub(crate) struct Budget {
    left: u64,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self { left: TREE_BYTES }
    }

    /// Pays for one node and for `text` bytes of name or content.
    pub(crate) fn node(&mut self, text: usize) -> Result<(), SchemaError> {
        self.weight(NODE_BYTES.saturating_add(bytes(text)))
    }

    /// Pays for a part whose cost is known as a whole.
    pub(crate) fn weight(&mut self, cost: u64) -> Result<(), SchemaError> {
        match self.left.checked_sub(cost) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(too_large()),
        }
    }
}

/// Checks a cost that is known before decoding starts.
pub(crate) fn check(cost: u64) -> Result<(), SchemaError> {
    if cost > TREE_BYTES { Err(too_large()) } else { Ok(()) }
}

/// Checks the length of a payload whose parser builds a tree of its own first.
pub(crate) fn check_payload(payload: &[u8]) -> Result<(), SchemaError> {
    if bytes(payload.len()) > PAYLOAD_BYTES {
        return Err(SchemaError::TooLarge { what: "bytes of payload", limit: PAYLOAD_BYTES });
    }
    Ok(())
}

/// A length as a cost.
pub(crate) fn bytes(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

fn too_large() -> SchemaError {
    SchemaError::TooLarge { what: "bytes of decoded value", limit: TREE_BYTES }
}

/// A name and a `Tree` side by side in a map, rounded up.
pub(crate) const NODE_BYTES: u64 = 64;

/// Enough for a hundred thousand `Pose3d`, far more than any display can use.
const TREE_BYTES: u64 = 64 << 20;

/// The largest protobuf or JSON payload that is decoded. Their parsers need up to a hundred bytes
/// for one of the payload.
const PAYLOAD_BYTES: u64 = 4 << 20;
