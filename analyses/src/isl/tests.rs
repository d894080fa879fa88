use std::panic::AssertUnwindSafe;

use proptest::prelude::*;

use super::*;
use DimType::{In, Out, Param};

type Outcome = Result<(), IslError>;

static_assertions::assert_not_impl_any!(Ctx: Send, Sync);
static_assertions::assert_not_impl_any!(Space: Send, Sync);
static_assertions::assert_not_impl_any!(Val: Send, Sync);
static_assertions::assert_not_impl_any!(Aff: Send, Sync);
static_assertions::assert_not_impl_any!(MultiAff: Send, Sync);
static_assertions::assert_not_impl_any!(PwAff: Send, Sync);
static_assertions::assert_not_impl_any!(PwMultiAff: Send, Sync);
static_assertions::assert_not_impl_any!(Point: Send, Sync);
static_assertions::assert_not_impl_any!(BasicSet: Send, Sync);
static_assertions::assert_not_impl_any!(Set: Send, Sync);
static_assertions::assert_not_impl_any!(BasicMap: Send, Sync);
static_assertions::assert_not_impl_any!(Map: Send, Sync);
static_assertions::assert_not_impl_any!(UnionSet: Send, Sync);
static_assertions::assert_not_impl_any!(UnionMap: Send, Sync);
static_assertions::assert_impl_all!(IslError: Send, Sync);

fn set(ctx: &Ctx, text: &str) -> Set {
    Set::from_text(ctx, text).expect(text)
}

fn map(ctx: &Ctx, text: &str) -> Map {
    Map::from_text(ctx, text).expect(text)
}

#[test]
fn spaces_carry_names() -> Outcome {
    let ctx = Ctx::new()?;
    let space = Space::map(&ctx, &["n", "m"], (Some("S"), 2), (None, 1))?;
    assert_eq!([space.dim(Param)?, space.dim(In)?, space.dim(Out)?, space.dim(DimType::Div)?], [2, 2, 1, 0]);
    assert_eq!(space.tuple_name(In)?.as_deref(), Some("S"));
    assert_eq!(space.tuple_name(Out)?, None);
    assert_eq!(space.dim_name(Param, 1)?.as_deref(), Some("m"));
    assert!(matches!(space.dim_name(Param, 2), Err(IslError::Index { available: 2, .. })));
    assert!(space.clone().domain()?.is_set()? && space.is_map()?);
    assert!(space.clone().wrap()?.unwrap()?.is_equal(&space)?);
    assert!(Space::of_params(&ctx, &["n"])?.is_params()?);
    assert!(Space::set(&ctx, &["a\0b"], None, 1).is_err());
    assert!(Space::set(&ctx, &[], None, usize::MAX).is_err());
    Ok(())
}

#[test]
fn large_integers_are_exact_or_refused() -> Outcome {
    let ctx = Ctx::new()?;
    for value in [0, 1, -1, i64::MAX, i64::MIN, i64::from(i32::MIN), 1 << 31, 1 << 62] {
        assert_eq!(Val::new(&ctx, value)?.to_i64()?, value);
    }
    let product = Val::new(&ctx, i64::MAX)?.mul(Val::new(&ctx, 2)?)?;
    assert_eq!(product.to_i64(), Err(IslError::Overflow));
    // The error is gone.
    assert_eq!(Val::new(&ctx, 7)?.to_i64()?, 7);
    let space = Space::set(&ctx, &[], None, 1)?;
    let twice = Aff::var(space.clone(), 0)?.scale(i64::MAX)?.scale(2)?;
    assert_eq!(twice.affine(), Err(IslError::Overflow));
    assert!(Aff::constant(space, 1)?.scale_down(0).map_or(true, |aff| aff.affine().is_err()));
    Ok(())
}

