// life: Conway's game of life on bytes, neighbour count and then an if/else cascade.
// Sizes are run-time ints, arrays are VLAs that may alias.
// Of interest: byte stencil with widening to int, data-dependent branches that become selects.
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
#define N SIZE(1500, 19)
#endif
#ifndef M
#define M SIZE(1600, 23)
#endif
#ifndef T
#define T SIZE(250, 4)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

__attribute__((noinline)) void kernel_life(int tsteps, int n, int m, unsigned char cur[n][m],
                                           unsigned char next[n][m]) {
    for (int t = 0; t < tsteps; t++) {
        for (int i = 1; i < n - 1; i++) {
            for (int j = 1; j < m - 1; j++) {
                int count = cur[i - 1][j - 1] + cur[i - 1][j] + cur[i - 1][j + 1] + cur[i][j - 1] +
                            cur[i][j + 1] + cur[i + 1][j - 1] + cur[i + 1][j] + cur[i + 1][j + 1];
                if (count == 3)
                    next[i][j] = 1;
                else if (count == 2)
                    next[i][j] = cur[i][j];
                else
                    next[i][j] = 0;
            }
        }
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++)
                cur[i][j] = next[i][j];
    }
}

static void init(int n, int m, unsigned char cur[n][m], unsigned char next[n][m]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            cur[i][j] = ((i * 7 + j * 13 + i * j) % 5) < 2;
            next[i][j] = 0;
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
    int m = argc > 2 ? atoi(argv[2]) : M;
    int tsteps = argc > 3 ? atoi(argv[3]) : T;
    unsigned char(*cur)[m] = malloc((size_t)n * m);
    unsigned char(*next)[m] = malloc((size_t)n * m);
    init(n, m, cur, next);
    for (int r = 0; r < REPS; r++)
        kernel_life(tsteps, n, m, cur, next);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, cur, (size_t)n * m));
    free(cur);
    free(next);
    return 0;
}
