//! Java, by Maven or Gradle.

use quorum_model::gate::GateCategory;

use super::{Draft, NOT_PROSE, coverage, required};
use crate::tree::{Tree, first_of, folders_with, outermost};

const SOURCES: [&str; 8] = [
    "*.java",
    "*.kt",
    "*.kts",
    "*.groovy",
    "*.gradle",
    "pom.xml",
    "*.properties",
    "src/main/resources/**",
];

pub(super) fn maven(tree: &dyn Tree) -> Vec<String> {
    outermost(folders_with(tree, &["pom.xml"]))
}

pub(super) fn maven_checks(tree: &dyn Tree, folder: &str) -> Vec<Draft> {
    let program = match first_of(tree, folder, &["mvnw"]) {
        Some(_) => "sh ./mvnw",
        None => "mvn",
    };
    // Without a network Maven would wait for each repository in turn.
    let line = |goal: &str| format!("{program} --batch-mode --offline {goal}");
    vec![
        required("build", GateCategory::Build, line("test-compile"), 600).on(&SOURCES),
        required("test", GateCategory::Test, line("test"), 900)
            .on(&NOT_PROSE)
            .reporting(&["**/target/surefire-reports/TEST-*.xml"]),
        coverage(line("verify"), 900, &["**/target/site/jacoco/jacoco.xml"]).on(&NOT_PROSE),
    ]
}

pub(super) fn gradle(tree: &dyn Tree) -> Vec<String> {
    let markers = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
    outermost(folders_with(tree, &markers))
}

pub(super) fn gradle_checks(tree: &dyn Tree, folder: &str) -> Vec<Draft> {
    let program = match first_of(tree, folder, &["gradlew"]) {
        Some(_) => "sh ./gradlew",
        None => "gradle",
    };
    let line = |task: &str| format!("{program} --offline --no-daemon --console=plain {task}");
    let coverage_report = "**/build/reports/jacoco/test/jacocoTestReport.xml";
    vec![
        required("build", GateCategory::Build, line("testClasses"), 600).on(&SOURCES),
        required("test", GateCategory::Test, line("test"), 900)
            .on(&NOT_PROSE)
            .reporting(&["**/build/test-results/test/*.xml"]),
        coverage(line("jacocoTestReport"), 900, &[coverage_report]).on(&NOT_PROSE),
    ]
}
