// The same memory through two element sizes.
void f(int n, unsigned *words, unsigned char *bytes) {
    for (int i = 0; i < n; i++)
        words[i] = words[i] * 2;
    for (int i = 0; i < 4 * n; i++)
        bytes[i] = bytes[i] ^ 1;
}
