//! What is known of each command beside its options: the files that it reads and writes, what to run next, and whether a
//! document may show its output.

pub(crate) mod files;
pub(crate) mod next;
