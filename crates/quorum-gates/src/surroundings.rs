//! What a check is given of the machine: variables by name, toolchains by place, and nothing else.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Variables that programs need to work at all, or that say where toolchains are. None holds a key.
const PASSED: [&str; 28] = [
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "USER",
    "LOGNAME",
    "SOURCE_DATE_EPOCH",
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "PKG_CONFIG_PATH",
    "RUSTUP_TOOLCHAIN",
    "RUSTFLAGS",
    "GOROOT",
    "GOFLAGS",
    "GOEXPERIMENT",
    "CGO_ENABLED",
    "JAVA_HOME",
    "MAVEN_HOME",
    "GRADLE_HOME",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "NVM_DIR",
    "VIRTUAL_ENV",
    "NODE_ENV",
];

/// Folders of the system that hold programs and what they need.
const SYSTEM: [&str; 11] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix/store",
    "/snap",
];

/// Places of toolchains in a home folder. Their neighbours, such as `.cargo/credentials.toml`, are not
/// named, and so not shown.
const HOME: [&str; 36] = [
    ".cargo/bin",
    ".cargo/registry",
    ".cargo/git",
    ".rustup",
    "go/bin",
    "go/pkg/mod",
    ".goenv",
    ".pyenv",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/uv",
    ".local/share/pnpm",
    ".local/share/mise",
    ".local/share/fnm",
    ".nvm",
    ".nodenv",
    ".volta",
    ".bun/bin",
    ".deno/bin",
    ".npm-global",
    ".rbenv",
    ".asdf/installs",
    ".asdf/shims",
    ".asdf/plugins",
    ".asdf/bin",
    ".jenv",
    ".jdks",
    ".sdkman/candidates",
    ".m2/repository",
    ".m2/wrapper",
    ".gradle/wrapper",
    ".gradle/caches",
    ".linuxbrew",
    ".dotnet",
    ".ghcup/bin",
];

/// The folders of one run of the checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scratch {
    /// Everything below is here.
    pub folder: PathBuf,
    /// The copy of the repository.
    pub tree: PathBuf,
    /// What checks take for the home folder.
    pub home: PathBuf,
    /// What checks take for `/tmp`.
    pub tmp: PathBuf,
    /// Where checks leave reports.
    pub reports: PathBuf,
    /// Where their view of the file system is put together.
    pub root: PathBuf,
}

impl Scratch {
    /// The folders below `folder`.
    pub fn below(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            tree: folder.join("tree"),
            home: folder.join("home"),
            tmp: folder.join("tmp"),
            reports: folder.join("reports"),
            root: folder.join("root"),
        }
    }

    /// Those that checks may write to.
    pub fn writable(&self) -> Vec<PathBuf> {
        vec![self.tree.clone(), self.home.clone(), self.reports.clone()]
    }
}

/// Asks for a variable of the environment.
pub type Variable<'a> = dyn Fn(&str) -> Option<OsString> + 'a;

