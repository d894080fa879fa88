//! Names of C.

use std::collections::BTreeSet;

/// Names taken in a function, or in the file.
#[derive(Clone, Default, Debug)]
pub(crate) struct Names(BTreeSet<String>);

impl Names {
    /// A name that nothing else has, as close to the one wanted as C allows.
    pub(crate) fn fresh(&mut self, wanted: &str) -> String {
        let mut base: String =
            wanted.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
        // Names that begin with an underscore, or with a digit, are not the program's; nor are those that headers begin so.
        let is_begun = PREFIXES.iter().any(|prefix| base.starts_with(prefix));
        if is_begun || !base.starts_with(|c: char| c.is_ascii_alphabetic()) {
            base = format!("x{base}");
        }
        let taken = |name: &str| self.0.contains(name) || is_reserved(name);
        let mut name = base.clone();
        let mut number = 0;
        while taken(&name) {
            number += 1;
            name = format!("{base}_{number}");
        }
        self.0.insert(name.clone());
        name
    }

    /// Leaves a name to what has it.
    pub(crate) fn take(&mut self, name: &str) {
        self.0.insert(name.to_string());
    }

    /// Gives back a name whose scope has ended.
    pub(crate) fn release(&mut self, name: &str) {
        self.0.remove(name);
    }
}

/// How macros of headers begin.
const PREFIXES: [&str; 4] = ["M_", "FP_", "INT", "UINT"];

/// Keywords, macros that compilers define, types and functions that emitted code uses, and functions that gcc knows by name.
const RESERVED: &str = " alignas alignof asm auto bool break case char const constexpr continue default do double else enum extern false \
    float for goto if inline int long main nullptr register restrict return short signed sizeof static static_assert struct \
    switch thread_local true typedef typeof typeof_unqual union unsigned void volatile while \
    linux unix i386 NULL INFINITY NAN HUGE_VAL HUGE_VALF HUGE_VALL DOMAIN SING OVERFLOW UNDERFLOW errno \
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t intptr_t size_t int128 \
    isunordered islessgreater signbit memcpy malloc free aligned_alloc floor_div \
    index rindex abs labs ffs signgam \
    memset memmove memcmp printf puts putchar exit abort alloca calloc realloc strlen strcpy strcmp toupper tolower \
    omp_get_thread_num omp_get_max_threads thread_count thread_number \
    atof atoi atol atoll strtod strtof strtold strtol strtoll strtoul strtoull rand srand random srandom initstate setstate \
    rand_r drand48 erand48 lrand48 nrand48 mrand48 jrand48 srand48 seed48 lcong48 atexit on_exit at_quick_exit quick_exit \
    getenv setenv putenv unsetenv clearenv mktemp mkstemp mkstemps mkdtemp system realpath bsearch qsort div ldiv lldiv div_t \
    ldiv_t lldiv_t ecvt fcvt gcvt mblen mbtowc wctomb mbstowcs wcstombs rpmatch getsubopt getloadavg select pselect wchar_t \
    fd_set valloc posix_memalign reallocarray a64l l64a arc4random arc4random_buf arc4random_uniform ";

/// Functions of numbers, each also with `f` and `l` behind its name.
const MATHEMATICS: &str = " acos asin atan atan2 tan cosh sinh tanh acosh asinh atanh cbrt ceil copysign cos erf erfc exp exp2 exp10 expm1 \
    fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf \
    nan nearbyint nextafter nexttoward pow remainder remquo rint round roundeven scalbln scalbn sin sincos sqrt tgamma trunc \
    gamma j0 j1 jn y0 y1 yn drem finite isinf isnan lgamma_r pow10 scalb significand cabs carg conj creal cimag cproj cexp clog \
    cpow csqrt csin ccos ctan casin cacos catan csinh ccosh ctanh casinh cacosh catanh \
    fmaximum fminimum fmaximum_mag fminimum_mag fmaxmag fminmag canonicalize fromfp ufromfp llogb nextup nextdown totalorder ";

fn is_reserved(name: &str) -> bool {
    let is_in = |list: &str, name: &str| list.split_ascii_whitespace().any(|word| word == name);
    if [Some(name), name.strip_suffix('f'), name.strip_suffix('l')]
        .iter()
        .flatten()
        .any(|n| is_in(MATHEMATICS, n))
    {
        return true;
    }
    let kinds = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"];
    let aliased = name.strip_suffix("_aliased").is_some_and(|kind| kinds.contains(&kind) || kind == "i1");
    let vector = aliased
        || name
            .strip_suffix("_row")
            .unwrap_or(name)
            .split_once('x')
            .is_some_and(|(kind, count)| kinds.contains(&kind) && count.parse::<u32>().is_ok());
    let helper = vector || name.rsplit_once('_').is_some_and(|(_, kind)| kinds.contains(&kind));
    helper || is_in(RESERVED, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_c() {
        let mut names = Names::default();
        let all = ["A", "A", "s.0", "for", "exp", "hypotf", "2x", "_Bool", "min_i64", "M_inv"]
            .map(|n| names.fresh(n));
        assert_eq!(
            all,
            ["A", "A_1", "s_0", "for_1", "exp_1", "hypotf_1", "x2x", "x_Bool", "min_i64_1", "xM_inv"]
        );
    }
}
