// Hand-written loop orders, tilings and jams of small kernels, to hold the analytic model against.
// Prints "name nanoseconds" per function, the least of several runs. Compile as the emitted code is:
//   clang-22 -O3 -march=native -ffp-contract=off loops.c -o loops && ./loops
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define NI __attribute__((noinline)) static
#define PAR _Pragma("clang loop vectorize(assume_safety)")
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#ifndef N
#define N 1000
#endif
#define BIG 4000
#define SMALL 120
#define V (1 << 23)
#define LV 2000
static double A[N][N], B[N][N], C[N][N];
static double P[BIG][BIG], Q[BIG][BIG];
static double Ps[SMALL][SMALL], Qs[SMALL][SMALL];
static double a1[V], b1[V], c1[V], d1[V];
static double x1[BIG], x2[BIG], y1[BIG], y2[BIG];
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}
NI void gemm_ijk(void) { for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) for (int k = 0; k < N; k++) C[i][j] += A[i][k] * B[k][j]; }
NI void gemm_ikj(void) { for (int i = 0; i < N; i++) for (int k = 0; k < N; k++) for (int j = 0; j < N; j++) C[i][j] += A[i][k] * B[k][j]; }
NI void gemm_kij(void) { for (int k = 0; k < N; k++) for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) C[i][j] += A[i][k] * B[k][j]; }
NI void gemm_jki(void) { for (int j = 0; j < N; j++) for (int k = 0; k < N; k++) for (int i = 0; i < N; i++) C[i][j] += A[i][k] * B[k][j]; }
NI void gemm_ikj_jk4(void) { for (int i = 0; i < N; i++) for (int k = 0; k < N; k += 4) for (int j = 0; j < N; j++) {
  C[i][j] += A[i][k] * B[k][j]; C[i][j] += A[i][k+1] * B[k+1][j]; C[i][j] += A[i][k+2] * B[k+2][j]; C[i][j] += A[i][k+3] * B[k+3][j]; } }
#define K8(i) C[i][j] += A[i][k] * B[k][j]; C[i][j] += A[i][k+1] * B[k+1][j]; C[i][j] += A[i][k+2] * B[k+2][j]; C[i][j] += A[i][k+3] * B[k+3][j]; C[i][j] += A[i][k+4] * B[k+4][j]; C[i][j] += A[i][k+5] * B[k+5][j]; C[i][j] += A[i][k+6] * B[k+6][j]; C[i][j] += A[i][k+7] * B[k+7][j];
#define K4(i) C[i][j] += A[i][k] * B[k][j]; C[i][j] += A[i][k+1] * B[k+1][j]; C[i][j] += A[i][k+2] * B[k+2][j]; C[i][j] += A[i][k+3] * B[k+3][j];
#define K2(i) C[i][j] += A[i][k] * B[k][j]; C[i][j] += A[i][k+1] * B[k+1][j];
NI void gemm_ikj_jk8(void) { for (int i = 0; i < N; i++) for (int k = 0; k < N; k += 8) for (int j = 0; j < N; j++) { K8(i) } }
NI void gemm_ikj_ji4(void) { for (int i = 0; i < N; i += 4) for (int k = 0; k < N; k++) PAR for (int j = 0; j < N; j++) {
  C[i][j] += A[i][k] * B[k][j]; C[i+1][j] += A[i+1][k] * B[k][j]; C[i+2][j] += A[i+2][k] * B[k][j]; C[i+3][j] += A[i+3][k] * B[k][j]; } }
