//! C and C++, by `CMake`.

use quorum_model::gate::GateCategory;

use super::{Draft, required};
use crate::tree::{Tree, folders_with, is_below, outermost};

const SOURCES: [&str; 9] =
    ["*.c", "*.cc", "*.cpp", "*.cxx", "*.h", "*.hh", "*.hpp", "*.cmake", "CMakeLists.txt"];

/// Where it is built, out of the way of a build that the developer made.
const BUILD: &str = ".quorum-build";

pub(super) fn folders(tree: &dyn Tree) -> Vec<String> {
    outermost(folders_with(tree, &["CMakeLists.txt"]))
}

pub(super) fn checks(tree: &dyn Tree, folder: &str) -> Vec<Draft> {
    let configure = format!("cmake -S . -B {BUILD} -DCMAKE_BUILD_TYPE=Debug");
    let build = format!("cmake --build {BUILD} --parallel 2");
    let mut checks = vec![
        required("configure", GateCategory::Setup, configure, 120).on(&SOURCES),
        required("build", GateCategory::Build, build, 900).on(&SOURCES),
    ];
    let lists = tree.paths().iter();
    let lists = lists.filter(|path| is_below(path, folder) && path.ends_with("CMakeLists.txt"));
    let tested = lists.into_iter().any(|path| {
        let text = tree.text(path).unwrap_or_default().to_lowercase();
        text.contains("enable_testing") || text.contains("include(ctest)")
    });
    if tested {
        let test = format!("ctest --test-dir {BUILD} --output-on-failure --no-tests=error");
        // The tests are what the build made, so they run only after it.
        checks.push(required("test", GateCategory::Test, test, 600).on(&SOURCES));
    }
    checks
}
