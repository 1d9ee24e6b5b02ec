//! A copy of the tree with every mutant in it, each behind a switch, and the models that run on
//! them.
//!
//! The copy is built once. Each model first runs without a mutant. That run must pass, and shows
//! the cost of the model and which mutants it reaches: it cannot catch the others.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rayon::prelude::*;

use super::Args;
use super::mutants::{Mutant, instrument};
use crate::loom::{self, Bound};
use crate::programs::{self, Program};
use crate::steps;
use crate::tidy::text;
use crate::workspace::{self, Package};

/// The file of the caught mutants.
const CAUGHT: &str = "caught";

const SWITCH: &str = include_str!("switch.rs.in");
const MANIFEST: &str = "[package]\nname = \"mutant-switch\"\nedition = \"2024\"\n";
const DEPENDENCY: &str = "\n[dependencies.mutant-switch]\npath = \"../mutant-switch\"\n";

/// The address space that a model may use, in KiB: a mutant may allocate without end.
const ADDRESS_SPACE: u64 = 6 << 20;

/// The signal that ends a process that has used its processor time.
const SIGXCPU: i32 = 24;

pub(super) struct Lab {
    models: Vec<Model>,
    /// The file of the caught mutants: a line is a key and a model.
    caught: Mutex<File>,
}

/// One test of a suite of models.
struct Model {
    program: Program,
    test: String,
    /// The cost without a mutant.
    usual: Duration,
    /// The ids of the mutants that it reaches.
    reached: BTreeSet<usize>,
}

/// Returns the keys of the mutants that an earlier run has caught.
pub(super) fn caught(directory: &Path) -> BTreeSet<String> {
    let lines = fs::read_to_string(directory.join(CAUGHT)).unwrap_or_default();
    let keys = lines.lines().filter_map(|line| line.split('\t').next());
    keys.map(str::to_owned).collect()
}

impl Lab {
    /// Builds the models of some packages with all mutants in them.
    pub(super) fn new(
        directory: &Path,
        packages: &[Package],
        mutants: &[Mutant],
        args: &Args,
    ) -> Result<Self> {
        let tree = directory.join("tree");
        let changed = instrumented(packages, mutants)?;
        mirror(workspace::root(), &tree, &changed)?;
        let is_mutated = |it: &Package| mutants.iter().any(|mutant| mutant.package == it.name);
        let mut judges = packages.to_vec();
        judges.retain(|it| it.has_models && (!args.own || is_mutated(it)));
        ensure!(
            !judges.is_empty(),
            "the crates of the mutants have no models"
        );
        let mut build = loom::suite::build_command(&tree, &judges);
        build
            .env("CARGO_TARGET_DIR", directory.join("target"))
            .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
            .env("RUSTFLAGS", "--cfg raddle_loom --cap-lints allow");
        let mut models = Vec::new();
        for program in programs::build(&mut build)? {
            // Canaries fail without a mutant.
            let mut tests = programs::tests(&program.executable)?;
            tests.retain(|test| !test.contains("canary"));
            models.extend(tests.into_iter().map(|test| Model {
                program: program.clone(),
                test,
                usual: Duration::ZERO,
                reached: BTreeSet::new(),
            }));
        }
        let mut caught = File::options();
        let caught = caught
            .create(true)
            .append(args.resume)
            .write(true)
            .truncate(!args.resume);
        let caught = Mutex::new(caught.open(directory.join(CAUGHT))?);
        Ok(Self { models, caught })
    }

    /// Runs the models that reach a mutant on it until one fails, for each of the mutants. Returns
    /// the mutants that survive.
    pub(super) fn judge<'a>(
        &mut self,
        mutants: &[(usize, &'a Mutant)],
        bound: Bound,
    ) -> Result<Vec<(usize, &'a Mutant)>> {
        if mutants.is_empty() {
            return Ok(Vec::new());
        }
        println!("{} models without a mutant, {bound:?}", self.models.len());
        let maps = tempfile::tempdir()?;
        let numbered = self.models.par_iter_mut().enumerate().with_max_len(1);
        numbered.try_for_each(|(number, model)| {
            model.measure(bound, &maps.path().join(number.to_string()))
        })?;
        self.models.sort_by_key(|model| model.usual);
        let survivor = |&(id, mutant): &(usize, &'a Mutant)| {
            let models = self.models.iter();
            let reach = models.filter(|model| model.reached.contains(&id));
            for model in reach.clone() {
                if let (Some(failure), _) = model.run(bound, id, None)? {
                    println!("{failure:<9} {mutant} -- {model}");
                    let mut caught = self.caught.lock().unwrap_or_else(PoisonError::into_inner);
                    writeln!(caught, "{}\t{model}", mutant.key)?;
                    return Ok(None);
                }
            }
            println!("survived  {mutant} -- {} models reach it", reach.count());
            Ok(Some((id, mutant)))
        };
        let judged = mutants.par_iter().with_max_len(1).map(survivor);
        let judged = judged.collect::<Result<Vec<_>>>()?;
        Ok(judged.into_iter().flatten().collect())
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let package = self.program.dir.file_name().unwrap_or_default();
        write!(f, "{} {}", package.display(), self.test)
    }
}

impl Model {
    /// Runs it without a mutant, with a file for the mutants that it reaches.
    fn measure(&mut self, bound: Bound, map: &Path) -> Result<()> {
        let (failure, time) = self.run(bound, 0, Some(map))?;
        ensure!(failure.is_none(), "{self} fails without a mutant");
        self.usual = time;
        // A model that reaches no mutant makes no file.
        let map = fs::read(map).unwrap_or_default();
        self.reached = (0..map.len()).filter(|&id| map[id] == 1).collect();
        Ok(())
    }

