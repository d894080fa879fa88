// lcs: lengths of the longest common subsequences of all prefixes of two strings.
// Sizes are run-time ints, the table is a VLA; 32-bit integers.
// Of interest: data-dependent if/else; dependences (1,0), (0,1), (1,1): a wavefront.
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
#define N SIZE(2500, 29)
#endif
#ifndef M
#define M SIZE(2600, 23)
#endif
#ifndef REPS
#define REPS SIZE(50, 3)
#endif

__attribute__((noinline)) void kernel_lcs(int n, int m, const char *a, const char *b,
                                          int L[n + 1][m + 1]) {
    for (int i = 0; i <= n; i++)
        L[i][0] = 0;
    for (int j = 0; j <= m; j++)
        L[0][j] = 0;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            if (a[i - 1] == b[j - 1])
                L[i][j] = L[i - 1][j - 1] + 1;
            else if (L[i - 1][j] > L[i][j - 1])
                L[i][j] = L[i - 1][j];
            else
                L[i][j] = L[i][j - 1];
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
    char *a = malloc(n), *b = malloc(m);
    int(*L)[m + 1] = calloc(1, sizeof(int[n + 1][m + 1]));
    for (int i = 0; i < n; i++)
        a[i] = (char)('a' + (i * 7 + i / 3) % 11);
    for (int j = 0; j < m; j++)
        b[j] = (char)('a' + (j * 5 + j / 7) % 11);
    for (int r = 0; r < REPS; r++) {
        kernel_lcs(n, m, a, b, L);
        a[r % n] = (char)('a' + L[n][m] % 11);
    }
    uint64_t h = fnv(1469598103u, L, sizeof(int[n + 1][m + 1]));
    printf("checksum %016llx\n", (unsigned long long)h);
    free(a);
    free(b);
    free(L);
    return 0;
}
