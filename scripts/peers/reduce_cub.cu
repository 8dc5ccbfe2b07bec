// cub::DeviceReduce::Sum of i32 and f32, asked as peer.hpp says; the result stays on the device.
//
// nvcc -std=c++17 -O3 -arch=native -o reduce_cub reduce_cub.cu && echo "reduce i32 1048576 1 0.1" | ./reduce_cub
#include "peer.cuh"
#include <cub/cub.cuh>

template <typename T> static Figures measure(const Case &asked)
{
    const size_t n = asked.n, sets = sets_of(n * sizeof(T));
    const auto x = filled<T>(sets, n, 1);
    Memory<T> result(1);
    size_t scratch_bytes = 0;
    CHECK(cub::DeviceReduce::Sum(nullptr, scratch_bytes, x[0].at, result.at, n));
    Memory<char> scratch(scratch_bytes + 1);
    const Figures figures = by_events(sets, asked.sample_s, [&](size_t set) {
        CHECK(cub::DeviceReduce::Sum(scratch.at, scratch_bytes, x[set].at, result.at, n));
    });
    demand_sum(result.first(), expected<T>(x[0].at, nullptr, n), asked.dtype);
    return figures;
}

int main()
{
    const std::string version = std::to_string(CUB_VERSION / 100000) + "." + std::to_string(CUB_VERSION / 100 % 1000);
    return serve("cub_sum", version, [](const Case &asked) {
        if (asked.is("reduce", "i32"))
            return measure<int>(asked);
        if (asked.is("reduce", "f32"))
            return measure<float>(asked);
        throw unknown(asked);
    });
}
