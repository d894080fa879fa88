//! Latencies and throughputs: one chain of an operation, and many chains side by side.

use super::CalibrateError;
use super::probe::{Lab, Loop, Random};
use cost_model::{OpCost, StaticTarget};
use std::fmt::Write;

/// Chains side by side: more than latency over reciprocal throughput of anything, and all in registers.
const CHAINS: usize = 12;
/// Operations of each chain in a turn.
const LENGTH: usize = 8;
const TURNS: i64 = 10_000;
/// Of the time of a product and a sum, what they take where they go at once: half, but for what measuring adds.
const TOGETHER: f64 = 0.75;

/// An operation: IR that computes `%D` from `%S` and from `%c` and `%e`, which do not change. `%D.t` is free for use.
struct Step<'a> {
    what: &'static str,
    ty: &'a str,
    text: &'a str,
    declarations: &'a str,
    /// Fewer turns where it takes long.
    turns: i64,
}

/// Cycles per operation: latency, and reciprocal throughput.
fn cost(lab: &mut Lab, memory: &mut [u8], step: &Step<'_>) -> Result<OpCost, CalibrateError> {
    let mut measured = |chains: usize| -> Result<f64, CalibrateError> {
        let code = chained(step, chains);
        let probe = lab.compile(step.what, &code)?;
        Ok(lab.cycles_per_turn(&probe, memory, step.turns) / (chains * LENGTH) as f64)
    };
    let (latency, reciprocal) = (measured(1)?, measured(CHAINS)?);
    for value in [latency, reciprocal] {
        if !(0.02..2000.0).contains(&value) {
            return Err(CalibrateError::Implausible { what: step.what, value });
        }
    }
    Ok(OpCost { latency, reciprocal: reciprocal.min(latency) })
}

fn chained(step: &Step<'_>, chains: usize) -> Loop {
    let mut code = Loop { declarations: step.declarations.to_string(), ..Loop::default() };
    code.load(step.ty, "c", 0);
    code.load(step.ty, "e", 64);
    for chain in 0..chains {
        code.carry(step.ty, &format!("x{chain}"), 128);
    }
    for number in 0..LENGTH {
        for chain in 0..chains {
            let name = |at: usize| match at {
                0 => format!("x{chain}"),
                LENGTH => format!("x{chain}.next"),
                _ => format!("x{chain}.{at}"),
            };
            let text = step.text.replace("%D", &format!("%{}", name(number + 1)));
            let _ = writeln!(code.body, "{}", text.replace("%S", &format!("%{}", name(number))));
        }
    }
    code
}

