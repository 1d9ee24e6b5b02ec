//! The code map of `docs/architecture.md`: the section of a crate must name each of its source
//! files, or a module or directory that contains the file.

use super::text::File;

/// The page, relative to the root.
pub(super) const PAGE: &str = "docs/architecture.md";

/// Reports the files that the code map in `page` does not name.
pub(super) fn check(page: &str, files: &[File]) -> Vec<String> {
    let paths = files.iter().filter(|file| !file.is_apart());
    let paths = paths.map(|file| file.path.to_string_lossy().into_owned());
    let missing = paths.filter(|path| !is_mapped(page, path));
    let findings = missing.map(|path| format!("{PAGE}: the code map does not name {path}"));
    findings.collect()
}

fn is_mapped(page: &str, path: &str) -> bool {
    let Some((package, file)) = path.split_once("/src/") else {
        return true;
    };
    if !package.starts_with("crates/") || file == "lib.rs" {
        return true;
    }
    let mut sections = page.split("\n#");
    let heading = format!("## `{package}`");
    let section = sections.find(|section| section.starts_with(&heading));
    let is_named = |name: &str| section.is_some_and(|it| it.contains(&format!("`{name}`")));
    let is_module = |path: &str| is_named(&format!("{path}.rs")) || is_named(&format!("{path}/"));
    let name = &file[file.rfind('/').map_or(0, |end| end + 1)..];
    let mut modules = file.match_indices(['/', '.']).map(|(end, _)| &file[..end]);
    is_named(name) || modules.any(is_module)
}

#[cfg(test)]
mod tests;
