//! What new code needs of its program: functions of libraries, and room on the stack.

use super::{Place, clang, plugged};

/// What programs print that have functions of the names that new code would call.
const OWN_FUNCTIONS: &[(&[&str], &str, &str)] = &[
    // A C library's own: it would call itself.
    (
        &["-ffreestanding", "-fno-builtin"],
        r#"
int printf(const char *, ...);
void exit(int);
static __attribute__((noinline)) void records(char to[restrict][6], const char from[restrict][6], int n) {
    for (int j = 0; j < n; j++) for (int i = 0; i < 6; i++) to[j][i] = from[j][i];
}
static int inside;
void *memcpy(void *restrict to, const void *restrict from, unsigned long n) {
    if (inside) exit(3);
    inside = 1;
    records(to, from, n / 6);
    for (unsigned long k = n / 6 * 6; k < n; k++) ((char *)to)[k] = ((const char *)from)[k];
    inside = 0;
    return to;
}
int main(void) {
    static char a[60000], b[60000];
    for (int i = 0; i < 60000; i++) b[i] = i;
    memcpy(a, b, 60000);
    printf("%d", a[777]);
    return 0;
}"#,
        "9",
    ),
    // Another of the same name.
    (
        &["-fno-builtin"],
        r#"
int printf(const char *, ...);
static int calls;
static __attribute__((noinline)) void *memset(void *p, int c, unsigned long n) { calls++; ((volatile char *)p)[n] = 99; return p; }
__attribute__((noinline)) void records(char d[restrict][6], int n) {
    for (int j = 0; j < n; j++) for (int i = 0; i < 6; i++) d[j][i] = 0;
}
int main(void) {
    static char a[60100], b[60000];
    for (int i = 0; i < 60000; i++) a[i] = i;
    memset(b, 0, 5);
    records((void *)a, 10000);
    printf("%d %d %d %d", a[777], a[59999], a[60000], calls);
}"#,
        "0 0 0 1",
    ),
    // An alias.
    (
        &[],
        r#"
int printf(const char *, ...);
void *own(void *restrict to, const void *restrict from, unsigned long n) {
    for (unsigned long k = 0; k < n; k++) ((volatile char *)to)[k] = ((const char *)from)[k];
    return to;
}
void *memcpy(void *restrict, const void *restrict, unsigned long) __attribute__((alias("own")));
__attribute__((noinline)) void records(char d[restrict][6], char s[restrict][6], int n) {
    for (int j = 0; j < n; j++) for (int i = 0; i < 6; i++) d[j][i] = s[j][i];
}
int main(void) {
    static char a[60000], b[60000];
    for (int i = 0; i < 60000; i++) b[i] = i;
    records((void *)a, (void *)b, 10000);
    printf("%d", a[777]);
}"#,
        "9",
    ),
    // Of the runtime for threads.
    (
        &["-mllvm", "-looptree=threads=2"],
        r#"
#include <stdio.h>
int own(void) { return 0; }
int omp_get_thread_num(void) __attribute__((alias("own")));
static double A[64][64];
__attribute__((noinline, annotate("looptree: mark(@; parallel)"))) void rows(void) {
    for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) A[i][j] += i * j;
}
int main(void) {
    rows();
    printf("%g", A[5][6]);
}"#,
        "30",
    ),
];

#[test]
fn functions_that_the_program_has_itself_are_not_called() {
    for (number, (flags, text, printed)) in OWN_FUNCTIONS.iter().enumerate() {
        let place = Place::new(&[("x.c", text)]);
        plugged(&place, &[&["-O3", "-w", "x.c", "-o", "new"], *flags].concat());
        assert_eq!(place.run(place.path("new"), &[]), *printed, "{number}");
    }
}

/// A nest at each level of a recursion, and one only where it ends.
const RECURSIONS: &str = r#"
#include <stdio.h>
#define N 128
#define PACKED "looptree: tile(@0.0; 64); permute(@0.0, @0, @, @0.0.0); tile(@0; 64; full); permute(@0.0.0, @0.0.0.0, @0.0); pack(@0.0; C)"
static double A[N][N], B[N][N], C[N][N];
__attribute__((noinline, annotate(PACKED))) void each(int depth) {
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) for (int k = 0; k < N; k++) A[i][j] += B[i][k] * C[k][j];
    if (depth) each(depth - 1);
    A[0][0] += depth;
}
__attribute__((noinline, annotate(PACKED))) int last(int depth) {
    if (depth) {
        int rest = last(depth - 1);
        A[depth % N][0] += rest;
        return rest + depth % 3;
    }
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) for (int k = 0; k < N; k++) A[i][j] += B[i][k] * C[k][j];
    return 0;
}
int main(void) {
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) B[i][j] = (i * j) % 7, C[i][j] = (i + j) % 5;
    each(50);
    int found = last(100);
    double sum = 0;
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) sum = sum * 0.75 + A[i][j];
    printf("%d %a", found, sum);
}
"#;

#[test]
fn frames_that_wait_have_no_buffers() {
    let place = Place::new(&[("x.c", RECURSIONS)]);
    place.run(clang(), &["-O1", "-w", "x.c", "-o", "plain"]);
    let told = plugged(&place, &["-O3", "-Rpass=looptree", "x.c", "-o", "new"]);
    assert_eq!(told.matches("pack(@0.0; C)").count(), 2, "{told}");
    let run = |program: &str| place.run("sh", &["-c", &format!("ulimit -s 512; ./{program}")]);
    assert_eq!(run("new"), run("plain"));
}
