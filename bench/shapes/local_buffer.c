// local_buffer: two streaming loops that hand a buffer on, which stays in the first level of cache.
// Of interest: fused, nothing that costs time goes away.
#include "common.h"

#ifndef N
#define N SIZE(1024, 19)
#endif
#ifndef REPS
#define REPS SIZE(400000, 2)
#endif

__attribute__((noinline)) void kernel_local_buffer(const double a[N], const double b[N], double c[N]) {
    double t[N];
    for (int i = 0; i < N; i++)
        t[i] = a[i] * 2.0 + b[i];
    for (int i = 0; i < N; i++)
        c[i] = t[i] * t[i] + a[i];
}

static double a[N], b[N], c[N];

int main(void) {
    for (int i = 0; i < N; i++)
        a[i] = content(i), b[i] = content(5L * i);
    for (int r = 0; r < REPS; r++)
        kernel_local_buffer(a, b, c);
    print(c, sizeof c);
    return 0;
}
