//! Commands on several queues: transfers, mappings and launches, enqueued without waiting and timed together.
#![allow(
    unsafe_code,
    reason = "OpenCL works on host memory after the call that names it has returned"
)]

use super::error::{DeviceError, DeviceResult, guarded, retained};
use super::launch::{self, Prepared};
use super::memory::{self, HostMemory, check_event, enqueued};
use super::opencl::OpenClDevice;
use super::{Stamps, Timing};
use gpulab_cpu as cpu;
use gpulab_model::plan::{Action, QueuedCommand, Transfer};
use ocl::core::{self, CommandQueue, Event, MapFlags};
use std::time::Instant;

impl OpenClDevice {
    /// Carries out the commands in order `repeat` times, without waiting between, and waits for all.
    /// `launches` are those among the commands, in order.
    pub fn play_commands(
        &self,
        queues: &[CommandQueue],
        launches: &[Prepared],
        commands: &[QueuedCommand],
        repeat: usize,
    ) -> DeviceResult<Timing> {
        commands
            .iter()
            .try_for_each(|command| self.check(command))?;
        let mut events = Vec::with_capacity(commands.len());
        let begin = Instant::now();
        let enqueued = (1..=repeat).try_for_each(|round| {
            events.clear();
            match commands {
                // A row of one launch: nobody asks for the events of those before the last, and they cost time.
                [
                    QueuedCommand {
                        queue: 0,
                        action: Action::Launch(_),
                        ..
                    },
                ] if round < repeat => {
                    let pairs = queues.iter().zip(launches);
                    pairs
                        .map(|(queue, launch)| launch::enqueue_unseen(queue, launch))
                        .fold(Ok(()), Result::and)
                }
                _ => self.enqueue_all(queues, launches, commands, &mut events),
            }
            .map_err(|error| error.after(round > 1))
        });
        // Whatever went wrong: host memory must not be touched by anything that is still under way.
        let finished = finish(queues, &events);
        let wall_s = begin.elapsed().as_secs_f64();
        finished.and(enqueued)?;
        events
            .iter()
            .flatten()
            .try_for_each(|event| check_event("clEnqueue", event))?;
        // One command without times leaves all without: a sum of some would be wrong.
        let stamps: Option<Vec<Stamps>> = events
            .iter()
            .map(|event| launch::stamps(event.as_ref()?))
            .collect();
        Ok(Timing {
            wall_s,
            stamps: stamps.unwrap_or_default(),
            left_out: Vec::new(),
        })
    }

    /// Refuses transfers beyond the ends of their memory.
    fn check(&self, command: &QueuedCommand) -> DeviceResult<()> {
        let t = match &command.action {
            Action::Write(t) | Action::Read(t) | Action::Fill(t) | Action::Fetch(t) => t,
            Action::Launch(_) | Action::Work(_) => return Ok(()),
        };
        let places = [
            (t.at, self.buffer(t.buffer, "clEnqueue")?.bytes()),
            (t.from, self.host(t)?.bytes()),
        ];
        if places
            .iter()
            .all(|(from, bytes)| from.checked_add(t.bytes).is_some_and(|end| end <= *bytes))
        {
            return Ok(());
        }
        Err(DeviceError::other(
            "clEnqueue",
            format!(
                "{} bytes do not fit the memory that they go between",
                t.bytes
            ),
        ))
    }

    fn enqueue_all(
        &self,
        queues: &[CommandQueue],
        launches: &[Prepared],
        commands: &[QueuedCommand],
        events: &mut Vec<Option<Event>>,
    ) -> DeviceResult<()> {
        let mut launches = launches.iter();
        for command in commands {
            let queue = &queues[command.queue];
            events.push(match &command.action {
                Action::Launch(_) => {
                    let enqueued = launches
                        .next()
                        .map(|l| launch::enqueue(queue, l))
                        .transpose();
                    enqueued.map_err(|error| error.after(!events.is_empty()))?
                }
                Action::Write(t) => Some(self.copied(queue, t, true)?),
                Action::Read(t) => Some(self.copied(queue, t, false)?),
                Action::Fill(t) => Some(self.mapped(queue, t, true)?),
                Action::Fetch(t) => Some(self.mapped(queue, t, false)?),
                Action::Work(steps) => {
                    // The device must not wait for the host.
                    flush(queues)?;
                    std::hint::black_box(cpu::spin(*steps));
                    None
                }
            });
        }
        Ok(())
    }

