//! The name under which the code that an attribute generates finds its facade.
//!
//! An attribute macro has no `$crate`, so the manifest of the crate that is being compiled is
//! searched for a dependency that renames the facade's package. The crate `proc-macro-crate` does
//! the same with a parser for TOML, which takes longer to compile than the rest of this crate.

use std::path::Path;
use std::{env, fs};

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// The package whose attribute is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Facade {
    /// `raddle`, found by an absolute path.
    Raddle,
    /// The crate `tokio` of Raddle, found by a relative path as Tokio itself is.
    Tokio,
}

impl Facade {
    fn package(self) -> &'static str {
        match self {
            Facade::Raddle => "raddle",
            Facade::Tokio => "tokio",
        }
    }

    /// Returns the path of the facade in the crate that is being compiled.
    pub(crate) fn path(self) -> TokenStream {
        let package = self.package();
        let renamed = env::var_os("CARGO_MANIFEST_DIR")
            .and_then(|directory| name_in(Path::new(&directory), package));
        let name = renamed
            .unwrap_or_else(|| package.to_owned())
            .replace('-', "_");
        let name = Ident::new(&name, Span::call_site());
        match self {
            Facade::Raddle => quote!(::#name),
            Facade::Tokio => quote!(#name),
        }
    }
}

/// Returns the name that the manifest in `directory`, or a workspace manifest above it, gives
/// `package` if it renames the package.
fn name_in(directory: &Path, package: &str) -> Option<String> {
    let manifest = fs::read_to_string(directory.join("Cargo.toml")).ok()?;
    rename(&manifest, package).or_else(|| {
        let workspaces = directory.ancestors().skip(1);
        workspaces
            .filter_map(|ancestor| fs::read_to_string(ancestor.join("Cargo.toml")).ok())
            .find(|text| text.contains("[workspace"))
            .and_then(|text| rename(&text, package))
            .filter(|name| depends_on(&manifest, name))
    })
}

/// Finds `NAME = { package = "..." }`, or `package = "..."` below `[dependencies.NAME]`. A package
/// that is also listed under its own name does not count as renamed.
fn rename(manifest: &str, package: &str) -> Option<String> {
    if depends_on(manifest, package) {
        return None;
    }
    let value = format!("\"{package}\"");
    let mut section = "";
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            section = header.split(']').next().unwrap_or("");
        } else if section.contains("dependencies") {
            let Some((key, rest)) = line.split_once('=') else {
                continue;
            };
            let key = key.trim();
            if key == "package" && rest.trim().starts_with(&value) {
                return section.rsplit('.').next().map(unquoted);
            }
            let names_package = rest.split([',', '{']).any(|pair| {
                pair.split_once('=').is_some_and(|(name, given)| {
                    name.trim() == "package" && given.trim().starts_with(&value)
                })
            });
            if names_package {
                return Some(unquoted(key));
            }
        }
    }
    None
}

/// Returns whether a section of dependencies of the manifest has an entry `name`.
fn depends_on(manifest: &str, name: &str) -> bool {
    let mut in_dependencies = false;
    manifest.lines().map(str::trim).any(|line| {
        if let Some(header) = line.strip_prefix('[') {
            let section = header.split(']').next().unwrap_or("");
            in_dependencies = section.ends_with("dependencies");
            return section
                .rsplit_once("dependencies.")
                .is_some_and(|(_, entry)| unquoted(entry) == name);
        }
        let key = line.split(['=', '.']).next().unwrap_or("");
        in_dependencies && unquoted(key.trim()) == name
    })
}

fn unquoted(key: &str) -> String {
    key.trim_matches(['"', '\'']).to_owned()
}

#[cfg(test)]
mod tests;
