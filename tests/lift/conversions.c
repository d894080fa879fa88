// u8 -> i32 -> f32 -> u8, with sign and zero extension.
void f(int n, unsigned char *in, signed char *delta, unsigned char *out) {
    for (int i = 0; i < n; i++) {
        int v = in[i] + delta[i];
        float w = (float)v * 0.5f + 64.0f;
        out[i] = (unsigned char)w;
    }
}
