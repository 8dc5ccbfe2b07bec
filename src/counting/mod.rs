//! Kernels counted in the simulator, for whoever asks: `count`, `try` and `--why`.

mod run;
pub(crate) mod why;

pub(crate) use run::{
    CountedTrial, Counting, WORK_GROUP, beside, is_large, of_rung, open, remark, small, source_line, usual_size,
};
