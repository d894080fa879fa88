// A root that may set errno is a call that its owner makes, in place.
#include <math.h>
void f(int n, double *a, double *b) {
    for (int i = 0; i < n; i++)
        a[i] = sqrt(b[i]);
}