/// Fills in what operations cost, and how many of them go at once.
pub(super) fn measure(lab: &mut Lab, target: &mut StaticTarget) -> Result<(), CalibrateError> {
    let lanes = (target.vector_bits / 64).max(1);
    let (vector, integers, narrow) = match lanes {
        1 => (of_doubles(1), "i64".to_string(), "i32".to_string()),
        n => (of_doubles(n), format!("<{n} x i64>"), format!("<{n} x i32>")),
    };
    let suffix = if lanes == 1 { "f64".to_string() } else { format!("v{lanes}f64") };
    let mut floats = memory(&[1.7_f64.to_bits(), 1.1_f64.to_bits(), 1.3_f64.to_bits()]);
    let mut singles = memory(&[1.7_f32, 1.1, 1.3].map(|v| {
        let bits = u64::from(v.to_bits());
        bits << 32 | bits
    }));
    let mut ints = memory(&[0x3fff_ffff_ffff_ff17, 3, 5]);
    let step = |what, ty, text| Step { what, ty, text, declarations: "", turns: TURNS };
    let slow = |what, ty, text, declarations| Step { what, ty, text, declarations, turns: TURNS / 10 };

    let add = format!("%D = fadd {vector} %S, %c");
    target.ops.float_add = cost(lab, &mut floats, &step("float add", &vector, &add))?;
    // Of 1, so that nothing grows out of range: by a factor that is 1 exactly.
    let mut ones = memory(&[1.0_f64.to_bits(), 1.0_f64.to_bits(), 1.3_f64.to_bits()]);
    let mul = format!("%D = fmul {vector} %S, %c");
    target.ops.float_mul = cost(lab, &mut ones, &step("float mul", &vector, &mul))?;
    let fma = format!("%D = call {vector} @llvm.fma.{suffix}({vector} %S, {vector} %c, {vector} %e)");
    let declared = format!("declare {vector} @llvm.fma.{suffix}({vector}, {vector}, {vector})");
    let fused = Step { declarations: &declared, ..step("float fma", &vector, &fma) };
    target.ops.float_fma = cost(lab, &mut ones, &fused)?;
    let mut halves = memory(&[0.5_f64.to_bits(), 1.0_f64.to_bits(), 1.3_f64.to_bits()]);
    let both = format!("%D.t = fmul {vector} %S, %c\n%D = fadd {vector} %D.t, %e");
    let both = cost(lab, &mut halves, &step("float mul and add", &vector, &both))?.reciprocal;
    target.separate_adders =
        both < TOGETHER * (target.ops.float_add.reciprocal + target.ops.float_mul.reciprocal);
    // Of 1, which the last bit does not make another number.
    let mask = if lanes == 1 { "-2" } else { "splat (i64 -2)" };
    let mixed = format!(
        "%D.t = fmul {vector} %S, %c\n%D.i = bitcast {vector} %D.t to {integers}\n\
         %D.b = and {integers} %D.i, {mask}\n%D = bitcast {integers} %D.b to {vector}"
    );
    let mixed = cost(lab, &mut ones, &step("float mul and mask", &vector, &mixed))?.reciprocal;
    target.vector_pipes = (2.0 / mixed.max(0.1)).clamp(1.0, 16.0);
    let passes = passes(lab, &mut floats, lanes, target.ops.float_add)?;

    // Divided by the last one, values come back after two steps.
    let div = cost(lab, &mut floats, &slow("float div", "double", "%D = fdiv double %c, %S", ""))?;
    let wide = format!("%D = fdiv {vector} %c, %S");
    let wide = cost(lab, &mut floats, &slow("vector division", &vector, &wide, ""))?;
    let single = cost(lab, &mut singles, &slow("narrow division", "float", "%D = fdiv float %c, %S", ""))?;
    target.ops.float_div = div;
    target.ops.vector_division = (wide.reciprocal / div.reciprocal).max(1.0);
    target.ops.narrow_division = (single.reciprocal / div.reciprocal).min(1.0);
    let scalar_add = cost(lab, &mut floats, &step("float add", "double", "%D = fadd double %S, %c"))?;
    let sqrt = "%D.t = fadd double %S, %c\n%D = call double @llvm.sqrt.f64(double %D.t)";
    let root = slow("float sqrt", "double", sqrt, "declare double @llvm.sqrt.f64(double)");
    let root = cost(lab, &mut floats, &root)?;
    target.ops.float_sqrt =
        OpCost { latency: (root.latency - scalar_add.latency).max(root.reciprocal), ..root };

    let opaque_add = format!("%D.t = add i64 %S, %c\n{}", opaque("r", "i64"));
    target.ops.integer = cost(lab, &mut ints, &step("integer", "i64", &opaque_add))?;
    let register = vector_register().filter(|_| lanes > 1);
    if let Some(register) = register {
        let add = format!("%D.t = add {integers} %S, %c\n{}", opaque(register, &integers));
        let add = Step { what: "vector integer", ty: &integers, text: &add, declarations: "", turns: TURNS };
        target.ops.vector_integer = cost(lab, &mut ints, &add)?.reciprocal;
        let mut product = |what, ty: &str| {
            let text = format!("%D.t = mul {ty} %S, %c\n{}", opaque(register, ty));
            cost(lab, &mut ints, &Step { what, ty, text: &text, declarations: "", turns: TURNS })
        };
        target.ops.vector_mul = product("vector product", &format!("<{} x i32>", 2 * lanes))?.reciprocal;
        target.ops.vector_mul_64 = product("vector product of 64 bits", &integers)?.reciprocal;
    }
    let mul = format!("%D.t = mul i64 %S, %c\n{}", opaque("r", "i64"));
    target.ops.integer_mul = cost(lab, &mut ints, &step("integer mul", "i64", &mul))?;
    let div = "%D.t = or i64 %S, 3\n%D = udiv i64 %c, %D.t";
    let quotient = cost(lab, &mut ints, &slow("integer div", "i64", div, ""))?;
    target.ops.integer_div =
        OpCost { latency: (quotient.latency - 1.0).max(quotient.reciprocal), ..quotient };

    let halved = |c: OpCost| OpCost { latency: c.latency / 2.0, reciprocal: c.reciprocal / 2.0 };
    let bits = if lanes == 1 { "i1".to_string() } else { format!("<{lanes} x i1>") };
    let select =
        format!("%D.t = fcmp olt {vector} %S, %c\n%D = select {bits} %D.t, {vector} %e, {vector} %S");
    target.ops.select = halved(cost(lab, &mut floats, &step("select", &vector, &select))?);
    if let Some(register) = register {
        let convert = format!(
            "%D.i = fptosi {vector} %S to {narrow}\n{}\n%D.t = sitofp {narrow} %D.o to {vector}\n{}",
            opaque(register, &narrow).replace("%D =", "%D.o =").replace("%D.t", "%D.i"),
            opaque(register, &vector)
        );
        target.ops.convert = halved(cost(lab, &mut floats, &step("convert", &vector, &convert))?);
        let order: Vec<String> = (0..lanes).rev().map(|l| format!("i32 {l}")).collect();
        // Two reversals would cancel out.
        let reverse = format!(
            "%D.t = shufflevector {vector} %S, {vector} poison, <{lanes} x i32> <{}>\n{}",
            order.join(", "),
            opaque(register, &vector)
        );
        target.ops.shuffle = cost(lab, &mut floats, &step("shuffle", &vector, &reverse))?;
    }
    let exp = "%D.t = fneg double %S\n%D = call double @exp(double %D.t)";
    target.ops.library =
        cost(lab, &mut floats, &slow("library call", "double", exp, "declare double @exp(double)"))?;

    // Decoders may take several of what does nothing for one: no more than other instructions go at once.
    let idle = each(lab, "instructions", "call void asm sideeffect \"nop\", \"\"()\n", &mut ints)?;
    target.issue_width = target.issue_width.min(1.0 / idle);
    let part = of_doubles(lanes / passes);
    let load = format!("%v# = load volatile {part}, ptr %p#, align 8\n");
    target.loads_per_cycle = 1.0 / each(lab, "loads", &load, &mut ints)?;
    let store = format!("store volatile {part} zeroinitializer, ptr %p#, align 8\n");
    target.stores_per_cycle = 1.0 / each(lab, "stores", &store, &mut ints)?;
    if lanes > 1 {
        target.gathered_lane = gather(lab, lanes, &vector, &integers, &suffix)? / f64::from(lanes);
        // Single accesses take the place of dear gathers.
        target.lane_access = target.lane_access.min(target.gathered_lane);
    }
    target.datapath_bits = target.vector_bits / passes;
    let ops = &mut target.ops;
    for wide in [
        &mut ops.float_add,
        &mut ops.float_mul,
        &mut ops.float_fma,
        &mut ops.select,
        &mut ops.convert,
        &mut ops.shuffle,
    ] {
        wide.reciprocal /= f64::from(passes);
    }
    ops.vector_integer /= f64::from(passes);
    // What comes back is what was stored, so that only the way through memory and an addition are in between.
    let forward = "store volatile double %S, ptr %sink, align 8\n%D.t = load volatile double, ptr %sink, align 8\n\
                   %D = fadd double %D.t, %c";
    let forward = Step { what: "store to load", ty: "double", text: forward, declarations: "", turns: TURNS };
    let forward = cost(lab, &mut ones, &forward)?;
    target.store_forward = (forward.latency - scalar_add.latency).max(1.0);
    target.control.mispredict = mispredict(lab)?;
    Ok(())
}

