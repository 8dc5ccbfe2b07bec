//! Images, each of which holds the same as a buffer, and samplers. `ocl`'s own image type is not used: its builder asserts and its
//! queries panic.
#![allow(unsafe_code, reason = "ocl cannot know what an image is made of")]

use super::error::{DeviceError, DeviceResult, guarded, retained};
use super::info;
use super::memory::{Buffer, finished};
use gpulab_model::data::Scalar;
use gpulab_model::plan::{
    Addressing, Arg, BufferId, Image, ImageKind, Launch, MemoryKind, PixelFormat, Sampler,
};
use ocl::core::{
    self, AddressingMode, CommandQueue, Context, DeviceId, Event, FilterMode, ImageChannelDataType,
    ImageChannelOrder, ImageDescriptor, ImageFormat, MemFlags, MemObjectType,
};
use std::collections::BTreeMap;

const CREATE: &str = "clCreateImage";
const RETAIN: &str = "clRetainMemObject";

/// An image beside the buffer whose pixels it has: what was written to one of them is copied when the other is used.
pub struct ImageView {
    of: BufferId,
    image: Image,
    /// An `image1d_buffer_t` has memory of its own, as PoCL 3.1 makes none of a buffer's part.
    line: Option<Buffer>,
    /// Whether the buffer was written since they were the same, and whether the image was; never both.
    is_behind: bool,
    is_ahead: bool,
}

/// Makes an image of a buffer's first pixels; without a view where it is the buffer itself.
pub fn create(
    context: &Context,
    device: DeviceId,
    (id, of): (BufferId, &Buffer),
    image: Image,
) -> DeviceResult<(Buffer, Option<ImageView>)> {
    check_size(device, image)?;
    let bytes = image.bytes().filter(|bytes| *bytes <= of.bytes());
    let bytes = bytes.ok_or_else(|| {
        DeviceError::other(
            CREATE,
            "the image is larger than the buffer that it is made of",
        )
    })?;
    let [width, height, depth] = image.sides;
    let line = (image.kind == ImageKind::Buffer && of.place().1 > 0)
        .then(|| Buffer::new(context, MemoryKind::Device, bytes));
    let line = line.transpose()?;
    let (kind, height, depth, memory) = match image.kind {
        ImageKind::Volume => (MemObjectType::Image3d, height, depth, None),
        ImageKind::Plane => (MemObjectType::Image2d, height, 0, None),
        ImageKind::Line => (MemObjectType::Image1d, 0, 0, None),
        ImageKind::Buffer => (
            MemObjectType::Image1dBuffer,
            0,
            0,
            Some(retained(RETAIN, &line.as_ref().unwrap_or(of).memory)?),
        ),
    };
    let description = ImageDescriptor::new(kind, width, height, depth, 0, 0, 0, memory);
    let flags = if image.is_written {
        MemFlags::READ_WRITE
    } else {
        MemFlags::READ_ONLY
    };
    let format = format(image.format);
    // SAFETY: no host memory is involved; the buffer is large enough, and the image holds a reference to it.
    let memory = guarded(CREATE, || unsafe {
        core::create_image(context, flags, &format, &description, None::<&[u8]>, None)
    })
    .map_err(|error| match error.code() {
        Some(UNSUPPORTED) => DeviceError::other(
            CREATE,
            format!("this device has no images of {} pixels", image.format),
        ),
        _ => error,
    })?;
    let is_same = image.kind == ImageKind::Buffer && line.is_none();
    let view = (!is_same).then_some(ImageView {
        of: id,
        image,
        line,
        is_behind: true,
        is_ahead: false,
    });
    Ok((Buffer::opaque(memory), view))
}

/// `CL_IMAGE_FORMAT_NOT_SUPPORTED`.
const UNSUPPORTED: i32 = -10;

fn format(format: PixelFormat) -> ImageFormat {
    use ImageChannelDataType as Channel;
    let order = match format.channels {
        1 => ImageChannelOrder::R,
        2 => ImageChannelOrder::Rg,
        _ => ImageChannelOrder::Rgba,
    };
    let channel = match (format.scalar, format.is_share) {
        (Scalar::U8, true) => Channel::UnormInt8,
        (_, true) => Channel::UnormInt16,
        (Scalar::I8, _) => Channel::SignedInt8,
        (Scalar::I16, _) => Channel::SignedInt16,
        (Scalar::U8, _) => Channel::UnsignedInt8,
        (Scalar::U16, _) => Channel::UnsignedInt16,
        (Scalar::U32, _) => Channel::UnsignedInt32,
        (Scalar::F16, _) => Channel::HalfFloat,
        (Scalar::F32, _) => Channel::Float,
        _ => Channel::SignedInt32,
    };
    ImageFormat::new(order, channel)
}