#[test]
fn errors_are_reset() -> Outcome {
    let ctx = Ctx::new()?;
    assert!(matches!(Set::from_text(&ctx, "{ [i : "), Err(IslError::Invalid { .. })));
    let (line, plane) = (set(&ctx, "{ [i] : i > 0 }"), set(&ctx, "{ [i, j] : i > j }"));
    assert!(matches!(line.clone().intersect(plane), Err(IslError::Invalid { .. })));
    assert!(matches!(line.clone().project_out(Out, 1, 1), Err(IslError::Index { .. })));
    assert!(line.clone().project_out(Out, usize::MAX, 2).is_err());
    assert!(matches!(line.clone().insert_dims(Out, 0, 1 << 40), Err(IslError::Index { .. })));
    assert!(!line.is_empty()?);
    let other = Ctx::new()?;
    let foreign = set(&other, "{ [i] }");
    assert_eq!(line.is_subset(&foreign), Err(IslError::ContextMismatch));
    assert_eq!(line.union(foreign).err(), Some(IslError::ContextMismatch));
    assert_eq!((ctx.live_objects(), other.live_objects()), (0, 0));
    Ok(())
}

#[test]
fn objects_outlive_the_callers_context() -> Outcome {
    let set = set(&Ctx::new()?, "[n] -> { S[i] : 0 <= i < n }");
    assert_eq!(set.to_string(), "[n] -> { S[i] : 0 <= i < n }");
    let text = set.to_text()?;
    let elsewhere = std::thread::spawn(move || -> Result<bool, IslError> {
        let ctx = Ctx::new()?;
        Set::from_text(&ctx, &text)?.is_empty()
    });
    assert_eq!(elsewhere.join().ok(), Some(Ok(false)));
    Ok(())
}

#[test]
fn sets() -> Outcome {
    let ctx = Ctx::new()?;
    let square = set(&ctx, "[n] -> { [i, j] : 0 <= i, j < n }");
    let triangle = set(&ctx, "[n] -> { [i, j] : 0 <= j <= i < n }");
    assert!(triangle.is_subset(&square)? && !square.is_subset(&triangle)?);
    let upper = square.clone().subtract(triangle.clone())?;
    assert!(upper.is_disjoint(&triangle)?);
    assert!(upper.clone().union_disjoint(triangle.clone())?.coalesce()?.is_equal(&square)?);
    assert!(upper.clone().intersect(triangle.clone())?.is_empty()?);
    assert!(square.clone().params()?.is_equal(&set(&ctx, "[n] -> { : n > 0 }"))?);
    assert!(square.clone().complement()?.complement()?.is_equal(&square)?);
    assert!(square.clone().project_out(Out, 1, 1)?.is_equal(&set(&ctx, "[n] -> { [i] : 0 <= i < n }"))?);
    assert!(triangle.clone().lexmax()?.is_equal(&set(&ctx, "[n] -> { [n-1, n-1] : n > 0 }"))?);
    assert!(triangle.clone().lexmin()?.is_equal(&set(&ctx, "[n] -> { [0, 0] : n > 0 }"))?);
    assert!(square.dim_is_bounded(Out, 0)? && square.is_bounded()?);
    let largest = triangle.clone().dim_max(1)?.pieces()?;
    assert_eq!(largest.len(), 1);
    assert_eq!(
        largest[0].1.affine()?,
        Affine {
            numerator: Row { constant: -1, params: vec![1], dims: vec![], divs: vec![] },
            denominator: 1,
            divs: vec![]
        }
    );
    assert_eq!(triangle.clone().dim_max_val(0)?, Optimum::Unbounded);
    assert_eq!(triangle.clone().dim_min_val(0)?, Optimum::Value(0));
    assert_eq!(upper.clone().intersect(triangle.clone())?.dim_min_val(0)?, Optimum::Empty);
    let gist = triangle.clone().gist(square.clone())?;
    assert!(gist.is_equal(&set(&ctx, "[n] -> { [i, j] : j <= i }"))?);
    assert!(
        square
            .clone()
            .gist_params(square.clone().params()?)?
            .intersect_params(square.clone().params()?)?
            .is_equal(&square)?
    );
    let fixed = square.clone().fix(Param, 0, 3)?.lower_bound(Out, 0, 1)?.upper_bound(Out, 1, 1)?;
    assert_eq!(fixed.count(4)?, Some(4));
    assert_eq!(fixed.count(3)?, None);
    assert!(square.points(10).is_err(), "unbounded");
    let point = triangle.clone().sample_point()?.expect("not empty");
    assert_eq!((point.coordinates(Param)?.len(), point.coordinates(Out)?.len()), (1, 2));
    assert!(Set::from_point(point)?.is_subset(&triangle)?);
    assert!(upper.clone().intersect(triangle.clone())?.sample_point()?.is_none());
    let renamed = square.clone().named("S")?;
    assert_eq!(renamed.space()?.tuple_name(Out)?.as_deref(), Some("S"));
    assert!(renamed.unnamed()?.is_equal(&square)?);
    assert!(square.clone().insert_dims(Out, 1, 1)?.move_dims(Param, 1, Out, 1, 1)?.dim(Out)? == 2);
    Ok(())
}