    fn host(&self, t: &Transfer) -> DeviceResult<&HostMemory> {
        self.hosts.get(&t.host).ok_or_else(memory::released)
    }

    fn copied(&self, queue: &CommandQueue, t: &Transfer, is_written: bool) -> DeviceResult<Event> {
        let memory = &self.buffer(t.buffer, "clEnqueue")?.memory;
        let host = self.host(t)?;
        // SAFETY: `check` saw that the range lies in the memory, which outlives `play`, where everything is waited for;
        // nothing else has it in hand, as the device is borrowed exclusively.
        let bytes = unsafe { std::slice::from_raw_parts_mut(host.start().add(t.from), t.bytes) };
        let none = None::<&Event>;
        // SAFETY: as above.
        match is_written {
            true => enqueued("clEnqueueWriteBuffer", |event| unsafe {
                core::enqueue_write_buffer(queue, memory, false, t.at, bytes, none, Some(event))
            }),
            false => enqueued("clEnqueueReadBuffer", |event| unsafe {
                core::enqueue_read_buffer(queue, memory, false, t.at, bytes, none, Some(event))
            }),
        }
    }

    /// Maps a part of a buffer, waits for it, lets the host write where the device will read, or read where it wrote, and
    /// unmaps it; the event is that of unmapping.
    fn mapped(&self, queue: &CommandQueue, t: &Transfer, is_written: bool) -> DeviceResult<Event> {
        let memory = &self.buffer(t.buffer, "clEnqueue")?.memory;
        let host = self.host(t)?;
        let flags = if is_written {
            MapFlags::new().write_invalidate_region()
        } else {
            MapFlags::new().read()
        };
        // SAFETY: the call blocks, the mapping is used before it is unmapped, and nobody keeps it.
        let mut map = guarded("clEnqueueMapBuffer", || unsafe {
            let none = (None::<&Event>, None::<&mut Event>);
            core::enqueue_map_buffer::<u8, _, _, _>(
                queue, memory, true, flags, t.at, t.bytes, none.0, none.1,
            )
        })?;
        // SAFETY: `check` saw that the range lies in the memory; a mapping lies elsewhere.
        unsafe {
            let host = host.start().add(t.from);
            let mapped = map.as_mut_ptr();
            match is_written {
                true => std::ptr::copy_nonoverlapping(host, mapped, t.bytes),
                false => std::ptr::copy_nonoverlapping(mapped, host, t.bytes),
            }
        }
        enqueued("clEnqueueUnmapMemObject", |event| {
            core::enqueue_unmap_mem_object(queue, memory, &map, None::<&Event>, Some(event))
        })
    }
}

fn flush(queues: &[CommandQueue]) -> DeviceResult<()> {
    queues
        .iter()
        .try_for_each(|queue| guarded("clFlush", || core::flush(queue)))
}

/// Waits for all queues, also if one fails.
fn finish(queues: &[CommandQueue], events: &[Option<Event>]) -> DeviceResult<()> {
    // Several queues must begin before the first is waited for, and the host's work has flushed one already; after a
    // flush, Mesa 22.3 does not wait in clFinish.
    let is_flushed = queues.len() > 1 || events.iter().any(Option::is_none);
    let waited = if is_flushed {
        flush(queues).and_then(|()| wait(events))
    } else {
        Ok(())
    };
    let finished = queues
        .iter()
        .map(|queue| guarded("clFinish", || core::finish(queue)));
    waited.and(finished.fold(Ok(()), Result::and))
}

fn wait(events: &[Option<Event>]) -> DeviceResult<()> {
    let events = events
        .iter()
        .flatten()
        .map(|event| retained("clRetainEvent", event));
    let events = events.collect::<Result<Vec<Event>, _>>()?;
    let count = events.len() as u32;
    if count == 0 {
        Ok(())
    } else {
        guarded("clWaitForEvents", || {
            core::wait_for_events(count, &&events[..])
        })
    }
}
