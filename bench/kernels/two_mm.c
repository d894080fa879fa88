// two_mm: D = alpha*A*B*C + beta*D through a temporary tmp = alpha*A*B.
// Sizes are constants, arrays are arguments that may alias.
// Of interest: two nests with a flow dependence through tmp, each in dot-product order.
// Strict floating point is expected: compile with -ffp-contract=off.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef SMALL
#define SIZE(full, small) (small)
#else
#define SIZE(full, small) (full)
#endif
#ifndef NI
#define NI SIZE(620, 13)
#endif
#ifndef NJ
#define NJ SIZE(640, 17)
#endif
#ifndef NK
#define NK SIZE(660, 19)
#endif
#ifndef NL
#define NL SIZE(680, 11)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_two_mm(double alpha, double beta, double tmp[NI][NJ],
                                             double A[NI][NK], double B[NK][NJ], double C[NJ][NL],
                                             double D[NI][NL]) {
    int i, j, k;
    for (i = 0; i < NI; i++)
        for (j = 0; j < NJ; j++) {
            tmp[i][j] = 0.0;
            for (k = 0; k < NK; k++)
                tmp[i][j] += alpha * A[i][k] * B[k][j];
        }
    for (i = 0; i < NI; i++)
        for (j = 0; j < NL; j++) {
            D[i][j] *= beta;
            for (k = 0; k < NJ; k++)
                D[i][j] += tmp[i][k] * C[k][j];
        }
}

static double tmp[NI][NJ], A[NI][NK], B[NK][NJ], C[NJ][NL], D[NI][NL];

static void init(void) {
    for (int i = 0; i < NI; i++)
        for (int k = 0; k < NK; k++)
            A[i][k] = ((i * k + 1) % NI) / (double)NI;
    for (int k = 0; k < NK; k++)
        for (int j = 0; j < NJ; j++)
            B[k][j] = ((k * (j + 1)) % NJ) / ((double)NJ * NK);
    for (int j = 0; j < NJ; j++)
        for (int l = 0; l < NL; l++)
            C[j][l] = ((j * (l + 3) + 1) % NL) / ((double)NL * NJ);
    for (int i = 0; i < NI; i++)
        for (int l = 0; l < NL; l++)
            D[i][l] = (i * (l + 2) % NK) / (double)NK;
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
        kernel_two_mm(1.5, 0.5, tmp, A, B, C, D);
    uint64_t h = fnv(1469598103u, tmp, sizeof tmp);
    printf("checksum %016llx\n", (unsigned long long)fnv(h, D, sizeof D));
    return 0;
}
