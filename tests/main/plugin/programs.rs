//! Programs that print what they computed, with clang and with the plugin.

use super::{Place, clang, plugged, succeeds};

/// What is stored in a variable of the file is also reached by another name: by the result of `malloc`, and of a function that says
/// that it is alike.
const PUBLISHED: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static double *p, *q;
__attribute__((noinline, malloc)) static double *made(int n) {
    double *t = malloc(8ul * n * n);
    for (int i = 0; i < n * n; i++) t[i] = i;
    return t;
}
__attribute__((noinline)) static void show(int n) {
    for (int i = 0; i < n; i += n / 3) printf("%a %a ", p[i * n + i / 2 + 1], q ? q[i * n + i / 2 + 1] : 0);
}
int main(void) {
    int n = 300;
    double *t = malloc(8ul * n * n);
    for (int i = 0; i < n * n; i++) t[i] = i;
    p = t;
    show(n);
    for (int j = 0; j < n; j++) for (int i = 1; i < n; i++) p[i * n + j] += t[(i - 1) * n + j];
    for (int j = 1; j < n; j++) for (int i = 0; i < n; i++) p[i * n + j] = t[(n - 1 - i) * n + j - 1];
    show(n);
    double *u = made(n);
    q = u;
    for (int j = 0; j < n; j++) for (int i = 1; i < n; i++) q[i * n + j] += u[(i - 1) * n + j];
    for (int j = 1; j < n; j++) for (int i = 0; i < n; i++) u[i * n + j] = q[(n - 1 - i) * n + j - 1];
    show(n);
}"#;

/// A coroutine that calls nothing else, resumed in a loop.
const COROUTINE: &str = r#"
#include <coroutine>
#include <cstdio>
static char arena[4096];
struct Numbers {
    struct promise_type {
        int value = 0;
        static void *operator new(std::size_t) noexcept { return arena; }
        static void operator delete(void *, std::size_t) noexcept {}
        Numbers get_return_object() noexcept { return Numbers{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int x) noexcept { value = x; return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept {}
    };
    std::coroutine_handle<promise_type> handle;
};
static Numbers squares(int n) noexcept { for (int i = 0; i < n; i++) co_yield i * i; }
static double A[400][400], B[400][400];
int main() {
    int s = 0;
    for (int k = 0; k < 20; k++) {
        Numbers g = squares(k);
        while (!g.handle.done()) { g.handle.resume(); s = (s * 3 + g.handle.promise().value) % 1000; }
        g.handle.destroy();
    }
    for (int j = 0; j < 400; j++) for (int i = 0; i < 400; i++) A[i][j] = A[i][j] * 2 + B[i][j] + s;
    std::printf("%d %g", s, A[3][4]);
}"#;

/// A small function to which `exp` is any function, called in a nest of one to which it is the library's.
const NO_BUILTIN: &str = r#"
#include <stdio.h>
static double A[90][90], B[90][90];
double exp(double);
long calls(void);
__attribute__((no_builtin("exp"))) static inline double step(double x) { return exp(x) + 1; }
__attribute__((noinline, annotate("looptree: interchange(@)"))) void nest(int n) {
    for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) A[i][j] = A[i][j] * 0.5 + step(B[i][j]);
}
int main(void) {
    for (int i = 0; i < 90; i++) for (int j = 0; j < 90; j++) A[i][j] = i + j, B[i][j] = i - j;
    nest(90);
    double t = 0;
    for (int i = 0; i < 90; i++) for (int j = 0; j < 90; j++) t = t * 0.99 + A[i][j];
    printf("%a %ld", t, calls());
}"#;

/// Its value depends on how often it was called before.
const OWN_EXP: &str = r#"
static long n, h;
double exp(double x) { n++; h = (h * 31 + (long)(x * 8)) % 1000003; return x * 0.25 + n % 7; }
long calls(void) { return h; }"#;

/// A call that may throw ends its block: the nest's bound is read behind it.
const SET_BY_CALL: &str = r#"
#include <cstdio>
int n = 4;
double A[120][120], B[120][120], C[120][120];
__attribute__((noinline)) void set(int x) { if (x == 12345) throw 1; n = x; }
struct Object { int k; ~Object(); };
Object::~Object() { asm volatile("" ::: "memory"); k = 0; }
__attribute__((noinline)) void nest(int x) {
    Object object{1};
    set(x);
    for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];
}
int main() {
    for (int i = 0; i < 120; i++) for (int j = 0; j < 120; j++) A[i][j] = i + j, B[i][j] = i - j;
    nest(120);
    double s = 0;
    for (int i = 0; i < 120; i++) for (int j = 0; j < 120; j++) s += C[i][j] * (i + 3 * j);
    std::printf("%a", s);
}"#;

