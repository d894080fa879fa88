// sqrt and fabs: pure operations, not calls.
#include <math.h>
void f(int n, double *a, double *b) {
    for (int i = 0; i < n; i++)
        a[i] = sqrt(fabs(b[i]));
}
