// Known wrong: with `looptree opt --recipe` and the recipe `unroll(@1.0.1; 2)` for `test_0`, the result differs under `clang-22 -O3`.
// The new code is right at -O0 and -O1, and up to the loop vectoriser, which errs without any annotation of ours, too; it is right with
// `opt-22 -enable-interleaved-mem-accesses=false`.
// Found by the soak, seed 60000203.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned char byte;
double fabs(double), sqrt(double), floor(double), ceil(double);
float fabsf(float), sqrtf(float), floorf(float), ceilf(float);
static volatile unsigned long side_state;
__attribute__((noinline)) static void side(long x) { side_state = side_state * 31 + x; }

long taken_0;
__attribute__((noinline)) long test_0(unsigned long n0, double *a0, double *a1) {
  long s0 = 3;
  for (int i0 = 0; i0 < n0; i0++) {
    for (int i1 = 0; i1 < i0; i1++) {
      a1[i1] = 1.0;
      s0 = (long)({ double t = a0[i1]; t > -100.0 && t < 100.0 ? (int)t : 0; }) & 255;
    }
  }
  return s0;
}
void run_0(const long *n, void *const *a, void *r) {
  (void)n; (void)a; side_state = 0; ((long *)r)[0] = 0;
  *(long *)r = test_0((unsigned long)n[0], a[0], a[1]);
  ((long *)r)[1] = side_state;
}

static void fill(byte *p, long count, int kind, unsigned long region) {
  int size = kind / 8;
  for (long at = 0; at < count; at++) {
    unsigned long h = (region * 1000003 + at + 1) * 0x9e3779b97f4a7c15UL, v;
    h ^= h >> 29;
    long small = (long)((h >> 16) % 41) - 15;
    if (kind == 33) { float f = h % 61 == 0 ? -0.0f : small * 0.25f; v = 0; memcpy(&v, &f, 4); }
    else if (kind == 65) { double f = h % 61 == 0 ? -0.0 : small * 0.25; memcpy(&v, &f, 8); }
    else v = h % 31 == 0 ? h >> 8 : (unsigned long)small;
    memcpy(p + at * size, &v, size);
  }
}
static void settle(byte *p, long count, int kind) {
  for (long at = 0; at < count; at++) {
    if (kind == 33) { float f; memcpy(&f, p + 4 * at, 4); if (f != f) { unsigned v = 0x7fc00000; memcpy(p + 4 * at, &v, 4); } }
    if (kind == 65) { double f; memcpy(&f, p + 8 * at, 8); if (f != f) { unsigned long v = 0x7ff8000000000000; memcpy(p + 8 * at, &v, 8); } }
  }
}
static unsigned long hash(const byte *p, long size) {
  unsigned long h = 1469598103934665603UL;
  for (long i = 0; i < size; i++) h = (h ^ p[i]) * 1099511628211UL;
  return h;
}

int main(void) {
  { // apart
    byte *b = aligned_alloc(64, 384);
    memset(b, 0xa5, 384);
    fill(b + 64, 8, 65, 0);
    fill(b + 192, 8, 65, 1);
    long n[] = {9L}, r[2] = {0, 0};
    void *a[] = {b + 64L, b + 192L};
    run_0(n, a, r);
    settle(b + 64, 8, 65);
    settle(b + 192, 8, 65);
    settle((byte *)r, 1, 64);
    printf("0 %016lx %lx %lx\n", hash(b, 384), (unsigned long)r[0], (unsigned long)r[1]);
    free(b);
  }
  { // overlapping
    byte *b = aligned_alloc(64, 640);
    memset(b, 0xa5, 640);
    fill(b + 256, 8, 65, 0);
    fill(b + 256, 8, 65, 1);
    long n[] = {9L}, r[2] = {0, 0};
    void *a[] = {b + 256L, b + 256L};
    run_0(n, a, r);
    settle(b + 256, 8, 65);
    settle(b + 256, 8, 65);
    settle((byte *)r, 1, 64);
    printf("1 %016lx %lx %lx\n", hash(b, 640), (unsigned long)r[0], (unsigned long)r[1]);
    free(b);
  }
  { // overlapping
    byte *b = aligned_alloc(64, 640);
    memset(b, 0xa5, 640);
    fill(b + 256, 8, 65, 0);
    fill(b + 256, 8, 65, 1);
    long n[] = {9L}, r[2] = {0, 0};
    void *a[] = {b + 256L, b + 256L};
    run_0(n, a, r);
    settle(b + 256, 8, 65);
    settle(b + 256, 8, 65);
    settle((byte *)r, 1, 64);
    printf("2 %016lx %lx %lx\n", hash(b, 640), (unsigned long)r[0], (unsigned long)r[1]);
    free(b);
  }
  return 0;
}
