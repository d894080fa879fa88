// shifted_pair: a smoothing and its difference with the next element, over vectors that no cache holds.
// Of interest: fused with a shift the vector in between is read while it is still in cache.
#include "common.h"

#ifndef N
#define N SIZE(4000000, 23)
#endif
#ifndef REPS
#define REPS SIZE(50, 2)
#endif

__attribute__((noinline)) void kernel_shifted_pair(long n, const double *a, double *b, double *c) {
    for (long i = 1; i < n - 1; i++)
        b[i] = (a[i - 1] + a[i] + a[i + 1]) * 0.25;
    for (long i = 1; i < n - 2; i++)
        c[i] = b[i + 1] - b[i];
}

static double a[N], b[N], c[N];

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : N;
    for (long i = 0; i < N; i++)
        a[i] = content(i);
    for (int r = 0; r < REPS; r++)
        kernel_shifted_pair(n, a, b, c);
    print(c, sizeof c);
    return 0;
}
