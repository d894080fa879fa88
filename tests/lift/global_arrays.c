// Global arrays of constant extents: never alias.
double A[20][30], B[30][20];
void f(void) {
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 30; j++)
            A[i][j] = A[i][j] + B[j][i];
}