/// What was read in front of such a call is not what is read behind it.
const READ_BEFORE_CALL: &str = r#"
#include <cstdio>
struct Size { int n, pad; };
int A[300][300], B[300][300], C[300][300];
__attribute__((noinline)) void set(Size *s, int x) { if (x == 12345) throw 1; s->n = x; }
struct Object { int k; ~Object(); };
__attribute__((noinline)) Object::~Object() { asm volatile("" ::: "memory"); k = 0; }
__attribute__((noinline)) int nest(Size *s, int x, int (*c)[300], int (*a)[300], int (*b)[300]) {
    Object object{1};
    int before = s->n;
    set(s, x);
    for (int i = 0; i < 300; i++) for (int j = 0; j < 300; j++) if (j > 2)
        for (int k = 0; k < s->n; k++) c[i][j] += a[i][k] * b[k][j];
    return before;
}
int main() {
    for (int i = 0; i < 300; i++) for (int j = 0; j < 300; j++) A[i][j] = i + j, B[i][j] = i - j;
    Size s{4, 0};
    long t = nest(&s, 300, C, A, B);
    for (int i = 0; i < 300; i++) for (int j = 0; j < 300; j++) t += C[i][j] * (long)(i + 3 * j);
    std::printf("%ld", t);
}"#;

/// Arrays of 3 MiB that live one after another, in a function of which a nest changes.
const LARGE_SCOPES: &str = r#"
#include <stdio.h>
static double A[300][300], B[300][300], C[300][300];
__attribute__((noinline)) static long use(char *p, int n) {
    long s = 0;
    for (int i = 0; i < n; i += 4096) p[i] = i, s += p[i];
    return s;
}
__attribute__((noinline)) static long nest(int times) {
    for (int j = 0; j < 300; j++) for (int i = 0; i < 300; i++) for (int k = 0; k < 300; k++) C[i][j] += A[i][k] * B[k][j];
    long s = 0;
    for (int t = 0; t < times; t++) {
        { char a[3 << 20]; s += use(a, sizeof a); }
        { char b[3 << 20]; s += use(b, sizeof b); }
        { char c[3 << 20]; s += use(c, sizeof c); }
        { char d[3 << 20]; s += use(d, sizeof d); }
    }
    return s;
}
int main(void) {
    for (int i = 0; i < 300; i++) for (int j = 0; j < 300; j++) A[i][j] = i + j, B[i][j] = i - j;
    printf("%ld %a", nest(3), C[7][8]);
}"#;

#[test]
fn calls_that_may_throw_write_before_loops() {
    same_as_clang(Place::new(&[("x.cpp", SET_BY_CALL)]), &["x.cpp", "-lstdc++"]);
    same_as_clang(Place::new(&[("x.cpp", READ_BEFORE_CALL)]), &["x.cpp", "-lstdc++"]);
}

#[test]
fn large_scopes_share_the_stack() {
    same_as_clang(Place::new(&[("x.c", LARGE_SCOPES)]), &["x.c"]);
}

/// What a call that may throw returns has no `noundef` here, and is used behind a loop around it.
const RETRIED: &str = r#"
#include <cstdio>
struct Pair { int n, m; };
int tries;
__attribute__((noinline)) Pair get(int x) { if (tries++ < 3) throw x; return {x, x - 1}; }
double A[300][300], B[300][300];
__attribute__((noinline)) void nest(int x) {
    Pair p;
    for (;;) { try { p = get(x); break; } catch (int) { tries++; } }
    for (int j = 0; j < p.n; j++) for (int i = 0; i < p.n; i++) A[i][j] += B[i + 1 < p.m ? i + 1 : p.m][j];
}
int main() {
    for (int i = 0; i < 300; i++) for (int j = 0; j < 300; j++) B[i][j] = i - 2 * j;
    nest(300);
    double s = 0;
    for (int i = 0; i < 300; i++) for (int j = 0; j < 300; j++) s += A[i][j] * (i + 3 * j);
    std::printf("%a %d", s, tries);
}"#;

