use std::panic::AssertUnwindSafe;

use proptest::prelude::*;

use super::rows::Floor;
use super::*;
use DimType::{In, Out, Param};

type Outcome = Result<(), IslError>;

static_assertions::assert_not_impl_any!(Ctx: Send, Sync);
static_assertions::assert_not_impl_any!(Space: Send, Sync);
static_assertions::assert_not_impl_any!(Aff: Send, Sync);
static_assertions::assert_not_impl_any!(Set: Send, Sync);
static_assertions::assert_not_impl_any!(Map: Send, Sync);
static_assertions::assert_not_impl_any!(UnionMap: Send, Sync);
static_assertions::assert_impl_all!(IslError: Send, Sync);

fn set(ctx: &Ctx, text: &str) -> Set {
    Set::from_text(ctx, text).expect(text)
}

/// What `version` says is what the sources of isl say that are linked.
#[test]
fn the_version_is_that_of_the_sources() {
    // What only other systems or other members of the workspace need may never have been downloaded.
    let here = format!("--filter-platform={}-unknown-{}-gnu", std::env::consts::ARCH, std::env::consts::OS);
    let metadata = |more: &[&str]| {
        let mut cargo = std::process::Command::new(env!("CARGO"));
        cargo.args(["metadata", "--format-version=1", &here]).args(more);
        cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo starts")
    };
    let found =
        Some(metadata(&["--offline"])).filter(|o| o.status.success()).unwrap_or_else(|| metadata(&[]));
    let packages = String::from_utf8(found.stdout).expect("text");
    let between = |text: &str, before: &str, after: &str| {
        let found = text.split_once(before).and_then(|(_, text)| text.split_once(after));
        found.map(|(found, _)| found.to_string()).unwrap_or_else(|| panic!("no {before} in {text:.200}"))
    };
    let (_, isl) = packages.split_once("{\"name\":\"isl-rs\",\"version\":").expect("isl-rs is a package");
    let manifest = between(isl, "\"manifest_path\":\"", "\"");
    let configure = std::path::Path::new(&manifest).with_file_name("isl").join("configure.ac");
    let configure = std::fs::read_to_string(configure).expect("isl's sources are there");
    assert_eq!(version(), between(&configure, "AC_INIT([isl], [", "]") + "-IMath-32");
}

fn equal(a: &Set, b: &Set) -> Result<bool, IslError> {
    Ok(a.is_subset(b)? && b.is_subset(a)?)
}

fn dim(constant: i64, dims: &[i64]) -> Row {
    Row { constant, dims: dims.to_vec(), ..Row::default() }
}

#[test]
fn spaces_are_checked() -> Outcome {
    let ctx = Ctx::new()?;
    let space = Space::set(&ctx, &["n", "m"], Some("S"), 2)?;
    assert_eq!([space.dim(Param)?, space.dim(Out)?, space.dim(DimType::Div)?], [2, 2, 0]);
    assert_eq!(space.tuple_name(Out)?.as_deref(), Some("S"));
    assert_eq!(Space::set(&ctx, &[], None, 1)?.tuple_name(Out)?, None);
    assert!(Space::set(&ctx, &["a\0b"], None, 1).is_err());
    assert!(Space::set(&ctx, &[], None, usize::MAX).is_err());
    Ok(())
}

#[test]
fn large_integers_are_exact_or_refused() -> Outcome {
    let ctx = Ctx::new()?;
    let point = |text: &str| set(&ctx, text).sample_point()?.expect("a point").coordinates(Out);
    for value in [0, 1, -1, i64::MAX, i64::MIN, i64::from(i32::MIN), 1 << 31, 1 << 62] {
        assert_eq!(point(&format!("{{ [i] : i = {value} }}"))?, [value]);
    }
    assert_eq!(point("{ [i] : i = 9223372036854775808 }"), Err(IslError::Overflow));
    // The error is gone.
    assert_eq!(point("{ [i] : i = 7 }")?, [7]);
    Ok(())
}

#[test]
fn errors_are_reset() -> Outcome {
    let ctx = Ctx::new()?;
    assert!(matches!(Set::from_text(&ctx, "{ [i : "), Err(IslError::Invalid { .. })));
    let (line, plane) = (set(&ctx, "{ [i] : i > 0 }"), set(&ctx, "{ [i, j] : i > j }"));
    assert!(matches!(line.clone().subtract(plane), Err(IslError::Invalid { .. })));
    assert!(matches!(line.clone().project_out(Out, 1, 1), Err(IslError::Index { .. })));
    assert!(line.clone().project_out(Out, usize::MAX, 2).is_err());
    assert!(!line.is_empty()?);
    let other = Ctx::new()?;
    let foreign = set(&other, "{ [i] }");
    assert_eq!(line.is_subset(&foreign), Err(IslError::ContextMismatch));
    assert_eq!(line.union(foreign).err(), Some(IslError::ContextMismatch));
    assert_eq!((ctx.live_objects(), other.live_objects()), (0, 0));
    Ok(())
}

