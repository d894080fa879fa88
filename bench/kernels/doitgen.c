// doitgen: A[r][q][p] = sum over s of A[r][q][s] * C4[s][p], in place through a row buffer.
// Sizes are constants, arrays are arguments that may alias.
// Of interest: p outside s, so C4 is walked down its columns; the buffer prevents naive interchange.
// Strict floating point is expected: compile with -ffp-contract=off.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef SMALL
#define SIZE(full, small) (small)
#else
#define SIZE(full, small) (full)
#endif
#ifndef NR
#define NR SIZE(90, 7)
#endif
#ifndef NQ
#define NQ SIZE(80, 11)
#endif
#ifndef NP
#define NP SIZE(130, 13)
#endif
#ifndef REPS
#define REPS SIZE(6, 2)
#endif

__attribute__((noinline)) void kernel_doitgen(double A[NR][NQ][NP], double C4[NP][NP],
                                              double sum[NP]) {
    int r, q, p, s;
    for (r = 0; r < NR; r++)
        for (q = 0; q < NQ; q++) {
            for (p = 0; p < NP; p++) {
                sum[p] = 0.0;
                for (s = 0; s < NP; s++)
                    sum[p] += A[r][q][s] * C4[s][p];
            }
            for (p = 0; p < NP; p++)
                A[r][q][p] = sum[p];
        }
}

static double A[NR][NQ][NP], C4[NP][NP], sum[NP];

static void init(void) {
    for (int r = 0; r < NR; r++)
        for (int q = 0; q < NQ; q++)
            for (int p = 0; p < NP; p++)
                A[r][q][p] = ((r * q + p) % NP) / (double)NP;
    for (int s = 0; s < NP; s++)
        for (int p = 0; p < NP; p++)
            C4[s][p] = (s * p % NP) / (0.4 * NP * NP);
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
    init();
    for (int r = 0; r < REPS; r++)
        kernel_doitgen(A, C4, sum);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, A, sizeof A));
    return 0;
}
