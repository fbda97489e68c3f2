//! Telling a tool that is not there from a check that fails.

/// The program that a command starts with, where that can be told without a shell.
pub(crate) fn program(command: &str) -> Option<&str> {
    let first = command.split_whitespace().next()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./+".contains(c);
    // What the shell does itself is always there, and a path is looked for where it leads.
    let own = [
        "case", "cd", "command", "echo", "eval", "exec", "exit", "export", "false", "for", "if",
        "printf", "read", "set", "sh", "shift", "test", "times", "trap", "true", "type", "ulimit",
        "umask", "unset", "until", "wait", "while",
    ];
    (first.chars().all(plain) && !own.contains(&first) && !first.contains('/')).then_some(first)
}

/// The tool that a failed command says is missing.
pub(crate) fn tool(exit_code: i32, output: &str) -> Option<String> {
    let quoted = |line: &str, open: &str, close: char| {
        let rest = line.split_once(open)?.1;
        rest.split(close).next().map(str::to_owned)
    };
    for line in output.lines() {
        let line = line.trim();
        if exit_code == 127 && line.ends_with("not found") {
            // `sh: 1: golangci-lint: not found`
            let name = line.trim_end_matches("not found").trim_end().trim_end_matches("command");
            let name = name.trim_end().trim_end_matches(':');
            return name.rsplit([' ', ':']).next().map(str::to_owned);
        }
        // A project's own import that fails reads the same, inside a traceback; the interpreter's
        // complaint about what it was told to run begins with its own name.
        if line.contains("python")
            && line.contains(": No module named ")
            && !line.contains("Error:")
        {
            return quoted(line, "No module named ", ' ');
        }
        if let Some(name) = quoted(line, "error: no such command: `", '`') {
            return Some(format!("cargo {name}"));
        }
        if line.contains("is not installed for the toolchain") {
            return quoted(line, "'", '\'');
        }
        if line.contains("npx canceled due to missing packages")
            || line.contains("could not determine executable to run")
        {
            return Some("a package that `npx` runs".to_owned());
        }
        if line.contains("Cannot find module 'node_modules") {
            return Some("node_modules".to_owned());
        }
    }
    None
}

/// Whether a failed command says that it had to reach the network.
pub(crate) fn network(output: &str) -> bool {
    // What resolvers and package managers say, each in its own words.
    const SAID: [&str; 15] = [
        "--offline was specified",
        "you're using offline mode (--offline)",
        "you are in the offline mode (--offline)",
        "module lookup disabled by GOPROXY=off",
        "npm error code ENOTCACHED",
        "ERR_PNPM_NO_OFFLINE_",
        "in our offline mirror",
        "in offline mode and the artifact",
        "available for offline mode",
        "Temporary failure in name resolution",
        "Could not resolve host",
        "getaddrinfo EAI_AGAIN",
        "getaddrinfo ENOTFOUND",
        "UnknownHostException",
        "Network is unreachable",
    ];
    SAID.iter().any(|said| output.contains(said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_a_command() {
        for (command, wanted) in [
            ("go build ./...", Some("go")),
            ("clang-format-15 x", Some("clang-format-15")),
            ("./scripts/check.sh", None),
            ("sh ./mvnw test", None),
            ("test -e node_modules || npm ci", None),
            ("unformatted=$(gofmt -l .)", None),
            ("FOO=1 make", None),
            ("", None),
        ] {
            assert_eq!(program(command), wanted, "{command}");
        }
    }

    #[test]
    fn a_missing_tool_is_told_from_a_failure() {
        for (code, output, wanted) in [
            (127, "/bin/sh: 1: golangci-lint: not found", Some("golangci-lint")),
            (127, "sh: gofmt: command not found", Some("gofmt")),
            (1, "/usr/bin/python3: No module named pytest", Some("pytest")),
            (1, "ModuleNotFoundError: No module named 'app'", None),
            (101, "error: no such command: `llvm-cov`", Some("cargo llvm-cov")),
            (
                1,
                "error: 'cargo-clippy' is not installed for the toolchain '1.95'",
                Some("cargo-clippy"),
            ),
            (
                1,
                "npm error could not determine executable to run",
                Some("a package that `npx` runs"),
            ),
            (1, "FAIL: not found", None),
        ] {
            assert_eq!(tool(code, output).as_deref(), wanted, "{output}");
        }
    }
}
