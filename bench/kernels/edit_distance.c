// edit_distance: Levenshtein distances of all prefixes of two strings.
// Sizes are constants, arrays are globals; bytes and 32-bit integers.
// Of interest: nested min by if statements; the same wavefront dependences as lcs.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef SMALL
#define SIZE(full, small) (small)
#else
#define SIZE(full, small) (full)
#endif
#ifndef N
#define N SIZE(2000, 23)
#endif
#ifndef M
#define M SIZE(2100, 19)
#endif
#ifndef REPS
#define REPS SIZE(100, 3)
#endif

static unsigned char s[N], t[M];
static int D[N + 1][M + 1];

__attribute__((noinline)) void kernel_edit_distance(void) {
    for (int i = 0; i <= N; i++)
        D[i][0] = i;
    for (int j = 1; j <= M; j++)
        D[0][j] = j;
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= M; j++) {
            int cost = s[i - 1] == t[j - 1] ? 0 : 1;
            int best = D[i - 1][j - 1] + cost;
            if (D[i - 1][j] + 1 < best)
                best = D[i - 1][j] + 1;
            if (D[i][j - 1] + 1 < best)
                best = D[i][j - 1] + 1;
            D[i][j] = best;
        }
}

static void init(void) {
    for (int i = 0; i < N; i++)
        s[i] = (unsigned char)(i * 7 % 13 + i % 3);
    for (int j = 0; j < M; j++)
        t[j] = (unsigned char)(j * 5 % 11 + j % 2);
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
        kernel_edit_distance();
        s[r % N] = (unsigned char)(D[N][M] % 13);
    }
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, D, sizeof D));
    return 0;
}
