#include <stdlib.h>

void chain(int n, double *restrict in, double *restrict out) {
  double *t = malloc(n * sizeof *t), *u = malloc(n * sizeof *u), *v = malloc(n * sizeof *v);
  for (int i = 0; i < n; i++)
    t[i] = in[i] * 2.0;
  for (int i = 0; i < n; i++)
    u[i] = t[i] + 1.0;
  for (int i = 1; i < n; i++)
    v[i] = u[i - 1] + u[i];
  for (int i = 1; i < n; i++)
    out[i] = v[n - i];
  free(t);
  free(u);
  free(v);
}