/// How often a vector goes through its port, where one of half as many lanes goes through once: as seen by additions, `whole` of
/// all lanes.
fn passes(lab: &mut Lab, memory: &mut [u8], lanes: u32, whole: OpCost) -> Result<u32, CalibrateError> {
    /// Between the ratios of the two cases.
    const TWICE: f64 = 1.5;
    if lanes < 4 {
        return Ok(1);
    }
    let vector = of_doubles(lanes / 2);
    let add = format!("%D = fadd {vector} %S, %c");
    let add = Step { what: "float add", ty: &vector, text: &add, declarations: "", turns: TURNS };
    let half = cost(lab, memory, &add)?;
    Ok(if whole.reciprocal > TWICE * half.reciprocal { 2 } else { 1 })
}

fn of_doubles(lanes: u32) -> String {
    match lanes {
        1 => "double".into(),
        n => format!("<{n} x double>"),
    }
}

/// Memory that repeats each of the words over 64 bytes.
fn memory(words: &[u64]) -> Vec<u8> {
    let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes().repeat(8)).collect();
    bytes.resize(8192, 0);
    bytes
}

/// `%D` is `%D.t`, but nobody can look through: neighbouring operations are not merged.
pub(super) fn opaque(register: &str, ty: &str) -> String {
    format!("%D = call {ty} asm \"\", \"={register},0\"({ty} %D.t)")
}

