//! Runs what the pages show: the examples, a new program, and the stand-in with a lock file.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use regex::Regex;

use super::cargo::{self, STAND_IN};
use super::commands::{self, Shown};
use super::{own_program, sources};
use crate::steps::{self, cargo_in, line_of};
use crate::tidy::text;
use crate::workspace::{self, Package};

/// The page with the new program, relative to the root.
const PAGE: &str = "docs/guide/getting-started.md";

/// How long a program runs. One that has not ended by then is a server, and is killed.
const LIMIT: Duration = Duration::from_secs(3);

/// The address of the program of [`PAGE`], whose port may be in use.
const ADDRESS: &str = "127.0.0.1:3000";

/// Makes an empty directory for a program, beside which the clone seems to be.
fn program_dir(root: &Path, name: &str) -> Result<PathBuf> {
    let beside = workspace::target().join("pages");
    let dir = beside.join(name);
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    fs::create_dir_all(dir.join("src"))?;
    let clone = dir.join(sources::CLONE);
    if fs::symlink_metadata(&clone).is_err() {
        #[cfg(unix)]
        std::os::unix::fs::symlink(root, &clone)?;
        #[cfg(not(unix))]
        anyhow::bail!("no symbolic link to {} on this platform", root.display());
    }
    Ok(dir)
}

/// Writes a program, with the lock file of the workspace, so that nothing is downloaded.
fn write_program(root: &Path, dir: &Path, manifest: &str, main: &str) -> Result<()> {
    let package = "[package]\nname = \"hello\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n";
    // Else it would be a package of Raddle's workspace.
    fs::write(
        dir.join("Cargo.toml"),
        format!("{package}{manifest}\n[workspace]\n"),
    )?;
    fs::write(dir.join("src/main.rs"), main)?;
    fs::copy(root.join("Cargo.lock"), dir.join("Cargo.lock"))?;
    Ok(())
}

/// Builds the server of the guide on Raddle and on the stand-in, and sends it a request.
pub(super) fn new_program(root: &Path) -> Result<()> {
    let page = text::read(&root.join(PAGE))?;
    let lines = commands::prose(Path::new(PAGE), &page);
    let blocks = commands::blocks(&lines);
    let of = |language: &str| {
        let found = blocks.iter().filter(|(it, ..)| it.starts_with(language));
        let texts: Vec<_> = found.map(|(_, _, lines)| lines.join("\n") + "\n").collect();
        texts
    };
    let (manifests, programs) = (of("toml"), of("rust"));
    let ([new, moved], [program]) = (&manifests[..], &programs[..]) else {
        anyhow::bail!("{PAGE} has not the dependencies of two programs and one program");
    };
    ensure!(program.contains(ADDRESS), "{PAGE} has not {ADDRESS}");
    let on_tokio = program.replace("raddle", "tokio");
    for (name, manifest, program) in [("new", new, program), ("moved", moved, &on_tokio)] {
        let free = free_address()?;
        let dir = program_dir(root, name)?;
        write_program(root, &dir, manifest, &program.replace(ADDRESS, &free))?;
        let mut build = cargo_in(&dir, "build --offline --quiet");
        let target = workspace::target().join("pages/target");
        build.env("CARGO_TARGET_DIR", &target);
        steps::run(&format!("{name} program, build"), &mut build)?;
        let mut server = Command::new(target.join("debug/hello"));
        steps::step(&format!("{name} program"), &line_of(&server), || {
            let mut server = server.spawn()?;
            let answer = ask(&free);
            server.kill()?;
            server.wait()?;
            let answer = answer?;
            ensure!(answer.ends_with("hello\n"), "the answer is {answer:?}");
            Ok(())
        })?;
    }
    Ok(())
}

fn free_address() -> Result<String> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string())
}

