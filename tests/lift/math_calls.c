// sqrt and fabs: pure operations, as roots of what is never negative set no errno.
#include <math.h>
void f(int n, double *a, double *b) {
    for (int i = 0; i < n; i++)
        a[i] = sqrt(fabs(b[i]));
}
