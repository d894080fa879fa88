namespace grid {
void smooth(double *a, double *b, int n) {
    for (int i = 0; i < n; i++) a[i] = 2.0;
    for (int i = 0; i < n; i++) b[i] = a[i] + 1.0;
}
}
static double A[512][512];
void scale(double by) {
    for (int i = 0; i < 512; i++)
        for (int j = 0; j < 512; j++)
            A[j][i] *= by;
}
void scale(float by) {
    for (int i = 0; i < 512; i++)
        for (int j = 0; j < 512; j++)
            A[j][i] *= by;
}
bool (*more)(int);
void unknown(double *x) {
    for (int i = 0; more(i); i++) x[i] = 1.0;
}
double total(double const *x, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += x[i];
    return sum;
}
