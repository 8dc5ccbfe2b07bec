// cuBLAS sdot, asked as peer.hpp says; the result stays on the device.
//
// nvcc -std=c++17 -O2 -o dot_cublas dot_cublas.cu -lcublas && echo "dot f32 1000000 1 0.1" | ./dot_cublas
#include "peer.cuh"
#include <cublas_v2.h>

int main()
{
    cublasHandle_t handle;
    if (cublasCreate(&handle) || cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE)) {
        std::fprintf(stderr, "cuBLAS does not start\n");
        return 1;
    }
    int version = 0;
    (void)cublasGetVersion(handle, &version);
    return serve("cublas_sdot", std::to_string(version), [&](const Case &asked) {
        if (!asked.is("dot", "f32"))
            throw unknown(asked);
        const size_t n = asked.n, sets = sets_of(2 * n * sizeof(float));
        const auto x = filled<float>(sets, n, 1), y = filled<float>(sets, n, 7777);
        Memory<float> result(1);
        const Figures figures = by_events(sets, asked.sample_s, [&](size_t set) {
            CHECK(cublasSdot(handle, int(n), x[set].at, 1, y[set].at, 1, result.at));
        });
        demand_sum(result.first(), expected(x[0].at, y[0].at, n), asked.dtype);
        return figures;
    });
}