#[test]
fn what_calls_that_may_throw_return_is_not_frozen_behind_its_uses() {
    let place = Place::new(&[("x.cpp", RETRIED)]);
    let said = plugged(&place, &["-O3", "-w", "-Rpass-missed=looptree", "-c", "x.cpp"]);
    assert!(!said.contains("verify"), "{said}");
    same_as_clang(place, &["x.cpp", "-lstdc++"]);
}

/// What ends the inner loop is another thread's, but where the nest runs.
const ANOTHER_THREADS: &str = r#"
#include <pthread.h>
#include <stdio.h>
static int A[300][300], B[300][300], C[300][300], n;
__attribute__((noinline)) static void nest(int use, int m) {
    for (int j = 0; j < m; j++) for (int i = 0; i < m; i++) C[i][j] += A[i][j];
    if (use) for (int j = 0; j < m; j++) for (int i = 0; i < m; i++) for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];
}
static void *other(void *p) { for (int i = 0; i < 3000; i++) n = i; return p; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    for (int r = 0; r < 10; r++) nest(0, 300);
    pthread_join(thread, NULL);
    n = 300;
    nest(1, 300);
    printf("%d", C[7][8]);
}"#;

#[test]
fn sanitizers_see_no_loads_that_the_program_does_not_execute() {
    let place = Place::new(&[("x.c", ANOTHER_THREADS)]);
    let flags = ["-O3", "-fsanitize=thread", "-o", "x", "x.c", "-pthread"];
    if !place.command(clang(), &flags).output().expect("clang starts").status.success() {
        eprintln!("not run: clang has no ThreadSanitizer here (package libclang-rt-22-dev)");
        return;
    }
    plugged(&place, &flags);
    assert_eq!(place.run(place.path("x"), &[]), "0");
}

#[test]
fn the_least_code_has_no_nest_twice() {
    let program = "__attribute__((minsize)) void columns(int n, double a[n][n]) {
        for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) a[i][j] += 1; }";
    let place = Place::new(&[("x.c", program)]);
    let said = plugged(&place, &["-O3", "-Rpass=looptree", "-Rpass-analysis=looptree", "-c", "x.c"]);
    assert!(said.contains("asks for the least code") && !said.contains("predicted"), "{said}");
}

/// What must not wait, and is checked for it, allocates no buffers and starts no threads.
#[test]
fn no_allocation_where_nothing_may_wait() {
    let program = r#"
        static double A[1200][1200], B[1200][1200], C[1200][1200];
        void nest(void) WHEN {
            for (int i = 0; i < 1200; i++) for (int j = 0; j < 1200; j++) for (int k = 0; k < 1200; k++) C[i][j] += A[i][k] * B[k][j];
        }"#;
    let place = Place::new(&[("x.c", program)]);
    let code = |attributes: &str, options: &str| {
        let flags = ["-O3", "-fsanitize=realtime", "-S", "-emit-llvm", "-o", "-", attributes, "x.c"];
        succeeds(place.plugged(&flags).env("LOOPTREE", options).output().expect("clang starts"))
    };
    for (called, options) in [("@malloc", ""), ("@GOMP_parallel", "threads=4")] {
        assert!(code("-DWHEN=", options).contains(called));
        let without = code("-DWHEN=__attribute__((nonblocking))", options);
        assert!(!without.contains(called), "{without}");
    }
}

#[test]
fn what_a_variable_owns_has_another_name_too() {
    same_as_clang(Place::new(&[("x.c", PUBLISHED)]), &["x.c"]);
}

#[test]
fn coroutines_are_put_in_no_other_function() {
    same_as_clang(Place::new(&[("x.cpp", COROUTINE)]), &["-x", "c++", "-std=c++20", "x.cpp", "-lstdc++"]);
}

#[test]
fn no_function_of_the_library_in_a_function_that_says_so() {
    let place = Place::new(&[("x.c", NO_BUILTIN), ("exp.c", OWN_EXP)]);
    place.run(clang(), &["-O1", "-fno-builtin", "-c", "exp.c"]);
    same_as_clang(place, &["x.c", "exp.o"]);
}