#[test]
fn bounds_by_programs() -> Outcome {
    let ctx = Ctx::new()?;
    let halves = set(&ctx, "{ [i, j] : 1 <= 2i and 2i <= 9 and 3j = i }");
    let space = halves.space()?;
    let i = Aff::var(space.clone(), 0)?;
    assert_eq!(halves.max_val(&i)?, Optimum::Value(3));
    assert_eq!(halves.min_val(&i.clone().neg()?)?, Optimum::Value(-3));
    let relaxed = &halves.basic_sets()?[0];
    assert!(matches!(relaxed.lp_max(&i)?, Optimum::Value(3..=4)));
    assert!(matches!(relaxed.lp_min(&i)?, Optimum::Value(1..=3)));
    assert_eq!(Set::universe(space.clone())?.max_val(&i)?, Optimum::Unbounded);
    assert_eq!(Set::empty(space)?.max_val(&i)?, Optimum::Empty);
    Ok(())
}

#[test]
fn affine_functions() -> Outcome {
    let ctx = Ctx::new()?;
    let space = Space::set(&ctx, &["n"], None, 2)?;
    let (i, j) = (Aff::var(space.clone(), 0)?, Aff::var(space.clone(), 1)?);
    let n = Aff::param(space.clone(), 0)?;
    assert!(Aff::var(space.clone(), 2).is_err());
    let tile = i.clone().scale_down(32)?.floor()?;
    let local = i.clone().sub(tile.clone().scale(32)?)?;
    assert!(
        local.clone().eq_set(i.clone().modulo(32)?)?.plain_is_universe()? || {
            local.clone().eq_set(i.clone().modulo(32)?)?.is_equal(&Set::universe(space.clone())?)?
        }
    );
    let to = Space::map(&ctx, &["n"], (None, 2), (None, 3))?;
    let schedule = MultiAff::from_affs(to, vec![tile, j.clone(), local])?;
    assert_eq!(schedule.size()?, 3);
    assert_eq!(schedule.get(1)?.affine()?.numerator.dims, [0, 1]);
    assert_eq!(
        schedule.get(0)?.affine()?.divs,
        [Floor {
            numerator: Row { constant: 0, params: vec![0], dims: vec![1, 0], divs: vec![0] },
            denominator: 32
        }]
    );
    let relation = schedule.clone().to_map()?;
    assert!(relation.is_bijective()?);
    assert!(relation.is_equal(&map(&ctx, "[n] -> { [i, j] -> [floor(i/32), j, i mod 32] }"))?);
    let swap = MultiAff::from_affs(space.clone().to_self()?, vec![j.clone(), i.clone()])?;
    let again = swap.clone().pullback(swap.clone())?;
    assert!(again.plain_is_equal(&MultiAff::identity(space.clone().to_self()?)?)?);
    assert_eq!(schedule.flat_range_product(swap.clone())?.size()?, 5);
    let square = i.clone().ge_set(j.clone())?.intersect(n.clone().gt_set(i.clone())?)?;
    assert!(square.preimage(swap)?.is_equal(&set(&ctx, "[n] -> { [i, j] : i <= j < n }"))?);
    assert!(i.clone().mul(j).is_err(), "not affine");
    let below = n.clone().sub(i.clone())?.nonneg_set()?;
    assert!(below.is_equal(&set(&ctx, "[n] -> { [i, j] : i <= n }"))?);
    let least = PwAff::from_aff(i)?.min(PwAff::from_aff(n)?)?;
    assert_eq!(least.pieces()?.len(), 2);
    assert!(MultiAff::from_affs(space.to_self()?, vec![]).is_err());
    Ok(())
}

