// nbody: all-pairs gravitational accelerations, structure of arrays, then a time step.
// Sizes are constants, all arrays are globals.
// Of interest: sqrt and a division in the inner loop, three strict reductions at once.
// Strict floating point is expected: compile with -ffp-contract=off.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef SMALL
#define SIZE(full, small) (small)
#else
#define SIZE(full, small) (full)
#endif
#ifndef N
#define N SIZE(1500, 17)
#endif
#ifndef T
#define T SIZE(50, 4)
#endif
#ifndef REPS
#define REPS SIZE(1, 2)
#endif

static double px[N], py[N], pz[N], vx[N], vy[N], vz[N], ax[N], ay[N], az[N], mass[N];

__attribute__((noinline)) void kernel_nbody(void) {
    for (int t = 0; t < T; t++) {
        for (int i = 0; i < N; i++) {
            ax[i] = 0.0;
            ay[i] = 0.0;
            az[i] = 0.0;
            for (int j = 0; j < N; j++) {
                double dx = px[j] - px[i];
                double dy = py[j] - py[i];
                double dz = pz[j] - pz[i];
                double r2 = dx * dx + dy * dy + dz * dz + 0.01;
                double s = mass[j] / (r2 * sqrt(r2));
                ax[i] += s * dx;
                ay[i] += s * dy;
                az[i] += s * dz;
            }
        }
        for (int i = 0; i < N; i++) {
            vx[i] += 0.001 * ax[i];
            vy[i] += 0.001 * ay[i];
            vz[i] += 0.001 * az[i];
        }
        for (int i = 0; i < N; i++) {
            px[i] += 0.001 * vx[i];
            py[i] += 0.001 * vy[i];
            pz[i] += 0.001 * vz[i];
        }
    }
}

static void init(void) {
    for (int i = 0; i < N; i++) {
        px[i] = (i * 37 % 101) / 101.0;
        py[i] = (i * 53 % 103) / 103.0;
        pz[i] = (i * 71 % 107) / 107.0;
        mass[i] = 1.0 / N;
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
        kernel_nbody();
    uint64_t h = fnv(1469598103u, px, sizeof px);
    h = fnv(h, py, sizeof py);
    printf("checksum %016llx\n", (unsigned long long)fnv(h, vz, sizeof vz));
    return 0;
}