NI void gemm_ikj_ji2jk4(void) { for (int i = 0; i < N; i += 2) for (int k = 0; k < N; k += 4) PAR for (int j = 0; j < N; j++) { K4(i) K4(i+1) } }
NI void gemm_ikj_ji4jk4(void) { for (int i = 0; i < N; i += 4) for (int k = 0; k < N; k += 4) PAR for (int j = 0; j < N; j++) { K4(i) K4(i+1) K4(i+2) K4(i+3) } }
NI void gemm_ikj_ji8jk8(void) { for (int i = 0; i < N; i += 8) for (int k = 0; k < N; k += 8) PAR for (int j = 0; j < N; j++) { K8(i) K8(i+1) K8(i+2) K8(i+3) K8(i+4) K8(i+5) K8(i+6) K8(i+7) } }
#define TILE3(T, BODY) for (int it = 0; it < N; it += T) for (int kt = 0; kt < N; kt += T) for (int jt = 0; jt < N; jt += T) BODY
NI void gemm_tile32(void) { TILE3(32, for (int i = it; i < MIN(N, it+32); i++) for (int k = kt; k < MIN(N, kt+32); k++) for (int j = jt; j < MIN(N, jt+32); j++) C[i][j] += A[i][k] * B[k][j];) }
NI void gemm_tile20c(void) { TILE3(20, for (int i = it; i < it+20; i++) for (int k = kt; k < kt+20; k++) for (int j = jt; j < jt+20; j++) C[i][j] += A[i][k] * B[k][j];) }
NI void gemm_tile40c(void) { TILE3(40, for (int i = it; i < it+40; i++) for (int k = kt; k < kt+40; k++) for (int j = jt; j < jt+40; j++) C[i][j] += A[i][k] * B[k][j];) }
NI void gemm_tile125c(void) { TILE3(125, for (int i = it; i < it+125; i++) for (int k = kt; k < kt+125; k++) for (int j = jt; j < jt+125; j++) C[i][j] += A[i][k] * B[k][j];) }
NI void gemm_ktile(void) { for (int kt = 0; kt < N; kt += 40) for (int i = 0; i < N; i++) for (int k = kt; k < kt+40; k++) for (int j = 0; j < N; j++) C[i][j] += A[i][k] * B[k][j]; }
NI void gemm_ktile_jk8(void) { for (int kt = 0; kt < N; kt += 200) for (int i = 0; i < N; i++) for (int k = kt; k < kt+200; k += 8) for (int j = 0; j < N; j++) { K8(i) } }
NI void gemm_ktile_jk4ji4(void) { for (int kt = 0; kt < N; kt += 40) for (int i = 0; i < N; i+=4) for (int k = kt; k < kt+40; k += 4) PAR for (int j = 0; j < N; j++) { K4(i) K4(i+1) K4(i+2) K4(i+3) } }
#define J(i,j) C[i][j] += A[i][k] * B[k][j];
#define J8(i) J(i,j) J(i,j+1) J(i,j+2) J(i,j+3) J(i,j+4) J(i,j+5) J(i,j+6) J(i,j+7)
NI void gemm_ijk_jj4(void) { for (int i = 0; i < N; i++) for (int j = 0; j < N; j += 4) for (int k = 0; k < N; k++) { J(i,j) J(i,j+1) J(i,j+2) J(i,j+3) } }
NI void gemm_ijk_jj8(void) { for (int i = 0; i < N; i++) for (int j = 0; j < N; j += 8) for (int k = 0; k < N; k++) { J8(i) } }
NI void gemm_ijk_ji4jj8(void) { for (int i = 0; i < N; i += 4) for (int j = 0; j < N; j += 8) for (int k = 0; k < N; k++) { J8(i) J8(i+1) J8(i+2) J8(i+3) } }
NI void gemm_ijk_ji4(void) { for (int i = 0; i < N; i += 4) for (int j = 0; j < N; j++) for (int k = 0; k < N; k++) { J(i,j) J(i+1,j) J(i+2,j) J(i+3,j) } }
// transposition, large and small
NI void tr_ij(void) { for (int i = 0; i < BIG; i++) for (int j = 0; j < BIG; j++) P[i][j] = Q[j][i]; }
NI void tr_ji(void) { for (int j = 0; j < BIG; j++) for (int i = 0; i < BIG; i++) P[i][j] = Q[j][i]; }
NI void tr_t8(void) { for (int it = 0; it < BIG; it += 8) for (int jt = 0; jt < BIG; jt += 8) for (int i = it; i < it+8; i++) for (int j = jt; j < jt+8; j++) P[i][j] = Q[j][i]; }
NI void tr_t32(void) { for (int it = 0; it < BIG; it += 32) for (int jt = 0; jt < BIG; jt += 32) for (int i = it; i < it+32; i++) for (int j = jt; j < jt+32; j++) P[i][j] = Q[j][i]; }
NI void trs_ij(void) { for (int r = 0; r < 1000; r++) for (int i = 0; i < SMALL; i++) for (int j = 0; j < SMALL; j++) Ps[i][j] = Qs[j][i]; }
NI void trs_t8(void) { for (int r = 0; r < 1000; r++) for (int it = 0; it < SMALL; it += 8) for (int jt = 0; jt < SMALL; jt += 8) for (int i = it; i < it+8; i++) for (int j = jt; j < jt+8; j++) Ps[i][j] = Qs[j][i]; }
NI void trs_t40(void) { for (int r = 0; r < 1000; r++) for (int it = 0; it < SMALL; it += 40) for (int jt = 0; jt < SMALL; jt += 40) for (int i = it; i < it+40; i++) for (int j = jt; j < jt+40; j++) Ps[i][j] = Qs[j][i]; }
// matrix by vector
NI void mv(void) { for (int i = 0; i < BIG; i++) for (int j = 0; j < BIG; j++) x1[i] += P[i][j] * y1[j]; }
NI void mv_ji(void) { for (int j = 0; j < BIG; j++) for (int i = 0; i < BIG; i++) x1[i] += P[i][j] * y1[j]; }
NI void mv_ji4(void) { for (int i = 0; i < BIG; i += 4) for (int j = 0; j < BIG; j++) { x1[i] += P[i][j] * y1[j]; x1[i+1] += P[i+1][j] * y1[j]; x1[i+2] += P[i+2][j] * y1[j]; x1[i+3] += P[i+3][j] * y1[j]; } }
NI void mv_ji8(void) { for (int i = 0; i < BIG; i += 8) for (int j = 0; j < BIG; j++) { x1[i] += P[i][j] * y1[j]; x1[i+1] += P[i+1][j] * y1[j]; x1[i+2] += P[i+2][j] * y1[j]; x1[i+3] += P[i+3][j] * y1[j];
  x1[i+4] += P[i+4][j] * y1[j]; x1[i+5] += P[i+5][j] * y1[j]; x1[i+6] += P[i+6][j] * y1[j]; x1[i+7] += P[i+7][j] * y1[j]; } }
