//! Wrong kernels with arguments of every kind: each must be found wrong, and the right one that it was made of right.

use super::{case, run};
use crate::drivers::on_pocl;
use gpulab::kernels::{FamilyFile, Registry};
use gpulab::oracle;
use gpulab::outcome::{Outcome, Status};
use gpulab::plan::Case;
use std::collections::BTreeMap;
use std::path::Path;

/// A described family with a right kernel, and what makes it wrong.
struct Subject {
    name: &'static str,
    /// The keys of the file but for its rungs.
    file: &'static str,
    /// The keys of each rung.
    rung: &'static str,
    kernel: &'static str,
    /// What is wrong, a text of the kernel or of the rung, and what stands in its place.
    mutants: &'static [(&'static str, &'static str, &'static str)],
}

const SUBJECTS: &[Subject] = &[
    Subject {
        name: "in_place",
        file: r#"n = 500
check = "numpy: x = 2 * x + y + 1""#,
        rung: r#"items = "n"
args = ["inout x[n]", "y[n]", "n"]"#,
        kernel: "__kernel void k(__global float *x, __global float *y, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    x[i] = 2 * x[i] + y[i] + 1;
}",
        mutants: &[
            ("updates twice", "2 * x[i] + y[i] + 1", "2 * (2 * x[i] + y[i] + 1) + y[i] + 1"),
            ("leaves the last element", "i >= n", "i >= n - 1"),
            ("leaves the last element of each group", "i >= n", "i >= n || get_local_id(0) == 63"),
            ("leaves elements that are 0", "i >= n", "i >= n || x[i] == 0"),
            ("leaves elements below 0", "i >= n", "i >= n || x[i] < 0"),
            ("writes to another place", "x[i] =", "x[i ^ 1] ="),
            ("writes to the input as well", "x[i] =", "y[i] = x[i] ="),
            ("writes to the input instead", "x[i] =", "y[i] ="),
            ("forgets what was there", "2 * x[i]", "2"),
            ("updates elements with those of a neighbour", "2 * x[i]", "2 * x[i ? i - 1 : 0]"),
            ("does nothing", "i >= n", "i >= 0"),
            ("reads beyond the end, times zero", "x[i] + y[i]", "x[i] + 0 * x[i + 1] + y[i]"),
            ("reads before the start, times zero", "x[i] + y[i]", "x[i] + 0 * x[i - 1] + y[i]"),
            ("takes what lies beyond the end for 0", "x[i] + y[i]", "x[i] + (i == n - 1 ? x[n] : 0) + y[i]"),
        ],
    },
    Subject {
        name: "in_place_in_order",
        file: r#"n = 500
types = ["i32"]
check = "numpy: x = x - np.concatenate(([0], x[:-1]))""#,
        rung: r#"items = "1"
wg = 1
args = ["inout x[n] small 100", "n"]"#,
        kernel: "__kernel void k(__global int *x, const int n)
{
    for (int i = n - 1; i > 0; i--)
        x[i] -= x[i - 1];
}",
        mutants: &[
            ("reads the updated neighbour", "int i = n - 1; i > 0; i--", "int i = 1; i < n; i++"),
            ("leaves the second element", "i > 0", "i > 1"),
            ("goes one too far", "i > 0", "i >= 0"),
            ("leaves the last element", "n - 1", "n - 2"),
            ("reads the element itself", "x[i - 1]", "x[i]"),
        ],
    },
    Subject {
        name: "several_outputs",
        file: r#"n = 500
check = "numpy: total = a + b; less = b - 7; flag = (a > 0) + 2 * (b > 0)""#,
        rung: r#"items = "n"
args = ["a[n]", "b[n] small 1000", "out total[n]", "out less[n]", "out flag[n]", "n"]"#,
        kernel: "__kernel void k(__global float *a, __global int *b, __global float *total, __global int *less,
    __global uchar *flag, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    total[i] = a[i] + b[i];
    less[i] = b[i] - 7;
    flag[i] = (a[i] > 0) + 2 * (b[i] > 0);
}",
        mutants: &[
            ("second wrong", "b[i] - 7", "b[i] - 6"),
            ("second wrong in one element", "b[i] - 7", "b[i] - 7 + (i == 321)"),
            ("second not written", "less[i] = b[i] - 7;", ""),
            ("third not written", "flag[i] = ", "uchar unused = "),
            ("last element of the second not written", "less[i] = b", "if (i < n - 1) less[i] = b"),
            ("last element of the third not written", "flag[i] = (", "if (i < n - 1) flag[i] = ("),
            ("first and second exchanged", "total[i] = a[i] + b[i];\n    less[i] = b[i] - 7", "less[i] = a[i] + b[i];\n    total[i] = b[i] - 7"),
            ("second shifted by one", "less[i] = b", "less[(i + 1) % n] = b"),
            ("third lacks a bit", "2 * (b[i] > 0)", "0"),
            ("the first is read beyond its end, times zero", "a[i] + b[i]", "a[i] + b[i] + (i == n - 1 ? 0 * total[n] : 0)"),
            ("third written in words", "flag[i] = ", "((__global int *)flag)[i] = "),
            ("second has the bits of a float", "b[i] - 7", "as_int((float)(b[i] - 7))"),
            ("second from the first's input", "b[i] - 7", "(int)a[i] - 7"),
        ],
    },
    Subject {
        name: "float_scalars",
        file: r#"n = 500
check = "numpy: y = -1.375 * x + 0.1; z = 0.1 * x""#,
        rung: r#"items = "n"
args = ["x[n]", "out y[n]", "out z[n]", -1.375, 0.1, 0.1, "n"]"#,
        kernel: "__kernel void k(__global const float *x, __global float *y, __global double *z, const float alpha,
    const float beta, double gamma, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    y[i] = alpha * x[i] + beta;
    z[i] = gamma * x[i];
}",
        mutants: &[
            ("a float as its bits", "alpha * x[i]", "as_int(alpha) * x[i]"),
            ("a float cut to a whole number", "alpha * x[i]", "(int)alpha * x[i]"),
            ("a float without its sign", "alpha * x[i]", "fabs(alpha) * x[i]"),
            ("two floats exchanged", "alpha * x[i] + beta", "beta * x[i] + alpha"),
            ("a float left out", "+ beta", ""),
            ("a float in ten bits", "+ beta", "+ as_float(as_uint(beta) & 0xffffe000u)"),
            ("a double cut to a float", "gamma * x[i]", "(float)gamma * x[i]"),
            ("a double's lower half as a float", "gamma * x[i]", "as_float((int)as_long(gamma)) * x[i]"),
            ("a double's product in floats", "gamma * x[i]", "(float)(gamma * x[i])"),
        ],
    },
    Subject {
        name: "structs",
        file: r#"n = 500
check = """numpy:
moved['x'] = bodies['x'] + 2.5 * bodies['y'] - 3
moved['y'] = bodies['y'] + 12
moved['flag'] = bodies['flag'] + 1
moved['w'] = bodies['w'].astype(np.int64) * 11
moved['m'] = bodies['m'] * 0.1""""#,
        rung: r#"items = "n"
args = ["bodies[n]", "out moved[n]", "{-3, 2.5, 11, 12, 0.1}", "n"]"#,
        kernel: "typedef struct { float x, y; uchar flag; int w; double m; } Body;
typedef struct { char c; float dt; int id[2]; double m; } Step;
__kernel void k(__global const Body *bodies, __global Body *moved, const Step step, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    moved[i].x = bodies[i].x + step.dt * bodies[i].y + step.c;
    moved[i].y = bodies[i].y + step.id[1];
    moved[i].flag = bodies[i].flag + 1;
    moved[i].w = bodies[i].w * step.id[0];
    moved[i].m = bodies[i].m * step.m;
}",
        mutants: &[
            ("off by one field of a buffer", "moved[i].y = bodies[i].y", "moved[i].y = bodies[i].x"),
            ("off by one field of a value", "* step.id[0]", "* step.id[1]"),
            ("off by one element", "bodies[i].w", "bodies[i + 1 < n ? i + 1 : i].w"),
            ("a field not written", "moved[i].flag = bodies[i].flag + 1;", ""),
            ("a field in the middle not written in the last element", "moved[i].w =", "if (i < n - 1) moved[i].w ="),
            ("padding of a buffer read", "bodies[i].flag + 1", "bodies[i].flag + 1 + ((__global const uchar *)&bodies[i])[9]"),
            ("padding of a value read", "+ step.c", "+ step.c + ((const uchar *)&step)[2]"),
            ("a field as if there were no padding", "bodies[i].w *", "*(__global const int *)((__global const char *)&bodies[i] + 9) *"),
            ("a small field without its sign", "step.c;", "(uchar)step.c;"),
            ("a small field as a word", "bodies[i].flag + 1", "1 + *(__global const int *)&bodies[i].flag / 3"),
            ("a double cut to a float", "bodies[i].m * step.m", "bodies[i].m * (float)step.m"),
            ("two fields exchanged", "moved[i].x = bodies[i].x + step.dt * bodies[i].y + step.c;\n    moved[i].y =", "moved[i].y = bodies[i].x + step.dt * bodies[i].y + step.c;\n    moved[i].x ="),
        ],
    },
    Subject {
        name: "loops",
        file: r#"n = 500
check = """numpy:
for t in range(5):
    x = (np.roll(x, 1) + np.roll(x, -1)) / 2 + t""""#,
        rung: r#"items = "n"
loop = "t in 0..5"
swap = ["x", "y"]
args = ["inout x[n]", "scratch y[n]", "t", "n"]"#,
        kernel: "__kernel void k(__global const float *x, __global float *y, const int t, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    y[i] = (x[(i + n - 1) % n] + x[(i + 1) % n]) / 2 + t;
}",
        mutants: &[
            ("one turn short", "0..5", "0..4"),
            ("one turn too many", "0..5", "0..6"),
            ("turns from 1 on", "0..5", "1..5"),
            ("as many turns from 1 on", "0..5", "1..6"),
            ("no turn", "0..5", "0..0"),
            ("buffers do not change places", "swap = [\"x\", \"y\"]\n", ""),
            ("buffers the wrong way round", "\"inout x[n]\", \"scratch y[n]\"", "\"scratch y[n]\", \"inout x[n]\""),
            ("always the first turn", "/ 2 + t", "/ 2"),
            ("reads what it wrote two turns before", "x[(i + 1) % n]", "y[(i + 1) % n]"),
            ("the last element is that of two turns before", "i >= n", "i >= n - 1"),
        ],
    },
    Subject {
        name: "nested_loops",
        file: r#"n = 512
types = ["i32"]
check = "numpy: x = np.sort(x)""#,
        rung: r#"items = "n"
loop = ["k in 1..10", "j in 0..k"]
args = ["inout x[n] random", "pow2(k)", "pow2(k - j - 1)"]"#,
        kernel: "__kernel void k(__global int *x, const int size, const int step)
{
    const int i = get_global_id(0);
    const int j = i ^ step;
    if (j <= i)
        return;
    const int a = x[i], b = x[j];
    const int up = (i & size) == 0;
    if ((a > b) == up) {
        x[i] = b;
        x[j] = a;
    }
}",
        mutants: &[
            ("one turn of the outer loop short", "1..10", "1..9"),
            ("one turn of the inner loop short", "0..k", "1..k"),
            ("loops exchanged", "\"pow2(k)\", \"pow2(k - j - 1)\"", "\"pow2(k - j - 1)\", \"pow2(k)\""),
            ("the wrong way round", "== 0;", "!= 0;"),
            ("equal steps", "pow2(k - j - 1)", "pow2(k - 1)"),
            ("one element kept", "x[j] = a;", "if (j != 77) x[j] = a;"),
        ],
    },
    Subject {
        name: "narrow_types",
        file: r#"n = 500
check = "numpy: sum = a + b; wide = c.astype(np.int64) * 3; product = (c * d) & 65535; half_of = a >> 1""#,
        rung: r#"items = "n"
args = ["a[n]", "b[n]", "c[n]", "d[n]", "out sum[n]", "out wide[n]", "out product[n]", "out half_of[n]", "n"]"#,
        kernel: "__kernel void k(__global const uchar *a, __global const uchar *b, __global const char *c,
    __global const short *d, __global uchar *sum, __global int *wide, __global ushort *product, __global short *half_of,
    const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    sum[i] = a[i] + b[i];
    wide[i] = c[i] * 3;
    product[i] = c[i] * d[i];
    half_of[i] = a[i] >> 1;
}",
        mutants: &[
            ("overflow not wrapped", "a[i] + b[i]", "add_sat(a[i], b[i])"),
            ("overflow wrapped too soon", "c[i] * 3", "(char)(c[i] * 3)"),
            ("a byte without its sign", "c[i] * 3", "(uchar)c[i] * 3"),
            ("a byte with a sign that it has not", "a[i] >> 1", "(char)a[i] >> 1"),
            ("a short without its sign, divided", "c[i] * d[i]", "c[i] * ((ushort)d[i] / 2) * 2"),
            ("a product that is saturated", "c[i] * d[i]", "convert_ushort_sat(c[i] * d[i])"),
            ("a product in bytes", "c[i] * d[i]", "(char)(c[i] * d[i])"),
            ("bytes as shorts", "a[i] + b[i]", "((__global const short *)a)[i / 2] + b[i]"),
            ("rounded upwards", "a[i] >> 1", "(a[i] + 1) >> 1"),
            ("one sum wrong by one", "a[i] + b[i]", "a[i] + b[i] + (i == 123)"),
            ("the last byte not written", "sum[i] =", "if (i < n - 1) sum[i] ="),
        ],
    },
    Subject {
        name: "halves",
        file: r#"n = 500
tolerance = 0
check = "numpy: z = x * y""#,
        rung: r#"items = "n"
args = ["x[n]", "y[n]", "out z[n]", "n"]"#,
        kernel: "__kernel void k(__global const half *x, __global const half *y, __global half *z, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    const float a = vload_half(i, x), b = vload_half(i, y);
    const float product = a * b;
    vstore_half(product, i, z);
}",
        mutants: &[
            ("rounded twice", "(product,", "(as_float((as_uint(product) + 0x800) & 0xfffff000),"),
            ("a factor in ten bits", "= a * b", "= as_float(as_uint(a) & 0xffffc000) * b"),
            ("cut instead of rounded", "vstore_half(", "vstore_half_rtz("),
            ("rounded upwards", "vstore_half(", "vstore_half_rtp("),
            ("as whole numbers", "vload_half(i, x)", "((__global const short *)x)[i]"),
            ("a sign lost", "= a * b", "= fabs(a) * b"),
            ("the last half not written", "vstore_half(", "if (i < n - 1) vstore_half("),
        ],
    },
    Subject {
        name: "accumulated",
        file: r#"n = 500
check = "numpy: bins = np.bincount(x, minlength=16)""#,
        rung: r#"items = "n"
args = ["x[n] below 16", "out bins[16] = 0", "n"]"#,
        kernel: "__kernel void k(__global const int *x, __global int *bins, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        atomic_add(&bins[x[i]], 1);
}",
        mutants: &[
            ("counts the last element not", "i < n", "i < n - 1"),
            ("counts the first element not", "i < n", "i < n && i > 0"),
            ("counts two for one", "bins[x[i]], 1", "bins[x[i]], 1 + (i == 99)"),
            ("counts in the next bin", "bins[x[i]]", "bins[(x[i] + 1) & 15]"),
            ("counts no zeros", "i < n", "i < n && x[i] != 0"),
            ("clears what other groups counted", "if (i < n)", "if (get_local_id(0) == 0) for (int b = 0; b < 16; b++) bins[b] = 0;\n    if (i < n)"),
            ("counts one beyond the end", "i < n", "i <= n"),
        ],
    },
    Subject {
        name: "accumulated_without_zeros",
        file: r#"n = 500
check = "numpy: bins = np.bincount(x, minlength=16); total = x.sum()""#,
        rung: r#"items = "1"
wg = 1
args = ["x[n] below 16", "out bins[16]", "out total[1]", "n"]"#,
        kernel: "__kernel void k(__global const int *x, __global int *bins, __global int *total, const int n)
{
    for (int b = 0; b < 16; b++)
        bins[b] = 0;
    *total = 0;
    for (int i = 0; i < n; i++) {
        bins[x[i]]++;
        *total += x[i];
    }
}",
        mutants: &[
            ("adds to what was there", "bins[b] = 0", "bins[b] += 0"),
            ("adds to what was there in the last bin", "b < 16", "b < 15"),
            ("adds to what was there in the first bin", "int b = 0", "int b = 1"),
            ("adds the sum to what was there", "*total = 0", "*total += 0"),
            ("sets what was there to 1", "*total = 0", "*total = 1"),
            ("clears only what is no number of its own", "*total = 0", "if (*total < 0 || *total > 100000) *total = 0"),
        ],
    },
    Subject {
        name: "vectors",
        file: r#"n = 500
check = "numpy: out = x + np.array([1, 2.5, -3, 4]); whole = 1000 * -7 + 9 + np.zeros(n); bytes = 200 - 3 * 5 + 250 * (x[:, 0] > 0)""#,
        rung: r#"items = "n"
args = ["x[n]", "out out[n]", "out whole[n]", "out bytes[n]", "(1, 2.5, -3, 4)", "(-7, 9)", "(200, 3, 250, 5)", "(0.5, 2, 8)", "n"]"#,
        kernel: "__kernel void k(__global const float4 *x, __global float4 *out, __global int *whole, __global ushort *bytes,
    const float4 v, const int2 w, const uchar4 b, const float3 p, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    out[i] = x[i] + v;
    whole[i] = 1000 * w.x + w.y * (p.x * p.y * p.z == 8);
    bytes[i] = b.x - b.y * b.w + b.z * (x[i].x > 0);
}",
        mutants: &[
            ("lanes exchanged", "+ v;", "+ v.yxzw;"),
            ("lanes the wrong way round", "+ v;", "+ v.wzyx;"),
            ("one lane for all", "+ v;", "+ v.x;"),
            ("the last lane left out", "+ v;", "+ (float4)(v.xyz, 0);"),
            ("lanes of the buffer exchanged", "= x[i] + v", "= x[i].xywz + v"),
            ("the upper half only", "out[i] = x[i] + v", "out[i].hi = x[i].hi + v.hi"),
            ("whole lanes exchanged", "1000 * w.x + w.y", "1000 * w.y + w.x"),
            ("a whole lane without its sign", "1000 * w.x", "1000 * abs(w.x)"),
            ("a byte with a sign that it has not", "b.x - ", "(char)b.x - "),
            ("bytes off by one", "b.y * b.w", "b.z * b.w"),
            ("three lanes off by one", "p.x * p.y * p.z", "p.y * p.z"),
        ],
    },
    Subject {
        name: "vectors_of_three",
        file: r#"n = 500
check = """numpy:
out = x * np.array([1, 2.5, -3])
points['inner_p_0'], points['inner_p_1'], points['inner_p_2'] = x.T
points['s'], points['inner_c'], points['inner_k'] = np.arange(n), 7, np.arange(n)""""#,
        rung: r#"items = "n"
args = ["x[n]", "out out[n]", "out points[n]", "(1, 2.5, -3)", "n"]"#,
        kernel: "typedef struct { char c; float3 p; int k; } Inner;
typedef struct { short s; Inner inner; } Point;
__kernel void k(__global const float3 *x, __global float3 *out, __global Point *points, const float3 v, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    out[i] = x[i] * v;
    points[i].s = i;
    points[i].inner.c = 7;
    points[i].inner.p = x[i];
    points[i].inner.k = i;
}",
        mutants: &[
            ("three numbers behind each other", "x[i] * v", "vload3(i, (__global const float *)x) * v"),
            ("stored behind each other", "out[i] = x[i] * v", "vstore3(x[i] * v, i, (__global float *)out)"),
            ("lanes exchanged", "x[i] * v", "x[i] * v.yxz"),
            ("the last lane not written", "inner.p = x[i]", "inner.p.xy = x[i].xy"),
            ("a field behind it not written", "points[i].inner.k = i;", ""),
            ("the fourth lane of a buffer", "= x[i];", "= x[i] + ((__global const float *)x)[4 * i + 3];"),
        ],
    },
    Subject {
        name: "long_scalars",
        file: r#"n = 500
types = ["i64"]
check = "numpy: y = x + 10000000003 * n; z = x * -3000000001; q = 2 * x""#,
        rung: r#"items = "n"
args = ["x[n] small 1000", "out y[n]", "out z[n]", "out q[n]", "10000000003 * n", "-3000000001", "n"]"#,
        kernel: "__kernel void k(__global const long *x, __global long *y, __global long *z, __global long *q, const ulong big,
    const long less, const ulong n)
{
    const size_t i = get_global_id(0);
    if (i >= n)
        return;
    y[i] = x[i] + big;
    z[i] = x[i] * less;
    q[i] = 2 * x[i];
}",
        mutants: &[
            ("cut to 32 bits", "+ big", "+ (uint)big"),
            ("cut to 32 bits with a sign", "* less", "* (int)less"),
            ("the upper half only", "+ big", "+ (big >> 32 << 32)"),
            ("without its sign", "* less", "* (long)abs(less)"),
            ("rounded to a float", "+ big", "+ (ulong)(float)big"),
            ("a product in 32 bits", "x[i] * less", "(int)(x[i] * less)"),
            ("results in 32 bits", "q[i] = 2 * x[i]", "((__global int *)q)[i] = 2 * x[i]"),
            ("results without their upper half", "q[i] = 2 * x[i]", "q[i] = (uint)(2 * x[i])"),
        ],
    },
    Subject {
        name: "images",
        file: r#"form = "matrix"
n = 37
m = 29
check = """numpy:
picture = picture.reshape(m, n, 4)
wide = np.pad(picture, ((1, 1), (1, 1), (0, 0)), mode='edge')
mixed = (wide[1:-1, :-2] + wide[1:-1, 2:] + 2 * wide[:-2, 1:-1]) / 4
grey = picture @ np.array([1, 2, 4, 8]) / 255""""#,
        rung: r#"items = "n, m"
args = ["image rgba8 picture[m, n]", "out image rgba8 mixed[m, n]", "out image r32f grey[m, n]", "sampler clamp_to_edge linear", "n", "m"]"#,
        kernel: "__kernel void k(__read_only image2d_t picture, __write_only image2d_t mixed, __write_only image2d_t grey,
    const sampler_t edge, const int n, const int m)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= m)
        return;
    const float4 here = read_imagef(picture, edge, (float2)(x + 0.5f, y + 0.5f));
    const float4 left = read_imagef(picture, edge, (float2)(x - 0.5f, y + 0.5f));
    const float4 right = read_imagef(picture, edge, (float2)(x + 1.5f, y + 0.5f));
    const float4 above = read_imagef(picture, edge, (float2)(x + 0.5f, y - 0.5f));
    write_imagef(mixed, (int2)(x, y), (left + right + 2 * above) / 4);
    write_imagef(grey, (int2)(x, y), (float4)(here.x + 2 * here.y + 4 * here.z + 8 * here.w));
}",
        mutants: &[
            ("clamped to zeros", "clamp_to_edge linear", "clamp linear"),
            ("clamped to the last but one", "(float2)(x + 1.5f, y", "(float2)(min(x + 1.5f, n - 1.5f), y"),
            ("x and y exchanged in a read", "(float2)(x - 0.5f, y + 0.5f)", "(float2)(y + 0.5f, x - 0.5f)"),
            ("x and y exchanged in a write", "mixed, (int2)(x, y)", "mixed, (int2)(y, x)"),
            ("off by half a texel", "(float2)(x + 0.5f, y + 0.5f)", "(float2)(x, y + 0.5f)"),
            ("coordinates from 0 to 1", "clamp_to_edge linear", "clamp_to_edge linear normalized"),
            ("a pixel not written", "y >= m", "y >= m || (x == 11 && y == 7)"),
            ("the last pixel not written", "y >= m", "y >= m || x + y == n + m - 2"),
            ("the second image not written", "write_imagef(grey", "if (x < 0) write_imagef(grey"),
            ("channels exchanged", "(left + right + 2 * above) / 4", "((left + right + 2 * above) / 4).zyxw"),
            ("the last channel of a pixel", "+ 8 * here.w", "+ 8 * (x == 3 && y == 4 ? here.z : here.w)"),
            ("too bright by two levels in a pixel", "+ 2 * above) / 4", "+ 2 * above) / 4 + (x == 3 && y == 4) * 2.0f / 255"),
            ("written beside", "mixed, (int2)(x, y)", "mixed, (int2)(x ^ 1, y)"),
            ("the neighbour below", "y - 0.5f", "y + 1.5f"),
        ],
    },
    Subject {
        name: "images_in_turns",
        file: r#"form = "matrix"
n = 33
m = 17
tolerance = 0
check = """numpy: x = x.reshape(m, n)
for t in range(3):
    x = np.roll(x, 1, axis=1) + t
total = volume.sum() + 0 * x[0, 0]""""#,
        rung: r#"launch = [
    { kernel = "turn", items = "n, m", loop = "t in 0..3", swap = ["x", "y"], args = ["inout image r32f x[m, n] small 100", "scratch image r32f y[m, n]", "t", "n", "m"] },
    { kernel = "sum", items = "1", wg = 1, args = ["image r16i volume[3, 4, 5] small 100", "out i32 total[1]"] },
]"#,
        kernel: "__kernel void turn(__read_only image2d_t x, __write_only image2d_t y, const int t, const int n, const int m)
{
    const int i = get_global_id(0), j = get_global_id(1);
    if (i < n && j < m)
        write_imagef(y, (int2)(i, j), read_imagef(x, (int2)((i + n - 1) % n, j)) + t);
}
__kernel void sum(__read_only image3d_t volume, __global int *total)
{
    *total = 0;
    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 5; x++)
                *total += read_imagei(volume, (int4)(x, y, z, 0)).x;
}",
        mutants: &[
            ("one turn short", "0..3", "0..2"),
            ("images do not change places", "swap = [\"x\", \"y\"], ", ""),
            ("the other neighbour", "(i + n - 1) % n", "(i + 1) % n"),
            ("a row not written", "j < m", "j < m - 1"),
            ("a slice left out", "z < 3", "z < 2"),
            ("sides of the volume exchanged", "(int4)(x, y, z, 0)", "(int4)(z, y, x, 0)"),
        ],
    },
    Subject {
        name: "flags",
        file: r#"n = 120
types = ["i32"]
check = "numpy: x = np.sort(x)""#,
        rung: r#"items = "ceil(n, 2)"
loop = "turn in 0..n"
while = "changed"
launch = [{ args = ["inout x[n] random", "scratch changed[1]", "turn", 0, "n"] }, { args = ["x", "changed", "turn", 1, "n"] }]"#,
        kernel: "__kernel void k(__global int *x, __global int *changed, const int turn, const int phase, const int n)
{
    const int i = 2 * get_global_id(0) + phase;
    if (i + 1 >= n || x[i] <= x[i + 1])
        return;
    const int a = x[i];
    x[i] = x[i + 1];
    x[i + 1] = a;
    *changed = 1;
}",
        mutants: &[
            ("the flag is never raised", "*changed = 1;", ""),
            ("one turn short of what is needed", "*changed = 1;", "if (turn < 12) *changed = 1;"),
            ("the flag is raised by the first item alone", "*changed = 1;", "if (i < 2) *changed = 1;"),
            ("the flag is raised in the first turn alone", "*changed = 1;", "*changed = turn == 0;"),
            ("the last pair left out", "i + 1 >= n", "i + 2 >= n"),
            ("the second half of a turn left out", "+ phase", ""),
        ],
    },
];