/// The letter for vector registers in inline assembly.
fn vector_register() -> Option<&'static str> {
    match std::env::consts::ARCH {
        "x86_64" => Some("x"),
        "aarch64" => Some("w"),
        _ => None,
    }
}

/// Cycles of one of many equal instructions; `#` is their number, `%p#` points to a line of its own.
fn each(lab: &mut Lab, what: &'static str, text: &str, memory: &mut [u8]) -> Result<f64, CalibrateError> {
    const COUNT: usize = 192;
    /// Lines that are touched, so that they stay in the first level.
    const LINES: usize = 32;
    let mut code = Loop::default();
    // Lines whole, so that no access crosses two.
    code.setup.push_str("%raw = ptrtoint ptr %memory to i64\n%up = add i64 %raw, 63\n");
    code.setup.push_str("%down = and i64 %up, -64\n%base = inttoptr i64 %down to ptr\n");
    for number in 0..COUNT {
        let offset = number % LINES * 64;
        let _ = writeln!(code.body, "%p{number} = getelementptr i8, ptr %base, i64 {offset}");
        code.body.push_str(&text.replace('#', &number.to_string()));
    }
    let probe = lab.compile(what, &code)?;
    let cycles = lab.cycles_per_turn(&probe, memory, TURNS) / COUNT as f64;
    match (0.02..100.0).contains(&cycles) {
        true => Ok(cycles),
        false => Err(CalibrateError::Implausible { what, value: cycles }),
    }
}

/// Cycles of a gather of all lanes from the first level of cache.
fn gather(
    lab: &mut Lab,
    lanes: u32,
    vector: &str,
    integers: &str,
    suffix: &str,
) -> Result<f64, CalibrateError> {
    let what = "gather";
    let mut code = Loop::default();
    let splat = |value: u32| {
        let list: Vec<String> = (0..lanes).map(|_| format!("i64 {value}")).collect();
        format!("<{}>", list.join(", "))
    };
    // Each lane in a line of its own.
    let first: Vec<String> = (0..lanes).map(|l| format!("i64 {}", l * 11)).collect();
    code.carried.push((integers.to_string(), "at".into(), format!("<{}>", first.join(", "))));
    code.carried.push((vector.to_string(), "sum".into(), "zeroinitializer".into()));
    let _ = writeln!(
        code.body,
        "%far = add {integers} %at, {}\n%at.next = and {integers} %far, {}\n\
         %where = getelementptr double, ptr %memory, {integers} %at\n\
         %found = call {vector} @llvm.masked.gather.{suffix}.v{lanes}p0(<{lanes} x ptr> %where, i32 8, \
         <{lanes} x i1> splat (i1 true), {vector} poison)\n\
         %sum.next = fadd {vector} %sum, %found",
        splat(13),
        splat(511)
    );
    code.declarations = format!(
        "declare {vector} @llvm.masked.gather.{suffix}.v{lanes}p0(<{lanes} x ptr>, i32, <{lanes} x i1>, {vector})"
    );
    let probe = lab.compile(what, &code)?;
    Ok(lab.cycles_per_turn(&probe, &mut memory(&[0]), TURNS * 10))
}

/// Cycles of a branch that goes the wrong way.
fn mispredict(lab: &mut Lab) -> Result<f64, CalibrateError> {
    const BYTES: usize = 1 << 20;
    let mut code = Loop { last: Some("join"), ..Loop::default() };
    // Something that no selection can take the place of.
    code.body.push_str(
        "%p = getelementptr i8, ptr %memory, i64 %i\n%v = load volatile i8, ptr %p\n\
         %odd = trunc i8 %v to i1\nbr i1 %odd, label %then, label %join\n\
         then:\ncall void asm sideeffect \"nop\", \"\"()\nbr label %join\njoin:\n",
    );
    let probe = lab.compile("misprediction", &code)?;
    let mut random = Random::default();
    let mut coins: Vec<u8> = (0..BYTES).map(|_| (random.next() >> 60) as u8).collect();
    let guessed = lab.cycles_per_turn(&probe, &mut coins, BYTES as i64);
    coins.fill(0);
    let known = lab.cycles_per_turn(&probe, &mut coins, BYTES as i64);
    // Every other guess is wrong.
    Ok((2.0 * (guessed - known)).clamp(1.0, 100.0))
}
