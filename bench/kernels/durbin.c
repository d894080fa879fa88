// durbin: Levinson-Durbin recursion, solves the Yule-Walker equations of a Toeplitz matrix.
// The size is a constant, arrays are arguments that may alias.
// Of interest: a reversed access r[k-i-1], a strict reduction, and a scratch array z on the stack.
// Strict floating point is expected: compile with -ffp-contract=off.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef SMALL
#define SIZE(full, small) (small)
#else
#define SIZE(full, small) (full)
#endif
#ifndef N
#define N SIZE(4000, 19)
#endif
#ifndef REPS
#define REPS SIZE(50, 2)
#endif

__attribute__((noinline)) void kernel_durbin(double r[N], double y[N]) {
    double z[N];
    double alpha, beta, sum;
    int i, k;
    y[0] = -r[0];
    beta = 1.0;
    alpha = -r[0];
    for (k = 1; k < N; k++) {
        beta = (1 - alpha * alpha) * beta;
        sum = 0.0;
        for (i = 0; i < k; i++)
            sum += r[k - i - 1] * y[i];
        alpha = -(r[k] + sum) / beta;
        for (i = 0; i < k; i++)
            z[i] = y[i] + alpha * y[k - i - 1];
        for (i = 0; i < k; i++)
            y[i] = z[i];
        y[k] = alpha;
    }
}

static double r[N], y[N];

static void init(void) {
    for (int i = 0; i < N; i++)
        r[i] = 0.5 / (i + 2.0);
}

static uint64_t fnv(uint64_t h, const void *data, size_t bytes) {
    const unsigned char *p = data;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        uint64_t w;
        memcpy(&w, p, 8);
        h = (h ^ w) * 0x100000001b3u;
        h ^= h >> 32;
    }
    for (; bytes > 0; bytes--, p++)
        h = (h ^ *p) * 0x100000001b3u;
    return h;
}

int main(void) {
    uint64_t h = 1469598103u;
    init();
    for (int rep = 0; rep < REPS; rep++) {
        kernel_durbin(r, y);
        r[0] = 0.25 - 0.01 * y[0];
        h = fnv(h, y, sizeof y);
    }
    printf("checksum %016llx\n", (unsigned long long)h);
    return 0;
}
