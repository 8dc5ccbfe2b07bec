//! Launches: arguments bound first, then everything enqueued, waited for and timed.
#![allow(unsafe_code, reason = "ocl cannot know what a kernel does to memory")]

use super::error::{DeviceError, DeviceResult, guarded, retained};
use super::image;
use super::memory::{check_event, enqueued};
use super::opencl::OpenClDevice;
use super::program::Built;
use super::{ProgramId, Stamps, Timing, info};
use gpulab_model::plan::{Arg, BufferId, FlagCheck, Launch};
use ocl::core::{self, ArgVal, CommandQueue, Event, Kernel};
use std::collections::BTreeMap;
use std::time::Instant;

const SET_ARG: &str = "clSetKernelArg";
const ENQUEUE: &str = "clEnqueueNDRangeKernel";
const RETAIN_QUEUE: &str = "clRetainCommandQueue";

/// A launch with its arguments set, ready to be enqueued any number of times.
pub struct Prepared {
    kernel: Kernel,
    dims: u32,
    global: [usize; 3],
    local: [usize; 3],
}

/// The number of dimensions in use. Refuses sizes that OpenCL refuses, since some drivers do not.
fn dims(launch: &Launch) -> DeviceResult<u32> {
    let sizes: Vec<(usize, usize)> = launch.global.into_iter().zip(launch.local).collect();
    if sizes
        .iter()
        .any(|&(global, local)| global == 0 || local == 0)
    {
        return Err(DeviceError::call(ENQUEUE, -63));
    }
    if sizes.iter().any(|(global, local)| global % local != 0) {
        return Err(DeviceError::call(ENQUEUE, -54));
    }
    Ok([2, 1]
        .into_iter()
        .find(|dim: &usize| launch.global[*dim] > 1 || launch.local[*dim] > 1)
        .map_or(1, |dim| dim as u32 + 1))
}

fn check_count(kernel: &Kernel, launch: &Launch) -> DeviceResult<()> {
    const NUM_ARGS: u32 = 0x1191;
    let has = info::kernel(kernel, NUM_ARGS)?.number();
    if has.is_none_or(|n| n == launch.args.len() as u64) {
        return Ok(());
    }
    let message = format!(
        "kernel `{}` has {} arguments and was given {}",
        launch.kernel,
        has.unwrap_or_default(),
        launch.args.len()
    );
    Err(DeviceError::other(SET_ARG, message))
}

/// Refuses arguments that a parameter of the kernel cannot take.
fn check_parameters(built: &Built, device: &OpenClDevice, launch: &Launch) -> DeviceResult<()> {
    for (number, (parameter, arg)) in
        (1..).zip(built.parameters(&launch.kernel).iter().zip(&launch.args))
    {
        // Of 0 bytes are images alone.
        let is_image = matches!(arg, Arg::Buffer(id) if device.buffers.get(id).is_some_and(|b| b.bytes() == 0));
        if let Some(why) = parameter.refusal(arg, is_image, built.wide_index) {
            let what = format!("parameter {number} of kernel `{}` {why}", launch.kernel);
            return Err(DeviceError::other(SET_ARG, what));
        }
    }
    Ok(())
}

