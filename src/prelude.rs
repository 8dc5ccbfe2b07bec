//! What most files of the program name: `use crate::prelude::*`.

pub(crate) use crate::cli::Global;
pub(crate) use crate::console::{Out, note, screen, worst_of};
pub(crate) use crate::count::CountRow;
pub(crate) use crate::data::{Dtype, Params, Shape};
pub(crate) use crate::kernels::{FAMILIES, Family, Form, Registry, Rung, Sources, built_in};
pub(crate) use crate::outcome::{DeviceInfo, Executor, Outcome, Settings, Status, Stop};
pub(crate) use crate::plan::{Case, WorkGroup};
pub(crate) use crate::record::{Record, Row, Run, Scene};
pub(crate) use crate::report::format::{self, Screen};
pub(crate) use crate::terminal::say;
pub(crate) use crate::worker::{Setup, WorkerProcess};
pub(crate) use crate::{Error, files, interrupt, values};
pub(crate) use gpulab_model::Joined;
pub(crate) use std::collections::BTreeMap;
pub(crate) use std::fs;
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::time::{Duration, Instant};
