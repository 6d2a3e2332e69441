use arrow_schema::DataType;

/// Why a batch holds no samples.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A column that every table of samples has is absent.
    #[error("missing column {name:?}; a table of samples has time_ns, channel and columns of values")]
    Missing {
        /// The column's name.
        name: &'static str,
    },
    /// A column is there and of another type.
    #[error("column {name:?} is {found}, expected {expected}")]
    Type {
        /// The column's name.
        name: &'static str,
        /// What it should be.
        expected: DataType,
        /// What it is.
        found: DataType,
    },
}
