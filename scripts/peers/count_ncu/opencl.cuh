// Lets NVIDIA's compiler for CUDA C++ read a kernel of OpenCL C: what the two languages name differently, and vectors.
// twin.py puts it before a kernel's text, and changes what no macro can.
//
// LOCAL_SIZE_X, _Y and _Z are the group's size if the kernel requires one, which an OpenCL compiler then knows, too.

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define __kernel extern "C" __global__
#define __global
#define __constant const
#define __private
#define restrict __restrict__
#define INFINITY __int_as_float(0x7f800000)
#define REQUIRED_SIZE(x, y, z) __launch_bounds__((x) * (y) * (z))

#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define barrier(fence) __syncthreads()
#define mem_fence(fence) __threadfence()

// The part of the group's local memory that is an argument of the kernel.
extern __shared__ char local_memory[];

#define BY_DIMENSION(d, name) ((d) == 0 ? name.x : (d) == 1 ? name.y : name.z)

__forceinline__ size_t get_local_size(uint d)
{
#ifdef LOCAL_SIZE_X
    return d == 0 ? LOCAL_SIZE_X : d == 1 ? LOCAL_SIZE_Y : LOCAL_SIZE_Z;
#else
    return BY_DIMENSION(d, blockDim);
#endif
}
__forceinline__ size_t get_local_id(uint d) { return BY_DIMENSION(d, threadIdx); }
__forceinline__ size_t get_group_id(uint d) { return BY_DIMENSION(d, blockIdx); }
__forceinline__ size_t get_num_groups(uint d) { return BY_DIMENSION(d, gridDim); }
__forceinline__ size_t get_global_size(uint d) { return get_num_groups(d) * get_local_size(d); }
__forceinline__ size_t get_global_id(uint d) { return get_group_id(d) * get_local_size(d) + get_local_id(d); }

__forceinline__ uint get_local_linear_id()
{
    return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
}
__forceinline__ uint get_max_sub_group_size() { return 32; }
__forceinline__ uint get_sub_group_id() { return get_local_linear_id() / 32; }
__forceinline__ uint get_sub_group_local_id() { return get_local_linear_id() % 32; }
#define sub_group_barrier(fence) __syncwarp()

__forceinline__ uint atomic_inc(volatile uint *place) { return atomicAdd((uint *)place, 1u); }
__forceinline__ uint atomic_add(volatile uint *place, uint value) { return atomicAdd((uint *)place, value); }
__forceinline__ uint atomic_or(volatile uint *place, uint value) { return atomicOr((uint *)place, value); }
__forceinline__ uint atomic_xchg(volatile uint *place, uint value) { return atomicExch((uint *)place, value); }

__forceinline__ float mad(float a, float b, float c) { return a * b + c; }
__forceinline__ double mad(double a, double b, double c) { return a * b + c; }
__forceinline__ int clamp(int value, int least, int most) { return min(max(value, least), most); }
__forceinline__ int as_int(float value) { return __float_as_int(value); }
__forceinline__ uint as_uint(float value) { return __float_as_uint(value); }
__forceinline__ float as_float(int value) { return __int_as_float(value); }

template <typename E, int N> struct Elements;
template <typename E> struct Elements<E, 2> { E s0, s1; };
template <typename E> struct Elements<E, 4> { E s0, s1, s2, s3; };
template <typename E> struct Elements<E, 8> { E s0, s1, s2, s3, s4, s5, s6, s7; };
template <typename E> struct Elements<E, 16> { E s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf; };

// A vector, aligned to its size as OpenCL's are.
template <typename E, int N> struct alignas(N * sizeof(E)) Vector : Elements<E, N>
{
    Vector() = default;
    __forceinline__ Vector(E all)
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            (*this)[i] = all;
    }
    template <typename... Rest> __forceinline__ Vector(E first, E second, Rest... rest)
        : Elements<E, N>{first, second, E(rest)...}
    {
        static_assert(sizeof...(rest) == N - 2, "one value for each element");
    }
    __forceinline__ E &operator[](int i) { return (&this->s0)[i]; }
    __forceinline__ const E &operator[](int i) const { return (&this->s0)[i]; }

#define ELEMENTWISE(head, value)            \
    __forceinline__ friend Vector head      \
    {                                       \
        Vector result;                      \
        _Pragma("unroll")                   \
        for (int i = 0; i < N; i++)         \
            result[i] = value;              \
        return result;                      \
    }
    ELEMENTWISE(operator+(Vector a, Vector b), a[i] + b[i])
    ELEMENTWISE(operator-(Vector a, Vector b), a[i] - b[i])
    ELEMENTWISE(operator*(Vector a, Vector b), a[i] * b[i])
    ELEMENTWISE(operator&(Vector a, Vector b), a[i] & b[i])
    ELEMENTWISE(operator|(Vector a, Vector b), a[i] | b[i])
    ELEMENTWISE(operator^(Vector a, Vector b), a[i] ^ b[i])
    ELEMENTWISE(min(Vector a, Vector b), ::min(a[i], b[i]))
    ELEMENTWISE(max(Vector a, Vector b), ::max(a[i], b[i]))
    ELEMENTWISE(fmin(Vector a, Vector b), ::fmin(a[i], b[i]))
    ELEMENTWISE(mad(Vector a, Vector b, Vector c), ::mad(a[i], b[i], c[i]))
    __forceinline__ Vector &operator+=(Vector other) { return *this = *this + other; }
};

template <int N, typename E> __forceinline__ Vector<E, N> vload(size_t offset, const E *from)
{
    Vector<E, N> result;
#pragma unroll
    for (int i = 0; i < N; i++)
        result[i] = from[N * offset + i];
    return result;
}
template <int N, typename E> __forceinline__ void vstore(const Vector<E, N> &value, size_t offset, E *to)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        to[N * offset + i] = value[i];
}
#define vload2 vload<2>
#define vload4 vload<4>
#define vload8 vload<8>
#define vload16 vload<16>
#define vstore2 vstore<2>
#define vstore4 vstore<4>
#define vstore8 vstore<8>
#define vstore16 vstore<16>

#define VECTORS_OF(E)                                                                                       \
    typedef Vector<E, 2> E##_2; typedef Vector<E, 4> E##_4;                                                 \
    typedef Vector<E, 8> E##_8; typedef Vector<E, 16> E##_16;
VECTORS_OF(int)
VECTORS_OF(uint)
VECTORS_OF(long)
VECTORS_OF(ulong)
VECTORS_OF(float)
VECTORS_OF(double)
// CUDA has vectors by these names, with other elements.
#define int2 int_2
#define int4 int_4
#define int8 int_8
#define int16 int_16
#define uint2 uint_2
#define uint4 uint_4
#define uint8 uint_8
#define uint16 uint_16
#define long2 long_2
#define long4 long_4
#define long8 long_8
#define long16 long_16
#define ulong2 ulong_2
#define ulong4 ulong_4
#define ulong8 ulong_8
#define ulong16 ulong_16
#define float2 float_2
#define float4 float_4
#define float8 float_8
#define float16 float_16
#define double2 double_2
#define double4 double_4
#define double8 double_8
#define double16 double_16
