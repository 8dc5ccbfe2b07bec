// Each product is rounded, as NumPy does: a fused addition would give other last bits, and so other images.
#pragma OPENCL FP_CONTRACT OFF

// The number of pixel (x, y): `view` holds how far the image reaches to the left, down, right and up.
float2 number_at(__global const float *view, const uint x, const uint y, const uint n, const uint m)
{
    const float left = -2 * view[0], bottom = -1.25f * view[1], right = 0.5f * view[2], top = 1.25f * view[3];
    return (float2)(left + x * ((right - left) / n), bottom + y * ((top - bottom) / m));
}
