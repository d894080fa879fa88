// An end of which half is taken, in 64 bits: the strips of the first loop need numbers that code does not have.
void stays(int *restrict b, int *restrict c, long n) {
    for (long i = 0; i < n; i++)
        b[i] = 7;
    for (long i = 0; i < (n + 1) / 2; i++)
        c[i] = b[2 * i];
}

void joins(int *restrict b, int *restrict c, int n) {
    for (int i = 0; i < n; i++)
        b[i] = 7;
    for (int i = 0; i < n; i++)
        c[i] = b[i];
}
