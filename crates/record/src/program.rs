//! What a host program asked of OpenCL.

use crate::columns;
use serde::{Deserialize, Serialize};

columns! {
    /// What a process of a host program did of one kind: all launches of a kernel, all reads, all refusals of a call with one code.
    /// Its fields are the columns of CSV files and the names in JSON.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub struct ProgramRow {
        /// `kernel`; a kind of command, as `read`; `build`; `refused`, a call that gave an error; `unreleased`, what lived at the
        /// end; or `layer`, what looking on took.
        pub what: String,
        /// The kernel, the refused call, or the kind of objects.
        pub name: String,
        /// OpenCL's code of a refused call; else 0.
        pub code: i32,
        /// Launches, commands, calls, or references that were not released.
        pub count: u64,
        /// How many of these have a time.
        pub timed: u64,
        /// Bytes of commands, or of memory that was not released.
        #[unit = "B"]
        pub bytes: u64,
        /// Time of all on the device, by the driver's events; of `build` and `layer` on the host.
        #[unit = "s"]
        pub t_total_s: f64,
        /// Shortest.
        #[unit = "s"]
        pub t_min_s: f64,
        /// Longest.
        #[unit = "s"]
        pub t_max_s: f64,
        /// `t_total_s` as a share of the time that the program ran.
        #[serde(default)]
        pub wall_share: f64,
    }
}

impl ProgramRow {
    /// Whether it is of launches or other commands, whose times count.
    pub fn is_command(&self) -> bool {
        !["refused", "unreleased", "layer", "end"].contains(&self.what.as_str())
    }
}