#[test]
fn objects_outlive_the_callers_context() {
    let set = set(&Ctx::new().expect("memory"), "[n] -> { S[i] : 0 <= i < n }");
    assert_eq!(set.is_empty(), Ok(false));
}

#[test]
fn sets() -> Outcome {
    let ctx = Ctx::new()?;
    let square = set(&ctx, "[n] -> { [i, j] : 0 <= i, j < n }");
    let triangle = set(&ctx, "[n] -> { [i, j] : 0 <= j <= i < n }");
    assert!(triangle.is_subset(&square)? && !square.is_subset(&triangle)?);
    let upper = square.clone().subtract(triangle.clone())?;
    assert!(equal(&upper.clone().union(triangle.clone())?, &square)?);
    assert!(equal(&square.clone().project_out(Out, 1, 1)?, &set(&ctx, "[n] -> { [i] : 0 <= i < n }"))?);
    let point = upper.clone().sample_point()?.expect("not empty");
    assert_eq!((point.coordinates(Param)?.len(), point.coordinates(Out)?.len()), (1, 2));
    assert!(upper.subtract(square)?.sample_point()?.is_none());
    Ok(())
}

#[test]
fn bounds_by_programs() -> Outcome {
    let ctx = Ctx::new()?;
    let halves = set(&ctx, "{ [i, j] : 1 <= 2i and 2i <= 9 and 3j = i }");
    let space = halves.space()?;
    let i = Aff::from_row(space.clone(), &dim(0, &[1]))?;
    assert_eq!(halves.max_val(&i)?, Optimum::Value(3));
    assert_eq!(halves.min_val(&Aff::from_row(space.clone(), &dim(0, &[-1]))?)?, Optimum::Value(-3));
    assert_eq!(Set::from_rows(space.clone(), &Conjunction::default())?.max_val(&i)?, Optimum::Unbounded);
    assert_eq!(Set::empty(space.clone())?.max_val(&i)?, Optimum::Empty);
    assert!(Aff::from_row(space, &dim(0, &[0, 0, 1])).is_err());
    Ok(())
}

#[test]
fn value_based_flow() -> Outcome {
    let ctx = Ctx::new()?;
    // for i { S: A[i] = ..; if (..) T: A[i] = ..; U: .. = A[i] }
    let to = |s: &str, target: Option<&str>, second: &[i64]| {
        let dims = 2 + second.len();
        let n = |dims: &[i64], n: i64, constant| Row { params: vec![n], ..dim(constant, dims) };
        let mut rows = Conjunction {
            equalities: vec![dim(0, &[1, -1])],
            inequalities: vec![n(&[1], 0, 0), n(&[-1], 1, -1)],
            divs: vec![],
        };
        rows.equalities.extend(second.iter().map(|k| dim(-k, &[0, 0, 1])));
        let set = Set::from_rows(Space::set(&ctx, &["n"], None, dims)?, &rows)?;
        let nothing = Set::from_rows(Space::set(&ctx, &["n"], None, 0)?, &Conjunction::default())?;
        let map = Map::product(nothing, set)?.move_dims(In, 0, Out, 0, 1)?.named(In, s)?;
        UnionMap::from_map(match target {
            Some(name) => map.named(Out, name)?,
            None => map,
        })
    };
    let mut schedule = UnionMap::empty(&ctx)?;
    for (k, s) in ["S", "T", "U"].iter().enumerate() {
        schedule = schedule.union(to(s, None, &[k as i64])?)?;
    }
    let none = UnionMap::empty(&ctx)?;
    let sources = |may_source: UnionMap| -> Result<Vec<Option<String>>, IslError> {
        let (sink, must_source) = (to("U", Some("A"), &[])?, to("S", Some("A"), &[])?);
        let flow = Dataflow { sink, must_source, may_source, schedule: schedule.clone() }.compute()?;
        flow.coalesce()?.maps()?.iter().map(|m| m.space()?.tuple_name(In)).collect()
    };
    assert_eq!(sources(none)?, [Some("S".to_owned())]);
    assert_eq!(sources(to("T", Some("A"), &[])?)?, [Some("S".to_owned()), Some("T".to_owned())]);
    Ok(())
}

