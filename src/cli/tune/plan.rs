//! What is worth being measured: of each nest, at each size, the variants that the search ranks first.

use super::engine::Planned;
use crate::cli::args::{InputArguments, TuneArguments};
use crate::cli::error::CliError;
use crate::cli::input::{self, Input};
use crate::cli::output;
use crate::cli::progress::Progress;
use crate::cli::regions;
use looptree::driver::{ExploredRegion, Session, Settings};
use looptree::explore::{Statistics, WORTHWHILE};
use looptree::tune::{FORMAT, Item, code_name, kernel_hash};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The items of all files.
pub fn plan(arguments: &TuneArguments, progress: &Progress) -> Result<Vec<Planned>, CliError> {
    let sizes = sizes(&arguments.size)?;
    let mut planned = Vec::new();
    let (mut met, mut known) = (BTreeSet::new(), BTreeSet::new());
    for file in &arguments.files {
        let clang_flags = match looptree::driver::is_source(file) {
            true => arguments.clang_flags.clone(),
            false => Vec::new(),
        };
        let named = InputArguments {
            file: file.clone(),
            function: arguments.function.clone(),
            region: None,
            clang_flags,
        };
        let read = input::read(&named)?;
        input::parts(&arguments.with, &named)?;
        let names = parameters(arguments, file, &read)?;
        known.extend(names.iter().cloned());
        // Files need not have the same parameters.
        let own = |size: &BTreeMap<String, i64>| -> BTreeMap<String, i64> {
            size.iter().filter(|(name, _)| names.contains(*name)).map(|(n, v)| (n.clone(), *v)).collect()
        };
        let own: BTreeSet<_> = sizes.iter().map(own).collect();
        for size in own {
            let settings = Settings {
                params: size,
                default_param: arguments.default_param,
                target: arguments.target.clone(),
                function: arguments.function.clone(),
                unrolls: looptree::driver::unrolls(file, &arguments.clang_flags),
                ..input::search(&arguments.search)?
            };
            of_file(arguments, &named, &read, settings, progress, &mut |one| {
                if met.insert(one.item.id.clone()) {
                    planned.push(one);
                }
            })?;
        }
    }
    match sizes.iter().flat_map(BTreeMap::keys).find(|name| !known.contains(*name)) {
        None => Ok(planned),
        Some(name) => Err(CliError::Usage {
            message: format!("--size {name}: no loop nest has this parameter"),
            help: match known.is_empty() {
                true => "there are none: all sizes are constants".to_string(),
                false => format!("there are: {}", known.into_iter().collect::<Vec<_>>().join(", ")),
            },
        }),
    }
}

/// The parameters of the nests of a file.
fn parameters(arguments: &TuneArguments, file: &Path, read: &Input) -> Result<BTreeSet<String>, CliError> {
    let kernels = match read {
        Input::Text(program) => vec![program.kernel.clone()],
        Input::Ir(bytes) => {
            let settings = Settings {
                function: arguments.function.clone(),
                unrolls: looptree::driver::unrolls(file, &arguments.clang_flags),
                ..Settings::default()
            };
            let optimizer = input::optimizer(settings)?;
            let name = file.display().to_string();
            let functions = Session::new(bytes, &name, &optimizer).kernels();
            let functions = functions.map_err(|e| input::from_driver(e, file))?;
            functions.into_iter().flat_map(|f| f.regions).map(|r| r.kernel).collect()
        }
    };
    Ok(kernels.iter().flat_map(|k| &k.params).map(|p| p.name.to_string()).collect())
}

fn of_file(
    arguments: &TuneArguments,
    named: &InputArguments,
    read: &Input,
    settings: Settings,
    progress: &Progress,
    add: &mut dyn FnMut(Planned),
) -> Result<(), CliError> {
    let file = &named.file;
    let optimizer = input::optimizer(settings)?;
    let tell = |region: &str, s: &Statistics| progress.of_search(region, s);
    let name = file.display().to_string();
    let session = Session { progress: Some(&tell), ..Session::new(read.module(), &name, &optimizer) };
    let explored = regions::explore(&session, read, file)?;
    for region in &explored.regions {
        if region.exploration.original.cycles < WORTHWHILE {
            continue;
        }
        if let Input::Ir(_) = read {
            let specs = session.argument_specs(&region.function).map_err(|e| input::from_driver(e, file))?;
            if let Err(not) = specs {
                let place = region.location.as_ref().map_or_else(|| name.clone(), ToString::to_string);
                output::say(format_args!("{place}: remark: {}: not measured: {not}", region.label()));
                continue;
            }
        }
        let variants = region.exploration.variants.iter().filter(|v| !v.recipe.0.is_empty());
        for variant in variants.take(arguments.top) {
            let predicted = region.exploration.ratio(variant);
            let item = item(arguments, named, region, variant.recipe.to_string(), predicted)?;
            add(Planned { item, target: code_name(region.vectors) });
        }
    }
    Ok(())
}

fn item(
    arguments: &TuneArguments,
    named: &InputArguments,
    region: &ExploredRegion,
    recipe: String,
    predicted: f64,
) -> Result<Item, CliError> {
    let names = region.kernel.params.iter().map(|p| p.name.to_string());
    let item = Item {
        format: FORMAT,
        id: String::new(),
        file: absolute(&named.file)?,
        flags: named.clang_flags.clone(),
        with: arguments.with.iter().map(|f| absolute(f)).collect::<Result<_, _>>()?,
        function: region.function.to_string(),
        region: region.number,
        kernel: kernel_hash(&region.kernel),
        params: names.zip(region.params.iter().copied()).collect(),
        default_param: arguments.default_param,
        recipe,
        arrays: region.kernel.arrays.iter().map(|a| a.name.to_string()).collect(),
        predicted,
    };
    Ok(item.named())
}

/// Engines start measurements elsewhere.
fn absolute(file: &Path) -> Result<PathBuf, CliError> {
    std::path::absolute(file).map_err(|source| CliError::Read { file: file.to_owned(), source })
}

/// One set of values for each `--size`; one without values where there is none.
fn sizes(given: &[String]) -> Result<Vec<BTreeMap<String, i64>>, CliError> {
    if given.is_empty() {
        return Ok(vec![BTreeMap::new()]);
    }
    let pairs = |size: &String| -> Vec<String> { size.split(',').map(|p| p.trim().to_string()).collect() };
    given.iter().map(|size| input::values("--size", &pairs(size))).collect()
}
