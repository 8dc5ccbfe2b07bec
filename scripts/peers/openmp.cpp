// Plain OpenMP loops on the CPU, asked as peer.hpp says: the sum, the dot product, the transposition by blocks, and the
// min-plus product.
//
// g++ -O3 -march=native -ffast-math -fopenmp -o openmp openmp.cpp && echo "dot f32 1000000 1 0.1" | ./openmp
#include "peer.hpp"

template <typename T> static T sum_of(const T *x, size_t n)
{
    T total = 0;
#pragma omp parallel for simd reduction(+ : total) schedule(static)
    for (size_t i = 0; i < n; i++)
        total += x[i];
    return total;
}

static float dot(const float *x, const float *y, size_t n)
{
    float total = 0;
#pragma omp parallel for simd reduction(+ : total) schedule(static)
    for (size_t i = 0; i < n; i++)
        total += x[i] * y[i];
    return total;
}

static void transpose(const float *x, float *y, size_t n, size_t m)
{
    const size_t side = 32;
#pragma omp parallel for collapse(2) schedule(static)
    for (size_t left = 0; left < n; left += side)
        for (size_t top = 0; top < m; top += side)
            for (size_t column = left; column < std::min(left + side, n); column++)
                for (size_t row = top; row < std::min(top + side, m); row++)
                    y[column * m + row] = x[row * n + column];
}

static void minplus(const float *d, float *result, size_t n)
{
#pragma omp parallel for schedule(static)
    for (size_t row = 0; row < n; row++) {
        float *out = result + row * n;
        std::fill(out, out + n, 3e38f);
        for (size_t k = 0; k < n; k++) {
            const float first = d[row * n + k];
#pragma omp simd
            for (size_t column = 0; column < n; column++)
                out[column] = std::min(out[column], first + d[k * n + column]);
        }
    }
}

template <typename T> static Figures reduce(const Case &asked)
{
    const size_t sets = sets_of(asked.n * sizeof(T));
    const auto x = made<T>(sets, asked.n, 1);
    T result = 0;
    const auto call = [&](size_t set) { result = sum_of(x[set].data(), asked.n); };
    const Figures figures = wall(sets, asked.sample_s, call);
    demand_sum(result, sum<T>(x[0].data(), nullptr, asked.n), asked.dtype);
    return figures;
}

int main()
{
    return serve("openmp", std::string("gcc ") + __VERSION__, [](const Case &asked) {
        const size_t n = asked.n, m = asked.m;
        if (asked.is("reduce", "i32"))
            return reduce<int>(asked);
        if (asked.is("reduce", "f32"))
            return reduce<float>(asked);
        if (asked.is("dot", "f32")) {
            const size_t sets = sets_of(2 * n * sizeof(float));
            const auto x = made<float>(sets, n, 1), y = made<float>(sets, n, 7777);
            float result = 0;
            const auto call = [&](size_t set) { result = dot(x[set].data(), y[set].data(), n); };
            const Figures figures = wall(sets, asked.sample_s, call);
            demand_sum(result, sum(x[0].data(), y[0].data(), n), asked.dtype);
            return figures;
        }
        if (asked.is("transpose", "f32") || asked.is("minplus", "f32")) {
            const size_t sets = sets_of(2 * n * m * sizeof(float));
            const auto x = made<float>(sets, n * m, 1);
            auto y = made<float>(sets, n * m, 2);
            if (asked.work == "transpose") {
                const auto call = [&](size_t set) { transpose(x[set].data(), y[set].data(), n, m); };
                const Figures figures = wall(sets, asked.sample_s, call);
                demand_transposed(x[0].data(), y[0].data(), n, m);
                return figures;
            }
            const auto call = [&](size_t set) { minplus(x[set].data(), y[set].data(), n); };
            const Figures figures = wall(sets, asked.sample_s, call);
            demand_minplus(x[0].data(), y[0].data(), n);
            return figures;
        }
        throw unknown(asked);
    });
}