#[test]
fn maps() -> Outcome {
    let ctx = Ctx::new()?;
    let next = map(&ctx, "[n] -> { S[i] -> S[i + 1] : 0 <= i < n - 1 }");
    assert!(next.is_bijective()? && next.is_single_valued()? && next.is_injective()?);
    assert!(next.clone().deltas()?.lexmin()?.is_subset(&set(&ctx, "[n] -> { S[1] }"))?);
    let twice = next.clone().apply_range(next.clone())?;
    assert!(twice.is_equal(&map(&ctx, "[n] -> { S[i] -> S[i + 2] : 0 <= i < n - 2 }"))?);
    assert!(next.clone().reverse()?.reverse()?.is_equal(&next)?);
    assert!(next.clone().wrap()?.unwrap()?.is_equal(&next)?);
    assert!(next.clone().domain()?.unnamed()?.is_equal(&set(&ctx, "[n] -> { [i] : 0 <= i < n - 1 }"))?);
    let s = next.space()?.domain()?;
    assert!(next.is_subset(&Map::lex_lt(s.clone())?)? && next.is_disjoint(&Map::lex_ge(s.clone())?)?);
    assert!(
        Map::lex_le(s.clone())?
            .subtract(Map::lex_lt(s.clone())?)?
            .is_equal(&Map::identity(s.clone().to_self()?)?)?
    );
    let order = Map::universe(s.clone().to_self()?)?;
    assert!(order.clone().order_lt((In, 0), (Out, 0))?.is_equal(&Map::lex_lt(s.clone())?)?);
    assert!(order.clone().order_le((In, 0), (Out, 0))?.is_equal(&Map::lex_le(s.clone())?)?);
    assert!(order.clone().equate((In, 0), (Out, 0))?.is_equal(&Map::identity(s.clone().to_self()?)?)?);
    assert!(order.equate((In, 1), (Out, 0)).is_err());
    let identity = Map::identity(s.to_self()?)?;
    let lt = identity.clone().lex_lt_map(identity.clone())?;
    assert!(next.is_subset(&lt)?);
    let pair = next.clone().sample_pair()?.expect("not empty");
    assert_eq!(pair.output[0], pair.input[0] + 1);
    assert!(next.clone().subtract(next.clone())?.sample_pair()?.is_none());
    let bits = map(&ctx, "{ [i] -> [i mod 2, j] : 0 <= j <= 1 }");
    assert!(!bits.is_single_valued()?);
    let pieces = PwMultiAff::from_map(bits.lexmax()?)?.pieces()?;
    assert!(!pieces.is_empty());
    assert_eq!(pieces[0].1.size()?, 2);
    assert!(PwMultiAff::from_map(map(&ctx, "{ [i] -> [j] }")).is_err());
    Ok(())
}

#[test]
fn value_based_flow() -> Outcome {
    let ctx = Ctx::new()?;
    // for i { S: A[i] = ..; if (..) T: A[i] = ..; U: .. = A[i] }
    let domain = |s: &str, time: &str| format!("[n] -> {{ {s}[i] -> {time} : 0 <= i < n }}");
    let read = UnionMap::from_text(&ctx, &domain("U", "A[i]"))?;
    let write = UnionMap::from_text(&ctx, &domain("S", "A[i]"))?;
    let schedule =
        ["S", "T", "U"].iter().enumerate().map(|(k, s)| map(&ctx, &domain(s, &format!("[i, {k}]"))));
    let schedule = UnionMap::from_maps(&ctx, schedule)?;
    let mut query = Dataflow::new(read, write, schedule)?;
    let flow = query.clone().compute()?;
    assert_eq!(flow.must.maps()?.len(), 1);
    assert!(flow.must.between("S", "U")?[0].is_equal(&map(&ctx, "[n] -> { S[i] -> U[i] : 0 <= i < n }"))?);
    assert!(flow.must_no_source.is_empty()?);
    query.may_source = UnionMap::from_text(&ctx, &domain("T", "A[i]"))?;
    let flow = query.clone().compute()?;
    assert!(flow.must.is_empty()?);
    let names: Vec<_> =
        flow.may.maps()?.iter().map(|m| m.space()?.tuple_name(In)).collect::<Result<_, _>>()?;
    assert_eq!(names, [Some("S".to_owned()), Some("T".to_owned())]);
    let space = Space::map(&ctx, &["n"], (Some("T"), 1), (Some("U"), 1))?;
    assert!(!flow.may.extract(space)?.is_empty()?);
    query.may_source = UnionMap::empty(&ctx)?;
    query.kill = UnionMap::from_text(&ctx, &domain("T", "A[i]"))?;
    assert!(query.compute()?.may.is_empty()?);
    assert_eq!(flow.may.domain()?.sets()?.len(), 2);
    Ok(())
}