/// The family of a subject: the right kernel is the first rung, and each mutant one of its own.
fn file(subject: &Subject, folder: &Path) -> FamilyFile {
    let mut text = format!(
        "name = \"{}\"\nsizes = \"only\"\nwg = 64\n{}\n",
        subject.name, subject.file
    );
    let mut sources = BTreeMap::new();
    let right = ("", "", "");
    for (number, (what, from, to)) in std::iter::once(&right).chain(subject.mutants).enumerate() {
        let patched = |whole: &str| {
            if number == 0 {
                whole.to_owned()
            } else {
                whole.replace(from, to)
            }
        };
        let found = subject.kernel.matches(from).count() + subject.rung.matches(from).count();
        assert!(
            number == 0 || found == 1,
            "{}, {what}: {from:?} is there {found} times",
            subject.name
        );
        text += &format!(
            "\n[[rung]]\nname = \"k_{number}\"\nkernel = \"{number}.cl\"\n{}\n",
            patched(subject.rung)
        );
        sources.insert(format!("{number}.cl"), patched(subject.kernel));
    }
    FamilyFile {
        name: subject.name.into(),
        text,
        folder: folder.to_owned(),
        sources,
    }
}

/// Of a subject's kernels those that are not found to be what they are.
fn objections(driver: &str, subject: &Subject, folder: &Path) -> Vec<String> {
    let mut families = Registry::default();
    let declared = oracle::declare(&mut families, &file(subject, folder), None);
    let family = declared.unwrap_or_else(|error| panic!("{}: {error}", subject.name));
    let cases: Vec<Case> = family
        .ladder
        .iter()
        .map(|rung| case(family, rung))
        .collect();
    let names = std::iter::once("right").chain(subject.mutants.iter().map(|(name, ..)| *name));
    let outcomes = names.zip(run(driver, families, &cases)).enumerate();
    let objection = |(number, (name, outcome)): (usize, (&str, Outcome))| {
        let said = format!(
            "{}, {name}: {:?} {}",
            subject.name,
            outcome.status(),
            outcome.reason()
        );
        eprintln!("{said}");
        let want = if number == 0 {
            Status::Ok
        } else {
            Status::WrongResult
        };
        (outcome.status() != want).then_some(said)
    };
    outcomes.filter_map(objection).collect()
}

