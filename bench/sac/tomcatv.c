// One step of mesh generation by Thompson's solver, as the SPEC benchmark of this name computes it: residuals, the largest of
// them, a tridiagonal system for each line, and corrections; each a sweep of its own.
#include <math.h>

void tomcatv(int n, double x[restrict n][n], double y[restrict n][n], double rx[restrict n][n], double ry[restrict n][n],
             double aa[restrict n][n], double dd[restrict n][n], double d[restrict n][n], double relaxation,
             double *restrict largest) {
    for (int j = 1; j < n - 1; j++)
        for (int i = 1; i < n - 1; i++) {
            double xx = x[j][i + 1] - x[j][i - 1], yx = y[j][i + 1] - y[j][i - 1];
            double xy = x[j + 1][i] - x[j - 1][i], yy = y[j + 1][i] - y[j - 1][i];
            double a = 0.25 * (xy * xy + yy * yy), b = 0.25 * (xx * xx + yx * yx), c = 0.125 * (xx * xy + yx * yy);
            aa[j][i] = -b;
            dd[j][i] = b + b + a * relaxation;
            double pxx = x[j][i + 1] - 2.0 * x[j][i] + x[j][i - 1], qxx = y[j][i + 1] - 2.0 * y[j][i] + y[j][i - 1];
            double pyy = x[j + 1][i] - 2.0 * x[j][i] + x[j - 1][i], qyy = y[j + 1][i] - 2.0 * y[j][i] + y[j - 1][i];
            double pxy = x[j + 1][i + 1] - x[j + 1][i - 1] - x[j - 1][i + 1] + x[j - 1][i - 1];
            double qxy = y[j + 1][i + 1] - y[j + 1][i - 1] - y[j - 1][i + 1] + y[j - 1][i - 1];
            rx[j][i] = a * pxx + b * pyy - c * pxy;
            ry[j][i] = a * qxx + b * qyy - c * qxy;
        }

    double most_x = 0, most_y = 0;
    for (int j = 1; j < n - 1; j++)
        for (int i = 1; i < n - 1; i++) {
            most_x = fabs(rx[j][i]) > most_x ? fabs(rx[j][i]) : most_x;
            most_y = fabs(ry[j][i]) > most_y ? fabs(ry[j][i]) : most_y;
        }
    largest[0] = most_x;
    largest[1] = most_y;

    for (int i = 1; i < n - 1; i++)
        d[1][i] = 1.0 / dd[1][i];
    for (int j = 2; j < n - 1; j++)
        for (int i = 1; i < n - 1; i++) {
            double r = aa[j][i] * d[j - 1][i];
            d[j][i] = 1.0 / (dd[j][i] - aa[j - 1][i] * r);
            rx[j][i] -= rx[j - 1][i] * r;
            ry[j][i] -= ry[j - 1][i] * r;
        }

    for (int i = 1; i < n - 1; i++) {
        rx[n - 2][i] *= d[n - 2][i];
        ry[n - 2][i] *= d[n - 2][i];
    }
    for (int j = n - 3; j > 0; j--)
        for (int i = 1; i < n - 1; i++) {
            rx[j][i] = (rx[j][i] - aa[j][i] * rx[j + 1][i]) * d[j][i];
            ry[j][i] = (ry[j][i] - aa[j][i] * ry[j + 1][i]) * d[j][i];
        }

    for (int j = 1; j < n - 1; j++)
        for (int i = 1; i < n - 1; i++) {
            x[j][i] += rx[j][i];
            y[j][i] += ry[j][i];
        }
}
