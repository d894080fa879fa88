// matrix_chain: cheapest parenthesisation of a product of matrices, by interval length.
// The size is a run-time int, arrays are VLAs that may alias; 64-bit integers.
// Of interest: diagonal order: the outer loop is the interval length, j = i + len.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SMALL
#define SIZE(full, small) (small)
#else
#define SIZE(full, small) (full)
#endif
#ifndef N
#define N SIZE(1200, 19)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_matrix_chain(int n, long dims[n + 1], long cost[n][n]) {
    for (int i = 0; i < n; i++)
        cost[i][i] = 0;
    for (int len = 1; len < n; len++) {
        for (int i = 0; i < n - len; i++) {
            int j = i + len;
            cost[i][j] = 1L << 60;
            for (int k = i; k < j; k++) {
                long c = cost[i][k] + cost[k + 1][j] + dims[i] * dims[k + 1] * dims[j + 1];
                if (c < cost[i][j])
                    cost[i][j] = c;
            }
        }
    }
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
    int n = argc > 1 ? atoi(argv[1]) : N;
    long *dims = malloc(sizeof(long) * (n + 1));
    long(*cost)[n] = calloc(1, sizeof(long[n][n]));
    for (int i = 0; i <= n; i++)
        dims[i] = 5 + (i * 17) % 41;
    for (int r = 0; r < REPS; r++) {
        kernel_matrix_chain(n, dims, cost);
        dims[r % n] = 5 + cost[0][n - 1] % 37;
    }
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, cost, sizeof(long[n][n])));
    free(dims);
    free(cost);
    return 0;
}
