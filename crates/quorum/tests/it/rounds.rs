//! One pull request over many reviews, each from a fresh clone: after each, what the host shows is
//! compared with what is true of the code.

pub(crate) mod host;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer};

use crate::sandbox::{Sandbox, text};
use host::{ACCOUNT, Host, Kind};

/// A function of the change.
#[derive(Clone, Debug)]
struct Function {
    /// Unique, also over time: what comes back under its name is the same defect.
    name: String,
    sort: Sort,
    bad: bool,
    /// Functions with the same key have the same code but for their names.
    key: String,
    suppressed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    /// Its defect is a veto.
    Query,
    /// Its defect is MEDIUM.
    Default,
}

impl Function {
    fn new(name: &str, sort: Sort) -> Self {
        let (name, key) = (name.to_owned(), name.to_owned());
        Self { name, sort, bad: true, key, suppressed: false }
    }

    fn text(&self) -> String {
        let Self { name, key, .. } = self;
        let rule = match self.sort {
            Sort::Query => "sql-injection",
            Sort::Default => "python.mutable-default",
        };
        let ignored = if self.suppressed {
            format!("  # quorum:ignore {rule} harmless")
        } else {
            String::new()
        };
        match (self.sort, self.bad) {
            (Sort::Query, true) => format!(
                "def {name}():\n    value = request.args.get(\"{key}\")\n    rows = db.execute(\
                 \"SELECT * FROM {key} WHERE a = '\" + value + \"'\"){ignored}\n    return rows\n"
            ),
            (Sort::Query, false) => format!(
                "def {name}():\n    value = request.args.get(\"{key}\")\n    rows = db.execute(\
                 \"SELECT * FROM {key} WHERE a = ?\", (value,))\n    return rows\n"
            ),
            (Sort::Default, true) => {
                format!("def {name}(items=[]):{ignored}\n    return list(items)\n")
            }
            (Sort::Default, false) => format!("def {name}(items=None):\n    return items or []\n"),
        }
    }
}

/// What the pull request's branch holds.
#[derive(Clone, Debug, Default)]
struct Code {
    files: BTreeMap<String, Vec<Function>>,
}

impl Code {
    fn text(functions: &[Function]) -> String {
        let head = "from flask import request\n\nfrom store import db\n";
        functions.iter().fold(head.to_owned(), |all, one| all + "\n\n" + &one.text())
    }

    fn function(&mut self, name: &str) -> &mut Function {
        let all = self.files.values_mut().flatten();
        all.into_iter().find(|one| one.name == name).expect("a known function")
    }

    /// The names of functions with a defect.
    fn bad(&self) -> BTreeMap<&str, &Function> {
        let all = self.files.values().flatten().filter(|one| one.bad);
        all.map(|one| (one.name.as_str(), one)).collect()
    }
}

/// A pull request with its developer, its host, and what is known about it.
struct Story {
    dev: Sandbox,
    host: Host,
    server: MockServer,
    code: Code,
    /// Names of functions whose findings a person set aside.
    dismissed: BTreeSet<String>,
    /// The id of each function's finding: no id ever means two functions.
    ids: BTreeMap<String, String>,
    /// Where a function with a defect was last, and how it read.
    last: BTreeMap<String, (String, String)>,
    /// Ids of defects that moved to another file and were edited at once: nobody can tell that they
    /// are the same, so they are resolved there and new here.
    retired: BTreeSet<String>,
    round: usize,
}

impl Story {
    async fn new(kind: Kind) -> Self {
        let dev = Sandbox::new();
        dev.write("store.py", "db = None\n");
        dev.commit("store");
        dev.git(&["checkout", "--quiet", "-b", "feature"]);
        let server = MockServer::start().await;
        let host = Host::new(kind);
        Mock::given(any()).respond_with(host.clone()).mount(&server).await;
        Self {
            dev,
            host,
            server,
            code: Code::default(),
            dismissed: BTreeSet::new(),
            ids: BTreeMap::new(),
            last: BTreeMap::new(),
            retired: BTreeSet::new(),
            round: 0,
        }
    }

