// Ends beyond 64 bits for all but the smallest numbers: code that counts to them needs integers that it does not have.
void stays(int *restrict b, int *restrict c, long n) {
    for (long i = 0; i < n * 0x2000000000000000; i++)
        b[i] = 7;
    for (long i = 0; i < n * 0x2000000000000000; i++)
        c[i] = b[i];
}

// That `n + 1` does not wrap is implied by the limits of the run-time check.
void joins(int *restrict b, int *restrict c, long n) {
    for (long i = 0; i < n; i++)
        b[i] = 7;
    for (long i = 0; i < (n + 1) / 2; i++)
        c[i] = b[2 * i];
}
