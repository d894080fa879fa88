// Moments of few rows: the sums are short, and nobody states how many there are.
void moments(int rows, int n, const double *psi, const double *ec, double *out) {
    for (int l = 0; l < rows; l++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++)
            sum += ec[l * n + i] * psi[i];
        out[l] += sum;
    }
}