#[test]
fn a_flag_that_never_falls_is_named() {
    on_pocl(|driver| {
        let subject = SUBJECTS
            .iter()
            .find(|subject| subject.name == "flags")
            .unwrap();
        let endless = &[(
            "the flag is always raised",
            "    const int i =",
            "    *changed = 1;\n    const int i =",
        )];
        let folder = tempfile::tempdir().unwrap();
        let mut families = Registry::default();
        let file = file(
            &Subject {
                mutants: endless,
                ..*subject
            },
            folder.path(),
        );
        let family = oracle::declare(&mut families, &file, None).unwrap();
        let case = case(family, &family.ladder[1]);
        let outcomes = run(driver, families, [&case]);
        let said = outcomes[0].reason();
        assert!(
            outcomes[0].status() == Status::Failed
                && said.contains("while = \"changed\"")
                && said.contains("turn 120"),
            "{said}"
        );
        1
    });
}

#[test]
fn launches_that_a_flag_leaves_out_do_not_count() {
    on_pocl(|driver| {
        let subject = SUBJECTS
            .iter()
            .find(|subject| subject.name == "flags")
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut families = Registry::default();
        let file = file(
            &Subject {
                mutants: &[],
                ..*subject
            },
            folder.path(),
        );
        let case = {
            let family = oracle::declare(&mut families, &file, None).unwrap();
            case(family, &family.ladder[0])
        };
        let outcome = &run(driver, families, [&case])[0];
        // Of a flag and two kernels each turn, and at most 120 turns.
        assert!(
            outcome.status() == Status::Ok
                && outcome.launches < 3 * 80
                && outcome.launches > 3 * 30,
            "{}",
            outcome.launches
        );
        1
    });
}

#[test]
fn wrong_kernels_with_arguments_of_every_kind_are_found() {
    on_pocl(|driver| {
        let folder = tempfile::tempdir().unwrap();
        let objections: Vec<String> = SUBJECTS
            .iter()
            .flat_map(|subject| objections(driver, subject, folder.path()))
            .collect();
        assert!(objections.is_empty(), "{}", objections.join("\n"));
        SUBJECTS
            .iter()
            .map(|subject| 1 + subject.mutants.len())
            .sum()
    });
}
