// Sums of which something is computed before it is stored.
void mean(double a[60][50], double *restrict m) {
    for (int j = 0; j < 50; j++) {
        double sum = 0.0;
        for (int i = 0; i < 60; i++)
            sum += a[i][j];
        m[j] = sum / 50.0;
    }
}

void solved(double a[60][60]) {
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < i; j++) {
            double w = a[i][j];
            for (int k = 0; k < j; k++)
                w -= a[i][k] * a[k][j];
            a[i][j] = w / a[j][j];
        }
}

double also_returned(double a[60][50], double *restrict m) {
    double total = 0.0;
    for (int j = 0; j < 50; j++) {
        double sum = 0.0;
        for (int i = 0; i < 60; i++)
            sum += a[i][j];
        m[j] = sum / 50.0;
        total += m[0];
    }
    return total;
}

void used_twice(double a[60][50], double *restrict m, double *restrict n) {
    for (int j = 0; j < 50; j++) {
        double sum = 0.0;
        for (int i = 0; i < 60; i++)
            sum += a[i][j];
        m[j] = sum / 50.0;
        n[j] = sum;
    }
}

void added_to(double a[60][50], double *restrict m) {
    for (int j = 0; j < 50; j++) {
        double sum = 0.0;
        for (int i = 0; i < 60; i++)
            sum += a[i][j];
        m[j] += sum;
    }
}

void narrower(float a[60][50], float *restrict m) {
    for (int j = 0; j < 50; j++) {
        double sum = 0.0;
        for (int i = 0; i < 60; i++)
            sum += a[i][j];
        m[j] = (float)(sum / 50.0);
    }
}

void sometimes(double a[60][50], double *restrict m) {
    for (int j = 0; j < 50; j++) {
        double sum = 0.0;
        for (int i = 0; i < 60; i++)
            sum += a[i][j];
        if (sum > 1.0)
            m[j] = sum / 50.0;
    }
}

void seen(double a[60][60]) {
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < 60; j++) {
            double w = 0.0;
            for (int k = 0; k < 60; k++)
                w += a[i][k];
            a[i][j] = w / 2.0;
        }
}

double kept(double a[60][50], double *restrict m) {
    double sum = 0.0;
    for (int j = 0; j < 50; j++) {
        for (int i = 0; i < 60; i++)
            sum += a[i][j];
        m[j] = sum / 50.0;
    }
    return sum;
}