/// The variables that a check gets; `more` are names that the user adds. Where it may reach the network,
/// packages are fetched, and go to its own home folder: the user's are read-only.
pub fn variables(
    variable: &Variable<'_>,
    scratch: &Scratch,
    more: &[String],
    network: bool,
) -> Vec<(OsString, OsString)> {
    let named = PASSED.iter().copied().chain(more.iter().map(String::as_str));
    let mut all: Vec<(OsString, OsString)> =
        named.filter_map(|name| Some((name.into(), variable(name)?))).collect();
    let mut set = |name: &str, value: OsString| {
        all.retain(|(known, _)| known != name);
        all.push((name.into(), value));
    };
    let home = variable("HOME").map(PathBuf::from);
    let below = |name: &str| home.as_ref().map(|home| home.join(name));
    let place =
        |name: &str, usual: &str| variable(name).map(PathBuf::from).or_else(|| below(usual));
    for (name, usual) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        let own = network && name == "CARGO_HOME";
        let place = if own { Some(scratch.home.join(usual)) } else { place(name, usual) };
        if let Some(place) = place {
            set(name, place.into());
        }
    }
    let modules = variable("GOMODCACHE").map(PathBuf::from).or_else(|| {
        let path = variable("GOPATH").map(PathBuf::from).or_else(|| below("go"))?;
        Some(path.join("pkg/mod"))
    });
    if let Some(modules) = modules.filter(|_| !network) {
        set("GOMODCACHE", modules.into());
    }
    // Java asks the system where the home folder is, and not the environment.
    let own = scratch.home.join(".m2/repository");
    let maven = below(".m2/repository").filter(|place| !network && place.is_dir());
    let mut options = OsString::from("-Dmaven.repo.local=");
    options.push(maven.unwrap_or(own));
    set("MAVEN_OPTS", options);
    set("GRADLE_USER_HOME", scratch.home.join(".gradle").into());
    if let Some(gradle) = below(".gradle/caches") {
        set("GRADLE_RO_DEP_CACHE", gradle.into());
    }
    set("HOME", scratch.home.clone().into());
    set("TMPDIR", scratch.tmp.clone().into());
    set("QUORUM_REPORTS", scratch.reports.clone().into());
    set("GOCACHE", scratch.home.join(".cache/go-build").into());
    set("GOPATH", scratch.home.join("go").into());
    if network {
        // The cache of modules is read-only unless asked otherwise, and could not be removed.
        let mut flags = variable("GOFLAGS").unwrap_or_default();
        flags.push(" -modcacherw");
        set("GOFLAGS", flags);
    }
    let offline = OFFLINE.iter().filter(|_| !network);
    for &(name, value) in FIXED.iter().chain(offline) {
        set(name, value.into());
    }
    all
}

/// No waiting for a network that is not there.
const OFFLINE: [(&str, &str); 5] = [
    ("CARGO_NET_OFFLINE", "true"),
    ("GOPROXY", "off"),
    ("GOSUMDB", "off"),
    ("PIP_NO_INDEX", "1"),
    ("npm_config_offline", "true"),
];

