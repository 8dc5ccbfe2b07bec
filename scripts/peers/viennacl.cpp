// ViennaCL's inner_prod and trans on the first OpenCL device, asked as peer.hpp says; results stay on the device.
//
// g++ -O2 -o viennacl viennacl.cpp -lOpenCL && echo "dot f32 1000000 1 0.1" | ./viennacl
#define VIENNACL_WITH_OPENCL
#include "opencl.hpp"
#include <viennacl/linalg/inner_prod.hpp>
#include <viennacl/matrix.hpp>
#include <viennacl/scalar.hpp>
#include <viennacl/vector.hpp>

int main()
{
    const Device device;
    viennacl::ocl::setup_context(0, device.context, device.device, device.queue);
    return serve("viennacl", "on " + device.name(), [&](const Case &asked) {
        const size_t n = asked.n, m = asked.m, elements = n * m;
        if (asked.is("dot", "f32")) {
            const size_t sets = sets_of(2 * n * sizeof(float));
            const auto x = device.filled<float>(sets, n, 1), y = device.filled<float>(sets, n, 7777);
            viennacl::scalar<float> result = 0.0f;
            std::vector<viennacl::vector<float>> left, right;
            for (size_t set = 0; set < sets; set++) {
                left.emplace_back(x[set].memory, n);
                right.emplace_back(y[set].memory, n);
            }
            const Figures figures = wall(sets, asked.sample_s, [&](size_t set) {
                result = viennacl::linalg::inner_prod(left[set], right[set]);
                viennacl::backend::finish();
            });
            const auto [a, b] = std::pair{made<float>(1, n, 1), made<float>(1, n, 7777)};
            demand_sum(float(result), sum(a[0].data(), b[0].data(), n), asked.dtype);
            return figures;
        }
        if (!asked.is("transpose", "f32"))
            throw unknown(asked);
        // Its matrices have rows of a multiple of 128 elements, so it allocates them itself.
        const size_t sets = sets_of(2 * elements * sizeof(float));
        const auto data = made<float>(1, elements, 1);
        std::vector<std::vector<float>> rows(m);
        for (size_t row = 0; row < m; row++)
            rows[row].assign(&data[0][row * n], &data[0][row * n] + n);
        std::vector<viennacl::matrix<float>> x(sets), y(sets);
        for (size_t set = 0; set < sets; set++) {
            x[set].resize(m, n), y[set].resize(n, m);
            if (set == 0)
                viennacl::copy(rows, x[set]);
            else
                x[set] = x[0];
        }
        viennacl::backend::finish();
        const Figures figures = wall(sets, asked.sample_s, [&](size_t set) {
            y[set] = viennacl::trans(x[set]);
            viennacl::backend::finish();
        });
        std::vector<std::vector<float>> got(n, std::vector<float>(m));
        viennacl::copy(y[0], got);
        for (size_t row = 0; row < m; row++)
            for (size_t column = 0; column < n; column++)
                demand(got[column][row] == rows[row][column], "WRONG: not transposed");
        return figures;
    });
}
