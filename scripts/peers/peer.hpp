// What the peers have in common: how they are asked, how they answer, their data, and the host's clock.
//
// A peer is a program that says its name and version in a first line. Then it reads cases from standard input, one a line,
// `work dtype n m sample_s`, and answers each with a line: `ok sets runs median_s best_s batch_s`, where batch_s is `-` if
// it is not measured, or `no` and the reason. It times calls over `sets` buffers in turn, as gpulab's `--cache cold` does.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef __CUDACC__
#define ANYWHERE __host__ __device__
#else
#define ANYWHERE
#endif

struct Case {
    std::string work, dtype;
    size_t n, m;
    double sample_s; // time to sample for

    bool is(const char *w, const char *d) const { return work == w && dtype == d; }
};

struct Figures {
    size_t sets = 0, runs = 0;
    double median = 0, best = 0, batch = 0; // seconds; no batch where 0
};

// Enough copies to have PEERS_BYTES together (256 MiB where it is not set), from 2 to 256: gpulab's own rule.
inline size_t sets_of(size_t bytes)
{
    const char *said = std::getenv("PEERS_BYTES");
    const size_t wanted = said ? std::strtoull(said, nullptr, 10) : 256u << 20;
    return std::clamp<size_t>((wanted + bytes - 1) / bytes, 2, 256);
}

inline double seconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The same data on every run, from the index. Floats are uniform in [0.5, 1.5), so that a sum over n of them is near n.
ANYWHERE inline void make(float &x, size_t i, unsigned seed)
{
    unsigned h = unsigned(i) * 2654435761u ^ seed;
    h = (h ^ (h >> 16)) * 2246822519u;
    h = (h ^ (h >> 13)) * 3266489917u;
    x = float(h >> 8) / 16777216.0f + 0.5f;
}

// Integers are from -64 to 63.
ANYWHERE inline void make(int &x, size_t i, unsigned seed)
{
    unsigned h = unsigned(i) * 2654435761u ^ seed;
    x = int(((h ^ (h >> 16)) * 2246822519u) >> 25) - 64;
}

// Samples of `once(run)`, which gives seconds, until `sample_s` is over: 10 to 1000, after 5 for warming up.
template <typename Once> Figures sample(size_t sets, double sample_s, Once once)
{
    for (size_t run = 0; run < 5; run++)
        once(run % sets);
    std::vector<double> times;
    for (const double began = seconds(); times.size() < 10 || (times.size() < 1000 && seconds() < began + sample_s);)
        times.push_back(once((5 + times.size()) % sets));
    std::sort(times.begin(), times.end());
    Figures figures;
    figures.sets = sets, figures.runs = times.size();
    figures.median = (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2, figures.best = times[0];
    return figures;
}

// By the host's clock: from before a call until it is done.
template <typename Call> Figures wall(size_t sets, double sample_s, Call call)
{
    return sample(sets, sample_s, [&](size_t set) {
        const double began = seconds();
        call(set);
        return seconds() - began;
    });
}

inline void demand(bool is_right, const std::string &why)
{
    if (!is_right)
        throw std::runtime_error(why);
}

// Sums of integers must be equal. Of floats some libraries add so many in a row that 2^26 summands are some per cent off, so this finds
// wrong calls, not roundings.
inline void demand_sum(double got, double want, const std::string &dtype)
{
    std::ostringstream text;
    text << "WRONG: got " << got << ", not " << want;
    demand(std::fabs(got - want) <= (dtype == "i32" ? 0 : 0.05 * std::fabs(want)), text.str());
}

// Whether y, of n rows, is x, of m rows and n columns, transposed.
inline void demand_transposed(const float *x, const float *y, size_t n, size_t m)
{
    for (size_t row = 0; row < m; row++)
        for (size_t column = 0; column < n; column++)
            demand(y[column * m + row] == x[row * n + column], "WRONG: not transposed");
}

// Whether some results of the min-plus product of d with itself are right.
inline void demand_minplus(const float *d, const float *result, size_t n)
{
    for (size_t at = 0; at < n * n; at += n * n / 97 + 1) {
        float least = 3e38f;
        for (size_t k = 0; k < n; k++)
            least = std::min(least, d[at / n * n + k] + d[k * n + at % n]);
        demand(result[at] == least, "WRONG: min-plus product");
    }
}

// Copies of the same data on the host.
template <typename T> std::vector<std::vector<T>> made(size_t sets, size_t n, unsigned seed)
{
    std::vector<T> one(n);
    for (size_t i = 0; i < n; i++)
        make(one[i], i, seed);
    return std::vector<std::vector<T>>(sets, one);
}

// The sum of x y, or of x where there is no y.
template <typename T> double sum(const T *x, const T *y, size_t n)
{
    double total = 0;
    for (size_t i = 0; i < n; i++)
        total += y ? double(x[i]) * y[i] : double(x[i]);
    return total;
}

// Reads cases and answers them, each by `measure`; what it throws is the reason for an answer without figures.
inline int serve(const std::string &name, const std::string &version, const std::function<Figures(const Case &)> &measure)
{
    std::cout << name << " " << version << std::endl;
    for (Case asked; std::cin >> asked.work >> asked.dtype >> asked.n >> asked.m >> asked.sample_s;) {
        try {
            const Figures got = measure(asked);
            char line[160];
            std::snprintf(line, sizeof line, "ok %zu %zu %.5e %.5e ", got.sets, got.runs, got.median, got.best);
            std::cout << line;
            if (got.batch > 0)
                std::cout << got.batch << std::endl;
            else
                std::cout << "-" << std::endl;
        } catch (const std::exception &error) {
            std::cout << "no " << error.what() << std::endl;
        }
    }
    return 0;
}

inline std::runtime_error unknown(const Case &asked)
{
    return std::runtime_error(asked.work + " of " + asked.dtype + ": not among what this peer does");
}