    /// Writes the code to the branch; a forced push puts it into one commit on a main that moved.
    fn push(&self, forced: bool) {
        let dev = &self.dev;
        if forced {
            dev.git(&["checkout", "--quiet", "main"]);
            dev.write("CHANGES.md", format!("round {}\n", self.round));
            dev.commit("main moves");
            dev.git(&["checkout", "--quiet", "-B", "feature", "main"]);
        }
        for file in dev.git(&["ls-files", "*.py"]).lines() {
            if file != "store.py" && !self.code.files.contains_key(file) {
                dev.remove(file);
            }
        }
        for (file, functions) in &self.code.files {
            dev.write(file, Code::text(functions));
        }
        dev.commit(&format!("round {}", self.round));
        let base = dev.git(&["merge-base", "main", "feature"]).trim().to_owned();
        let head = dev.git(&["rev-parse", "feature"]).trim().to_owned();
        let mut pull = self.host.pull();
        pull.diff = dev.git(&["diff", &base, &head]);
        (pull.base, pull.head) = (base, head);
    }

    fn quorum(&self, clone: &Sandbox, arguments: &[&str]) -> std::process::Output {
        clone.quorum_with(arguments, |command| {
            match self.host.kind {
                Kind::GitHub => command
                    .env("GITHUB_API_URL", self.server.uri())
                    .env("GITHUB_REPOSITORY", "team/app")
                    .env("GITHUB_TOKEN", "tok-0123456789"),
                Kind::GitLab => command
                    .env("CI_API_V4_URL", self.server.uri())
                    .env("CI_PROJECT_PATH", "team/app")
                    .env("GITLAB_TOKEN", "tok-0123456789"),
            };
        })
    }

    /// One review from a fresh clone, posted; then what the host shows is compared with the truth.
    fn review(&mut self, forced: bool) {
        self.round += 1;
        self.push(forced);
        let clone = Sandbox::bare_folder();
        let from = self.dev.root().to_str().expect("UTF-8").to_owned();
        clone.git(&["clone", "--quiet", &from, "."]);
        clone.git(&["checkout", "--quiet", "origin/feature"]);
        let reviewed = self.quorum(&clone, &["review", "--pr", "7", "--format", "json"]);
        let said = text(&reviewed.stderr);
        assert!(matches!(reviewed.status.code(), Some(0 | 1)), "{}: {said}", self.round);
        let result: Value = serde_json::from_slice(&reviewed.stdout).expect("a result");
        for finding in result["findings"].as_array().expect("findings") {
            self.name(finding);
        }
        let posted = self.quorum(&clone, &["post", "--pr", "7"]);
        assert!(posted.status.success(), "{}: {}", self.round, text(&posted.stderr));
        self.compare(&result);
        // Posting again writes nothing.
        let before: Vec<String> =
            self.host.pull().texts.iter().map(|one| one.body.clone()).collect();
        let posted = self.quorum(&clone, &["post", "--pr", "7"]);
        assert!(posted.status.success(), "{}: {}", self.round, text(&posted.stderr));
        let after: Vec<String> =
            self.host.pull().texts.iter().map(|one| one.body.clone()).collect();
        assert!(before == after, "round {}: posting twice changed something", self.round);
    }

    /// Notes the id of a finding, which must be the one that its function always had.
    fn name(&mut self, finding: &Value) {
        let id = finding["id"].as_str().expect("an id").to_owned();
        let file = finding["file"].as_str().expect("a file");
        let line = usize::try_from(finding["line"].as_u64().expect("a line")).expect("small");
        let code = Code::text(&self.code.files[file]);
        let upto: Vec<&str> = code.lines().take(line).collect();
        let function = upto.iter().rev().find_map(|line| line.strip_prefix("def "));
        let function = function.and_then(|rest| rest.split('(').next()).expect("a function");
        let round = self.round;
        let now = (file.to_owned(), self.code.bad()[function].text());
        let before = self.last.insert(function.to_owned(), now.clone());
        let is_other = before.is_some_and(|before| before.0 != now.0 && before.1 != now.1);
        if is_other && self.ids.get(function).is_some_and(|known| *known != id) {
            self.retired.extend(self.ids.remove(function));
        }
        assert!(!self.retired.contains(&id), "round {round}: {id} is back as {function}");
        let known = self.ids.entry(function.to_owned()).or_insert_with(|| id.clone());
        assert_eq!(*known, id, "round {round}: {function} was {known} and is {id}");
        let same = self.ids.iter().filter(|(_, other)| **other == id);
        let same: Vec<&String> = same.map(|(name, _)| name).collect();
        assert_eq!(same.len(), 1, "round {round}: {id} means {same:?}");
    }

