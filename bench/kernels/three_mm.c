// three_mm: G = (A*B)*(C*D) with E = A*B and F = C*D.
// Sizes are constants, all arrays are globals.
// Of interest: two independent nests feed a third; nothing aliases.
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
#define NI SIZE(510, 13)
#endif
#ifndef NJ
#define NJ SIZE(530, 17)
#endif
#ifndef NK
#define NK SIZE(550, 19)
#endif
#ifndef NL
#define NL SIZE(570, 11)
#endif
#ifndef NM
#define NM SIZE(590, 23)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

static double A[NI][NK], B[NK][NJ], C[NJ][NM], D[NM][NL], E[NI][NJ], F[NJ][NL], G[NI][NL];

__attribute__((noinline)) void kernel_three_mm(void) {
    int i, j, k;
    for (i = 0; i < NI; i++)
        for (j = 0; j < NJ; j++) {
            E[i][j] = 0.0;
            for (k = 0; k < NK; ++k)
                E[i][j] += A[i][k] * B[k][j];
        }
    for (i = 0; i < NJ; i++)
        for (j = 0; j < NL; j++) {
            F[i][j] = 0.0;
            for (k = 0; k < NM; ++k)
                F[i][j] += C[i][k] * D[k][j];
        }
    for (i = 0; i < NI; i++)
        for (j = 0; j < NL; j++) {
            G[i][j] = 0.0;
            for (k = 0; k < NJ; ++k)
                G[i][j] += E[i][k] * F[k][j];
        }
}

static void init(void) {
    for (int i = 0; i < NI; i++)
        for (int k = 0; k < NK; k++)
            A[i][k] = ((i * k + 1) % 71) / 71.0;
    for (int k = 0; k < NK; k++)
        for (int j = 0; j < NJ; j++)
            B[k][j] = ((k * (j + 1) + 2) % 73) / (73.0 * NK);
    for (int j = 0; j < NJ; j++)
        for (int m = 0; m < NM; m++)
            C[j][m] = (j * (m + 3) % 59) / 59.0;
    for (int m = 0; m < NM; m++)
        for (int l = 0; l < NL; l++)
            D[m][l] = ((m * (l + 2) + 2) % 83) / (83.0 * NM);
}

static void feed_back(void) {
    for (int i = 0; i < NI; i++)
        for (int k = 0; k < NK; k++)
            A[i][k] += 0.001 * G[i][k % NL];
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
    for (int r = 0; r < REPS; r++) {
        kernel_three_mm();
        feed_back();
    }
    uint64_t h = fnv(1469598103u, E, sizeof E);
    h = fnv(h, F, sizeof F);
    printf("checksum %016llx\n", (unsigned long long)fnv(h, G, sizeof G));
    return 0;
}
