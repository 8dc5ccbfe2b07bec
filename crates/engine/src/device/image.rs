//! Images, made of what lies in buffers. `ocl`'s own image type is not used: its builder asserts and its queries panic.
#![allow(unsafe_code, reason = "ocl cannot know what an image is made of")]

use super::error::{DeviceError, guarded, retained};
use super::memory::{Buffer, finished};
use super::query;
use gpulab_model::data::Dtype;
use gpulab_model::plan::Image;
use ocl::core::{
    self, CommandQueue, Context, DeviceId, Event, ImageChannelDataType, ImageChannelOrder, ImageDescriptor,
    ImageFormat, Mem, MemFlags, MemObjectType,
};

const CREATE: &str = "clCreateImage";
const RETAIN: &str = "clRetainMemObject";

/// Makes an image of a buffer's first elements. A line of pixels stays in the buffer; of one that is a
/// part of another a copy is used, as PoCL 3.1 makes no images of parts and crashes when it copies them to one.
pub(super) fn create(
    context: &Context,
    device: DeviceId,
    queue: &CommandQueue,
    of: &Buffer,
    dtype: Dtype,
    image: Image,
) -> Result<Buffer, DeviceError> {
    check_size(device, image)?;
    if image.pixels().and_then(|pixels| pixels.checked_mul(dtype.size())).is_none_or(|bytes| bytes > of.bytes()) {
        return Err(DeviceError::other(CREATE, "the image is larger than the buffer that it is made of"));
    }
    let format = match dtype {
        Dtype::I32 if image.has_bytes => ImageFormat::new(ImageChannelOrder::Rgba, ImageChannelDataType::UnormInt8),
        Dtype::F32 => ImageFormat::new(ImageChannelOrder::R, ImageChannelDataType::Float),
        Dtype::I32 => ImageFormat::new(ImageChannelOrder::R, ImageChannelDataType::UnsignedInt32),
        _ => return Err(DeviceError::call(CREATE, -10)),
    };
    let description =
        |kind, height, depth, buffer| ImageDescriptor::new(kind, image.width, height, depth, 0, 0, 0, buffer);
    let whole = if of.is_part() { of.copied(context, queue)? } else { retained(RETAIN, &of.memory)? };
    let description = match (image.height, image.depth) {
        (Some(height), Some(depth)) => description(MemObjectType::Image3d, height, depth, None),
        (Some(height), None) => description(MemObjectType::Image2d, height, 0, None),
        (None, _) => description(MemObjectType::Image1dBuffer, 0, 0, Some(retained(RETAIN, &whole)?)),
    };
    // SAFETY: no host memory is involved; the buffer is large enough, and the image holds a reference to it.
    let make =
        || unsafe { core::create_image(context, MemFlags::READ_ONLY, &format, &description, None::<&[u8]>, None) };
    let memory = guarded(CREATE, make)?;
    if let Some(height) = image.height {
        fill(queue, &whole, &memory, [image.width, height, image.depth.unwrap_or(1)])?;
    }
    Ok(Buffer::opaque(memory))
}

/// Refuses what is larger than the device says: not every driver does.
fn check_size(device: DeviceId, image: Image) -> Result<(), DeviceError> {
    const IMAGE2D_MAX_WIDTH: u32 = 0x1011;
    const IMAGE2D_MAX_HEIGHT: u32 = 0x1012;
    const IMAGE3D_MAX: [u32; 3] = [0x1013, 0x1014, 0x1015];
    const IMAGE_MAX_BUFFER_SIZE: u32 = 0x1040;
    let fits = |key, size: usize| {
        let most = query::device(device, key).ok().and_then(|answer| answer.number());
        most.is_none_or(|most| size as u64 <= most)
    };
    let is_small_enough = match (image.height, image.depth) {
        (Some(height), Some(depth)) => {
            IMAGE3D_MAX.into_iter().zip([image.width, height, depth]).all(|(key, size)| fits(key, size))
        }
        (Some(height), None) => fits(IMAGE2D_MAX_WIDTH, image.width) && fits(IMAGE2D_MAX_HEIGHT, height),
        (None, _) => fits(IMAGE_MAX_BUFFER_SIZE, image.width),
    };
    if is_small_enough { Ok(()) } else { Err(DeviceError::call(CREATE, -40)) }
}

/// Copies a buffer's first elements to all of an image.
fn fill(queue: &CommandQueue, of: &Mem, image: &Mem, region: [usize; 3]) -> Result<(), DeviceError> {
    let none = None::<&Event>;
    finished("clEnqueueCopyBufferToImage", queue, |event| {
        core::enqueue_copy_buffer_to_image::<u8, _, _, _>(queue, of, image, 0, [0; 3], region, none, Some(event))
    })
}
