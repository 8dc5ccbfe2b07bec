//! What is measured, and what follows from it. Whoever runs cases is given.
//!
//! - [`experiments`] are studies as data; those with kernels of their own have their families in the registry.
//! - [`ceilings`] are what a device does at best: what to measure, the search for the best shape, and the files that keep
//!   them.
//! - [`sweep`] plans, measures, resumes and merges sweeps; [`tune`] searches a family's settings for the fastest.
//! - [`count`] is what a machine in lockstep would do with a kernel; [`why`] makes reasons of counts and ceilings.
//! - [`exercise`] is the course: what an exercise asks for, and what its submissions are found to be by their counts.
//! - [`judgement`] is what is known of a kernel that was judged.

pub mod asm;
pub mod ceilings;
pub mod count;
pub mod device_file;
pub mod exercise;
pub mod experiments;
pub mod judgement;
pub mod sweep;
pub mod tune;
pub mod why;
