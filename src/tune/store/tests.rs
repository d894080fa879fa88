//! What comes twice, contradicts, or cannot be opened.

use super::*;
use crate::tune::item::tests::{item, report};

fn place() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("t.db");
    (directory, file)
}

#[test]
fn what_comes_twice_counts_once() {
    let (_directory, file) = place();
    let mut store = Store::open(&file).unwrap();
    let one = item("k", "reverse(@0)", 100);
    assert_eq!(store.add_items(&[one.clone(), one.clone()]).unwrap().items, 1);
    let first = report(one.clone(), &[500, 400]);
    assert_eq!(store.add_report(&first).unwrap(), Taken { items: 0, reports: 1, known: 0 });
    assert_eq!(store.add_report(&first).unwrap(), Taken { items: 0, reports: 0, known: 1 });
    // Another run of the same adds samples.
    assert_eq!(store.add_report(&report(one.clone(), &[250])).unwrap().reports, 1);
    let known = store.measured(&one, "P", "512 bits").unwrap();
    assert_eq!((known.samples, known.ratio.unwrap().median), (3, 2.5));
    assert_eq!(known.original, Some(500e-9));
    drop(store);
    let store = Store::read(&file).unwrap();
    assert_eq!(store.reports().unwrap().len(), 2);
    assert!(store.reports().unwrap().contains(&first));
}

#[test]
fn the_best_is_sure_and_never_wrong() {
    let (_directory, file) = place();
    let mut store = Store::open(&file).unwrap();
    let add = |store: &mut Store, recipe: &str, n, variant: &[u64]| {
        store.add_report(&report(item("k", recipe, n), variant)).unwrap();
    };
    let best = |store: &Store, n| {
        let best = store.best("k", &[n], "P", "512 bits").unwrap().unwrap();
        (best.recipe, best.params, best.variants)
    };
    // Fast at times.
    add(&mut store, "noisy(@0)", 100, &[100, 100, 2000, 2000]);
    assert_eq!(best(&store, 100), (None, vec![100], 1));
    add(&mut store, "good(@0)", 100, &[500, 500, 510]);
    add(&mut store, "fast(@0)", 100, &[200, 210]);
    assert_eq!(best(&store, 100).0.as_deref(), Some("fast(@0)"));
    let wrong = Outcome::Wrong { message: "A[0] is 1".into() };
    let elsewhere =
        Report { outcome: wrong, processor: "Q".into(), ..report(item("k", "fast(@0)", 100), &[1]) };
    store.add_report(&elsewhere).unwrap();
    assert_eq!(best(&store, 100), (Some("good(@0)".into()), vec![100], 2));
    // Sizes that were not measured are those that are closest.
    add(&mut store, "large(@0)", 10_000, &[100, 100]);
    assert_eq!(best(&store, 900).0.as_deref(), Some("good(@0)"));
    assert_eq!(best(&store, 1200).0.as_deref(), Some("large(@0)"));
    assert!(store.best("k", &[100], "Q", "512 bits").unwrap().is_none());
    assert!(store.best("k", &[100], "P", "128 bits").unwrap().is_none());
    assert!(store.best("other", &[100], "P", "512 bits").unwrap().is_none());
}

#[test]
fn databases_merge() {
    let (_a, file) = place();
    let (_b, other) = place();
    let mut store = Store::open(&file).unwrap();
    let mut from = Store::open(&other).unwrap();
    let shared = report(item("k", "a(@0)", 1), &[3]);
    store.add_report(&shared).unwrap();
    from.add_report(&shared).unwrap();
    from.add_report(&report(item("k", "b(@0)", 1), &[4])).unwrap();
    from.add_items(&[item("k", "c(@0)", 1)]).unwrap();
    assert_eq!(store.merge(&from).unwrap(), Taken { items: 2, reports: 1, known: 1 });
    assert_eq!(store.merge(&from).unwrap(), Taken { items: 0, reports: 0, known: 2 });
    let pending = item("k", "c(@0)", 1);
    assert!(!store.has_report(&pending, None).unwrap());
    assert!(store.has_report(&shared.item, Some(("P", "512 bits"))).unwrap());
    assert!(!store.has_report(&shared.item, Some(("Q", "512 bits"))).unwrap());
}

#[test]
fn what_is_no_database_of_ours_is_refused_and_stays() {
    let (_directory, file) = place();
    assert!(matches!(Store::read(&file), Err(StoreError::Missing { .. })));
    let text = "name,value\n".repeat(100);
    std::fs::write(&file, &text).unwrap();
    assert!(matches!(Store::open(&file), Err(StoreError::Foreign { .. })));
    assert!(matches!(Store::read(&file), Err(StoreError::Foreign { .. })));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);

    let (_directory, file) = place();
    Connection::open(&file).unwrap().execute_batch("CREATE TABLE other (x)").unwrap();
    assert!(matches!(Store::open(&file), Err(StoreError::Foreign { .. })));

    let (_directory, file) = place();
    drop(Store::open(&file).unwrap());
    Connection::open(&file).unwrap().pragma_update(None, "user_version", 7).unwrap();
    assert!(matches!(Store::open(&file), Err(StoreError::Version { found: 7, .. })));
    assert!(matches!(Store::read(&file), Err(StoreError::Version { found: 7, .. })));
}

#[test]
fn a_database_that_another_keeps_is_said_to_be_locked() {
    let (_directory, file) = place();
    let mut store = Store::open(&file).unwrap();
    store.connection.busy_timeout(Duration::ZERO).unwrap();
    let other = Connection::open(&file).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert!(matches!(store.add_items(&[item("k", "a(@0)", 1)]), Err(StoreError::Locked { .. })));
    assert!(matches!(store.items(), Err(StoreError::Locked { .. })));
    other.execute_batch("ROLLBACK").unwrap();
    store.add_items(&[item("k", "a(@0)", 1)]).unwrap();
}
