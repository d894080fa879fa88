// matmul_i32: C += A*B on 32-bit integers, textbook order; unsigned, so that it wraps.
// Sizes are run-time ints, arrays are VLAs that may alias.
// Of interest: the reduction may be reassociated freely; the inner loop walks B down a column.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SMALL
#define SIZE(full, small) (small)
#else
#define SIZE(full, small) (full)
#endif
#ifndef NI
#define NI SIZE(800, 13)
#endif
#ifndef NJ
#define NJ SIZE(820, 17)
#endif
#ifndef NK
#define NK SIZE(840, 19)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_matmul_i32(int ni, int nj, int nk, uint32_t C[ni][nj],
                                                 uint32_t A[ni][nk], uint32_t B[nk][nj]) {
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++)
            for (int k = 0; k < nk; k++)
                C[i][j] += A[i][k] * B[k][j];
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

int main(int argc, char **argv) {
    int ni = argc > 1 ? atoi(argv[1]) : NI;
    int nj = argc > 2 ? atoi(argv[2]) : NJ;
    int nk = argc > 3 ? atoi(argv[3]) : NK;
    uint32_t(*C)[nj] = malloc(sizeof(uint32_t[ni][nj]));
    uint32_t(*A)[nk] = malloc(sizeof(uint32_t[ni][nk]));
    uint32_t(*B)[nj] = malloc(sizeof(uint32_t[nk][nj]));
    for (int i = 0; i < ni; i++) {
        for (int k = 0; k < nk; k++)
            A[i][k] = (uint32_t)(i * 31 + k * 17);
        for (int j = 0; j < nj; j++)
            C[i][j] = (uint32_t)(i + j);
    }
    for (int k = 0; k < nk; k++)
        for (int j = 0; j < nj; j++)
            B[k][j] = (uint32_t)(k * 7 + j * 13) * 2654435761u;
    for (int r = 0; r < REPS; r++)
        kernel_matmul_i32(ni, nj, nk, C, A, B);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, C, sizeof(uint32_t[ni][nj])));
    free(C);
    free(A);
    free(B);
    return 0;
}
