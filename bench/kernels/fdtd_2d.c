// fdtd_2d: finite-difference time domain, electric fields ex and ey, magnetic field hz.
// Sizes are constants, all arrays are globals.
// Of interest: four nests of different shape per time step; fusing the last one needs a shift.
// Strict floating point is expected: compile with -ffp-contract=off.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef SMALL
#define SIZE(full, small) (small)
#else
#define SIZE(full, small) (full)
#endif
#ifndef NX
#define NX SIZE(800, 13)
#endif
#ifndef NY
#define NY SIZE(900, 17)
#endif
#ifndef T
#define T SIZE(240, 7)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

static double ex[NX][NY], ey[NX][NY], hz[NX][NY], fict[T];

__attribute__((noinline)) void kernel_fdtd_2d(void) {
    int t, i, j;
    for (t = 0; t < T; t++) {
        for (j = 0; j < NY; j++)
            ey[0][j] = fict[t];
        for (i = 1; i < NX; i++)
            for (j = 0; j < NY; j++)
                ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
        for (i = 0; i < NX; i++)
            for (j = 1; j < NY; j++)
                ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
        for (i = 0; i < NX - 1; i++)
            for (j = 0; j < NY - 1; j++)
                hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }
}

static void init(void) {
    for (int t = 0; t < T; t++)
        fict[t] = 1.0 + t % 10;
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NY; j++) {
            ex[i][j] = ((double)i * (j + 1)) / NX;
            ey[i][j] = ((double)i * (j + 2)) / NY;
            hz[i][j] = ((double)i * (j + 3)) / NX;
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

int main(void) {
    init();
    for (int r = 0; r < REPS; r++)
        kernel_fdtd_2d();
    uint64_t h = fnv(1469598103u, ex, sizeof ex);
    h = fnv(h, ey, sizeof ey);
    printf("checksum %016llx\n", (unsigned long long)fnv(h, hz, sizeof hz));
    return 0;
}
