//! Whether a change touches what a check looks at.

use globset::{GlobBuilder, GlobMatcher};
use quorum_model::gate::GateCheck;

use crate::error::GateError;
use crate::tree::is_below;

/// Whether `check` is due after a change of `changed`; without any list, it is.
///
/// A pattern is tried on the path from the check's folder and on the file's name.
pub(crate) fn is_due(check: &GateCheck, changed: Option<&[String]>) -> Result<bool, GateError> {
    let Some(changed) = changed else { return Ok(true) };
    if check.triggers.is_empty() {
        return Ok(true);
    }
    let mut wanted = Vec::new();
    let mut unwanted = Vec::new();
    for trigger in &check.triggers {
        match trigger.strip_prefix('!') {
            Some(pattern) => unwanted.push(glob(check, pattern)?),
            None => wanted.push(glob(check, trigger)?),
        }
    }
    let folder = check.working_dir.as_str();
    Ok(changed.iter().filter(|path| is_below(path, folder)).any(|path| {
        let path = path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/');
        let name = path.rsplit('/').next().unwrap_or(path);
        let any = |globs: &[GlobMatcher]| {
            globs.iter().any(|glob| glob.is_match(path) || glob.is_match(name))
        };
        any(&wanted) && !any(&unwanted)
    }))
}

fn glob(check: &GateCheck, pattern: &str) -> Result<GlobMatcher, GateError> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| GateError::Trigger {
        check: check.name.clone(),
        pattern: pattern.to_owned(),
        reason: error.kind().to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::select;
    use crate::tree::Listed;
    use quorum_model::config::GatesConfig;

    fn due(changed: &[&str]) -> Vec<String> {
        let tree = Listed::of(&[("api/go.mod", ""), ("api/a_test.go", "")]);
        let checks = select(&GatesConfig::default(), &[&tree]).unwrap();
        let changed: Vec<String> = changed.iter().map(|&path| path.to_owned()).collect();
        let due = checks.into_iter().filter(|check| is_due(check, Some(&changed)).unwrap());
        due.map(|check| check.name).collect()
    }

    #[test]
    fn a_check_runs_when_what_it_looks_at_changed() {
        assert_eq!(due(&["api/x/main.go"]), ["build", "vet", "format", "test"]);
        assert_eq!(due(&["api/go.sum"]), ["build", "vet", "test"]);
        assert_eq!(due(&["api/testdata/case.txt"]), ["test"]);
        assert_eq!(due(&["api/README.md", "api/docs/a/b.txt"]), [""; 0]);
        assert_eq!(due(&["web/main.go", "apix/main.go"]), [""; 0]);
    }

    #[test]
    fn a_pattern_that_is_none_names_its_check() {
        let tree = Listed::of(&[]);
        let text = r#"{"additional": [{"name": "own", "command": "x", "triggers": ["a{"]}]}"#;
        let config: GatesConfig = serde_json::from_str(text).unwrap();
        let check = &select(&config, &[&tree]).unwrap()[0];
        let error = is_due(check, Some(&[])).unwrap_err();
        assert!(error.to_string().contains("own"), "{error}");
        assert!(is_due(check, None).unwrap());
    }
}
