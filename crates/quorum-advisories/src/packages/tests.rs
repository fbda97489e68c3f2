//! Files as the package managers write them.

use super::*;

fn packages(path: &str, text: &str) -> Vec<Package> {
    read(path, text).expect("a known name").expect("it can be read").packages
}

/// `name version line relation`, for all packages of a file.
fn listed(path: &str, text: &str) -> Vec<String> {
    let relation = |package: &Package| match package.relation {
        Relation::Direct => " direct",
        Relation::Transitive => " transitive",
        Relation::Unknown => "",
    };
    let line = |package: &Package| {
        let version = package.version.as_deref().or(package.requirement.as_deref()).unwrap_or("-");
        let dev = if package.dev { " dev" } else { "" };
        format!("{} {version} {}{}{dev}", package.name, package.line, relation(package))
    };
    packages(path, text).iter().map(line).collect()
}

#[test]
fn cargo() {
    let lock = "version = 4\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n \"serde\",\n]\n\n\
                [[package]]\nname = \"serde\"\nversion = \"1.0.1\"\nsource = \"registry+https://x\"\n\n\
                [[package]]\nname = \"itoa\"\nversion = \"1.0.2\"\nsource = \"git+https://x#0123456789abcdef\"\n";
    assert_eq!(
        listed("Cargo.lock", lock),
        ["app 0.1.0 5 transitive", "serde 1.0.1 12 direct", "itoa 1.0.2 17 transitive"]
    );
    let found = packages("Cargo.lock", lock);
    assert_eq!(found[0].origin, Origin::Path);
    assert!(matches!(found[2].origin, Origin::Git { pinned: true, .. }));
    let manifest = "[package]\nlicense = \"MIT\"\n[dependencies]\nserde = \"1\"\nx = { package = \"y\", version = \"=2.0.0\" }\n\
                    [dev-dependencies]\nz = { git = \"https://z\", branch = \"main\" }\nw.workspace = true\n";
    assert_eq!(
        listed("Cargo.toml", manifest),
        ["serde 1 4 direct", "y 2.0.0 5 direct", "z - 7 direct dev"]
    );
}

#[test]
fn go() {
    let module = "module example.com/a\ngo 1.21\ntoolchain go1.22\n\nrequire (\n\tgithub.com/a/b v1.2.3\n\tgithub.com/c/d v0.0.0-20200101000000-abcdefabcdef // indirect\n)\n\
                  require github.com/e/f v2.0.0+incompatible\nreplace github.com/a/b => github.com/x/b v1.2.4\nreplace github.com/e/f => ../f\n";
    assert_eq!(
        listed("go.mod", module),
        [
            "stdlib 1.22 3 direct",
            "github.com/x/b 1.2.4 6 direct",
            "github.com/c/d 0.0.0-20200101000000-abcdefabcdef 7 transitive"
        ]
    );
    let sums = "github.com/a/b v1.2.3 h1:x=\ngithub.com/a/b v1.2.3/go.mod h1:y=\n";
    assert_eq!(listed("go.sum", sums), ["github.com/a/b 1.2.3 1"]);
    assert!(read("go.mod", "this is not a module").expect("known").is_err());
}

