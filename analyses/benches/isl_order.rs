//! The order check of a schedule against a dependence: no pair of the dependence may be scheduled backwards
//! or at the same time.

use analyses::isl::{Aff, Ctx, IslError, Map, MultiAff, Space};
use criterion::{Criterion, criterion_group, criterion_main};

/// Whether the schedule keeps the dependence of a statement on itself.
fn keeps(lex_ge: &Map, schedule: &MultiAff, dependence: &Map) -> Result<bool, IslError> {
    let backwards = lex_ge.clone().preimage_domain(schedule.clone())?.preimage_range(schedule.clone())?;
    backwards.intersect(dependence.clone())?.is_empty()
}

struct Gemm {
    dependence: Map,
    original: MultiAff,
    tiled: MultiAff,
}

/// `for i, j, k: C[i, j] += A[i, k] * B[k, j]` as it is, and with all three loops tiled by 32.
fn gemm(ctx: &Ctx) -> Result<Gemm, IslError> {
    let dependence =
        Map::from_text(ctx, "[n] -> { S[i, j, k] -> S[i, j, l] : 0 <= i, j, k, l < n and k < l }")?;
    let domain = dependence.space()?.domain()?;
    let time = |dims| Space::set(ctx, &["n"], None, dims);
    let loops = (0..3).map(|pos| Aff::var(domain.clone(), pos)).collect::<Result<Vec<_>, _>>()?;
    let tiles = loops.iter().map(|aff| aff.clone().scale_down(32)?.floor()).collect::<Result<Vec<_>, _>>()?;
    let original = MultiAff::from_affs(domain.clone().to(time(3)?)?, loops.clone())?;
    let tiled = MultiAff::from_affs(domain.to(time(6)?)?, [tiles, loops].concat())?;
    Ok(Gemm { dependence, original, tiled })
}

fn order(criterion: &mut Criterion) {
    let ctx = Ctx::new().expect("memory");
    let Gemm { dependence, original, tiled } = gemm(&ctx).expect("gemm");
    for (name, schedule) in [("gemm", original), ("gemm, 3-D tiled", tiled)] {
        let time = schedule.space().and_then(Space::range).expect("range");
        let lex_ge = Map::lex_ge(time).expect("order");
        assert_eq!(keeps(&lex_ge, &schedule, &dependence), Ok(true));
        criterion.bench_function(&format!("order check: {name}"), |bencher| {
            bencher.iter(|| keeps(&lex_ge, &schedule, &dependence));
        });
    }
}

criterion_group!(benches, order);
criterion_main!(benches);