#[test]
fn rows_go_both_ways() -> Outcome {
    let ctx = Ctx::new()?;
    for text in [
        "[n, m] -> { S[i, j] : 0 <= i < n and 3j = i + m }",
        "[n, m] -> { S[i, j] : 0 <= i < n and 0 <= j < i mod 7 }",
        "[n, m] -> { S[i, j] : exists (e : i = 4e + 2 and 3e <= j and j < floor((n + floor(i/3))/5)) }",
        "[n, m] -> { S[i, j] : i < 0 or j > m }",
        "[n, m] -> { S[i, j] : false }",
        "[n, m] -> { S[i, j] : i <= -9223372036854775808 or i >= 9223372036854775807 }",
    ] {
        let set = set(&ctx, text);
        let mut back = Set::empty(set.space()?)?;
        for rows in set.clone().rows()? {
            back = back.union(Set::from_rows(set.space()?, &rows)?)?;
        }
        assert!(back.is_equal(&set)?, "{text}: {back}");
    }
    let skew = map(&ctx, "[n] -> { S[i, j] -> [i + j, floor((i - j)/2)] : i < n }");
    let rows = skew.clone().rows()?;
    assert_eq!(rows.len(), 1);
    assert!(Map::from_rows(skew.space()?, &rows[0])?.is_equal(&skew)?);
    let space = Space::set(&ctx, &["n"], None, 1)?;
    let long = Conjunction {
        equalities: vec![Row { dims: vec![0, 1], ..Row::default() }],
        ..Conjunction::default()
    };
    assert!(Set::from_rows(space.clone(), &long).is_err());
    let floorless =
        Conjunction { inequalities: vec![Row { divs: vec![1], ..Row::default() }], ..Conjunction::default() };
    assert!(Set::from_rows(space, &floorless).is_err());
    Ok(())
}

/// Costs a few thousand operations.
fn work(ctx: &Ctx) -> Result<bool, IslError> {
    let a = Set::from_text(ctx, "[n] -> { [i, j, k] : 0 <= i, j, k < n and (i + j) mod 3 = 1 }")?;
    let b = Set::from_text(ctx, "[n] -> { [i, j, k] : 5 <= i <= j and 2k < n - i }")?;
    let left = a.clone().subtract(b.clone())?.coalesce()?;
    let maximum = left.clone().lexmax()?.compute_divs()?;
    let rows = maximum.clone().rows()?;
    let map = left.clone().identity()?.apply_range(b.clone().identity()?)?;
    let pieces = PwMultiAff::from_map(map)?.pieces()?;
    Ok(!pieces.is_empty() || rows.is_empty() || left.union(b)?.is_equal(&a)?)
}

