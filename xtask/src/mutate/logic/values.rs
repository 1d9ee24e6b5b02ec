//! The constants that stand in for the result of a function, by its type.

use syn::{GenericArgument, PathArguments, Type};

/// Expressions of a type, one a mutant. Those of a type that has no default do
/// not compile.
pub(super) fn of(output: &syn::ReturnType) -> Vec<String> {
    match output {
        syn::ReturnType::Default => vec!["()".to_owned()],
        syn::ReturnType::Type(_, of) => of_type(of),
    }
}

fn of_type(of: &Type) -> Vec<String> {
    let default = || vec!["Default::default()".to_owned()];
    match of {
        Type::Path(path) => match path.path.segments.last() {
            Some(last) => of_path(last).unwrap_or_else(default),
            None => default(),
        },
        Type::Paren(inner) => of_type(&inner.elem),
        Type::Tuple(tuple) => {
            let mut rows = vec![String::new()];
            for part in &tuple.elems {
                let values = of_type(part);
                rows = rows
                    .iter()
                    .flat_map(|row| values.iter().map(move |value| format!("{row}{value}, ")))
                    .collect();
            }
            rows.iter()
                .map(|row| format!("({})", row.trim_end()))
                .collect()
        }
        Type::Reference(to) => match &*to.elem {
            Type::Path(path) if path.path.is_ident("str") => strings(["\"\"", "\"xyzzy\""]),
            of => wrapped("Box::leak(Box::new(", &of_type(of), "))"),
        },
        Type::ImplTrait(_) | Type::Never(_) | Type::Ptr(_) => Vec::new(),
        _ => default(),
    }
}

fn of_path(last: &syn::PathSegment) -> Option<Vec<String>> {
    let inner = || match &last.arguments {
        PathArguments::AngleBracketed(list) => {
            list.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(inner) => Some(of_type(inner)),
                _ => None,
            })
        }
        _ => None,
    };
    let name = last.ident.to_string();
    Some(match name.as_str() {
        "bool" => strings(["true", "false"]),
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => strings(["0", "1"]),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => strings(["0", "1", "-1"]),
        "f32" | "f64" => strings(["0.0", "1.0", "-1.0"]),
        "String" => strings(["String::new()", "\"xyzzy\".into()"]),
        "Option" => first("None", wrapped("Some(", &inner()?, ")")),
        "Poll" => first(
            "std::task::Poll::Pending",
            wrapped("std::task::Poll::Ready(", &inner()?, ")"),
        ),
        "Result" => wrapped(
            "Ok(",
            &inner().unwrap_or_else(|| vec!["()".to_owned()]),
            ")",
        ),
        "Vec" => first("vec![]", wrapped("vec![", &inner()?, "]")),
        "Box" | "Arc" | "Rc" => wrapped(&format!("{name}::new("), &inner()?, ")"),
        _ => return None,
    })
}

fn strings<const N: usize>(of: [&str; N]) -> Vec<String> {
    of.map(str::to_owned).into()
}

fn first(value: &str, others: Vec<String>) -> Vec<String> {
    std::iter::once(value.to_owned()).chain(others).collect()
}

fn wrapped(before: &str, values: &[String], after: &str) -> Vec<String> {
    let wrapped = |value: &String| format!("{before}{value}{after}");
    values.iter().map(wrapped).collect()
}
