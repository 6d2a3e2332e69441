//! States at any time.