/// Plain output, and no questions.
const FIXED: [(&str, &str); 14] = [
    ("CI", "true"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("CARGO_TERM_COLOR", "never"),
    ("CARGO_TERM_PROGRESS_WHEN", "never"),
    ("CARGO_INCREMENTAL", "0"),
    ("RUSTUP_AUTO_INSTALL", "0"),
    ("GOTOOLCHAIN", "local"),
    ("GOTELEMETRY", "off"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("npm_config_update_notifier", "false"),
    ("npm_config_fund", "false"),
    ("NEXT_TELEMETRY_DISABLED", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// What a check may read: the system, toolchains, and `more`. Only what is there is named.
pub fn readable(variable: &Variable<'_>, more: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    let home = variable("HOME").map(PathBuf::from);
    if let Some(home) = &home {
        found.extend(HOME.iter().map(|place| home.join(place)));
    }
    let in_cargo = ["bin", "registry", "git"];
    if let Some(cargo) = variable("CARGO_HOME").map(PathBuf::from) {
        found.extend(in_cargo.iter().map(|name| cargo.join(name)));
    }
    let places = [
        "RUSTUP_HOME",
        "GOROOT",
        "GOMODCACHE",
        "PYENV_ROOT",
        "JAVA_HOME",
        "MAVEN_HOME",
        "GRADLE_HOME",
        "NVM_DIR",
        "VIRTUAL_ENV",
    ];
    found.extend(places.iter().filter_map(|name| variable(name).map(PathBuf::from)));
    let path = variable("PATH").unwrap_or_default();
    for folder in std::env::split_paths(&path) {
        // A toolchain's libraries stand beside its programs; beside those that are named one by one
        // above, so do secrets.
        let above = folder.parent().filter(|above| {
            let named = home.as_deref().is_some_and(|home| {
                HOME.iter().any(|place| home.join(place).parent() == Some(above))
            });
            folder.ends_with("bin") && above.parent().is_some() && !named
        });
        found.extend(above.map(Path::to_owned));
        found.push(folder);
    }
    found.extend(more.iter().cloned());
    // A folder that holds the home folder would show all of it.
    found.retain(|place| {
        let whole = home.as_deref().is_some_and(|home| home.starts_with(place));
        place.is_absolute() && !whole && place.symlink_metadata().is_ok()
    });
    // What stands above comes before what stands below it.
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_passed_on() {
        let scratch = Scratch::below(Path::new("/scratch"));
        let variable = |name: &str| match name {
            "HOME" => Some(OsString::from("/home/u")),
            "PATH" => Some(OsString::from("/usr/bin")),
            name => Some(OsString::from(format!("value of {name}"))),
        };
        let all = variables(&variable, &scratch, &["DATABASE_URL".to_owned()], false);
        let value = |name: &str| {
            let found = all.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.to_string_lossy().into_owned())
        };
        for key in ["ANTHROPIC_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK"] {
            assert_eq!(value(key), None, "{key}");
        }
        assert_eq!(value("HOME").as_deref(), Some("/scratch/home"));
        assert_eq!(value("PATH").as_deref(), Some("/usr/bin"));
        assert_eq!(value("DATABASE_URL").as_deref(), Some("value of DATABASE_URL"));
        let names: Vec<_> = all.iter().map(|(name, _)| name.clone()).collect();
        let mut once = names.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), names.len(), "a variable is set once");
    }

    #[test]
    fn packages_come_from_the_users_folders_or_from_the_network() {
        let scratch = Scratch::below(Path::new("/scratch"));
        let variable = |name: &str| (name == "HOME").then(|| OsString::from("/home/u"));
        let value = |network: bool, name: &str| {
            let all = variables(&variable, &scratch, &[], network);
            let found = all.into_iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.to_string_lossy().into_owned())
        };
        let maven = "-Dmaven.repo.local=/scratch/home/.m2/repository";
        for (name, offline, online) in [
            ("CARGO_HOME", Some("/home/u/.cargo"), Some("/scratch/home/.cargo")),
            ("RUSTUP_HOME", Some("/home/u/.rustup"), Some("/home/u/.rustup")),
            ("GOMODCACHE", Some("/home/u/go/pkg/mod"), None),
            ("MAVEN_OPTS", Some(maven), Some(maven)),
            ("GOPROXY", Some("off"), None),
            ("GOFLAGS", None, Some(" -modcacherw")),
            ("CARGO_NET_OFFLINE", Some("true"), None),
            ("npm_config_offline", Some("true"), None),
        ] {
            assert_eq!(value(false, name).as_deref(), offline, "{name}");
            assert_eq!(value(true, name).as_deref(), online, "{name}");
        }
    }

    #[test]
    fn the_home_folder_is_shown_by_its_toolchains_alone() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap().join("me");
        let folders = [".cargo/bin", ".ssh", ".cargo/registry", "bin", "tools/go/bin"];
        for name in folders {
            std::fs::create_dir_all(home.join(name)).unwrap();
        }
        std::fs::write(home.join(".cargo/credentials.toml"), "token").unwrap();
        let programs = [".cargo/bin", "bin", "tools/go/bin"].map(|name| home.join(name));
        let path = std::env::join_paths(programs).unwrap();
        let variable = |name: &str| match name {
            "HOME" => Some(home.clone().into_os_string()),
            "PATH" => Some(path.clone()),
            // Misleading, and to be seen through.
            "JAVA_HOME" => Some(folder.path().canonicalize().unwrap().into_os_string()),
            _ => None,
        };
        let found = readable(&variable, &[]);
        let own: Vec<&Path> =
            found.iter().filter_map(|place| place.strip_prefix(&home).ok()).collect();
        let expected = [".cargo/bin", ".cargo/registry", "bin", "tools/go", "tools/go/bin"];
        assert_eq!(own, expected.map(Path::new));
        assert!(!found.iter().any(|place| home.starts_with(place)), "{found:?}");
    }
}