    /// Runs it with a mutant, and records in `map` the mutants that it reaches. Returns how it
    /// failed, if it did, and its time.
    fn run(
        &self,
        bound: Bound,
        mutant: usize,
        map: Option<&Path>,
    ) -> Result<(Option<&'static str>, Duration)> {
        // The seconds that a mutant may cost in addition to a multiple of the usual: of the
        // processor, and in total.
        let (processor, wall) = match bound {
            Bound::Own => (1800, 3600),
            _ => (60, 300),
        };
        let processor = (self.usual * 4).as_secs() + processor;
        let wall = self.usual * 10 + Duration::from_secs(wall);
        let limited =
            format!("ulimit -v {ADDRESS_SPACE}; ulimit -S -t {processor}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &limited]).arg(&self.program.executable);
        command.args([&self.test, "--exact", "--test-threads", "1"]);
        bound.set(&mut command);
        command
            .current_dir(&self.program.dir)
            .env("RADDLE_MUTANT", mutant.to_string())
            .envs(map.map(|map| ("RADDLE_MUTANTS_REACHED", map)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().context("cannot start a model")?;
        let (status, time) = steps::wait(&mut child, wall)?;
        let failure = match status {
            Some(status) if status.success() => None,
            Some(status) if status.signal() != Some(SIGXCPU) => Some("caught"),
            _ => Some("timed out"),
        };
        Ok((failure, time))
    }
}

/// Returns the files that have mutants, with their switches, and the crate of the switches.
fn instrumented(packages: &[Package], mutants: &[Mutant]) -> Result<BTreeMap<PathBuf, String>> {
    let root = workspace::root();
    let switch = Path::new("crates/mutant-switch");
    let mut changed = BTreeMap::from([
        (switch.join("Cargo.toml"), MANIFEST.to_owned()),
        (switch.join("src/lib.rs"), SWITCH.to_owned()),
    ]);
    let mut files = BTreeMap::<_, Vec<_>>::new();
    for (id, mutant) in (1..).zip(mutants) {
        files.entry(&mutant.path).or_default().push((id, mutant));
    }
    for (path, mutants) in files {
        let text = fs::read_to_string(root.join(path))?;
        changed.insert(path.clone(), instrument(&text, &mutants));
        let name = &mutants[0].1.package;
        let package = packages.iter().find(|package| package.name == *name);
        let package = package.context("a mutant of no package")?;
        let manifest = package.dir.join("Cargo.toml");
        let text = fs::read_to_string(root.join(&manifest))? + DEPENDENCY;
        changed.insert(manifest, text);
    }
    Ok(changed)
}

/// Makes `tree` a copy of the files in `root` that git tracks or does not ignore, with some files
/// changed or added. It does not write a file that is already correct, so that cargo does not
/// rebuild it.
fn mirror(root: &Path, tree: &Path, changed: &BTreeMap<PathBuf, String>) -> Result<()> {
    let mut git = Command::new("git");
    git.current_dir(root).args(["ls-files", "-z"]);
    git.args(["--cached", "--others", "--exclude-standard"]);
    let listing = steps::output(&mut git)?;
    let listed = listing.split_terminator('\0').map(Path::new);
    let mut wanted = BTreeSet::new();
    for name in listed.chain(changed.keys().map(PathBuf::as_path)) {
        let text = changed.get(name).map(|text| text.clone().into_bytes());
        // git may still list a file that was removed.
        let Some(bytes) = text.or_else(|| fs::read(root.join(name)).ok()) else {
            continue;
        };
        let path = tree.join(name);
        if fs::read(&path).ok() != Some(bytes.clone()) {
            fs::create_dir_all(path.parent().context("a file without directory")?)?;
            fs::write(&path, bytes).with_context(|| path.display().to_string())?;
        }
        wanted.insert(path);
    }
    let mut others = text::walk(tree, &["rs", "toml"], |_| true)?;
    others.retain(|path| !wanted.contains(path));
    others.into_iter().try_for_each(fs::remove_file)?;
    Ok(())
}
