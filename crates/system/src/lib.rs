//! What gpulab asks of the operating system.
//!
//! - [`files`] reads files and knows them again; [`memory`] says what this machine has left.
//! - [`children`] are processes that end with this one; [`interrupt`] is how a user stops it.
//! - [`text`] joins texts; [`terminal`] is the door to standard output and standard error; [`stdout`] keeps standard output from drivers.

pub mod children;
pub mod files;
pub mod interrupt;
pub mod memory;
pub mod stdout;
pub mod terminal;
pub mod text;