#[test]
fn npm() {
    let manifest = "{\n \"license\": \"MIT\",\n \"scripts\": {\n  \"postinstall\": \"node x.js\",\n  \"test\": \"jest\"\n },\n \"dependencies\": {\n  \"a\": \"^1.0.0\",\n  \"b\": \"github:u/b\",\n  \"c\": \"npm:d@2.0.0\"\n },\n \"devDependencies\": {\"e\": \"workspace:*\", \"f\": \"1.0.0\"}\n}\n";
    assert_eq!(
        listed("package.json", manifest),
        [
            "a ^1.0.0 8 direct",
            "b github:u/b 9 direct",
            "d 2.0.0 10 direct",
            "f 1.0.0 12 direct dev"
        ]
    );
    let document = read("package.json", manifest).expect("known").expect("read");
    assert_eq!(document.scripts[0].name, "postinstall");
    assert_eq!(document.license.map(|license| license.line), Some(2));
    let lock = "{\n \"lockfileVersion\": 3,\n \"packages\": {\n  \"\": {\"dependencies\": {\"a\": \"^1\"}},\n  \"node_modules/a\": {\n   \"version\": \"1.0.1\",\n   \"hasInstallScript\": true\n  },\n  \"node_modules/a/node_modules/@s/b\": {\"version\": \"2.0.0\", \"dev\": true}\n }\n}";
    assert_eq!(
        listed("package-lock.json", lock),
        ["a 1.0.1 6 direct", "@s/b 2.0.0 9 transitive dev"]
    );
    assert!(packages("package-lock.json", lock)[0].has_install_script);
    let old = "{\"dependencies\": {\"a\": {\"version\": \"1.0.1\", \"dependencies\": {\"b\": {\"version\": \"2.0.0\"}}}}}";
    assert_eq!(listed("npm-shrinkwrap.json", old), ["a 1.0.1 1", "b 2.0.0 1 transitive"]);
    let bun = "{\n \"workspaces\": {\"\": {\"dependencies\": {\"a\": \"1\"}}},\n \"packages\": {\n  \"a\": [\"a@1.0.1\", \"\", {}, \"sha512-x\"],\n  \"@s/b\": [\"@s/b@2.0.0\", \"\", {}, \"sha512-x\"],\n }\n}";
    assert_eq!(listed("bun.lock", bun), ["a 1.0.1 4 direct", "@s/b 2.0.0 5 transitive"]);
}

#[test]
fn yarn_and_pnpm() {
    let first = "# yarn lockfile v1\n\n\n\"@s/a@^1.0.0\", \"@s/a@^1.1.0\":\n  version \"1.2.0\"\n  resolved \"https://r/@s/a/-/a-1.2.0.tgz#x\"\n  dependencies:\n    version \"9\"\n\nb@npm:c@2.0.0:\n  version \"2.0.0\"\n";
    assert_eq!(listed("yarn.lock", first), ["@s/a 1.2.0 5", "c 2.0.0 11"]);
    let berry = "__metadata:\n  version: 6\n\n\"a@npm:^1.0.0\":\n  version: 1.2.0\n  resolution: \"a@npm:1.2.0\"\n\n\"root@workspace:.\":\n  version: 0.0.0-use.local\n";
    assert_eq!(listed("yarn.lock", berry), ["a 1.2.0 5"]);
    let pnpm = "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      a:\n        specifier: ^1\n        version: 1.0.1\n\npackages:\n\n  a@1.0.1:\n    resolution: {integrity: x}\n\n  '@s/b@2.0.0(c@1.0.0)':\n    requiresBuild: true\n";
    assert_eq!(listed("pnpm-lock.yaml", pnpm), ["a 1.0.1 13 direct", "@s/b 2.0.0 16 transitive"]);
    let old = "lockfileVersion: 5.3\n\ndependencies:\n  a: 1.0.1\n\npackages:\n\n  /a/1.0.1:\n    dev: true\n\n  /@s/b/2.0.0_c@1.0.0:\n    dev: false\n";
    assert_eq!(listed("pnpm-lock.yaml", old), ["a 1.0.1 8 direct dev", "@s/b 2.0.0 11 transitive"]);
}

