// The sum of n floats by a plain OpenMP loop: median seconds of `runs` calls on standard output.
// cc -O3 -march=native -ffast-math -fopenmp -o cpu_sum cpu_sum.c && ./cpu_sum 67108864 30
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static float sum(const float *x, long n)
{
    float total = 0;
#pragma omp parallel for simd reduction(+ : total) schedule(static)
    for (long i = 0; i < n; i++)
        total += x[i];
    return total;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    const long n = argc > 1 ? atol(argv[1]) : 1L << 26;
    const int runs = argc > 2 ? atoi(argv[2]) : 30;
    float *x = malloc(n * sizeof *x);
    double *times = malloc(runs * sizeof *times);
    if (n < 1 || runs < 1 || !x || !times)
        return 1;
    // By the threads that will read it, so that its pages lie near them.
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++)
        x[i] = (float)(i % 7 - 3);
    volatile float sink = sum(x, n);
    for (int r = 0; r < runs; r++) {
        const double started = omp_get_wtime();
        sink = sum(x, n);
        times[r] = omp_get_wtime() - started;
    }
    (void)sink;
    qsort(times, runs, sizeof *times, ascending);
    printf("%.6e\n", times[runs / 2]);
    return 0;
}
