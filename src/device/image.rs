//! Images, made of what lies in buffers. `ocl`'s own image type is not used: its builder asserts and its queries panic.
#![allow(unsafe_code, reason = "ocl cannot know what an image is made of")]

use super::error::{DeviceError, guarded, retained};
use super::memory::{Buffer, finished};
use super::query;
use crate::data::Dtype;
use crate::plan::Image;
use ocl::core::{
    self, CommandQueue, Context, DeviceId, Event, ImageChannelDataType, ImageChannelOrder, ImageDescriptor,
    ImageFormat, Mem, MemFlags, MemObjectType,
};

const CREATE: &str = "clCreateImage";
const RETAIN: &str = "clRetainMemObject";

/// Makes an image with one channel of a buffer's first elements. A line of pixels stays in the buffer; of one that is a
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
    let pixels = image.width.checked_mul(image.height.unwrap_or(1));
    if pixels.and_then(|pixels| pixels.checked_mul(dtype.size())).is_none_or(|bytes| bytes > of.bytes()) {
        return Err(DeviceError::other(CREATE, "the image is larger than the buffer that it is made of"));
    }
    let channel = match dtype {
        Dtype::F32 => ImageChannelDataType::Float,
        Dtype::I32 => ImageChannelDataType::UnsignedInt32,
        _ => return Err(DeviceError::call(CREATE, -10)),
    };
    let format = ImageFormat::new(ImageChannelOrder::R, channel);
    let description = |kind, height, buffer| ImageDescriptor::new(kind, image.width, height, 0, 0, 0, 0, buffer);
    let whole = if of.is_part() { of.copied(context, queue)? } else { retained(RETAIN, &of.memory)? };
    let description = match image.height {
        Some(height) => description(MemObjectType::Image2d, height, None),
        None => description(MemObjectType::Image1dBuffer, 0, Some(retained(RETAIN, &whole)?)),
    };
    // SAFETY: no host memory is involved; the buffer is large enough, and the image holds a reference to it.
    let make =
        || unsafe { core::create_image(context, MemFlags::READ_ONLY, &format, &description, None::<&[u8]>, None) };
    let memory = guarded(CREATE, make)?;
    if let Some(height) = image.height {
        fill(queue, &whole, &memory, [image.width, height, 1])?;
    }
    Ok(Buffer::opaque(memory))
}

/// Refuses what is larger than the device says: not every driver does.
fn check_size(device: DeviceId, image: Image) -> Result<(), DeviceError> {
    const IMAGE2D_MAX_WIDTH: u32 = 0x1011;
    const IMAGE2D_MAX_HEIGHT: u32 = 0x1012;
    const IMAGE_MAX_BUFFER_SIZE: u32 = 0x1040;
    let fits = |key, size: usize| {
        let most = query::device(device, key).ok().and_then(|answer| answer.number());
        most.is_none_or(|most| size as u64 <= most)
    };
    let is_small_enough = match image.height {
        Some(height) => fits(IMAGE2D_MAX_WIDTH, image.width) && fits(IMAGE2D_MAX_HEIGHT, height),
        None => fits(IMAGE_MAX_BUFFER_SIZE, image.width),
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