#[test]
fn python() {
    let text = "# c\nFlask==2.0.1 # why\nrequests[socks]>=2,<3 ; python_version > '3'\n-r other.txt\nx @ git+https://h/x@0123456789abcdef\n\
                y==1.0 \\\n  --hash=sha256:abc\n-e git+https://h/z@main#egg=zed\nhttps://h/w-1.0.tar.gz\n./local\n";
    assert_eq!(
        listed("requirements-dev.txt", text),
        [
            "Flask 2.0.1 2 direct",
            "requests >=2,<3 3 direct",
            "x - 5 direct",
            "y 1.0 6 direct",
            "zed - 8 direct",
            "w-1.0.tar.gz - 9 direct"
        ]
    );
    let found = packages("requirements.txt", text);
    assert!(matches!(found[2].origin, Origin::Git { pinned: true, .. }));
    assert!(matches!(found[4].origin, Origin::Git { pinned: false, .. }));
    let project = "[project]\ndependencies = [\n  \"a>=1\",\n  \"b==2.0\",\n]\nlicense = {text = \"MIT\"}\n[dependency-groups]\ntest = [\"c\"]\n[tool.poetry.dependencies]\npython = \"^3.8\"\nd = \"^1.0\"\n";
    assert_eq!(
        listed("pyproject.toml", project),
        ["a >=1 3 direct", "b 2.0 4 direct", "c  8 direct dev", "d ^1.0 11 direct"]
    );
    let poetry = "[[package]]\nname = \"a\"\nversion = \"1.0\"\n\n[package.source]\ntype = \"git\"\nurl = \"u\"\nresolved_reference = \"0123456789\"\n";
    assert_eq!(listed("poetry.lock", poetry), ["a 1.0 3"]);
    assert!(matches!(packages("poetry.lock", poetry)[0].origin, Origin::Git { pinned: true, .. }));
    let uv = "[[package]]\nname = \"app\"\nversion = \"0\"\nsource = { editable = \".\" }\ndependencies = [{ name = \"a\" }]\n\n[[package]]\nname = \"a\"\nversion = \"1.0\"\nsource = { registry = \"x\" }\n";
    assert_eq!(listed("uv.lock", uv), ["a 1.0 9 direct"]);
    let pipenv = "{\"default\": {\"a\": {\"version\": \"==1.0\"}}, \"develop\": {\"b\": {\"version\": \"==2.0\"}}}";
    assert_eq!(listed("Pipfile.lock", pipenv), ["a 1.0 1", "b 2.0 1 dev"]);
}

#[test]
fn ruby() {
    let lock = "GEM\n  remote: https://rubygems.org/\n  specs:\n    a (1.0.1)\n      b (~> 2)\n    b (2.0.0-x86_64-linux)\n\nDEPENDENCIES\n  a (~> 1)!\n";
    assert_eq!(listed("Gemfile.lock", lock), ["a 1.0.1 4 direct", "b 2.0.0 6 transitive"]);
    let gemfile = "source 'x'\ngem 'a', '~> 1.0'\ngem \"b\", \"2.0.0\"\ngem 'c', git: 'https://c', branch: 'main'\n";
    assert_eq!(
        listed("Gemfile", gemfile),
        ["a ~> 1.0 2 direct", "b 2.0.0 3 direct", "c  4 direct"]
    );
    assert!(matches!(packages("Gemfile", gemfile)[2].origin, Origin::Git { pinned: false, .. }));
}

#[test]
fn php() {
    let lock = "{\"packages\": [{\n \"name\": \"a/b\",\n \"version\": \"v1.0.1\"}], \"packages-dev\": [{\"name\": \"c/d\", \"version\": \"2.0\"}]}";
    assert_eq!(listed("composer.lock", lock), ["a/b v1.0.1 3", "c/d 2.0 3 dev"]);
    let manifest = "{\"require\": {\"php\": \">=8\", \"a/b\": \"^1.0\"}, \"scripts\": {\"post-install-cmd\": [\"x\", \"y\"]}}";
    assert_eq!(listed("composer.json", manifest), ["a/b ^1.0 1 direct"]);
}