NI void mvt_ij(void) { for (int i = 0; i < BIG; i++) for (int j = 0; j < BIG; j++) x2[i] += P[j][i] * y2[j]; }
NI void mvt_ji(void) { for (int j = 0; j < BIG; j++) for (int i = 0; i < BIG; i++) x2[i] += P[j][i] * y2[j]; }
NI void mvt_jij4(void) { for (int j = 0; j < BIG; j += 4) for (int i = 0; i < BIG; i++) { x2[i] += P[j][i] * y2[j]; x2[i] += P[j+1][i] * y2[j+1]; x2[i] += P[j+2][i] * y2[j+2]; x2[i] += P[j+3][i] * y2[j+3]; } }
// stencils
#define ST(a, b, i, j) a[i][j] = 0.2 * (b[i][j] + b[i][j-1] + b[i][j+1] + b[i-1][j] + b[i+1][j]);
NI void st_big(void) { for (int t = 0; t < 4; t++) { for (int i = 1; i < BIG-1; i++) for (int j = 1; j < BIG-1; j++) ST(P, Q, i, j) for (int i = 1; i < BIG-1; i++) for (int j = 1; j < BIG-1; j++) ST(Q, P, i, j) } }
NI void st_big_ji(void) { for (int t = 0; t < 1; t++) { for (int j = 1; j < BIG-1; j++) for (int i = 1; i < BIG-1; i++) ST(P, Q, i, j) } }
NI void st_big_t32(void) { for (int t = 0; t < 4; t++) { for (int it = 1; it < BIG-1; it+=32) for (int jt = 1; jt < BIG-1; jt+=32) for (int i = it; i < MIN(it+32,BIG-1); i++) PAR for (int j = jt; j < MIN(jt+32,BIG-1); j++) ST(P, Q, i, j)
  for (int it = 1; it < BIG-1; it+=32) for (int jt = 1; jt < BIG-1; jt+=32) for (int i = it; i < MIN(it+32,BIG-1); i++) PAR for (int j = jt; j < MIN(jt+32,BIG-1); j++) ST(Q, P, i, j) } }