/// Requests a page from a server that is starting.
fn ask(address: &str) -> Result<String> {
    let connect = |_| {
        thread::sleep(Duration::from_millis(20));
        TcpStream::connect(address).ok()
    };
    let mut stream = (0..250).find_map(connect).context("it does not listen")?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Checks what the README of the stand-in says of a program with a lock file. Compiles nothing.
pub(super) fn lock_file(root: &Path, packages: &[Package]) -> Result<()> {
    let stand_in = packages.iter().find(|it| it.name == STAND_IN);
    let stand_in = stand_in.context("no stand-in")?;
    let version = stand_in.spec.trim_start_matches("tokio@");
    // The published Tokio, on which the benchmarks run.
    let published = Regex::new(r#"name = "tokio"\nversion = "(1\.\d+)(\.\d+)"\nsource"#)?;
    let locked = text::read(&root.join("Cargo.lock"))?;
    let published = published.captures(&locked);
    let published = published.context("no published Tokio 1 is locked")?;
    let minor = format!("\"~{}\"", &published[1]);
    let exact = format!("\"={}{}\"", &published[1], &published[2]);
    let refused = |requirement: &str| Some(format!("the requirement `tokio = {requirement}`"));
    let no_feature = Some("with feature `no-such`".to_owned());
    // What the program depends on, and what the error says, if there is one.
    let cases = [
        ("\"1\"", None),
        ("\"1.30\", features = [\"full\"]", None),
        (exact.as_str(), refused(&exact)),
        (minor.as_str(), refused(&minor)),
        ("\"1\", features = [\"no-such\"]", no_feature),
    ];
    let update = format!("update --offline -p tokio --precise {version}");
    steps::step("lock files", &format!("cargo {update}"), || {
        for (requirement, error) in &cases {
            replace_tokio(root, version, requirement, &update, error.as_deref())
                .with_context(|| format!("tokio = {{ version = {requirement} }}"))?;
        }
        Ok(())
    })
}

/// Locks Tokio in a program, patches it, runs `update`, and takes the patch away again. `error` is
/// in the message of the update if it fails.
fn replace_tokio(
    root: &Path,
    version: &str,
    requirement: &str,
    update: &str,
    error: Option<&str>,
) -> Result<()> {
    const MAIN: &str = "fn main() {}\n";
    let dir = program_dir(root, "locked")?;
    let lock = dir.join("Cargo.lock");
    let has_stand_in = || -> Result<bool> {
        let text = text::read(&lock)?;
        let count = text.matches("name = \"tokio\"\n").count();
        ensure!(count == 1, "{count} packages tokio are locked");
        Ok(text.contains(&format!("name = \"tokio\"\nversion = \"{version}\"\n")))
    };
    let resolve = || steps::output(&mut cargo_in(&dir, "update --offline --workspace"));
    let plain = format!("[dependencies]\ntokio = {{ version = {requirement} }}\n");
    write_program(root, &dir, &plain.replace("\"no-such\"", ""), MAIN)?;
    resolve()?;
    ensure!(!has_stand_in()?, "the stand-in is locked before the patch");
    let before = text::read(&lock)?;
    let path = format!("{}/crates/tokio", sources::CLONE);
    let patch = format!("\n[patch.crates-io]\ntokio = {{ path = \"{path}\" }}\n");
    write_program(root, &dir, &format!("{plain}{patch}"), MAIN)?;
    fs::write(&lock, &before)?;
    let output = cargo_in(&dir, update).output()?;
    let message = String::from_utf8_lossy(&output.stderr);
    if let Some(error) = error {
        let is_refused = !output.status.success() && message.contains(error);
        ensure!(is_refused, "no error says {error:?}:\n{message}");
        return Ok(());
    }
    ensure!(output.status.success(), "{message}");
    ensure!(has_stand_in()?, "the stand-in is not locked:\n{message}");
    // Without the patch, the next command locks Tokio again.
    let after = text::read(&lock)?;
    write_program(root, &dir, &plain, MAIN)?;
    fs::write(&lock, after)?;
    resolve()?;
    ensure!(!has_stand_in()?, "the stand-in is still locked");
    Ok(())
}

/// Runs the examples and the reader of recordings as the pages say, in a directory with the files
/// of the root.
pub(super) fn examples(root: &Path, packages: &[Package], shown: &[Shown]) -> Result<()> {
    let dir = tempfile::tempdir().context("cannot make a temporary directory")?;
    for file in ["README.md", "CHANGELOG.md", "Cargo.toml", "Cargo.lock"] {
        fs::copy(root.join(file), dir.path().join(file))?;
    }
    let mut done = Vec::new();
    for shown in shown {
        let Some(words) = own_program(packages, &shown.words) else {
            continue;
        };
        let Some((build, arguments)) = runnable(&words) else {
            continue;
        };
        if done.contains(&(build.clone(), arguments.clone())) {
            continue;
        }
        let mut command = cargo_in(root, format!("build --quiet {build}"));
        steps::succeed(&mut command)?;
        let target = workspace::target().join("debug");
        let name = build.rsplit(' ').next().unwrap_or_default();
        let program = match build.contains("--example") {
            true => target.join("examples").join(name),
            false => target.join(name),
        };
        let mut program = Command::new(program);
        program.current_dir(dir.path());
        for argument in &arguments {
            // The port of the page may be in use.
            program.arg(match argument.starts_with("127.0.0.1:") {
                true => free_address()?,
                false => argument.clone(),
            });
        }
        program.stdin(Stdio::null()).stdout(Stdio::null());
        let step = format!("{}:{}", shown.page.display(), shown.line);
        steps::step(&step, &shown.text(), || {
            let (status, _) = steps::wait(&mut program.spawn()?, LIMIT)?;
            let is_server = status.is_none();
            ensure!(
                is_server || status.is_some_and(|it| it.success()),
                "it fails"
            );
            Ok(())
        })?;
        done.push((build, arguments));
    }
    Ok(())
}

/// Returns the arguments of `cargo build`, of which the last is the name of the program, and the
/// arguments of the program, if the command runs an example or the reader of recordings. Uses the
/// debug build, which other steps have made.
fn runnable(words: &[String]) -> Option<(String, Vec<String>)> {
    let [cargo, run, rest @ ..] = words else {
        return None;
    };
    if cargo != "cargo" || run != "run" {
        return None;
    }
    let mut sides = rest.splitn(2, |word| word == "--");
    let options = sides.next().unwrap_or_default();
    let mut options: Vec<_> = options.iter().map(String::as_str).collect();
    options.retain(|it| *it != "--release");
    const RECORDING: &str = "raddle-recording";
    match options[..] {
        ["-p", RECORDING] => options.extend(["--bin", RECORDING]),
        ["-p", RECORDING, "--bin", _] => {}
        _ if options.contains(&"--example") => {}
        _ => return None,
    }
    if options.iter().any(|it| cargo::is_placeholder(it)) {
        return None;
    }
    let arguments = sides.next().unwrap_or_default().iter();
    let arguments = arguments.map(|word| match word.as_str() {
        "FILE" => "recording.raddle".to_owned(),
        "SEED" => "1".to_owned(),
        word => word.to_owned(),
    });
    Some((options.join(" "), arguments.collect()))
}
