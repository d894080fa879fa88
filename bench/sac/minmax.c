// The least and the greatest element, each by a fold of its own.
void minmax(int n, const double *a, double *result) {
    double least = a[0];
    for (int i = 1; i < n; i++)
        least = a[i] < least ? a[i] : least;
    double greatest = a[0];
    for (int i = 1; i < n; i++)
        greatest = a[i] > greatest ? a[i] : greatest;
    result[0] = least;
    result[1] = greatest;
}
