// What the CUDA peers have in common: data on the device, the clock of events, and checks.
#pragma once
#include "peer.hpp"
#include <cuda_runtime.h>

#define CHECK(call)                                                                                       \
    do {                                                                                                  \
        if (int status = static_cast<int>(call)) {                                                        \
            (void)cudaGetLastError();                                                                     \
            throw std::runtime_error(#call ": status " + std::to_string(status));                         \
        }                                                                                                 \
    } while (0)

// Memory of the device that is freed with its scope.
template <typename T> struct Memory {
    T *at = nullptr;

    explicit Memory(size_t elements) { CHECK(cudaMalloc(&at, elements * sizeof(T))); }
    Memory(Memory &&other) noexcept : at(other.at) { other.at = nullptr; }
    Memory(const Memory &) = delete;
    ~Memory() { (void)cudaFree(at); }

    T first() const
    {
        T result;
        CHECK(cudaMemcpy(&result, at, sizeof result, cudaMemcpyDeviceToHost));
        return result;
    }
};

template <typename T> __global__ void fill(T *x, size_t n, unsigned seed)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        make(x[i], i, seed);
}

template <typename T> std::vector<Memory<T>> filled(size_t sets, size_t n, unsigned seed)
{
    std::vector<Memory<T>> all;
    for (size_t set = 0; set < sets; set++) {
        all.emplace_back(n);
        fill<<<1024, 256>>>(all.back().at, n, seed);
    }
    CHECK(cudaDeviceSynchronize());
    return all;
}

const int SUMMANDS = 1024 * 256;

// One partial sum of x y, or of x where there is no y, for each thread.
template <typename T> __global__ void add(const T *x, const T *y, size_t n, double *partial)
{
    const size_t id = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    double sum = 0;
    for (size_t i = id; i < n; i += SUMMANDS)
        sum += y ? double(x[i]) * y[i] : double(x[i]);
    partial[id] = sum;
}

template <typename T> double expected(const T *x, const T *y, size_t n)
{
    Memory<double> partial(SUMMANDS);
    add<<<1024, 256>>>(x, y, n, partial.at);
    std::vector<double> sums(SUMMANDS);
    CHECK(cudaMemcpy(sums.data(), partial.at, SUMMANDS * sizeof(double), cudaMemcpyDeviceToHost));
    double sum = 0;
    for (double one : sums)
        sum += one;
    return sum;
}

// By one pair of events around each call; and calls back to back, one wait, divided by their number.
template <typename Call> Figures by_events(size_t sets, double sample_s, Call call)
{
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    Figures figures = sample(sets, sample_s, [&](size_t set) {
        CHECK(cudaEventRecord(start));
        call(set);
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        return ms * 1e-3;
    });
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    const size_t batch = figures.runs;
    CHECK(cudaDeviceSynchronize());
    const double began = seconds();
    for (size_t run = 0; run < batch; run++)
        call(run % sets);
    CHECK(cudaDeviceSynchronize());
    figures.batch = (seconds() - began) / batch;
    return figures;
}
