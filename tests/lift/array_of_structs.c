// Fields of different types in an array of structs: stride 16 bytes.
struct item {
    double value;
    int count;
    short tag;
};
void f(int n, struct item *s, double *a) {
    for (int i = 0; i < n; i++) {
        a[i] = s[i].value * s[i].count;
        s[i].tag = 1;
    }
}
