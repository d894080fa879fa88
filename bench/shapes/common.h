// What all shapes need: sizes, contents, and a checksum of exact bits.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SMALL
#define SIZE(full, small) (small)
#else
#define SIZE(full, small) (full)
#endif

// Between 0 and 1, never 0.
static double content(long i) { return (double)((i * 7 + 3) % 97 + 1) / 98.0; }

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

static void print(const void *data, size_t bytes) {
    printf("checksum %016llx\n", (unsigned long long)fnv(1469598103u, data, bytes));
}
