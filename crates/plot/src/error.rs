/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Labels alone would fill it.
    #[error("{width}x{height} is too small for this plot, the minimum is {least_width}x{least_height}")]
    TooSmall {
        /// What was asked for.
        width: u32,
        /// What was asked for.
        height: u32,
        /// What is needed.
        least_width: u32,
        /// What is needed.
        least_height: u32,
    },
    /// The picture would not fit into a reasonable amount of memory.
    #[error("{width}x{height} is too large, the maximum is {} million pixels", crate::MOST_PIXELS / 1_000_000)]
    TooLarge {
        /// What was asked for.
        width: u32,
        /// What was asked for.
        height: u32,
    },
    /// The drawing library failed.
    #[error("drawing failed: {0}")]
    Drawing(String),
}
