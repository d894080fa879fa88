//! What a kernel costs at least is no more than what any legal variant of it is predicted to cost; and a search, which remembers what
//! parts of trees cost, predicts what is predicted of the tree alone.

use looptree::driver::{Optimizer, Session, Settings, compile_source};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

#[test]
fn variants_of_kernels_cost_no_less_than_the_least_and_what_they_cost_alone() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/bench/kernels");
    let files = std::fs::read_dir(folder).expect("kernels").map(|f| f.expect("a file").path());
    let mut files: Vec<PathBuf> = files.filter(|p| p.extension().is_some_and(|e| e == "c")).collect();
    files.sort();
    assert!(files.len() > 40);
    let below: Vec<String> = files.par_iter().flat_map(|file| below_the_least(file)).collect();
    assert!(below.is_empty(), "{}", below.join("\n"));
}

fn below_the_least(file: &Path) -> Vec<String> {
    let mut settings = Settings { target: "znver5".to_string(), ..Settings::default() };
    settings.limits.variants = 60;
    let optimizer = Optimizer::new(settings).expect("an optimizer");
    let bitcode = compile_source(file, &[]).expect("it compiles");
    let name = file.display().to_string();
    let explored = Session::new(&bitcode, &name, &optimizer).explore().expect("it is explored");
    let mut result = Vec::new();
    for region in &explored.regions {
        let models = optimizer.models.for_code(region.vectors);
        let prepared = models.cost.prepare(&region.kernel, &region.params);
        let least = prepared.least();
        assert!(least >= 0.0 && least.is_finite());
        for v in region.exploration.variants.iter().filter(|v| v.cycles < least) {
            result.push(format!("{name} {}: {:.0} < {least:.0}, {}", region.label(), v.cycles, v.recipe));
        }
        for v in &region.exploration.variants {
            // Without a step it is the program, which the compiler knows less of than of new code.
            let alone = match v.recipe.0.is_empty() {
                true => prepared.cost_of_original().cycles,
                false => prepared.cost(&v.root).cycles,
            };
            if v.cycles != alone {
                result.push(format!("{name} {}: {} and {alone}, {}", region.label(), v.cycles, v.recipe));
            }
        }
    }
    result
}
