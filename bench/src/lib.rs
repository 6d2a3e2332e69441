//! What `make bench` measures with.
