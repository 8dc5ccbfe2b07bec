// Times cuBLAS geam as a transposition, and the driver's copy, the way gpulab times its rungs: rotated buffers, one
// event pair around each call, the median and the best of many; and back to back. Prints one CSV line per size.
//
// nvcc -O2 -o transpose_cublas transpose_cublas.cu -lcublas && ./transpose_cublas 2048 4096 8192 16384
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                       \
    do {                                                                                                  \
        if (int status = static_cast<int>(call)) {                                                        \
            std::fprintf(stderr, "%s: status %d (line %d)\n", #call, status, __LINE__);                   \
            std::exit(1);                                                                                 \
        }                                                                                                 \
    } while (0)

__global__ void fill(float *x, size_t n)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        x[i] = float(i);
}

template <typename Call> static void time_calls(const char *name, size_t n, size_t sets, Call call)
{
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<double> times;
    for (int run = -20; run < 200; run++) {
        CHECK(cudaEventRecord(start));
        call((run + 20) % sets);
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        if (run >= 0)
            times.push_back(ms * 1e-3);
    }
    const int batch = 200;
    CHECK(cudaDeviceSynchronize());
    const auto began = std::chrono::steady_clock::now();
    for (int run = 0; run < batch; run++)
        call(run % sets);
    CHECK(cudaDeviceSynchronize());
    const std::chrono::duration<double> all = std::chrono::steady_clock::now() - began;
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    std::printf("%s,%zu,%zu,%.4e,%.4e,%.4e,%.1f\n", name, n, sets, median, times[0], all.count() / batch,
                8e-9 * n * n / median);
}

// Whether y is x transposed, looked at along the diagonal's neighbours.
__global__ void compare(const float *x, const float *y, size_t n, int *wrong)
{
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i + 1 < n && (y[i * n + i + 1] != x[(i + 1) * n + i] || y[(i + 1) * n + i] != x[i * n + i + 1]))
        *wrong = 1;
}

static void check_transposed(const float *x, const float *y, size_t n)
{
    int *wrong;
    CHECK(cudaMallocManaged(&wrong, sizeof *wrong));
    *wrong = 0;
    compare<<<unsigned((n + 255) / 256), 256>>>(x, y, n, wrong);
    CHECK(cudaDeviceSynchronize());
    if (*wrong) {
        std::fprintf(stderr, "geam at n = %zu is wrong\n", n);
        std::exit(1);
    }
    CHECK(cudaFree(wrong));
}

int main(int argc, char **argv)
{
    cublasHandle_t handle;
    CHECK(cublasCreate(&handle));
    std::printf("peer,n,sets,t_median_s,t_min_s,t_batch_s,gbps\n");
    for (int a = 1; a < argc; a++) {
        const size_t n = std::strtoull(argv[a], nullptr, 10), bytes = n * n * sizeof(float);
        // Together twice what any cache holds, as gpulab's --cache cold; WARM=1 in the environment keeps to one.
        const size_t sets = std::getenv("WARM") ? 1 : std::clamp<size_t>((256u << 20) / (2 * bytes) + 1, 2, 256);
        std::vector<float *> x(sets), y(sets);
        for (size_t s = 0; s < sets; s++) {
            CHECK(cudaMalloc(&x[s], bytes));
            CHECK(cudaMalloc(&y[s], bytes));
            fill<<<1024, 256>>>(x[s], n * n);
        }
        const float one = 1, zero = 0;
        time_calls("cublas_sgeam", n, sets, [&](size_t s) {
            CHECK(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, int(n), int(n), &one, x[s], int(n), &zero, y[s], int(n),
                              y[s], int(n)));
        });
        check_transposed(x[0], y[0], n);
        time_calls("driver_copy", n, sets,
                   [&](size_t s) { CHECK(cudaMemcpyAsync(y[s], x[s], bytes, cudaMemcpyDeviceToDevice)); });
        for (size_t s = 0; s < sets; s++) {
            CHECK(cudaFree(x[s]));
            CHECK(cudaFree(y[s]));
        }
    }
    return 0;
}
