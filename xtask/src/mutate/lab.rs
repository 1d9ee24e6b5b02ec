//! A copy of the tree with every mutant in it, each behind a switch, and the models that run on
//! them.
//!
//! The copy is built once. Each model first runs without a mutant. That run must pass, and shows
//! the cost of the model and which mutants it reaches: it cannot catch the others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rayon::prelude::*;

use super::mutants::{Mutant, instrument};
use crate::loom::{self, Bound};
use crate::tidy::text;
use crate::workspace::{self, Package};
use crate::{programs, steps};

const SWITCH: &str = include_str!("switch.rs.in");
const MANIFEST: &str = "[package]\nname = \"mutant-switch\"\nedition = \"2024\"\n";
const DEPENDENCY: &str = "\n[dependencies.mutant-switch]\npath = \"../mutant-switch\"\n";

/// The address space that a model may use, in KiB: a mutant may allocate without end.
const ADDRESS_SPACE: u64 = 6 << 20;

/// The signal that ends a process that has used its processor time.
const SIGXCPU: i32 = 24;

pub(super) struct Lab<'a> {
    directory: PathBuf,
    mutants: &'a [Mutant],
    models: Vec<Model>,
    /// The keys of the caught mutants. A line of the file is a key and a model.
    caught: Mutex<BTreeSet<String>>,
}

/// One test of a suite of models.
struct Model {
    package: String,
    /// The directory of the package.
    dir: PathBuf,
    program: PathBuf,
    test: String,
    /// The cost without a mutant.
    usual: Duration,
    /// The ids of the mutants that it reaches.
    reached: BTreeSet<usize>,
}

impl<'a> Lab<'a> {
    pub(super) fn new(directory: &Path, mutants: &'a [Mutant], resume: bool) -> Result<Self> {
        fs::create_dir_all(directory)?;
        let book = directory.join("caught");
        let known = match resume {
            true => fs::read_to_string(&book).unwrap_or_default(),
            false => String::new(),
        };
        fs::write(book, &known)?;
        let keys = known.lines().filter_map(|line| line.split('\t').next());
        Ok(Self {
            directory: directory.to_owned(),
            mutants,
            models: Vec::new(),
            caught: Mutex::new(keys.map(str::to_owned).collect()),
        })
    }

    pub(super) fn is_caught(&self, id: usize) -> bool {
        let caught = self.caught.lock().unwrap_or_else(PoisonError::into_inner);
        caught.contains(&self.mutants[id - 1].key)
    }

    /// Builds the models with all mutants in them.
    pub(super) fn build(&mut self, packages: &[Package], own: bool) -> Result<()> {
        let tree = self.directory.join("tree");
        let changed = instrumented(packages, self.mutants)?;
        mirror(workspace::root(), &tree, &changed)?;
        let is_mutated = |package: &Package| {
            let mut mutants = self.mutants.iter();
            mutants.any(|mutant| mutant.package == package.name)
        };
        let mut judges = packages.to_vec();
        judges.retain(|it| it.has_models && (!own || is_mutated(it)));
        if judges.is_empty() {
            return Ok(());
        }
        let mut build = loom::suite::build_command(&tree, &judges);
        build
            .env("CARGO_TARGET_DIR", self.directory.join("target"))
            .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
            .env("RUSTFLAGS", "--cfg raddle_loom --cap-lints allow");
        for program in programs::build(&mut build)? {
            let dir = &program.dir;
            let package = judges.iter().find(|it| *dir == tree.join(&it.dir));
            let package = package.context("a program of no package")?;
            for test in programs::tests(&program.executable)? {
                // Canaries fail without a mutant.
                if !test.contains("canary") {
                    self.models.push(Model {
                        package: package.name.clone(),
                        dir: program.dir.clone(),
                        program: program.executable.clone(),
                        test,
                        usual: Duration::ZERO,
                        reached: BTreeSet::new(),
                    });
                }
            }
        }
        Ok(())
    }

    /// Runs the models that reach a mutant on it until one fails, for each of the mutants.
    pub(super) fn judge(&mut self, open: &[(usize, &Mutant)], bound: Bound) -> Result<()> {
        if open.is_empty() {
            return Ok(());
        }
        println!("{} models without a mutant, {bound:?}", self.models.len());
        let maps = tempfile::tempdir()?;
        let numbered = self.models.par_iter_mut().enumerate().with_max_len(1);
        numbered.try_for_each(|(number, model)| {
            model.measure(bound, &maps.path().join(number.to_string()))
        })?;
        self.models.sort_by_key(|model| model.usual);
        let one = |&(id, mutant): &(usize, &Mutant)| -> Result<()> {
            let models = self.models.iter();
            let reach = models.filter(|model| model.reached.contains(&id));
            for model in reach.clone() {
                if let Some(failure) = model.run(bound, id, None)?.failure {
                    let by = format!("{} {}", model.package, model.test);
                    println!("{failure:<9} {mutant} -- {by}");
                    return self.note(mutant, &by);
                }
            }
            println!("survived  {mutant} -- {} models reach it", reach.count());
            Ok(())
        };
        open.par_iter().with_max_len(1).try_for_each(one)
    }

    fn note(&self, mutant: &Mutant, by: &str) -> Result<()> {
        let mut caught = self.caught.lock().unwrap_or_else(PoisonError::into_inner);
        let book = self.directory.join("caught");
        let mut book = fs::File::options().append(true).open(book)?;
        writeln!(book, "{}\t{by}", mutant.key)?;
        caught.insert(mutant.key.clone());
        Ok(())
    }
}

/// The result of a run.
struct Outcome {
    /// `None` if the test has passed.
    failure: Option<&'static str>,
    time: Duration,
}

impl Model {
    /// Runs it without a mutant, with a file for the mutants that it reaches.
    fn measure(&mut self, bound: Bound, map: &Path) -> Result<()> {
        let outcome = self.run(bound, 0, Some(map))?;
        let Self { package, test, .. } = self;
        let failure = outcome.failure;
        ensure!(failure.is_none(), "{package} {test} fails without a mutant");
        self.usual = outcome.time;
        // A model that reaches no mutant makes no file.
        let map = fs::read(map).unwrap_or_default();
        self.reached = (0..map.len()).filter(|&id| map[id] == 1).collect();
        Ok(())
    }

    /// Runs it with a mutant, and records in `map` the mutants that it reaches.
    fn run(&self, bound: Bound, mutant: usize, map: Option<&Path>) -> Result<Outcome> {
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
        command.args(["-c", &limited]).arg(&self.program);
        command.args([&self.test, "--exact", "--test-threads", "1"]);
        bound.set(&mut command);
        command
            .current_dir(&self.dir)
            .env("RADDLE_MUTANT", mutant.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if let Some(map) = map {
            command.env("RADDLE_MUTANTS_REACHED", map);
        }
        let mut child = command.spawn().context("cannot start a model")?;
        let (status, time) = steps::wait(&mut child, wall)?;
        let failure = match status {
            Some(status) if status.success() => None,
            Some(status) if status.signal() != Some(SIGXCPU) => Some("caught"),
            _ => Some("timed out"),
        };
        Ok(Outcome { failure, time })
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
