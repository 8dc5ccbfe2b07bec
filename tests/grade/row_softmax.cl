__kernel void slow(__global const float *x, __global float *y, int n, int m)
{
    int row = get_global_id(0);
    if (row >= m)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += exp(x[row * n + k]);
    for (int k = 0; k < n; k++)
        y[row * n + k] = exp(x[row * n + k]) / sum;
}

__kernel void cured(__global const float *x, __global float *y, int n, int m)
{
    __local float part[256];
    int l = get_local_id(0), row = get_group_id(0);
    float sum = 0;
    for (int k = l; k < n; k += 256)
        sum += exp(x[row * n + k]);
    part[l] = sum;
    for (int s = 128; s > 0; s >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s)
            part[l] += part[l + s];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = l; k < n; k += 256)
        y[row * n + k] = exp(x[row * n + k]) / part[0];
}

__kernel void only(__global const float *x, __global float *y, int n, int m)
{
    __local float tile[256][33];
    int l = get_local_id(0), lane = l % 32, first = get_group_id(0) * 256;
    float sum = 0;
    for (int begin = 0; begin < n; begin += 32) {
        for (int r = l / 32; r < 256; r += 8)
            if (first + r < m && begin + lane < n)
                tile[r][lane] = x[(first + r) * n + begin + lane];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (first + l < m)
            for (int k = 0; k < min(32, n - begin); k++)
                sum += exp(tile[l][k]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int begin = 0; begin < n; begin += 32) {
        for (int r = l / 32; r < 256; r += 8)
            if (first + r < m && begin + lane < n)
                tile[r][lane] = x[(first + r) * n + begin + lane];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (first + l < m)
            for (int k = 0; k < min(32, n - begin); k++)
                tile[l][k] = exp(tile[l][k]) / sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int r = l / 32; r < 256; r += 8)
            if (first + r < m && begin + lane < n)
                y[(first + r) * n + begin + lane] = tile[r][lane];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
