//! Sources, servers and what lies between them, over real links on loopback.

mod faults;
mod join;
mod kit;
mod rlog;
