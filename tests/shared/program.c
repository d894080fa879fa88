// Loops that threads share, of several kinds: what it prints depends on every element.
#include <stdio.h>

#define N 160

static double a[N][N], b[N][N], c[N][N], v[N];

static void product(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        c[i][j] += a[i][k] * b[k][j];
}

static void triangle(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++)
      for (int k = 0; k < j; k++)
        c[i][j] -= a[i][k] * b[j][k];
}

static void sums(void) {
  for (int i = 0; i < N; i++) {
    double sum = 0;
    for (int j = 0; j < N; j++)
      sum += c[i][j] * a[j][i];
    v[i] = sum;
  }
}

static void sweeps(int steps) {
  for (int t = 0; t < steps; t++) {
    double factor = v[t] * 1e-3;
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        b[i][j] = factor * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        a[i][j] = b[i][j] + 0.5;
  }
}

int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      a[i][j] = (i * 7 + j * 3) % 13 - 5.5;
      b[i][j] = (i * 5 + j * 11) % 17 * 0.25;
    }
  product();
  triangle();
  sums();
  sweeps(9);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      printf("%a %a\n", c[i][j], a[i][j] + v[i]);
}
