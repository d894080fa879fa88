// Where rows begin and how long they are is chosen by a loop around that is not described: the nest inside stands alone.
void report(int layer);
void f(int layers, int inputs, int hidden, double *weight, const double *delta, const double *output, double rate) {
    for (int h = layers - 1; h >= 0; --h) {
        double *w = weight + (h ? (inputs + 1) * hidden + (hidden + 1) * hidden * (h - 1) : 0);
        const double *d = delta + h * hidden;
        const double *in = output + (h ? inputs + hidden * (h - 1) : 0);
        int width = h == 0 ? inputs : hidden;
        report(h);
        for (int j = 0; j < hidden; ++j) {
            *w++ += *d * rate * -1.0;
            for (int k = 1; k < width + 1; ++k)
                *w++ += *d * rate * in[k - 1];
            ++d;
        }
    }
}