#[track_caller]
fn same_as_clang(place: Place, files: &[&str]) {
    place.run(clang(), &[&["-O1", "-w", "-ffp-contract=off", "-o", "plain"], files].concat());
    plugged(&place, &[&["-O3", "-w", "-ffp-contract=off", "-o", "new"], files].concat());
    assert_eq!(place.run(place.path("new"), &[]), place.run(place.path("plain"), &[]));
}

/// Kernels do not save registers of vectors: a product gets none.
#[test]
fn no_vectors_where_none_are_asked_for() {
    let program = "int A[400][400], B[400][400], C[400][400];
        void nest(void) {
            for (int i = 0; i < 400; i++) for (int j = 0; j < 400; j++) for (int k = 0; k < 400; k++) C[i][j] += A[i][k] * B[k][j]; }";
    let place = Place::new(&[("x.c", program)]);
    let code = |flags: &[&str]| {
        let all = ["-O3", "-march=x86-64-v3", "-Rpass=looptree", "-S", "-o", "-", "x.c"];
        plugged(&place, &[&all[..], flags].concat())
    };
    assert!(code(&[]).contains("%ymm"));
    let without = code(&["-mno-implicit-float"]);
    assert!(!without.contains("%xmm") && !without.contains("%ymm"), "{without}");
    // Nor where a recipe says so.
    std::fs::write(
        place.path("x.c"),
        program.replace("void", "__attribute__((annotate(\"looptree: vectorize(@; 8)\"))) void"),
    )
    .expect("a file");
    let warned = code(&["-mno-implicit-float", "-Rpass-missed=looptree"]);
    assert!(warned.contains("-mno-implicit-float") && !warned.contains("%xmm"), "{warned}");
}

/// What constants give is for the function to say: numbers below the normal ones are zero here.
#[test]
fn constants_of_unrolled_loops_are_flushed_as_the_program_flushes() {
    let program = r#"
        #include <stdio.h>
        #include <xmmintrin.h>
        static double A[64][64], S[64];
        __attribute__((noinline, annotate("looptree: unroll(@0; full)"))) void nest(void) {
            for (int i = 0; i < 64; i++)
                for (int k = 0; k < 8; k++)
                    S[i] += A[k][i] * ((double)((k + 1) * 100000) * 1e-310) + ((double)k * 1e-310 > 0 ? 1 : 0);
        }
        int main(void) {
            _mm_setcsr(_mm_getcsr() | 0x8040);
            for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) A[i][j] = 1e300;
            nest();
            printf("%g", S[3]);
        }"#;
    let place = Place::new(&[("x.c", program)]);
    for optimised in ["-O1", "-O3"] {
        plugged(
            &place,
            &[optimised, "-ffp-contract=off", "-fdenormal-fp-math=preserve-sign", "x.c", "-o", "x"],
        );
        assert_eq!(place.run(place.path("x"), &[]), "0");
    }
}

/// Bits that go around and zeros that are counted, of all widths, as vectors and in another order.
const BITS: &str = r#"
#include <stdint.h>
#include <stdio.h>
#define NEST(T, W, NAME, RECIPE) \
    __attribute__((noinline, annotate("looptree: " RECIPE))) \
    static void NAME(T (*restrict a)[40], T (*restrict b)[40], int by) { \
        for (int j = 0; j < 40; j++) for (int i = 0; i < 40; i++) { \
            T x = b[i][j]; \
            a[i][j] ^= (T)((x << 3) | (x >> (W - 3))) + (T)((x << (by & (W - 1))) | (x >> (-by & (W - 1)))); \
            a[i][j] += (T)((T)(b[j][i] << 5) | (x >> (W - 5))) + (T)__builtin_clzg(x, W) * 3 + (T)__builtin_ctzg(x, W) * 5 + (T)__builtin_popcountg(x); \
        } \
    }