fn set(
    kernel: &Kernel,
    index: u32,
    arg: Arg<BufferId>,
    wide_index: bool,
    device: &OpenClDevice,
) -> DeviceResult<()> {
    match arg {
        Arg::Buffer(id) => pass(
            kernel,
            index,
            ArgVal::mem(&device.buffer(id, SET_ARG)?.memory),
        ),
        Arg::Index(value) if wide_index => pass(kernel, index, ArgVal::scalar(&value)),
        Arg::Index(value) => pass(
            kernel,
            index,
            ArgVal::scalar(&u32::try_from(value).map_err(|_| {
                DeviceError::other(SET_ARG, format!("{value} does not fit a 32-bit index"))
            })?),
        ),
        Arg::Uint(value) => pass(kernel, index, ArgVal::scalar(&value)),
        Arg::Float(bits) => pass(kernel, index, ArgVal::scalar(&f32::from_bits(bits))),
        Arg::Int(value) => pass(kernel, index, ArgVal::scalar(&value)),
        Arg::Value(value) => {
            let bytes = value.bytes();
            // SAFETY: the bytes outlive the call, which copies them.
            pass(kernel, index, unsafe {
                ArgVal::from_raw(bytes.len(), bytes.as_ptr().cast(), false)
            })
        }
        Arg::Sampler(sampler) => {
            let made = device.samplers.get(&sampler);
            pass(
                kernel,
                index,
                ArgVal::sampler(
                    made.ok_or_else(|| DeviceError::other(SET_ARG, "the sampler was not made"))?,
                ),
            )
        }
        // Some drivers accept 0 bytes here and fail later, elsewhere.
        Arg::Local(0) => Err(DeviceError::call(SET_ARG, -51)),
        Arg::Local(bytes) => pass(kernel, index, ArgVal::local::<u8>(&bytes)),
    }
}

fn pass(kernel: &Kernel, index: u32, value: ArgVal<'_>) -> DeviceResult<()> {
    guarded(SET_ARG, || core::set_kernel_arg(kernel, index, value))
}

fn in_argument(error: DeviceError, launch: &Launch, index: u32) -> DeviceError {
    let place = format!("{SET_ARG} (argument {index} of `{}`)", launch.kernel);
    match error {
        DeviceError::Call { code, begun, .. } => DeviceError::Call {
            call: place,
            code,
            begun,
        },
        DeviceError::Other { message, .. } => DeviceError::other(&place, message),
        build => build,
    }
}

/// Refuses what the device cannot hold: PoCL aborts the process there. The driver's number covers arguments
/// and the kernel's own arrays, but some drivers leave the arguments out.
fn check_local_memory(kernel: &Kernel, launch: &Launch, device: &OpenClDevice) -> DeviceResult<()> {
    const LOCAL_MEM_SIZE: u32 = 0x11B2;
    let reported = info::kernel_work_group(kernel, device.device, LOCAL_MEM_SIZE)
        .ok()
        .and_then(|a| a.number());
    let given = launch.args.iter().map(|arg| {
        if let Arg::Local(bytes) = arg {
            *bytes as u64
        } else {
            0
        }
    });
    let needed = reported
        .unwrap_or(0)
        .max(given.fold(0, u64::saturating_add));
    if needed > device.info.target.local_mem {
        Err(DeviceError::call(ENQUEUE, -5))
    } else {
        Ok(())
    }
}

impl OpenClDevice {
    /// Sets the arguments of every launch, each on a kernel object of its own.
    pub fn prepare(
        &mut self,
        program: ProgramId,
        launches: &[Launch],
    ) -> DeviceResult<Vec<Prepared>> {
        let place = self.built(program)?;
        image::provide(&mut self.samplers, &self.context, launches)?;
        let mut used: BTreeMap<&str, usize> = BTreeMap::new();
        let mut prepared = Vec::with_capacity(launches.len());
        for launch in launches {
            let copy = used.entry(&launch.kernel).or_default();
            let kernel = self.programs[place].1.kernel(&launch.kernel, *copy)?;
            prepared.push(self.bind(&self.programs[place].1, launch, kernel)?);
            *copy += 1;
        }
        Ok(prepared)
    }

    fn bind(&self, built: &Built, launch: &Launch, kernel: Kernel) -> DeviceResult<Prepared> {
        let dims = dims(launch)?;
        check_count(&kernel, launch)?;
        check_parameters(built, self, launch)?;
        for (index, arg) in (0..).zip(&launch.args) {
            set(&kernel, index, *arg, built.wide_index, self)
                .map_err(|error| in_argument(error, launch, index))?;
        }
        check_local_memory(&kernel, launch, self)?;
        Ok(Prepared {
            kernel,
            dims,
            global: launch.global,
            local: launch.local,
        })
    }

