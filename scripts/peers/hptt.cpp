// HPTT's transposition on the CPU, asked as peer.hpp says: one plan a shape, chosen by measuring, before the clock starts.
//
// g++ -O2 -I$HPTT_ROOT/include -o hptt hptt.cpp -L$HPTT_ROOT/lib -Wl,-rpath,$HPTT_ROOT/lib -lhptt -fopenmp &&
//     echo "transpose f32 1000 1000 0.1" | ./hptt
#include "peer.hpp"
#include <hptt.h>
#include <omp.h>

int main()
{
    return serve("hptt", "plans of MEASURE", [](const Case &asked) {
        if (!asked.is("transpose", "f32"))
            throw unknown(asked);
        const size_t n = asked.n, m = asked.m, sets = sets_of(2 * n * m * sizeof(float));
        const auto x = made<float>(sets, n * m, 1);
        auto y = made<float>(sets, n * m, 2);
        const int order[] = {1, 0}, sizes[] = {int(m), int(n)};
        const auto plan = hptt::create_plan(order, 2, 1.0f, x[0].data(), sizes, nullptr, 0.0f, y[0].data(), nullptr,
                                            hptt::MEASURE, omp_get_max_threads(), nullptr, true);
        const Figures figures = wall(sets, asked.sample_s, [&](size_t set) {
            plan->setInputPtr(x[set].data());
            plan->setOutputPtr(y[set].data());
            plan->execute();
        });
        demand_transposed(x[0].data(), y[0].data(), n, m);
        return figures;
    });
}
