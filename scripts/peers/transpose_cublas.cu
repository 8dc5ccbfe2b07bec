// cuBLAS geam as a transposition of an m x n matrix, or with the argument `copy` the driver's copy of it, asked as peer.hpp
// says.
//
// nvcc -std=c++17 -O2 -o transpose_cublas transpose_cublas.cu -lcublas &&
//     echo "transpose f32 4096 4096 0.1" | ./transpose_cublas
#include "peer.cuh"
#include <cstring>
#include <cublas_v2.h>

// Whether y, of n rows, is x, of m rows and n columns, transposed; or, with `copied`, x itself.
__global__ void compare(const float *x, const float *y, size_t n, size_t m, bool copied, int *wrong)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n * m; i += size_t(gridDim.x) * blockDim.x)
        if (y[copied ? i : i % n * m + i / n] != x[i])
            *wrong = 1;
}

static Figures measure(cublasHandle_t handle, const Case &asked, bool copies)
{
    const size_t n = asked.n, m = asked.m, sets = sets_of(2 * n * m * sizeof(float));
    const auto x = filled<float>(sets, n * m, 1), y = filled<float>(sets, n * m, 2);
    const float one = 1, zero = 0;
    // geam counts by columns: what it calls m x n has the m elements of a column side by side.
    const auto transpose = [&](size_t set) {
        CHECK(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, int(m), int(n), &one, x[set].at, int(n), &zero, y[set].at,
                          int(m), y[set].at, int(m)));
    };
    const auto copy = [&](size_t set) {
        CHECK(cudaMemcpyAsync(y[set].at, x[set].at, n * m * sizeof(float), cudaMemcpyDeviceToDevice));
    };
    const Figures figures =
        copies ? by_events(sets, asked.sample_s, copy) : by_events(sets, asked.sample_s, transpose);
    Memory<int> wrong(1);
    CHECK(cudaMemset(wrong.at, 0, sizeof(int)));
    compare<<<1024, 256>>>(x[0].at, y[0].at, n, m, copies, wrong.at);
    demand(!wrong.first(), "WRONG: not transposed");
    return figures;
}

int main(int argc, char **argv)
{
    const bool copies = argc > 1 && !std::strcmp(argv[1], "copy");
    cublasHandle_t handle;
    if (cublasCreate(&handle)) {
        std::fprintf(stderr, "cuBLAS does not start\n");
        return 1;
    }
    int version = 0;
    (void)(copies ? int(cudaRuntimeGetVersion(&version)) : int(cublasGetVersion(handle, &version)));
    return serve(copies ? "driver_copy" : "cublas_sgeam", std::to_string(version), [&](const Case &asked) {
        if (!asked.is("transpose", "f32"))
            throw unknown(asked);
        return measure(handle, asked, copies);
    });
}