#[test]
fn java() {
    let pom = "<project>\n <version>3.0</version>\n <properties>\n  <v>1.2.3</v>\n </properties>\n <dependencies>\n  <dependency>\n   <groupId>g</groupId>\n   <artifactId>a</artifactId>\n   <version>${v}</version>\n  </dependency>\n  <dependency><groupId>${project.groupId}</groupId><artifactId>b</artifactId><version>[2.0]</version><scope>test</scope></dependency>\n </dependencies>\n</project>";
    assert_eq!(
        listed("pom.xml", pom),
        ["g:a 1.2.3 10 direct", "${project.groupId}:b 2.0 12 direct dev"]
    );
    assert!(read("pom.xml", "<x/>").expect("known").is_err());
    let lock =
        "# c\ng:a:1.0=compileClasspath,runtimeClasspath\ng:b:2.0=testRuntimeClasspath\nempty=x\n";
    assert_eq!(listed("gradle.lockfile", lock), ["g:a 1.0 2", "g:b 2.0 3 dev"]);
    let build = "dependencies {\n  implementation 'g:a:1.0'\n  testImplementation(\"g:b:2.0\")\n  api group: 'g', name: 'c', version: '3.0'\n  implementation libs.x\n}\n";
    assert_eq!(
        listed("build.gradle", build),
        ["g:a 1.0 2 direct", "g:b 2.0 3 direct dev", "g:c 3.0 4 direct"]
    );
    let catalog = "[versions]\nv = \"1.0\"\n[libraries]\na = { module = \"g:a\", version.ref = \"v\" }\nb = \"g:b:2.0\"\n";
    assert_eq!(
        listed("gradle/libs.versions.toml", catalog),
        ["g:a 1.0 2 direct", "g:b 2.0 5 direct"]
    );
}

#[test]
fn dotnet() {
    let lock = "{\"version\": 1, \"dependencies\": {\"net8.0\": {\n \"A\": {\"type\": \"Direct\",\n  \"resolved\": \"1.0.0\"},\n \"B\": {\"type\": \"Transitive\", \"resolved\": \"2.0.0\"}}}}";
    assert_eq!(listed("packages.lock.json", lock), ["A 1.0.0 3 direct", "B 2.0.0 4 transitive"]);
    let project = "<Project>\n <ItemGroup>\n  <PackageReference Include=\"A\" Version=\"1.0.0\" />\n  <PackageReference Include=\"B\"><Version>2.*</Version></PackageReference>\n </ItemGroup>\n</Project>";
    assert_eq!(listed("src/App.csproj", project), ["A 1.0.0 3 direct", "B 2.* 4 direct"]);
    let config = "<packages>\n <package id=\"A\" version=\"1.0.0\" />\n</packages>";
    assert_eq!(listed("packages.config", config), ["A 1.0.0 2 direct"]);
}

mod properties {
    use proptest::prelude::*;

    use super::super::*;

    const FORMATS: &[Format] = &[
        Format::CargoToml,
        Format::CargoLock,
        Format::GoMod,
        Format::GoSum,
        Format::PackageJson,
        Format::PackageLock,
        Format::YarnLock,
        Format::PnpmLock,
        Format::BunLock,
        Format::Requirements,
        Format::Pyproject,
        Format::PythonLock,
        Format::Pipfile,
        Format::PipfileLock,
        Format::Gemfile,
        Format::GemfileLock,
        Format::ComposerJson,
        Format::ComposerLock,
        Format::Pom,
        Format::GradleLock,
        Format::GradleBuild,
        Format::GradleCatalog,
        Format::GradleVerification,
        Format::NuGetLock,
        Format::NuGetConfig,
        Format::NuGetProject,
    ];

    proptest! {
        #[test]
        fn no_text_breaks_a_reader(format in prop::sample::select(FORMATS), text in "(?s)([\"'@:=/#.{}()<>,\\[\\] \n\t-]|[a-zé0-9]{1,3}|packages|version|require|name|gem |npm:|git\\+){0,60}") {
            let lines = text.lines().count() as u64 + 1;
            if let Ok(document) = read_as(format, &text) {
                prop_assert!(document.packages.iter().all(|package| (1..=lines).contains(&package.line)));
            }
        }
    }
}