/// The value of a row of floors, in which a floor may use those before it.
fn value(row: &Row, params: &[i64], dims: &[i64], floors: &[i64]) -> i128 {
    let sum =
        |c: &[i64], x: &[i64]| c.iter().zip(x).map(|(c, x)| i128::from(*c) * i128::from(*x)).sum::<i128>();
    i128::from(row.constant) + sum(&row.params, params) + sum(&row.dims, dims) + sum(&row.divs, floors)
}

fn holds(rows: &Conjunction, params: &[i64], dims: &[i64]) -> bool {
    let mut floors = Vec::new();
    for Floor { numerator, denominator } in &rows.divs {
        let floor = value(numerator, params, dims, &floors).div_euclid(i128::from(*denominator));
        floors.push(i64::try_from(floor).expect("64 bits"));
    }
    rows.equalities.iter().all(|r| value(r, params, dims, &floors) == 0)
        && rows.inequalities.iter().all(|r| value(r, params, dims, &floors) >= 0)
}

#[test]
fn rows_say_what_a_set_holds() -> Outcome {
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
        let rows = set.clone().rows()?;
        let small = (-3..12).flat_map(|i| (-3..12).map(move |j| (i, j)));
        let points: Vec<(i64, i64)> = small.chain([(i64::MAX, 0), (i64::MIN, 1)]).collect();
        for ((n, m), (i, j)) in
            [(-1, 2), (5, 0), (11, 4)].into_iter().flat_map(|p| points.iter().map(move |x| (p, *x)))
        {
            let row = |constant: i64, params: [i64; 2], dims: [i64; 2]| Row {
                params: params.to_vec(),
                ..dim(constant, &dims)
            };
            let mut point = vec![row(-n, [1, 0], [0, 0]), row(-m, [0, 1], [0, 0]), row(-j, [0, 0], [0, 1])];
            // The least number has no negative.
            point.push(if i == i64::MIN { row(i, [0, 0], [-1, 0]) } else { row(-i, [0, 0], [1, 0]) });
            let point = Conjunction { equalities: point, ..Conjunction::default() };
            let held = !Set::from_rows(set.space()?, &point)?.intersect(set.clone())?.is_empty()?;
            let said = rows.iter().any(|c| holds(c, &[n, m], &[i, j]));
            assert_eq!(said, held, "{text} at {n}, {m}, {i}, {j}");
        }
    }
    let space = Space::set(&ctx, &["n"], None, 1)?;
    let long = Conjunction { equalities: vec![dim(0, &[0, 1])], ..Conjunction::default() };
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
    let left = a.clone().subtract(b.clone())?;
    let point = left.clone().sample_point()?;
    let rows = left.clone().project_out(Out, 1, 1)?.rows()?;
    Ok(point.is_none() || rows.is_empty() || equal(&left.union(b)?, &a)?)
}

#[test]
fn quotas_nest_and_end() -> Outcome {
    let ctx = Ctx::new()?;
    assert_eq!(ctx.with_quota(10, |ctx| work(ctx).err()), Some(IslError::Quota { ops: 10 }));
    assert_eq!(ctx.with_quota(0, |ctx| work(ctx).err()), Some(IslError::Quota { ops: 1 }));
    let expected = work(&ctx)?;
    let cost = ctx.with_quota(u64::MAX, |ctx| work(ctx).map(|_| ctx.operations()))?;
    assert!(cost > 1000, "{cost}");
    assert_eq!(ctx.with_quota(cost, work), Ok(expected));
    assert!(ctx.with_quota(cost / 2, work).is_err());
    // An inner quota cannot exceed what is left, and its end restores the outer one.
    ctx.with_quota(2 * cost, |ctx| {
        assert!(ctx.with_quota(cost / 2, work).is_err());
        assert_eq!(ctx.with_quota(100 * cost, work), Ok(expected));
        assert!(ctx.with_quota(100 * cost, work).is_err());
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
    fn rows_match_evaluation(rows in prop::collection::vec((-9i64..9, -4i64..4, -4i64..4), 1..4)) {
        let check = || -> Outcome {
            let ctx = Ctx::new()?;
            let inequalities: Vec<Row> = rows.iter().map(|&(c, x, y)| dim(c, &[x, y])).collect();
            for (x, y) in (-4..=4i64).flat_map(|x| (-4..=4i64).map(move |y| (x, y))) {
                let conjunction = Conjunction {
                    equalities: vec![dim(-x, &[1]), dim(-y, &[0, 1])],
                    inequalities: inequalities.clone(),
                    divs: vec![],
                };
                let set = Set::from_rows(Space::set(&ctx, &[], None, 2)?, &conjunction)?;
                assert_eq!(set.is_empty()?, !holds(&conjunction, &[], &[x, y]), "at {x}, {y}");
            }
            Ok(())
        };
        prop_assert_eq!(check(), Ok(()));
    }
}
