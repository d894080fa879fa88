//! Compiles kernels given as text, and calls them.

use irgen::emit::{EmitError, Variant, add_trampoline, emit_function};
use irgen::llvm::{CodeModel, Context, Jit, OptLevel, TargetMachine};
use loop_tree::{Green, Kernel, Path, RuntimeCondition, text};
use std::collections::BTreeSet;
use std::sync::Once;

/// Memory of one array, with canary bytes on both sides.
pub struct Buffer {
    bytes: Vec<u8>,
}

const CANARY: usize = 64;

/// Threads do not spin: there may be more of them than processors.
static PASSIVE: Once = Once::new();

impl Buffer {
    pub fn new(content: &[u8]) -> Self {
        let mut bytes = vec![0xa5; CANARY];
        bytes.extend_from_slice(content);
        bytes.extend_from_slice(&[0xa5; CANARY]);
        Buffer { bytes }
    }

    pub fn zeroed(len: usize) -> Self {
        Self::new(&vec![0; len])
    }

    pub fn from_f64(values: &[f64]) -> Self {
        Self::new(&values.iter().flat_map(|v| v.to_ne_bytes()).collect::<Vec<_>>())
    }

    pub fn from_i32(values: &[i32]) -> Self {
        Self::new(&values.iter().flat_map(|v| v.to_ne_bytes()).collect::<Vec<_>>())
    }

    pub fn content(&self) -> &[u8] {
        let end = self.bytes.len() - CANARY;
        assert!(self.bytes[..CANARY].iter().chain(&self.bytes[end..]).all(|b| *b == 0xa5), "out of bounds");
        &self.bytes[CANARY..end]
    }

    fn chunks<const N: usize>(&self) -> impl Iterator<Item = [u8; N]> {
        self.content().chunks_exact(N).map(|c| c.try_into().unwrap())
    }

    pub fn f64s(&self) -> Vec<f64> {
        self.chunks().map(f64::from_ne_bytes).collect()
    }

    pub fn i64s(&self) -> Vec<i64> {
        self.chunks().map(i64::from_ne_bytes).collect()
    }

    pub fn i32s(&self) -> Vec<i32> {
        self.chunks().map(i32::from_ne_bytes).collect()
    }
}

/// Deterministic numbers in [-1, 1).
pub fn floats(len: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

pub fn parallel(paths: &[&[u32]]) -> BTreeSet<Path> {
    paths.iter().map(|p| Path(p.iter().copied().collect())).collect()
}

/// The module as text, before any pass.
pub fn emit(text: &str, variant: bool, parallel_loops: &[&[u32]]) -> Result<String, EmitError> {
    let program = text::parse(text).unwrap();
    let root = if variant { program.tree() } else { &program.kernel.original };
    let context = Context::new();
    let parallel = parallel(parallel_loops);
    let variant = Variant { parallel: &parallel, ..Variant::of(root) };
    let module = emit_function(&context, "kernel", &program.kernel, variant)?;
    module.verify().unwrap();
    Ok(module.to_string())
}

pub struct Compiled {
    /// The optimised IR.
    pub ir: String,
    jit: Jit,
    symbol: String,
}

impl Compiled {
    /// `passes`: `None` for no optimisation at all.
    pub fn new(text: &str, variant: bool, parallel_loops: &[&[u32]], passes: Option<&str>) -> Self {
        Self::under(text, variant, &[], parallel_loops, passes)
    }

    pub fn under(
        text: &str,
        variant: bool,
        conditions: &[RuntimeCondition],
        parallel_loops: &[&[u32]],
        passes: Option<&str>,
    ) -> Self {
        let program = text::parse(text).unwrap_or_else(|e| panic!("{e}: {:?}", &text[e.span.clone()]));
        let root = if variant { program.tree() } else { &program.kernel.original };
        Self::of(&program.kernel, root, conditions, &parallel(parallel_loops), passes, 1)
    }

    pub fn of(
        kernel: &Kernel,
        root: &Green,
        conditions: &[RuntimeCondition],
        parallel: &BTreeSet<Path>,
        passes: Option<&str>,
        threads: u32,
    ) -> Self {
        let context = Context::new();
        let variant = Variant { conditions, parallel, threads, ..Variant::of(root) };
        let mut module = emit_function(&context, "kernel", kernel, variant).unwrap();
        let level = if passes.is_some() { OptLevel::Aggressive } else { OptLevel::None };
        let target = TargetMachine::host(level, CodeModel::Jit).unwrap();
        module.set_target(&target);
        if let Some(passes) = passes {
            for function in module.functions().into_iter().filter(|f| !f.is_declaration()) {
                function.set_string_attribute("target-cpu", &target.cpu());
                function.set_string_attribute("target-features", &target.features());
            }
            module.run_passes(passes, Some(&target)).unwrap();
        }
        let ir = module.to_string();
        let symbol = add_trampoline(&module, "kernel").unwrap();
        let jit = Jit::new(level).unwrap();
        if threads > 1 {
            // SAFETY: the runtime reads it when it is loaded; nothing else changes the environment, and what reads it does so by std.
            PASSIVE.call_once(|| unsafe { std::env::set_var("OMP_WAIT_POLICY", "passive") });
            jit.load_openmp().unwrap();
        }
        jit.add(&module).unwrap();
        if threads > 1 {
            // SAFETY: a function of the runtime.
            unsafe {
                let set = jit.lookup::<unsafe extern "C" fn(i32)>("omp_set_num_threads").unwrap();
                set(threads as i32);
            }
        }
        Compiled { ir, jit, symbol }
    }

    /// Whether the kernel ran; arguments as [`irgen::emit::function_parameters`] has them.
    pub fn call(&self, params: &[i64], buffers: &mut [Buffer]) -> bool {
        let offsets = vec![0; buffers.len()];
        self.call_at(params, buffers, &(0..buffers.len()).zip(offsets).collect::<Vec<_>>())
    }

    /// `places`: for each array, the number of a buffer and the offset in bytes.
    pub fn call_at(&self, params: &[i64], buffers: &mut [Buffer], places: &[(usize, usize)]) -> bool {
        let mut slots: Vec<u64> = params.iter().map(|p| *p as u64).collect();
        for (buffer, offset) in places {
            slots.push(buffers[*buffer].bytes.as_mut_ptr() as u64 + (CANARY + offset) as u64);
        }
        slots.push(0);
        // SAFETY: a trampoline takes a pointer to slots; the buffers are as large as the kernels under test ask for.
        unsafe {
            let call = self.jit.lookup::<unsafe extern "C" fn(*mut u64)>(&self.symbol).unwrap();
            call(slots.as_mut_ptr());
        }
        slots.last().is_some_and(|s| s & 1 == 1)
    }
}

/// Without optimisation, with the usual one, and with that of scalars only.
pub fn each_way(text: &str, variant: bool, parallel_loops: &[&[u32]], check: impl Fn(&Compiled)) {
    for passes in [None, Some("default<O1>"), Some("default<O3>")] {
        check(&Compiled::new(text, variant, parallel_loops, passes));
    }
}