NI void st_big_ji4(void) { for (int t = 0; t < 4; t++) { for (int i = 1; i < BIG-3; i+=2) PAR for (int j = 1; j < BIG-1; j++) { ST(P, Q, i, j) ST(P,Q,i+1,j) } for (int i = 1; i < BIG-3; i+=2) PAR for (int j = 1; j < BIG-1; j++) { ST(Q, P, i, j) ST(Q,P,i+1,j) } } }
// rows fused with shift: second half-step follows one row behind
NI void st_big_fuse(void) { for (int t = 0; t < 4; t++) { for (int i = 1; i < BIG; i++) { if (i < BIG-1) PAR for (int j = 1; j < BIG-1; j++) ST(P, Q, i, j) if (i >= 2) PAR for (int j = 1; j < BIG-1; j++) ST(Q, P, i-1, j) } } }
NI void st_sm(void) { for (int t = 0; t < 500; t++) { for (int i = 1; i < SMALL-1; i++) for (int j = 1; j < SMALL-1; j++) ST(Ps, Qs, i, j) for (int i = 1; i < SMALL-1; i++) for (int j = 1; j < SMALL-1; j++) ST(Qs, Ps, i, j) } }
NI void st_sm_t32(void) { for (int t = 0; t < 500; t++) { for (int it = 1; it < SMALL-1; it+=32) for (int jt = 1; jt < SMALL-1; jt+=32) for (int i = it; i < MIN(it+32,SMALL-1); i++) PAR for (int j = jt; j < MIN(jt+32,SMALL-1); j++) ST(Ps, Qs, i, j)
  for (int it = 1; it < SMALL-1; it+=32) for (int jt = 1; jt < SMALL-1; jt+=32) for (int i = it; i < MIN(it+32,SMALL-1); i++) PAR for (int j = jt; j < MIN(jt+32,SMALL-1); j++) ST(Qs, Ps, i, j) } }
