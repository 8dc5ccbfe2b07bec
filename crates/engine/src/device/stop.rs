//! How a case ends by what its device says.

use super::DeviceError;
use gpulab_model::outcome::{Status, Stop};
use gpulab_model::plan::Refusal;

impl From<DeviceError> for Stop {
    fn from(error: DeviceError) -> Stop {
        if error.is_refusal() {
            return refusal(&error).into();
        }
        let status = if error.is_build() { Status::BuildFailed } else { Status::Failed };
        Stop::new(status, error.to_string())
    }
}

/// What a device refused, by OpenCL's status code.
fn refusal(error: &DeviceError) -> Refusal {
    let kind = match error.code() {
        Some(-10 | -59) => Refusal::Feature,
        Some(-54 | -55) => Refusal::Group,
        Some(-40 | -56 | -63) => Refusal::Size,
        _ => Refusal::Memory,
    };
    kind(error.to_string())
}