    /// Runs the launches in order, waits, and reads the event times.
    pub fn run_launches(
        &mut self,
        program: ProgramId,
        launches: &[Launch],
    ) -> DeviceResult<Timing> {
        let prepared = &self.prepare(program, launches)?;
        let queue = &retained(RETAIN_QUEUE, &self.profiling)?;
        let mut events: Vec<Event> = Vec::with_capacity(prepared.len());
        // Of each launch the number of its event.
        let mut numbers = Vec::with_capacity(prepared.len());
        let mut ran = vec![false; prepared.len()];
        self.ready(queue, launches.first())?;
        let begin = Instant::now();
        let enqueued = self.walk(queue, launches, prepared, |launch, place| {
            let event = enqueue(queue, launch).map_err(|error| error.after(place > 0))?;
            // Those between were left out.
            numbers.resize(place, events.len().saturating_sub(1));
            numbers.push(events.len());
            ran[place] = true;
            events.push(event);
            Ok(())
        });
        let finished = finish(queue);
        let wall_s = begin.elapsed().as_secs_f64();
        finished.and(enqueued)?;
        events
            .iter()
            .try_for_each(|event| check_event(ENQUEUE, event))?;
        numbers.resize(prepared.len(), events.len().saturating_sub(1));
        // One launch without times leaves all without: a sum of some would be wrong.
        let stamps: Option<Vec<Stamps>> = events.iter().map(stamps).collect();
        let stamps = stamps.map(|stamps| {
            numbers
                .into_iter()
                .filter_map(|number| stamps.get(number).copied())
                .collect()
        });
        let left_out = (0..ran.len()).filter(|place| !ran[*place]).collect();
        Ok(Timing {
            wall_s,
            stamps: stamps.unwrap_or_default(),
            left_out,
        })
    }

    /// Runs the launches in order, again and again, and waits once, or where a flag is read. Host seconds of all of it. Only the
    /// last launch has an event, as making one takes a driver longer than many a kernel; all of them have where the driver
    /// leaks without.
    pub fn batch_launches(
        &mut self,
        program: ProgramId,
        launches: &[Launch],
        repeat: usize,
    ) -> DeviceResult<f64> {
        // AMD's driver has been seen to keep the buffers of launches whose events nobody took.
        let leaks = self.info.vendor.contains("Advanced Micro Devices");
        let prepared = &self.prepare(program, launches)?;
        let queue = &retained(RETAIN_QUEUE, &self.plain)?;
        let mut last = None;
        self.ready(queue, launches.first())?;
        let begin = Instant::now();
        let count = prepared.len();
        let enqueued = (1..=repeat).try_for_each(|round| {
            self.walk(queue, launches, prepared, |launch, place| {
                let has_begun = round > 1 || place > 0;
                if leaks || (round == repeat && place + 1 == count) {
                    last = Some(enqueue(queue, launch).map_err(|error| error.after(has_begun))?);
                    return Ok(());
                }
                enqueue_unseen(queue, launch).map_err(|error| error.after(has_begun))
            })
        });
        let finished = finish(queue);
        let wall_s = begin.elapsed().as_secs_f64();
        finished.and(enqueued)?;
        last.map_or(Ok(()), |event| check_event(ENQUEUE, &event))?;
        Ok(wall_s)
    }

    /// Enqueues each launch that no flag leaves out.
    fn walk(
        &mut self,
        queue: &CommandQueue,
        launches: &[Launch],
        prepared: &[Prepared],
        mut go: impl FnMut(&Prepared, usize) -> DeviceResult<()>,
    ) -> DeviceResult<()> {
        let mut place = 0;
        while place < prepared.len() {
            self.ready(queue, launches.get(place))?;
            go(&prepared[place], place)?;
            place += 1 + launches[place]
                .check
                .as_ref()
                .map_or(Ok(0), |check| self.skipped(queue, check))?;
        }
        Ok(())
    }

