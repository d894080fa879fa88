// Threads that run tiles side by side along a wavefront, of which each waits for those in front: by recipes in the source, so that
// no prediction decides whether there are any. What it prints depends on every element.
#include <stdio.h>

#define N 150

#define RECIPE(text) __attribute__((noinline, annotate("looptree: " text)))

static double a[N][N], b[N][N], c[N][N], d[N][N];

// Sweeps in place, each a step behind the one before: tiles of time and rows.
RECIPE("skew(@, @0; 2); tile(@, @0; 16, 1; full); unroll_and_jam(@0.0.0.0; 8); mark(@0.0.0.0; parallel); mark(@0.0.1.0; parallel)")
static void gauss_seidel(int steps) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j] + a[i][j + 1] +
                   a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9.0;
}

// Two arrays in turns: both loops fused, one row apart, in tiles of time.
RECIPE("fuse(@0.0; shift=-1; guard); skew(@, @0; 2); tile(@, @0; 4, 8); permute(@0.0.0, @0, @0.0); skew(@, @0; 1); "
       "interchange(@); mark(@0; parallel)")
static void jacobi(int steps) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        c[i][j] = 0.2 * (b[i][j] + b[i][j - 1] + b[i][j + 1] + b[i + 1][j] + b[i - 1][j]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        b[i][j] = 0.2 * (c[i][j] + c[i][j - 1] + c[i][j + 1] + c[i + 1][j] + c[i - 1][j]);
  }
}

// Each element waits for those above and to the left: diagonals of elements, and of tiles.
RECIPE("skew(@, @0; 1); interchange(@); mark(@0; parallel)")
static void elements(void) {
  for (int i = 1; i < N; i++)
    for (int j = 1; j < N; j++)
      d[i][j] = 0.5 * (d[i - 1][j] + d[i][j - 1]) + a[i][j];
}

RECIPE("tile(@, @0; 16, 16); skew(@, @0; 1); interchange(@); mark(@0; parallel)")
static void tiles(void) {
  for (int i = 1; i < N; i++)
    for (int j = 1; j < N; j++)
      d[i][j] += 0.5 * (d[i - 1][j] - d[i][j - 1]) * b[i][j];
}

int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      a[i][j] = (i * 7 + j * 3) % 13 - 5.5;
      b[i][j] = (i * 5 + j * 11) % 17 * 0.25;
      d[i][j] = (i * 3 + j * 5) % 7;
    }
  gauss_seidel(20);
  jacobi(20);
  elements();
  tiles();
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      printf("%a %a %a %a\n", a[i][j], b[i][j], c[i][j], d[i][j]);
}
