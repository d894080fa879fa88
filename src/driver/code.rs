//! What the attributes of a function say of the code that is made of it.

use cost_model::targets::Vectors;
use irgen::llvm::Function;

/// How the names begin of processors with 512 bits for which LLVM takes 256 by itself (`TuningPrefer256Bit` in its X86.td).
const PREFER_256: [&str; 13] = [
    "x86-64-v4",
    "skylake-avx512",
    "cascadelake",
    "cooperlake",
    "cannonlake",
    "icelake-client",
    "icelake-server",
    "tigerlake",
    "rocketlake",
    "sapphirerapids",
    "emeraldrapids",
    "graniterapids",
    "diamondrapids",
];

/// The vectors of a function of x86, by its features; `None` where it has no such attributes, and is compiled for what the
/// compiler is told.
pub(super) fn vectors(function: Function<'_>) -> Option<Vectors> {
    if !function.may_use_vectors() {
        return Some(Vectors { bits: 0, widest: 0, registers: 16, masked: false });
    }
    let features = function.string_attribute("target-features")?;
    let preferred = function.string_attribute("prefer-vector-width").and_then(|w| w.parse().ok());
    let tuned = function.string_attribute("tune-cpu").or_else(|| function.string_attribute("target-cpu"));
    vectors_of(&features, tuned.as_deref().unwrap_or(""), preferred)
}

fn vectors_of(features: &str, tuned: &str, preferred: Option<u32>) -> Option<Vectors> {
    let has = |name: &str| features.split(',').any(|f| f.strip_prefix('+') == Some(name));
    let by_itself = if PREFER_256.iter().any(|cpu| tuned.starts_with(cpu)) { 256 } else { 512 };
    let bits: u32 = match () {
        () if has("avx512f") => 512,
        () if has("avx") => 256,
        () if has("sse2") => 128,
        () => return None,
    };
    Some(Vectors {
        bits: bits.min(preferred.unwrap_or(by_itself)),
        widest: bits.min(preferred.unwrap_or(bits)),
        registers: if has("avx512f") { 32 } else { 16 },
        masked: has("avx"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::LlvmTarget;
    use cost_model::Target;

    #[test]
    fn features_say_how_wide_vectors_are() {
        let bits = |features, tuned, preferred| vectors_of(features, tuned, preferred).map(|v| v.bits);
        assert_eq!(bits("+cx8,+fxsr,+sse,+sse2,+x87", "generic", None), Some(128));
        assert_eq!(bits("+avx,+avx2,-avx512f,+sse2", "haswell", None), Some(256));
        assert_eq!(bits("+avx,+avx512f,+sse2", "znver5", None), Some(512));
        assert_eq!(bits("+avx,+avx512f,+sse2", "icelake-server", None), Some(256));
        assert_eq!(bits("+avx,+avx512f,+sse2", "znver5", Some(128)), Some(128));
        assert_eq!(bits("+avx,+avx512f,+sse2", "sapphirerapids", Some(512)), Some(512));
        assert_eq!(bits("+neon", "generic", None), None);
    }

    #[test]
    fn vectors_are_as_wide_as_llvm_makes_them() {
        for cpu in PREFER_256.into_iter().chain(["knl", "novalake", "znver4", "znver5"]) {
            let target = LlvmTarget::new(Some(cpu)).expect("LLVM knows it");
            let told = vectors_of("+avx,+avx512f,+sse2", cpu, None).map(|v| v.bits);
            assert_eq!(told, Some(target.vector_bits()), "{cpu}");
        }
    }
}
