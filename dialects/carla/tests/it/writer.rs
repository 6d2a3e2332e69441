//! What the writers write, and what they refuse.
