void columns(int unused, double also, int n, float (*a)[n], char *neither) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[j][i] += 1;
}
