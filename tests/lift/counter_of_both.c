// One counter goes through two loops, again and again.
void f(int n, int m, int count, const float *restrict x, const float *restrict y, float *restrict to) {
    int at = 0;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < n; j++)
            to[at++] += x[i * n + j];
        for (int j = 0; j < m; j++)
            to[at++] += y[i * m + j];
    }
}
