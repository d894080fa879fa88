// repeat_add: y += x again and again; both vectors stay in the first level of cache.
// Of interest: with the repetition innermost each element is a chain of dependent additions.
#include "common.h"

#ifndef T
#define T SIZE(400000, 5)
#endif
#ifndef N
#define N SIZE(2000, 17)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_repeat_add(int t, int n, double y[n], const double x[n]) {
    for (int k = 0; k < t; k++)
        for (int i = 0; i < n; i++)
            y[i] += x[i];
}

static double x[N], y[N];

int main(int argc, char **argv) {
    int t = argc > 1 ? atoi(argv[1]) : T, n = argc > 2 ? atoi(argv[2]) : N;
    for (int i = 0; i < N; i++)
        x[i] = content(i), y[i] = content(2L * i);
    for (int r = 0; r < REPS; r++)
        kernel_repeat_add(t, n, y, x);
    print(y, sizeof y);
    return 0;
}
