// nussinov: RNA folding by dynamic programming, table[i][j] = best pairing of the bases i..j.
// The size is a constant, arrays are arguments that may alias; 32-bit integers.
// Of interest: i counts down, triangular, affine conditions, max by ternaries, a strided reduction.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef SMALL
#define SIZE(full, small) (small)
#else
#define SIZE(full, small) (full)
#endif
#ifndef N
#define N SIZE(1500, 19)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

#define MAX(a, b) ((a) >= (b) ? (a) : (b))

__attribute__((noinline)) void kernel_nussinov(const char seq[N], int table[N][N]) {
    for (int i = N - 1; i >= 0; i--) {
        for (int j = i + 1; j < N; j++) {
            table[i][j] = MAX(table[i][j], table[i][j - 1]);
            if (i + 1 < N) {
                table[i][j] = MAX(table[i][j], table[i + 1][j]);
                if (i < j - 1)
                    table[i][j] =
                        MAX(table[i][j], table[i + 1][j - 1] + (seq[i] + seq[j] == 3 ? 1 : 0));
                else
                    table[i][j] = MAX(table[i][j], table[i + 1][j - 1]);
            }
            for (int k = i + 1; k < j; k++)
                table[i][j] = MAX(table[i][j], table[i][k] + table[k + 1][j]);
        }
    }
}

static char seq[N];
static int table[N][N];

static void init(void) {
    for (int i = 0; i < N; i++)
        seq[i] = (char)((i * i + 3 * i + 1) % 4);
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
        kernel_nussinov(seq, table);
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, table, sizeof table));
    return 0;
}
