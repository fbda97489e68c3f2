//! Choosing what goes in.

use quorum_model::SCHEMA_VERSION;
use quorum_model::context::{ContextItem, ContextKind, ContextManifest};
use quorum_plan::sop::Sop;

use crate::context::sections;

/// Something that a reviewer could be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// What it is.
    pub kind: ContextKind,
    /// Where it comes from.
    pub source: String,
    /// Why it is of interest.
    pub reason: String,
    /// What it says.
    pub text: String,
    /// How it may be shortened.
    pub cut: Cut,
}

/// How a candidate may be shortened where there is no room for all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Not at all: it goes in whole, or not.
    Never,
    /// After a line; and it may not take more than a quarter of the room for everything.
    Lines,
    /// After a section that begins with a heading.
    Sections,
}

/// What a reviewer's context is made from.
#[derive(Clone, Debug)]
pub(crate) struct ContextRequest<'a> {
    /// The reviewer.
    pub agent: Option<&'a str>,
    /// The files that it is shown.
    pub files: Vec<String>,
    /// The standing orders that apply to them.
    pub sops: Vec<&'a Sop>,
    /// What else there is, in each kind the best first.
    pub candidates: Vec<Candidate>,
    /// What is known to be left out before anything is chosen.
    pub left_out: Vec<ContextItem>,
    /// The most tokens of all of it.
    pub limit: u64,
}

/// What a reviewer is told beside the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assembled {
    /// What went in, what did not, and why.
    pub manifest: ContextManifest,
    /// The text, without the standing orders, which are shown on their own.
    pub text: String,
}

/// Chooses: standing orders whole, then decisions, signatures, tests and conventions, as far as they
/// fit. Which file's SOPs fit together was decided before; those that are given all go in.
pub(crate) fn assemble(request: ContextRequest<'_>, count: impl Fn(&str) -> u64) -> Assembled {
    let ContextRequest { agent, files, sops, mut candidates, left_out, limit } = request;
    let mut chosen = Chosen { left: limit, limit, ..Chosen::default() };
    for sop in sops {
        chosen.left = chosen.left.saturating_sub(sop.tokens);
        let why = files.iter().find_map(|file| sop.why(file)).map(|why| why.to_string());
        chosen.included.push(ContextItem {
            kind: ContextKind::Sop,
            source: sop.name.clone(),
            tokens: sop.tokens,
            reason: why.unwrap_or_default(),
            cut: None,
        });
    }
    candidates.sort_by_key(|candidate| candidate.kind);
    for candidate in candidates {
        chosen.consider(candidate, &count);
    }
    let Chosen { included, left_out: no_room, text, .. } = chosen;
    let manifest = ContextManifest {
        schema_version: SCHEMA_VERSION,
        agent: agent.map(str::to_owned),
        files,
        limit,
        tokens: included.iter().map(|item| item.tokens).sum(),
        included,
        left_out: left_out.into_iter().chain(no_room).collect(),
    };
    Assembled { manifest, text }
}

#[derive(Default)]
struct Chosen {
    limit: u64,
    left: u64,
    last: Option<ContextKind>,
    included: Vec<ContextItem>,
    left_out: Vec<ContextItem>,
    text: String,
}

impl Chosen {
    fn consider(&mut self, candidate: Candidate, count: &impl Fn(&str) -> u64) {
        let Candidate { kind, source, reason, text, cut } = candidate;
        let heading = self.heading(kind);
        let shown = |body: &str| format!("{heading}### {source}\n{}\n", body.trim_end());
        let most = if cut == Cut::Lines { self.left.min(self.limit / 4) } else { self.left };
        let whole = shown(&text);
        let tokens = count(&whole);
        if tokens <= most {
            self.include(kind, &whole, ContextItem { kind, source, tokens, reason, cut: None });
            return;
        }
        let pieces: Vec<&str> = match cut {
            Cut::Never => Vec::new(),
            Cut::Lines => text.split_inclusive('\n').collect(),
            Cut::Sections => sections::split(&text),
        };
        let fits = |taken: usize| {
            let shown = shown(&pieces[..taken].concat());
            let tokens = count(&shown);
            (tokens <= most).then_some((taken, shown, tokens))
        };
        // More pieces never take fewer tokens, so that halving finds the most that fit.
        let (mut low, mut high) = (0, pieces.len());
        let mut best = None;
        while low < high {
            let taken = low + (high - low).div_ceil(2);
            match fits(taken) {
                Some(found) => {
                    best = Some(found);
                    low = taken;
                }
                None => high = taken - 1,
            }
        }
        if let Some((taken, shown, tokens)) = best {
            let of = if cut == Cut::Lines { "lines" } else { "sections" };
            let cut = Some(format!("the first {taken} of {} {of}", pieces.len()));
            self.include(kind, &shown, ContextItem { kind, source, tokens, reason, cut });
        } else {
            let reason = format!("{reason}; no room: {} tokens are left", self.left);
            self.left_out.push(ContextItem { kind, source, tokens, reason, cut: None });
        }
    }

