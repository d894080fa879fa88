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
}
