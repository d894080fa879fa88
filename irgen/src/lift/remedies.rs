//! What could be changed in the source, where something is not understood.

/// A remedy for a remark, by its code, and its words where several have one; empty where there is none.
pub(super) fn remedy(code: &str, message: &str) -> &'static str {
    let says = |words: &str| message.contains(words);
    match code {
        "trip-count" if says("wrap") => {
            "count with `size_t` or `long`, or with `int` in the place of `unsigned`: sums of those do not wrap"
        }
        "trip-count" if says("loops around") => {
            "where the bound does not change, read it into a local variable in front of the outermost loop"
        }
        "trip-count" if says("not known") => {
            "count by a step up to a bound, neither of which anything in the loop changes, as in `for (long i = 0; i < n; i += step)`"
        }
        "control" if says("enters") => "write the cycle as a loop that is entered at its head only",
        "control" if says("test") => "put what has effects behind the loop's test, or in front of the loop",
        "control" if says("left") || says("leaves") || says("exits") => {
            "split the search from the work: a loop that is left at its own test only is described"
        }
        "lifetime" => "declare the array outside of the loops",
        "ends" => "test it in front of the loops",
        "condition" => {
            "conditions on loop counters and sizes are described, and those on data inside of the innermost loop"
        }
        "access" if says("pointer is") => {
            "read the pointer into a local variable in front of the loops, where it does not change"
        }
        "access" if says("computed inside") => {
            "index an array that is known in front of the loops, as in `a[i]`, where that is possible"
        }
        "access" | "type" if says("type") || says("vector") => {
            "integers of 8 to 64 bits, `float` and `double` are described"
        }
        "subscript" => "subscripts that are sums of counters and sizes are described",
        "last-value" => "compute it from the loop's bounds, behind the loop",
        "undef" => "initialise the variable",
        "size" => "split the loops, or what is in them, into several functions",
        _ => "",
    }
}