#define BOTH(T, W) NEST(T, W, around##W, "interchange(@)") NEST(T, W, lanes##W, "vectorize(@0; 8)")
BOTH(uint8_t, 8) BOTH(uint16_t, 16) BOTH(uint32_t, 32) BOTH(uint64_t, 64)
#define RUN(T, W) { \
    static T a[40][40], b[40][40]; \
    for (int i = 0; i < 1600; i++) b[0][i] = (T)(i * 2654435761u * (i % 7 != 0)) >> (i % W); \
    for (int by = 0; by < 70; by += 23) { around##W(a, b, by); lanes##W(a, b, by); } \
    unsigned long s = 0; \
    for (int i = 0; i < 1600; i++) s = s * 31 + a[0][i]; \
    printf("%lx ", s); }
int main(void) { RUN(uint8_t, 8) RUN(uint16_t, 16) RUN(uint32_t, 32) RUN(uint64_t, 64) }"#;

#[test]
fn bits_go_around_and_zeros_are_counted_as_in_the_program() {
    let place = Place::new(&[("x.c", BITS)]);
    let said = plugged(&place, &["-O3", "-Rpass=looptree", "-c", "x.c", "-o", "x.o"]);
    assert_eq!(said.matches("(predicted ").count(), 8, "{said}");
    same_as_clang(place, &["x.c"]);
}

/// Bounds that are tested for equality, and where what is left by an exception has objects to destroy.
const CHECKED: &str = r#"
#include <cstdio>
#include <cstdlib>
#include <string>
static int destroyed;
struct Owner { ~Owner() { destroyed++; } };
[[noreturn]] __attribute__((noinline)) void fails(long i) { throw i; }
__attribute__((noinline)) void columns(double *a, const double *b, long n, long length) {
    Owner owner;
    for (long j = 0; j < n; j++) for (long i = 0; i < n; i++) {
        if (i * n + j >= length) fails(i);
        a[i * n + j] += b[i * n + j];
    }
}
__attribute__((noinline)) void met(double *a, const double *b, long n, long m) {
    for (long j = 0; j < n; j++) for (long i = 0; i < n; i++) {
        if (i == m) abort();
        a[i * n + j] += b[i * n + j];
    }
}
int main() {
    static double a[300 * 300], b[300 * 300];
    for (int i = 0; i < 300 * 300; i++) b[i] = i % 17;
    columns(a, b, 300, 300 * 300);
    met(a, b, 300, 300);
    long at = 0;
    try { columns(a, b, 300, 300 * 200); } catch (long i) { at = i; }
    double s = 0;
    for (int i = 0; i < 300 * 300; i++) s = s * 0.5 + a[i] * (i % 13);
    std::printf("%a %ld %d", s, at, destroyed);
}"#;

#[test]
fn what_ends_by_an_exception_or_where_a_bound_is_met_is_checked_before() {
    let place = Place::new(&[("x.cpp", CHECKED)]);
    let said = plugged(&place, &["-O3", "-Rpass=looptree", "-c", "x.cpp", "-o", "x.o"]);
    assert!(said.contains("columns(") && said.contains("met("), "{said}");
    same_as_clang(place, &["x.cpp", "-lstdc++"]);
}

/// Where no allocator may be called, what needs none is taken.
#[test]
fn without_an_allocator_a_product_gains_all_the_same() {
    let program = "static double A[1200][1200], B[1200][1200], C[1200][1200];
        void nest(void) {
            for (int i = 0; i < 1200; i++) for (int j = 0; j < 1200; j++) for (int k = 0; k < 1200; k++) C[i][j] += A[i][k] * B[k][j]; }";
    let place = Place::new(&[("x.c", program)]);
    for (flag, allocates) in [("-O3", true), ("-ffreestanding", false)] {
        let said = plugged(&place, &["-O3", "-Rpass=looptree", "-S", "-o", "-", flag, "x.c"]);
        assert!(said.contains("(predicted ") && said.contains("malloc") == allocates, "{said}");
    }
}

/// Registers of 80 bits would decide what is computed, and change what is only copied.
#[test]
fn code_without_sse_is_left_alone() {
    let program = "void columns(int n, double a[n][n]) { for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) a[i][j] += 1; }";
    let place = Place::new(&[("x.c", program)]);
    let flags = ["-O3", "-mno-sse2", "-Rpass=looptree", "-Rpass-analysis=looptree", "-c", "x.c"];
    let said = plugged(&place, &flags);
    assert!(said.contains("without SSE2") && !said.contains("predicted"), "{said}");
}