    fn heading(&self, kind: ContextKind) -> &'static str {
        if self.last == Some(kind) {
            return "";
        }
        match kind {
            ContextKind::Sop => "",
            ContextKind::Decision => "## Decided before\n",
            ContextKind::Summary => "## What files declare\n",
            ContextKind::Test => "## Tests that there are\n",
            ContextKind::Convention => "## How the team writes code\n",
        }
    }

    fn include(&mut self, kind: ContextKind, shown: &str, item: ContextItem) {
        self.left = self.left.saturating_sub(item.tokens);
        self.last = Some(kind);
        self.text.push_str(shown);
        self.included.push(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn count(text: &str) -> u64 {
        (text.len() as u64).div_ceil(4)
    }

    fn sop(name: &str, tokens: u64) -> Sop {
        quorum_plan::sop::parse(&format!("{name}.md"), "Text.", |_| tokens).expect("it parses")
    }

    fn candidate(kind: ContextKind, source: &str, text: String, cut: Cut) -> Candidate {
        Candidate { kind, source: source.to_owned(), reason: "why".to_owned(), text, cut }
    }

    #[test]
    fn the_more_important_goes_first_whatever_the_order() {
        let line = |kind, source| candidate(kind, source, "line\n".to_owned(), Cut::Never);
        let orders = [sop("orders", 10)];
        let request = ContextRequest {
            agent: Some("go-reviewer"),
            files: vec!["a.go".to_owned()],
            sops: orders.iter().collect(),
            candidates: vec![
                line(ContextKind::Convention, "AGENTS.md"),
                line(ContextKind::Test, "a_test.go"),
                line(ContextKind::Summary, "a.go"),
                line(ContextKind::Decision, "memory m-1"),
            ],
            left_out: Vec::new(),
            limit: 4_000,
        };
        let Assembled { manifest, text } = assemble(request, count);
        let kinds: Vec<&str> = manifest.included.iter().map(|item| item.kind.as_str()).collect();
        assert_eq!(kinds, ["sop", "decision", "summary", "test", "convention"]);
        assert_eq!(
            text,
            "## Decided before\n### memory m-1\nline\n\
             ## What files declare\n### a.go\nline\n\
             ## Tests that there are\n### a_test.go\nline\n\
             ## How the team writes code\n### AGENTS.md\nline\n"
        );
    }

    #[test]
    fn what_is_cut_says_what_is_missing_and_what_has_no_room_says_so() {
        let text = "# One\nshort\n# Two\n".to_owned() + &"long ".repeat(400);
        let candidates = vec![
            candidate(ContextKind::Convention, "CONTRIBUTING.md", text, Cut::Sections),
            candidate(ContextKind::Convention, "STYLE.md", "words ".repeat(90), Cut::Never),
        ];
        let request = ContextRequest {
            agent: None,
            files: Vec::new(),
            sops: Vec::new(),
            candidates,
            left_out: Vec::new(),
            limit: 100,
        };
        let Assembled { manifest, text } = assemble(request, count);
        assert_eq!(manifest.included[0].cut.as_deref(), Some("the first 1 of 2 sections"));
        assert!(text.contains("# One\nshort") && !text.contains("Two"), "{text}");
        assert_eq!(manifest.left_out[0].source, "STYLE.md");
        assert!(manifest.left_out[0].reason.starts_with("why; no room: "));
    }

    fn any_candidate() -> impl Strategy<Value = Candidate> {
        let kinds = prop_oneof![
            Just(ContextKind::Decision),
            Just(ContextKind::Summary),
            Just(ContextKind::Test),
            Just(ContextKind::Convention),
        ];
        let cuts = prop_oneof![Just(Cut::Never), Just(Cut::Lines), Just(Cut::Sections)];
        (kinds, "[a-z]{1,8}", "(# ?[a-z é]{0,40}\n|[a-z ]{0,60}\n){0,30}", cuts)
            .prop_map(|(kind, source, text, cut)| candidate(kind, &source, text, cut))
    }

    proptest! {
        #[test]
        fn sops_are_whole_the_rest_fits_and_nothing_is_forgotten(
            orders in proptest::collection::vec(0u64..1_000, 0..4),
            candidates in proptest::collection::vec(any_candidate(), 0..12),
            room in 0u64..600,
        ) {
            let sops: Vec<Sop> = orders
                .iter()
                .enumerate()
                .map(|(index, tokens)| sop(&format!("s{index}"), *tokens))
                .collect();
            let limit = orders.iter().sum::<u64>() + room;
            let expected = candidates.len() + sops.len();
            let request = ContextRequest {
                agent: None,
                files: Vec::new(),
                sops: sops.iter().collect(),
                candidates,
                left_out: Vec::new(),
                limit,
            };
            let Assembled { manifest, text } = assemble(request, count);
            prop_assert_eq!(manifest.included.len() + manifest.left_out.len(), expected);
            prop_assert!(manifest.tokens <= limit);
            prop_assert!(count(&text) <= room);
            for (item, sop) in manifest.included.iter().zip(&sops) {
                prop_assert_eq!((&item.source, item.tokens), (&sop.name, sop.tokens));
                prop_assert!(item.cut.is_none());
            }
            prop_assert!(manifest.included.is_sorted_by_key(|item| item.kind));
        }
    }
}
