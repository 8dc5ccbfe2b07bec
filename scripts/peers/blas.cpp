// A BLAS's sdot and somatcopy on the CPU, asked as peer.hpp says: OpenBLAS, MKL, or another library given by its path.
//
// g++ -O2 -o blas blas.cpp -ldl && echo "dot f32 1000000 1 0.1" | ./blas openblas libopenblas.so.0
#include "peer.hpp"
#include <cstring>
#include <dlfcn.h>

// All with 32-bit integers.
using Sdot = float (*)(int, const float *, int, const float *, int);
using Cblas = void (*)(int, int, int, int, float, const float *, int, float *, int);
using Mkl = void (*)(char, char, size_t, size_t, float, const float *, size_t, float *, size_t);

template <typename Function> static Function find(void *library, const char *name)
{
    return reinterpret_cast<Function>(dlsym(library, name));
}

static std::string version_of(void *library)
{
    if (auto config = find<char *(*)()>(library, "openblas_get_config"))
        return config();
    if (auto describe = find<void (*)(char *, int)>(library, "mkl_get_version_string")) {
        char text[200] = {};
        describe(text, sizeof text - 1);
        const std::string all = text;
        return all.substr(0, all.find_last_not_of(' ') + 1);
    }
    return "";
}

int main(int argc, char **argv)
{
    void *library = argc > 2 ? dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL) : nullptr;
    const auto sdot = library ? find<Sdot>(library, "cblas_sdot") : nullptr;
    if (!sdot) {
        std::fprintf(stderr, "no library with cblas_sdot: %s\n", library ? "no such function" : dlerror());
        return 1;
    }
    const auto cblas = find<Cblas>(library, "cblas_somatcopy");
    const auto mkl = find<Mkl>(library, "MKL_Somatcopy");
    return serve(argv[1], version_of(library), [=](const Case &asked) {
        const size_t n = asked.n, m = asked.m;
        if (asked.is("dot", "f32")) {
            const size_t sets = sets_of(2 * n * sizeof(float));
            const auto x = made<float>(sets, n, 1), y = made<float>(sets, n, 7777);
            float result = 0;
            const Figures figures = wall(sets, asked.sample_s, [&](size_t set) {
                result = sdot(int(n), x[set].data(), 1, y[set].data(), 1);
            });
            demand_sum(result, sum(x[0].data(), y[0].data(), n), asked.dtype);
            return figures;
        }
        if (!asked.is("transpose", "f32"))
            throw unknown(asked);
        demand(cblas || mkl, "the library has no somatcopy");
        const size_t sets = sets_of(2 * n * m * sizeof(float));
        const auto x = made<float>(sets, n * m, 1);
        auto y = made<float>(sets, n * m, 2);
        const int by_rows = 101, transposed = 112;
        const Figures figures = wall(sets, asked.sample_s, [&](size_t set) {
            if (mkl)
                mkl('R', 'T', m, n, 1, x[set].data(), n, y[set].data(), m);
            else
                cblas(by_rows, transposed, int(m), int(n), 1, x[set].data(), int(n), y[set].data(), int(m));
        });
        demand_transposed(x[0].data(), y[0].data(), n, m);
        return figures;
    });
}