    /// Holds the page against the code.
    fn compare(&self, result: &Value) {
        let round = self.round;
        let bad = self.code.bad();
        let state = |name: &str| match bad.get(name) {
            None => "Resolved",
            Some(_) if self.dismissed.contains(name) => "Dismissed",
            // One that the change brings lifts no veto.
            Some(one) if one.suppressed && one.sort == Sort::Default => "Suppressed",
            Some(_) => "open",
        };
        for name in bad.keys().filter(|name| state(name) == "open") {
            assert!(self.ids.contains_key(*name), "round {round}: {name} was not found");
        }
        let pull = self.host.pull();
        let ours = || pull.texts.iter().filter(|text| text.author == ACCOUNT);
        let summaries: Vec<_> =
            ours().filter(|text| text.body.contains("quorum:summary")).collect();
        assert_eq!(summaries.len(), 1, "round {round}");
        let open: BTreeSet<&str> = self
            .ids
            .iter()
            .filter(|(name, _)| state(name) == "open")
            .map(|(_, id)| id.as_str())
            .collect();
        let listed: BTreeSet<&str> = summaries[0]
            .body
            .split("<summary><b>")
            .skip(1)
            .filter_map(|part| part.split("<code>").nth(1)?.split("</code>").next())
            .collect();
        assert_eq!(listed, open, "round {round}: {}", summaries[0].body);
        let json: BTreeSet<&str> = result["findings"]
            .as_array()
            .expect("findings")
            .iter()
            .map(|finding| finding["id"].as_str().expect("an id"))
            .collect();
        assert_eq!(json, open, "round {round}");
        let named = self.ids.iter().map(|(name, id)| (state(name), id));
        for (state, id) in named.chain(self.retired.iter().map(|id| ("Resolved", id))) {
            let threads: Vec<_> = ours()
                .filter(|text| text.place.is_some())
                .filter(|text| text.body.contains(&format!("<sub>{id} ·")))
                .collect();
            assert!(threads.len() <= 1, "round {round}: {id} has {} comments", threads.len());
            let Some(thread) = threads.first() else {
                assert_ne!(state, "open", "round {round}: {id} has no comment");
                continue;
            };
            let shown = ["Resolved", "Dismissed", "Suppressed"]
                .into_iter()
                .find(|word| thread.body.starts_with(&format!("**{word}.**")))
                .unwrap_or("open");
            assert_eq!(shown, state, "round {round}: {id}");
            assert_eq!(thread.resolved, shown != "open", "round {round}: the thread of {id}");
        }
    }

    fn say(&self, who: &str, body: &str) {
        self.host.pull().say(who, body, None);
    }

    fn dismiss(&mut self, name: &str) {
        self.say("ann", &format!("/quorum dismiss {} it is only a test", self.ids[name]));
        self.dismissed.insert(name.to_owned());
    }
}

fn add(story: &mut Story, file: &str, functions: &[(&str, Sort)]) {
    let new = functions.iter().map(|(name, sort)| Function::new(name, *sort));
    story.code.files.entry(file.to_owned()).or_default().extend(new);
}

/// Ten reviews: fixes, moved code, forced pushes, dismissals, findings that come back, equal code.
async fn ten_rounds(kind: Kind) {
    let mut story = Story::new(kind).await;
    add(&mut story, "app.py", &[("alpha", Sort::Query), ("beta", Sort::Query)]);
    add(&mut story, "web.py", &[("gamma", Sort::Query), ("delta", Sort::Default)]);
    story.review(false);
    // A fix and a new defect.
    story.code.function("alpha").bad = false;
    add(&mut story, "app.py", &[("epsilon", Sort::Query)]);
    story.review(false);
    // The order of functions changes.
    story.code.files.get_mut("app.py").expect("it is there").reverse();
    story.review(true);
    // A person sets one aside. Others try, and forge what Quorum remembers.
    story.dismiss("gamma");
    let beta = story.ids["beta"].clone();
    story.say("mallory", &format!("/quorum dismiss {beta} trust me"));
    let stolen = story.host.pull().texts[0].body.clone();
    story.host.pull().say("mallory", &stolen, Some(("app.py".to_owned(), 3)));
    story.say("mallory", &stolen);
    story.review(false);
    // What was mended comes back; the file of another moves.
    story.code.function("alpha").bad = true;
    let moved = story.code.files.remove("web.py").expect("it is there");
    story.code.files.insert("views.py".to_owned(), moved);
    story.review(false);
    // The same code twice in one file, the new one first.
    let twin = Function { key: "epsilon".to_owned(), ..Function::new("zeta", Sort::Query) };
    story.code.files.get_mut("app.py").expect("it is there").insert(0, twin);
    story.review(true);
    // The first of the two goes; the person changes her mind.
    story.code.function("zeta").bad = false;
    let gamma = story.ids["gamma"].clone();
    story.say("ann", &format!("/quorum dismiss --undo {gamma}"));
    story.dismissed.remove("gamma");
    story.review(false);
    // A comment in the code silences what is no veto, and not what is one. Somebody closes a discussion
    // whose finding stands.
    story.code.function("delta").suppressed = true;
    story.code.function("beta").suppressed = true;
    let id = story.ids["alpha"].clone();
    for text in &mut story.host.pull().texts {
        text.resolved |= text.body.contains(&format!("<sub>{id} ·"));
    }
    story.review(false);
    // A file goes with what was in it.
    story.code.files.remove("views.py");
    story.review(true);
    // All is mended.
    for name in ["alpha", "beta", "epsilon"] {
        story.code.function(name).bad = false;
    }
    story.review(false);
    assert!(story.ids.len() >= 6, "{:?}", story.ids);
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_rounds_on_github_show_what_is_true() {
    ten_rounds(Kind::GitHub).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_rounds_on_gitlab_show_what_is_true() {
    ten_rounds(Kind::GitLab).await;
}

/// A small generator, so that a seed gives the same story everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % sides.max(1)
    }
}

