// owned_fields: fields that only static pointers lead to, in a nest that is interchanged and in one that stays as it is.
// Of interest: that the second one keeps its vectors: LLVM knows that the fields are apart only as long as no new code makes it doubt.
#include "common.h"

#ifndef N
#define N SIZE(36, 7)
#endif
#ifndef REPS
#define REPS SIZE(4000, 2)
#endif

typedef double five[N][N][5];
typedef double one[N][N];
static five *u, *rhs;
static one *rho;
static int n, traced, seen;

__attribute__((noinline)) static void trace(int step) {
    seen += step;
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void kernel_owned_fields(void) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                rho[k][j][i] = 1.0 / u[k][j][i][0];
    if (traced)
        trace(1);
    for (int k = 1; k < n - 1; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                for (int m = 0; m < 5; m++)
                    rhs[k][j][i][m] = rhs[k][j][i][m] - 0.25 * (u[k - 1][j][i][m] - 2.0 * u[k][j][i][m] + u[k + 1][j][i][m]) * rho[k][j][i];
    if (traced)
        trace(2);
}

int main(int argc, char **argv) {
    (void)argv;
    traced = argc > 1, n = N;
    u = malloc(N * sizeof *u), rhs = malloc(N * sizeof *rhs), rho = malloc(N * sizeof *rho);
    if (!u || !rhs || !rho)
        return 1;
    long at = 0;
    for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                for (int m = 0; m < 5; m++, at++)
                    u[k][j][i][m] = content(at), rhs[k][j][i][m] = content(3 * at);
    for (int r = 0; r < REPS; r++)
        kernel_owned_fields();
    // Handed to nobody, the pointers stay what they are.
    static double all[5L * N * N * N];
    at = 0;
    for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                for (int m = 0; m < 5; m++)
                    all[at++] = rhs[k][j][i][m];
    print(all, sizeof all);
    return 0;
}