#[test]
fn quotas_nest_and_end() -> Outcome {
    let ctx = Ctx::new()?;
    assert_eq!(ctx.with_quota(10, |ctx| work(ctx).err()), Some(IslError::Quota { ops: 10 }));
    assert_eq!(ctx.with_quota(0, |ctx| work(ctx).err()), Some(IslError::Quota { ops: 1 }));
    let expected = work(&ctx)?;
    let cost = ctx.with_quota(u64::MAX, |ctx| work(ctx).map(|_| ctx.operations()))?;
    assert!(cost > 1000, "{cost}");
    // Enough, too little, and printing is free.
    let run = |ctx: &Ctx| {
        let shown = Set::universe(Space::set(ctx, &[], None, 1)?)?;
        for _ in 0..50 {
            assert_eq!(shown.to_string(), "{ [i0] }");
        }
        work(ctx)
    };
    let exact = ctx.with_quota(u64::MAX, |ctx| run(ctx).map(|_| ctx.operations()))?;
    assert_eq!(ctx.with_quota(exact, run), Ok(expected));
    assert!(ctx.with_quota(exact / 2, run).is_err());
    // An inner quota cannot exceed what is left, and its end restores the outer one.
    ctx.with_quota(2 * cost, |ctx| {
        assert!(ctx.with_quota(cost / 2, work).is_err());
        assert_eq!(ctx.with_quota(100 * cost, work), Ok(expected));
        assert!(ctx.with_quota(100 * cost, work).is_err());
        let printed = Ctx::new().and_then(|other| Set::from_text(&other, "{ [1] }"));
        assert_eq!(printed.map(|s| s.to_string()), Ok("{ [1] }".into()));
    });
    let panicked = std::panic::catch_unwind(AssertUnwindSafe(|| ctx.with_quota(10, |_| panic!("inside"))));
    assert!(panicked.is_err());
    assert_eq!(work(&ctx), Ok(expected));
    assert_eq!(ctx.live_objects(), 0);
    Ok(())
}

/// Stops the computation after every number of operations: the context works on and nothing leaks.
#[test]
fn aborts_anywhere_recover() -> Outcome {
    let ctx = Ctx::new()?;
    let expected = work(&ctx)?;
    let cost = ctx.with_quota(u64::MAX, |ctx| work(ctx).map(|_| ctx.operations()))?;
    let step = (cost / 4000).max(1);
    let mut aborts = 0;
    for limit in (1..cost).step_by(step as usize) {
        match ctx.with_quota(limit, work) {
            Err(IslError::Quota { .. }) => aborts += 1,
            other => assert_eq!(other, Ok(expected), "at {limit} of {cost}"),
        }
        assert_eq!(ctx.live_objects(), 0, "at {limit} of {cost}");
    }
    assert!(aborts > 1000, "{aborts} of {cost}");
    assert_eq!(work(&ctx), Ok(expected));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Rows mean what they say, compared with plain evaluation.
    #[test]
    fn rows_match_evaluation(
        rows in prop::collection::vec((-9i64..9, -4i64..4, -4i64..4, -2i64..3), 1..4),
        divisor in 1i64..6,
    ) {
        let check = || -> Outcome {
            let ctx = Ctx::new()?;
            let floor = Floor {
                numerator: Row { constant: 1, params: vec![], dims: vec![1, -2], divs: vec![] },
                denominator: divisor,
            };
            let conjunction = Conjunction {
                equalities: vec![],
                inequalities: rows.iter().map(|&(c, x, y, d)| Row {
                    constant: c, params: vec![], dims: vec![x, y], divs: vec![d],
                }).collect(),
                divs: vec![floor],
            };
            let space = Space::set(&ctx, &[], None, 2)?;
            let mut set = Set::from_rows(space, &conjunction)?;
            for pos in 0..2 {
                set = set.lower_bound(Out, pos, -4)?.upper_bound(Out, pos, 4)?;
            }
            let mut points: Vec<Vec<i64>> = Vec::new();
            for point in set.points(100)?.unwrap_or_default() {
                points.push(point.coordinates(Out)?);
            }
            points.sort();
            let grid = (-4..=4i64).flat_map(|x| (-4..=4i64).map(move |y| vec![x, y]));
            let expected: Vec<Vec<i64>> = grid.filter(|p| rows.iter().all(|&(c, x, y, d)| {
                c + x * p[0] + y * p[1] + d * (1 + p[0] - 2 * p[1]).div_euclid(divisor) >= 0
            })).collect();
            assert_eq!(points, expected);
            Ok(())
        };
        prop_assert_eq!(check(), Ok(()));
    }
}
