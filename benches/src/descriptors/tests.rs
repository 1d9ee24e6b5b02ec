use super::*;

#[test]
fn a_descriptor_limit_above_the_maximum_is_refused_with_advice() {
    allow(10).unwrap();
    if getrlimit(Resource::Nofile).maximum.is_some() {
        let error = allow(usize::MAX / 4).unwrap_err();
        assert!(error.to_string().contains("ulimit -Hn"), "{error}");
    }
}
