//! Means and ranks.

/// The middle value; of an even number, the lower middle one. Zero for none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
}

/// Median over rounds of `base / candidate`: each round's two runs were made next to each other.
pub fn ratio(base: &[f64], candidate: &[f64]) -> f64 {
    median(&base.iter().zip(candidate).map(|(b, c)| b / c).collect::<Vec<_>>())
}

/// Geometric mean; 1 for none.
pub fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(s, n), v| (s + v.ln(), n + 1));
    if count == 0 { 1.0 } else { (sum / f64::from(count)).exp() }
}

/// Arithmetic mean; zero for none.
pub fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(s, n), v| (s + v, n + 1));
    sum / f64::from(count.max(1))
}

/// Rank correlation of pairs; equal values share the mean of their ranks. None where one side does not vary.
pub fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let a = ranks(&pairs.iter().map(|p| p.0).collect::<Vec<_>>());
    let b = ranks(&pairs.iter().map(|p| p.1).collect::<Vec<_>>());
    let middle = (pairs.len() as f64 - 1.0) / 2.0;
    let (mut both, mut first, mut second) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(&b) {
        both += (x - middle) * (y - middle);
        first += (x - middle).powi(2);
        second += (y - middle).powi(2);
    }
    (first > 0.0 && second > 0.0).then(|| both / (first * second).sqrt())
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let before = order.iter().position(|o| *o == equal[0]).unwrap_or(0);
        equal.iter().for_each(|o| ranks[*o] = before as f64 + (equal.len() as f64 - 1.0) / 2.0);
    }
    ranks
}

/// The least of several times, and how well that is known: by how much the next one is greater. Of one time nothing is known.
#[derive(Clone, Copy, Debug)]
pub struct Least {
    pub time: f64,
    pub gap: f64,
}

impl Least {
    /// None of no times.
    pub fn of(times: &[f64]) -> Option<Least> {
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        let time = *sorted.first()?;
        Some(Least { time, gap: sorted.get(1).map_or(0.0, |next| next - time) })
    }
}

/// Times with those made equal that cannot be told apart: in order from the shortest, each that is no longer than the first of
/// its group by more than one of the two is known to. (The end of a distribution lies below the least sample by about the
/// distance of the next one: Robson and Whitlock, Biometrika 51, 1964.)
pub fn told_apart(times: &[Least]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by(|a, b| times[*a].time.total_cmp(&times[*b].time));
    let mut result = vec![0.0; times.len()];
    let mut first: Option<Least> = None;
    for at in order {
        let here = times[at];
        let group = first.filter(|f| here.time - f.time <= here.gap.max(f.gap)).unwrap_or(here);
        result[at] = group.time;
        first = Some(group);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[]), 0.0);
        assert_eq!(ratio(&[2.0, 4.0, 6.0], &[1.0, 1.0, 2.0]), 3.0);
        assert!((geometric_mean([2.0, 8.0].into_iter()) - 4.0).abs() < 1e-12);
        assert_eq!(mean([1.0, 3.0].into_iter()), 2.0);
    }

    #[test]
    fn rank_correlation() {
        assert_eq!(spearman(&[(1.0, 2.0), (2.0, 9.0), (7.0, 10.0)]), Some(1.0));
        assert_eq!(spearman(&[(1.0, 3.0), (2.0, 2.0), (7.0, 1.0)]), Some(-1.0));
        assert_eq!(spearman(&[(1.0, 3.0), (1.0, 2.0)]), None);
        // By hand: ranks 0, 1.5, 1.5, 3 against 0, 1, 2, 3.
        let tied = spearman(&[(1.0, 1.0), (2.0, 2.0), (2.0, 3.0), (3.0, 4.0)]).unwrap();
        assert!((tied - 4.5 / (4.5_f64 * 5.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn times_are_as_different_as_their_repetitions_tell() {
        let least = |times: &[f64]| Least::of(times).unwrap();
        assert!(Least::of(&[]).is_none());
        let (sure, unsure) = (least(&[1.3, 1.0, 1.01]), least(&[1.05, 1.4, 1.15]));
        assert!((sure.gap - 0.01).abs() < 1e-12 && (unsure.gap - 0.1).abs() < 1e-12);
        // The second might be as short as the first; the third would have been seen to be.
        assert_eq!(told_apart(&[unsure, sure, least(&[1.05, 1.06])]), [1.0, 1.0, 1.05]);
        // Groups do not grow beyond what is as good as their first; of one time nothing is known.
        let chain = [least(&[1.0, 1.06]), least(&[1.05, 1.11]), least(&[1.1, 1.16])];
        assert_eq!(told_apart(&chain), [1.0, 1.0, 1.1]);
        assert_eq!(told_apart(&[least(&[1.0]), least(&[1.0001])]), [1.0, 1.0001]);
    }
}