    fn ready(&mut self, queue: &CommandQueue, launch: Option<&Launch>) -> DeviceResult<()> {
        launch.map_or(Ok(()), |launch| {
            image::ready(&mut self.views, queue, &self.buffers, launch)
        })
    }

    /// Launches that are left out, as the flag is down.
    fn skipped(&self, queue: &CommandQueue, check: &FlagCheck<BufferId>) -> DeviceResult<usize> {
        let buffer = self.buffer(check.buffer, "clEnqueueReadBuffer")?;
        let mut flag = vec![0; check.bytes];
        buffer.read(queue, 0, &mut flag)?;
        match check.last_turn {
            _ if flag.iter().all(|byte| *byte == 0) => Ok(check.skips),
            None => Ok(0),
            Some(turns) => {
                let why = format!(
                    "the flag is still raised after turn {turns}, the last of its loop: allow more turns, or find the kernel that \
                     always raises it"
                );
                Err(DeviceError::other(&format!("while = {:?}", check.name), why).after(true))
            }
        }
    }
}

pub fn enqueue(queue: &CommandQueue, launch: &Prepared) -> DeviceResult<Event> {
    let global = &launch.global;
    let local = Some(launch.local);
    // SAFETY: the arguments' number and sizes were checked; what the kernel does inside its buffers is
    // the business of the checks above this folder.
    enqueued(ENQUEUE, |event| unsafe {
        core::enqueue_kernel(
            queue,
            &launch.kernel,
            launch.dims,
            None,
            global,
            local,
            None::<&Event>,
            Some(event),
        )
    })
}

fn finish(queue: &CommandQueue) -> DeviceResult<()> {
    guarded("clFinish", || core::finish(queue))
}

/// As [`enqueue`], at once and without an event.
pub fn enqueue_unseen(queue: &CommandQueue, launch: &Prepared) -> DeviceResult<()> {
    let global = &launch.global;
    let local = Some(launch.local);
    let kernel = &launch.kernel;
    let dims = launch.dims;
    // SAFETY: as in `enqueue`.
    guarded(ENQUEUE, || unsafe {
        core::enqueue_kernel(
            queue,
            kernel,
            dims,
            None,
            global,
            local,
            None::<&Event>,
            None::<&mut Event>,
        )
    })
}

pub fn stamps(event: &Event) -> Option<Stamps> {
    let [Some(queued), Some(submit), Some(start), Some(end)] =
        [0x1280, 0x1281, 0x1282, 0x1283].map(|key| info::event_time(event, key).ok()?.number())
    else {
        return None;
    };
    Some(Stamps {
        queued,
        submit,
        start,
        end,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(global: [usize; 3], local: [usize; 3]) -> Launch {
        Launch {
            kernel: "k".to_owned(),
            global,
            local,
            args: Vec::new(),
            timed: true,
            check: None,
        }
    }

    #[test]
    fn dimensions_in_use_are_counted_and_impossible_sizes_refused() {
        assert_eq!(dims(&launch([8, 1, 1], [4, 1, 1])), Ok(1));
        assert_eq!(dims(&launch([8, 8, 1], [4, 2, 1])), Ok(2));
        assert_eq!(dims(&launch([8, 1, 2], [4, 1, 1])), Ok(3));
        assert_eq!(
            dims(&launch([0, 1, 1], [4, 1, 1])).unwrap_err().code(),
            Some(-63)
        );
        assert_eq!(
            dims(&launch([4, 1, 1], [0, 1, 1])).unwrap_err().code(),
            Some(-63)
        );
        assert!(
            dims(&launch([10, 1, 1], [4, 1, 1]))
                .unwrap_err()
                .is_refusal()
        );
    }
}