fn change(story: &mut Story, dice: &mut Dice, next: &mut usize) {
    let files = ["app.py", "web.py", "deep/views.py"];
    let names: Vec<String> =
        story.code.files.values().flatten().map(|one| one.name.clone()).collect();
    let some = |dice: &mut Dice| names.get(dice.roll(names.len())).cloned();
    match dice.roll(9) {
        0 | 1 => {
            *next += 1;
            let sort = if dice.roll(3) == 0 { Sort::Default } else { Sort::Query };
            add(story, files[dice.roll(3)], &[(&format!("f{next}"), sort)]);
        }
        2 | 3 => {
            if let Some(name) = some(dice) {
                let one = story.code.function(&name);
                one.bad = !one.bad;
                one.suppressed = false;
            }
        }
        4 => {
            let count = story.code.files.len();
            if let Some(functions) = story.code.files.values_mut().nth(dice.roll(count)) {
                functions.reverse();
            }
        }
        5 => {
            // A file gets another name, where none has it.
            let from = story.code.files.keys().nth(dice.roll(story.code.files.len())).cloned();
            if let Some(from) = from {
                let functions = story.code.files.remove(&from).expect("it is there");
                story.code.files.insert(format!("moved{next}.py"), functions);
                *next += 1;
            }
        }
        6 => {
            // A dismissal is of the code as it is: an edit of the line makes it another.
            let known = some(dice).filter(|name| story.ids.contains_key(name));
            let known = known.filter(|name| {
                let one = story.code.function(name);
                one.bad && !one.suppressed
            });
            if let Some(name) = known {
                story.dismiss(&name);
            }
        }
        7 => {
            if let Some(name) = story.dismissed.pop_first() {
                story.say("ann", &format!("/quorum dismiss --undo {}", story.ids[&name]));
            }
        }
        _ => {
            if let Some(name) = some(dice).filter(|name| !story.dismissed.contains(name)) {
                let one = story.code.function(&name);
                one.suppressed = one.bad && !one.suppressed;
            }
        }
    }
    story.code.files.retain(|_, functions| !functions.is_empty());
}

/// Stories that nobody wrote. `QUORUM_STORIES` is how many; a chore runs more.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes half a minute a story; `cargo xtask rounds 20` runs it"]
async fn any_rounds_show_what_is_true() {
    let count = std::env::var("QUORUM_STORIES").ok().and_then(|text| text.parse().ok());
    for seed in 0..count.unwrap_or(2_u64) {
        for kind in [Kind::GitHub, Kind::GitLab] {
            let (mut dice, mut next) = (Dice(seed + 1), 0);
            let mut story = Story::new(kind).await;
            add(&mut story, "app.py", &[("first", Sort::Query)]);
            for _ in 0..10 {
                for _ in 0..=dice.roll(3) {
                    change(&mut story, &mut dice, &mut next);
                }
                if story.code.files.is_empty() {
                    add(&mut story, "app.py", &[(&format!("again{next}"), Sort::Query)]);
                    next += 1;
                }
                let forced = dice.roll(3) == 0;
                eprintln!("{kind:?}, story {seed}, round {}: {:?}", story.round + 1, story.code);
                story.review(forced);
            }
        }
    }
}
