// my transposition: each work-item moves one element. Right, and slow.
//
// gpulab try --as transpose runs this file between the rungs of `gpulab transpose`. Lines that begin with `// gpulab:` say how it
// is launched; change them together with the code.
//
// gpulab: wg 16x16           (work-items of a group across and down, unless --wg says others)
// gpulab: elements 1x1       (columns x rows of the input for each work-item: there are groups enough for the whole matrix)
//
// Others: `local 32*33` hands over local memory for so many elements as one more argument, `__local T *tile`;
// `tune ROWS 1 2 4` makes ROWS a macro that --set, sweep and tune vary, and that may stand in the lines above, as in
// `elements 1xROWS`.
//
// Set by gpulab: T, the element type, as unsigned integers or floats; INDEX, an unsigned integer wide enough for every index;
// WG_X and WG_Y, the work-group's sides, and WG, its work-items. The input has `height` rows of `width` elements, the output
// `width` rows of `height`; neither side need be a multiple of the group's.
// Includes: files of gpulab's (gpulab source transpose:registers --expanded shows them), or files beside yours.

__kernel void my_transpose(__global const T *in, __global T *out, const INDEX width, const INDEX height)
{
    const INDEX column = get_global_id(0), row = get_global_id(1);
    if (column < width && row < height)
        out[column * height + row] = in[row * width + column];
}