/// Refuses what is larger than the device says: not every driver does.
fn check_size(device: DeviceId, image: Image) -> DeviceResult<()> {
    // Those of CL_DEVICE_IMAGE2D_MAX_WIDTH and so on.
    let most: &[u32] = match image.kind {
        ImageKind::Volume => &[0x1013, 0x1014, 0x1015],
        ImageKind::Plane => &[0x1011, 0x1012],
        ImageKind::Line => &[0x1011],
        ImageKind::Buffer => &[0x1040],
    };
    for (key, size) in most.iter().zip(image.sides) {
        let most = info::device(device, *key)
            .ok()
            .and_then(|answer| answer.number());
        if most.is_some_and(|most| size as u64 > most) {
            return Err(DeviceError::call(CREATE, -40));
        }
    }
    Ok(())
}

impl ImageView {
    /// Copies all pixels: to the image, or from it.
    fn copy(
        &mut self,
        queue: &CommandQueue,
        buffers: &BTreeMap<BufferId, Buffer>,
        id: BufferId,
        inward: bool,
    ) -> DeviceResult<()> {
        let [Some(buffer), Some(image)] = [self.of, id].map(|id| buffers.get(&id)) else {
            return Err(DeviceError::other(
                "clEnqueueCopyBufferToImage",
                "the buffer was released",
            ));
        };
        self.is_behind = false;
        self.is_ahead = false;
        let (whole, from) = buffer.place();
        let region = self.image.sides;
        let none = None::<&Event>;
        match &self.line {
            Some(line) => {
                let bytes = line.bytes();
                if inward {
                    buffer.copy_to(line, queue, bytes)
                } else {
                    line.copy_to(buffer, queue, bytes)
                }
            }
            // Of the whole: PoCL 3.1 crashes when it copies a part.
            None if inward => finished("clEnqueueCopyBufferToImage", queue, |event| {
                let to = &image.memory;
                let at = [0; 3];
                core::enqueue_copy_buffer_to_image::<u8, _, _, _>(
                    queue,
                    whole,
                    to,
                    from,
                    at,
                    region,
                    none,
                    Some(event),
                )
            }),
            None => finished("clEnqueueCopyImageToBuffer", queue, |event| {
                let image = &image.memory;
                let at = [0; 3];
                core::enqueue_copy_image_to_buffer::<u8, _, _, _>(
                    queue,
                    image,
                    whole,
                    at,
                    region,
                    from,
                    none,
                    Some(event),
                )
            }),
        }
    }
}

/// The images of a device, by their numbers.
pub type ImageViews = BTreeMap<BufferId, ImageView>;

/// Has a buffer hold what kernels wrote to its images; if it is about to be written, they will be behind.
pub fn settle(
    views: &mut ImageViews,
    queue: &CommandQueue,
    buffers: &BTreeMap<BufferId, Buffer>,
    buffer: BufferId,
    is_written: bool,
) -> DeviceResult<()> {
    for (id, view) in views.iter_mut().filter(|(_, view)| view.of == buffer) {
        if view.is_ahead {
            view.copy(queue, buffers, *id, false)?;
        }
        view.is_behind |= is_written;
    }
    Ok(())
}

/// Has all that a launch is given hold what was written last.
pub fn ready(
    views: &mut ImageViews,
    queue: &CommandQueue,
    buffers: &BTreeMap<BufferId, Buffer>,
    launch: &Launch,
) -> DeviceResult<()> {
    if views.is_empty() {
        return Ok(());
    }
    for arg in &launch.args {
        let Arg::Buffer(id) = arg else { continue };
        match views.get_mut(id) {
            Some(view) => {
                if view.is_behind {
                    view.copy(queue, buffers, *id, true)?;
                }
                view.is_ahead = view.image.is_written;
            }
            None => settle(views, queue, buffers, *id, true)?,
        }
    }
    Ok(())
}

/// The samplers of a device.
pub type Samplers = BTreeMap<Sampler, core::Sampler>;

/// Makes those that launches are given, unless they are there.
pub fn provide(
    samplers: &mut Samplers,
    context: &Context,
    launches: &[Launch],
) -> DeviceResult<()> {
    for arg in launches.iter().flat_map(|launch| &launch.args) {
        let Arg::Sampler(sampler) = arg else { continue };
        if samplers.contains_key(sampler) {
            continue;
        }
        let addressing = match sampler.addressing {
            Addressing::None => AddressingMode::None,
            Addressing::ClampToEdge => AddressingMode::ClampToEdge,
            Addressing::Clamp => AddressingMode::Clamp,
            Addressing::Repeat => AddressingMode::Repeat,
            Addressing::MirroredRepeat => AddressingMode::MirroredRepeat,
        };
        let filter = if sampler.is_linear {
            FilterMode::Linear
        } else {
            FilterMode::Nearest
        };
        let made = guarded("clCreateSampler", || {
            core::create_sampler(context, sampler.is_normalised, addressing, filter)
        });
        samplers.insert(*sampler, made?);
    }
    Ok(())
}