NI void seidel(void) { for (int i = 1; i < BIG-1; i++) for (int j = 1; j < BIG-1; j++) P[i][j] = 0.2 * (P[i][j] + P[i][j-1] + P[i][j+1] + P[i-1][j] + P[i+1][j]); }
NI void seidel_skew(void) { for (int s = 2; s < 2*BIG-3; s++) PAR for (int i = MAX(1, s-BIG+2); i < MIN(BIG-1, s); i++) P[i][s-i] = 0.2 * (P[i][s-i] + P[i][s-i-1] + P[i][s-i+1] + P[i-1][s-i] + P[i+1][s-i]); }
// streams
NI void stream2(void) { for (int i = 0; i < V; i++) b1[i] = a1[i] * 2; for (int i = 0; i < V; i++) c1[i] = b1[i] + a1[i]; }
NI void stream2_f(void) { for (int i = 0; i < V; i++) { b1[i] = a1[i] * 2; c1[i] = b1[i] + a1[i]; } }
NI void streams(void) { for (int r = 0; r < 5000; r++) { PAR for (int i = 0; i < LV; i++) b1[i] = a1[i] * 2; PAR for (int i = 0; i < LV; i++) c1[i] = b1[i] + a1[i]; } }
NI void streams_f(void) { for (int r = 0; r < 5000; r++) PAR for (int i = 0; i < LV; i++) { b1[i] = a1[i] * 2; c1[i] = b1[i] + a1[i]; } }
NI void rec(void) { for (int r = 0; r < 5000; r++) for (int i = 1; i < LV; i++) { a1[i] = a1[i-1] * 0.5 + b1[i]; c1[i] = (b1[i] * d1[i] + 1) * (b1[i] + d1[i]) / (b1[i] + 3); } }
NI void rec_d(void) { for (int r = 0; r < 5000; r++) { for (int i = 1; i < LV; i++) a1[i] = a1[i-1] * 0.5 + b1[i]; PAR for (int i = 1; i < LV; i++) c1[i] = (b1[i] * d1[i] + 1) * (b1[i] + d1[i]) / (b1[i] + 3); } }
NI void colsum(void) { for (int j = 0; j < BIG; j++) for (int i = 0; i < BIG; i++) y1[j] += P[i][j]; }
NI void colsum_i(void) { for (int i = 0; i < BIG; i++) for (int j = 0; j < BIG; j++) y1[j] += P[i][j]; }
// factorisation: original order (row-wise dot products with a strict sum), and right-looking
NI void lu_dot(void) { for (int i = 0; i < N; i++) { for (int j = 0; j < i; j++) { for (int k = 0; k < j; k++) A[i][j] -= A[i][k] * A[k][j]; A[i][j] /= A[j][j]; } for (int j = i; j < N; j++) for (int k = 0; k < i; k++) A[i][j] -= A[i][k] * A[k][j]; } }
NI void lu_row(void) { for (int i = 0; i < N; i++) { for (int k = 0; k < i; k++) { A[i][k] /= A[k][k]; PAR for (int j = k+1; j < N; j++) A[i][j] -= A[i][k] * A[k][j]; } } }
NI void lu_kij(void) { for (int k = 0; k < N; k++) for (int i = k+1; i < N; i++) { A[i][k] /= A[k][k]; PAR for (int j = k+1; j < N; j++) A[i][j] -= A[i][k] * A[k][j]; } }
static void reset(void) {
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) { A[i][j] = (i == j ? 2*N : (i * 7 + j * 3) % 17 * 0.1); B[i][j] = (i + j) % 13 * 0.1; C[i][j] = 1; }
  for (int i = 0; i < BIG; i++) for (int j = 0; j < BIG; j++) { P[i][j] = (i * 5 + j) % 11; Q[i][j] = (i + j * 3) % 7; }
  for (int i = 0; i < SMALL; i++) for (int j = 0; j < SMALL; j++) { Ps[i][j] = 1; Qs[i][j] = (i + j) % 5; }
  for (int i = 0; i < V; i++) { a1[i] = 1; b1[i] = 2; c1[i] = 3; d1[i] = 4; }
  for (int i = 0; i < BIG; i++) { x1[i] = x2[i] = 0; y1[i] = y2[i] = 1; }
}
struct entry { const char *name; void (*f)(void); };
#define E(f) { #f, f },
static struct entry all[] = { E(gemm_ijk) E(gemm_ikj) E(gemm_kij) E(gemm_jki) E(gemm_ikj_jk4) E(gemm_ikj_jk8) E(gemm_ikj_ji4) E(gemm_ikj_ji2jk4) E(gemm_ikj_ji4jk4) E(gemm_ikj_ji8jk8)
  E(gemm_tile32) E(gemm_tile20c) E(gemm_tile40c) E(gemm_tile125c) E(gemm_ktile) E(gemm_ktile_jk8) E(gemm_ktile_jk4ji4) E(gemm_ijk_jj4) E(gemm_ijk_jj8) E(gemm_ijk_ji4jj8) E(gemm_ijk_ji4)
  E(tr_ij) E(tr_ji) E(tr_t8) E(tr_t32) E(trs_ij) E(trs_t8) E(trs_t40) E(mv) E(mv_ji) E(mv_ji4) E(mv_ji8) E(mvt_ij) E(mvt_ji) E(mvt_jij4)
  E(st_big) E(st_big_ji) E(st_big_t32) E(st_big_ji4) E(st_big_fuse) E(st_sm) E(st_sm_t32) E(seidel) E(seidel_skew)
  E(stream2) E(stream2_f) E(streams) E(streams_f) E(rec) E(rec_d) E(colsum) E(colsum_i) E(lu_dot) E(lu_row) E(lu_kij) };
int main(int argc, char **argv) {
  reset();
  for (unsigned e = 0; e < sizeof all / sizeof *all; e++) {
    if (argc > 1 && !strstr(all[e].name, argv[1])) continue;
    double best = 1e30, spent = 0;
    for (int r = 0; r < 7 && (r < 2 || spent < 1e9); r++) {
      if (!strncmp(all[e].name, "lu", 2)) reset();
      double t = now();
      all[e].f();
      t = now() - t;
      spent += t;
      if (t < best) best = t;
    }
    printf("%-18s %12.0f\n", all[e].name, best);
    fflush(stdout);
  }
}
