// Times cub::DeviceReduce::Sum the way gpulab times its rungs: rotated buffers, one event pair around each call, the
// median and the best of many; and back to back. Prints one CSV line per type and size.
//
// nvcc -O3 -arch=native -o reduce_cub reduce_cub.cu && ./reduce_cub 1048576 16777216 268435456
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                       \
    do {                                                                                                  \
        if (cudaError_t status = (call)) {                                                                \
            std::fprintf(stderr, "%s: %s (line %d)\n", #call, cudaGetErrorString(status), __LINE__);      \
            std::exit(1);                                                                                 \
        }                                                                                                 \
    } while (0)

// Small numbers of both signs, from the index: the same data on every run.
template <typename T> __global__ void fill(T *x, size_t n, unsigned seed)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
        unsigned h = unsigned(i) * 2654435761u ^ seed;
        h = (h ^ (h >> 16)) * 2246822519u;
        x[i] = T(int(h >> 25) - 64);
    }
}

template <typename T> void measure(const char *type, size_t n)
{
    // Together twice what any cache holds, as gpulab's --cache cold.
    const size_t sets = std::clamp<size_t>((256u << 20) / (sizeof(T) * n) + 1, 2, 256);
    std::vector<T *> x(sets);
    for (size_t s = 0; s < sets; s++) {
        CHECK(cudaMalloc(&x[s], n * sizeof(T)));
        fill<<<1024, 256>>>(x[s], n, unsigned(1 + s));
    }
    T *result;
    CHECK(cudaMalloc(&result, sizeof *result));
    void *scratch = nullptr;
    size_t scratch_bytes = 0;
    CHECK(cub::DeviceReduce::Sum(scratch, scratch_bytes, x[0], result, n));
    CHECK(cudaMalloc(&scratch, scratch_bytes));
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<double> times;
    const int warmup = 20, runs = 500;
    for (int run = 0; run < warmup + runs; run++) {
        CHECK(cudaEventRecord(start));
        CHECK(cub::DeviceReduce::Sum(scratch, scratch_bytes, x[run % sets], result, n));
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        if (run >= warmup)
            times.push_back(ms * 1e-3);
    }
    CHECK(cudaDeviceSynchronize());
    const auto began = std::chrono::steady_clock::now();
    for (int run = 0; run < runs; run++)
        CHECK(cub::DeviceReduce::Sum(scratch, scratch_bytes, x[run % sets], result, n));
    CHECK(cudaDeviceSynchronize());
    const std::chrono::duration<double> all = std::chrono::steady_clock::now() - began;
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    std::printf("cub_sum,%s,%zu,%zu,%.4e,%.4e,%.4e,%.1f\n", type, n, sets, median, times[0], all.count() / runs,
                1e-9 * sizeof(T) * n / median);
    for (T *p : x)
        CHECK(cudaFree(p));
    CHECK(cudaFree(result));
    CHECK(cudaFree(scratch));
}

int main(int argc, char **argv)
{
    std::printf("peer,dtype,n,sets,t_median_s,t_min_s,t_batch_s,gbps\n");
    for (int a = 1; a < argc; a++) {
        const size_t n = std::strtoull(argv[a], nullptr, 10);
        measure<int>("i32", n);
        measure<float>("f32", n);
    }
    return 0;
}
