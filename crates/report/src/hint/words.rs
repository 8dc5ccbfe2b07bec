//! A hint, and the words that several share.

use serde::Serialize;

/// What to say of a kernel that is not right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hint {
    /// What the fault looks like, behind `hint:`.
    pub looks: String,
    /// What to try, behind `next:`.
    pub next: String,
}

/// A hint of two texts, in which what stands in braces is filled in.
macro_rules! hint {
    ($looks:literal, $next:literal $(,)?) => {
        $crate::hint::Hint { looks: format!($looks), next: format!($next) }
    };
}
pub(super) use hint;

pub(super) fn no_barrier() -> Hint {
    hint!(
        "Work-items read local memory that others have not written yet: the kernel has local memory, and no barrier.",
        "Put barrier(CLK_LOCAL_MEM_FENCE) between the store to local memory and the loads of what other work-items stored, and \
         between two steps of a tree.",
    )
}

pub(super) fn elements(count: u64) -> String {
    if count == 1 { "one element".into() } else { format!("{count} elements") }
}
