// Boost.Compute's reduce, and its inner product by transform_reduce, on the first OpenCL device, asked as peer.hpp says;
// results stay on the device.
//
// g++ -O2 -o boost_compute boost_compute.cpp -lOpenCL && echo "dot f32 1000000 1 0.1" | ./boost_compute
#include "opencl.hpp"
#include <boost/compute/algorithm/reduce.hpp>
#include <boost/compute/algorithm/transform_reduce.hpp>
#include <boost/compute/core.hpp>
#include <boost/compute/functional/operator.hpp>
#include <boost/compute/iterator/buffer_iterator.hpp>
#include <boost/version.hpp>

namespace compute = boost::compute;

template <typename T> static Figures measure(const Device &device, compute::command_queue &queue, const Case &asked)
{
    const size_t n = asked.n;
    const bool is_dot = asked.work == "dot";
    const size_t sets = sets_of((is_dot ? 2 : 1) * n * sizeof(T));
    const auto x = device.filled<T>(sets, n, 1), y = device.filled<T>(is_dot ? sets : 0, n, 7777);
    const auto begin = [](const Buffer &buffer) {
        return compute::make_buffer_iterator<T>(compute::buffer(buffer.memory), 0);
    };
    const Buffer result = device.buffer(sizeof(T));
    const auto out = begin(result);
    const Figures figures = wall(sets, asked.sample_s, [&](size_t set) {
        const auto from = begin(x[set]);
        if (is_dot)
            compute::transform_reduce(from, from + n, begin(y[set]), out, compute::multiplies<T>(),
                                      compute::plus<T>(), queue);
        else
            compute::reduce(from, from + n, out, compute::plus<T>(), queue);
        queue.finish();
    });
    const auto a = made<T>(1, n, 1), b = made<T>(1, is_dot ? n : 1, 7777);
    demand_sum(device.read<T>(result, 1)[0], sum(a[0].data(), is_dot ? b[0].data() : nullptr, n), asked.dtype);
    return figures;
}

int main()
{
    const Device device;
    compute::command_queue queue(device.queue);
    return serve("boost_compute", BOOST_LIB_VERSION " on " + device.name(), [&](const Case &asked) {
        if (asked.is("reduce", "i32"))
            return measure<int>(device, queue, asked);
        if (asked.is("reduce", "f32") || asked.is("dot", "f32"))
            return measure<float>(device, queue, asked);
        throw unknown(asked);
    });
}
