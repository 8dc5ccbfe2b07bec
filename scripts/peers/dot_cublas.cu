// Times cuBLAS sdot the way gpulab times its rungs: rotated buffers, one event pair around each call, the
// median and the best of many; and back to back. Prints one CSV line per size.
//
// nvcc -O2 -o dot_cublas dot_cublas.cu -lcublas && ./dot_cublas 1000000 16777216 268435456
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

// Uniform in [-1, 1), from the index: the same data on every run.
__global__ void fill(float *x, size_t n, unsigned seed)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
        unsigned h = unsigned(i) * 2654435761u ^ seed;
        h = (h ^ (h >> 16)) * 2246822519u;
        h = (h ^ (h >> 13)) * 3266489917u;
        x[i] = float(h >> 8) / 8388608.0f - 1.0f;
    }
}

int main(int argc, char **argv)
{
    cublasHandle_t handle;
    CHECK(cublasCreate(&handle));
    CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    float *result;
    CHECK(cudaMalloc(&result, sizeof *result));
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::printf("peer,n,sets,t_median_s,t_min_s,t_batch_s,gbps\n");
    for (int a = 1; a < argc; a++) {
        const size_t n = std::strtoull(argv[a], nullptr, 10);
        // Together twice what any cache holds, as gpulab's --cache cold; WARM=1 in the environment keeps to one.
        const size_t sets = std::getenv("WARM") ? 1 : std::clamp<size_t>((256u << 20) / (8 * n) + 1, 2, 256);
        std::vector<float *> x(sets), y(sets);
        for (size_t s = 0; s < sets; s++) {
            CHECK(cudaMalloc(&x[s], n * sizeof(float)));
            CHECK(cudaMalloc(&y[s], n * sizeof(float)));
            fill<<<1024, 256>>>(x[s], n, 1 + s);
            fill<<<1024, 256>>>(y[s], n, 7777 + s);
        }
        std::vector<double> times;
        for (int run = -20; run < 500; run++) {
            const size_t s = (run + 20) % sets;
            CHECK(cudaEventRecord(start));
            CHECK(cublasSdot(handle, int(n), x[s], 1, y[s], 1, result));
            CHECK(cudaEventRecord(stop));
            CHECK(cudaEventSynchronize(stop));
            float ms;
            CHECK(cudaEventElapsedTime(&ms, start, stop));
            if (run >= 0)
                times.push_back(ms * 1e-3);
        }
        const int batch = 500;
        CHECK(cudaDeviceSynchronize());
        const auto began = std::chrono::steady_clock::now();
        for (int run = 0; run < batch; run++)
            CHECK(cublasSdot(handle, int(n), x[run % sets], 1, y[run % sets], 1, result));
        CHECK(cudaDeviceSynchronize());
        const std::chrono::duration<double> all = std::chrono::steady_clock::now() - began;
        std::sort(times.begin(), times.end());
        const double median = times[times.size() / 2];
        std::printf("cublas_sdot,%zu,%zu,%.4e,%.4e,%.4e,%.1f\n", n, sets, median, times[0], all.count() / batch,
                    8e-9 * n / median);
        for (size_t s = 0; s < sets; s++) {
            CHECK(cudaFree(x[s]));
            CHECK(cudaFree(y[s]));
        }
    }
    return 0;
}
