//! Programs that print what they computed, with clang and with the plugin.

use super::{Place, clang, plugged};

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
