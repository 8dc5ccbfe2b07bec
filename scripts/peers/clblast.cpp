// CLBlast's dot product and omatcopy on the first OpenCL device, asked as peer.hpp says; results stay on the device.
//
// g++ -O2 -o clblast clblast.cpp -lclblast -lOpenCL && echo "dot f32 1000000 1 0.1" | ./clblast
#include "opencl.hpp"
#include <clblast.h>

static void demand_status(clblast::StatusCode status)
{
    demand(status == clblast::StatusCode::kSuccess, "CLBlast: status " + std::to_string(static_cast<int>(status)));
}

int main()
{
    const Device device;
    return serve("clblast", "on " + device.name(), [&](const Case &asked) {
        const size_t n = asked.n, m = asked.m, elements = n * m;
        auto queue = device.queue;
        if (asked.is("dot", "f32")) {
            const size_t sets = sets_of(2 * n * sizeof(float));
            const auto x = device.filled<float>(sets, n, 1), y = device.filled<float>(sets, n, 7777);
            const Buffer result = device.buffer(sizeof(float));
            const Figures figures = wall(sets, asked.sample_s, [&](size_t set) {
                demand_status(clblast::Dot<float>(n, result.memory, 0, x[set].memory, 0, 1, y[set].memory, 0, 1, &queue));
                clFinish(queue);
            });
            const auto [a, b] = std::pair{made<float>(1, n, 1), made<float>(1, n, 7777)};
            demand_sum(device.read<float>(result, 1)[0], sum(a[0].data(), b[0].data(), n), asked.dtype);
            return figures;
        }
        if (!asked.is("transpose", "f32"))
            throw unknown(asked);
        const size_t sets = sets_of(2 * elements * sizeof(float));
        const auto x = device.filled<float>(sets, elements, 1), y = device.filled<float>(sets, elements, 2);
        const Figures figures = wall(sets, asked.sample_s, [&](size_t set) {
            demand_status(clblast::Omatcopy<float>(clblast::Layout::kRowMajor, clblast::Transpose::kYes, m, n, 1.0f,
                                                   x[set].memory, 0, n, y[set].memory, 0, m, &queue));
            clFinish(queue);
        });
        const auto from = device.read<float>(x[0], elements), to = device.read<float>(y[0], elements);
        demand_transposed(from.data(), to.data(), n, m);
        return figures;
    });
}
