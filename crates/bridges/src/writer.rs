use logpose_core::{Problem, Sink, SinkError};

/// A stretch of a file that is being written: samples go in, [`Piece::seal`] makes bytes of them.
///
/// Pieces share nothing, so that one can be sealed while the next is filled.
pub trait Piece: Sink + Send {
    /// About how many bytes of memory it holds.
    fn size(&self) -> usize;
    /// How many samples it holds.
    fn rows(&self) -> usize;
    /// Encodes and compresses what it holds. Nothing may be added afterwards.
    fn seal(&mut self) -> Result<(), SinkError>;
}

/// A file that is written in pieces, which may be filled and sealed side by side and are appended in order.
pub trait Writer: Sync {
    /// What it is written in.
    type Piece: Piece;
    /// An empty piece.
    fn piece(&self) -> Self::Piece;
    /// Writes a piece behind those before it; seals it if that was not done.
    fn append(&mut self, piece: Self::Piece) -> Result<(), SinkError>;
    /// Writes what stands at the end. What the format could not keep is reported, once per kind.
    fn finish(self) -> Result<Vec<Problem>, SinkError>;
}
