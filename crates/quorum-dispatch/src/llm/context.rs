//! The context of a branch, in regions, and how it is made smaller.

use quorum_index::Counter;
use quorum_llm::{Message, Text, ToolResult};

/// What a piece of context is; what goes first when room is short stands first. What tools gave back
/// goes before any of them, and is a turn of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Region {
    /// What searching for context before the review gave.
    SearchResults,
    /// What peers found.
    Peers,
    /// The code under review.
    Files,
    /// What is reviewed and how.
    Plan,
    /// The team's standing orders, which are never cut.
    Sops,
    /// Who the reviewer is, which is never cut.
    System,
}

/// A turn of the conversation with what its parts are.
#[derive(Clone, Debug)]
pub(crate) enum Turn {
    /// What we say, in parts.
    User(Vec<(Region, Text)>),
    /// What the model said.
    Assistant(Message),
    /// What came of its calls.
    Results(Vec<ToolResult>),
}

/// A conversation that can be made smaller without losing its shape.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    turns: Vec<Turn>,
}

/// What stands in the place of a result that was dropped: its call stays, and so it has to.
const DROPPED: &str = "(dropped to save room; call the tool again if you still need it)";

/// What stands in the place of code after the budget is used up.
const WITHHELD: &str = "(The code is not shown again: your budget is used up.)";

impl Context {
    pub(crate) fn push(&mut self, turn: Turn) {
        self.turns.push(turn);
    }

    pub(crate) fn messages(&self) -> Vec<Message> {
        self.turns
            .iter()
            .map(|turn| match turn {
                Turn::User(parts) => {
                    Message::User(parts.iter().map(|(_, text)| text.clone()).collect())
                }
                Turn::Assistant(message) => message.clone(),
                Turn::Results(results) => Message::Results(results.clone()),
            })
            .collect()
    }

    /// Takes results of tools out, oldest first and all of one turn together, until at most `limit`
    /// tokens are left or nothing is left to take. Calls keep their results, if only in name: a
    /// server refuses one without the other.
    pub(crate) fn compact(&mut self, counter: Counter, limit: u64) -> bool {
        let mut changed = false;
        let last = self.turns.len().saturating_sub(1);
        for index in 0..self.turns.len() {
            if self.tokens(counter) <= limit {
                break;
            }
            // What the model asked for just now, it needs.
            if let Some(Turn::Results(results)) = self.turns.get_mut(index).filter(|_| index < last)
            {
                for result in results.iter_mut().filter(|result| result.text != DROPPED) {
                    DROPPED.clone_into(&mut result.text);
                    changed = true;
                }
            }
        }
        for region in [Region::SearchResults, Region::Peers] {
            if self.tokens(counter) > limit {
                changed |= self.drop_region(region);
            }
        }
        changed
    }

    /// Takes all code out: after a budget is used up none is sent, not even a second time.
    pub(crate) fn withhold_code(&mut self) {
        for turn in &mut self.turns {
            match turn {
                Turn::User(parts) => {
                    let code = [Region::Files, Region::SearchResults, Region::Peers];
                    for (region, text) in parts {
                        if code.contains(region) {
                            *text = Text::new(WITHHELD);
                        }
                    }
                }
                Turn::Results(results) => {
                    for result in results {
                        DROPPED.clone_into(&mut result.text);
                    }
                }
                Turn::Assistant(_) => {}
            }
        }
    }

    fn drop_region(&mut self, wanted: Region) -> bool {
        let mut changed = false;
        for turn in &mut self.turns {
            if let Turn::User(parts) = turn {
                let before = parts.len();
                parts.retain(|(region, _)| *region != wanted);
                changed |= parts.len() != before;
            }
        }
        changed
    }

    fn tokens(&self, counter: Counter) -> u64 {
        let count = |text: &str| counter.count(text.as_bytes());
        self.turns
            .iter()
            .map(|turn| match turn {
                Turn::User(parts) => parts.iter().map(|(_, text)| count(&text.text)).sum(),
                Turn::Assistant(Message::Assistant { text, calls, .. }) => {
                    let calls = calls.iter().map(|call| count(&call.arguments.to_string()));
                    count(text) + calls.sum::<u64>()
                }
                Turn::Assistant(_) => 0,
                Turn::Results(results) => results.iter().map(|result| count(&result.text)).sum(),
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use quorum_llm::ToolCall;
    use quorum_model::config::Tokenizer;
    use serde_json::json;

    fn counter() -> Counter {
        Counter::new(Tokenizer::Chars4)
    }

    fn context(results: &[usize]) -> Context {
        let mut context = Context::default();
        context.push(Turn::User(vec![
            (Region::Sops, Text::new("always")),
            (Region::Files, Text::new("code")),
            (Region::Peers, Text::new("peers say")),
        ]));
        for (index, length) in results.iter().enumerate() {
            let id = index.to_string();
            let call = ToolCall {
                id: id.clone(),
                name: "read".to_owned(),
                arguments: json!({}),
                signature: None,
            };
            let said =
                Message::Assistant { text: String::new(), calls: vec![call], echo: Vec::new() };
            context.push(Turn::Assistant(said));
            let text = "r".repeat(*length);
            let result = ToolResult { id, name: "read".to_owned(), text, failed: false };
            context.push(Turn::Results(vec![result]));
        }
        context
    }

    fn results(context: &Context) -> Vec<String> {
        let turns = context.turns.iter().filter_map(|turn| match turn {
            Turn::Results(results) => Some(results[0].text.clone()),
            _ => None,
        });
        turns.collect()
    }

    #[test]
    fn the_oldest_results_go_first_and_the_newest_stays() {
        let mut context = context(&[400, 400, 400]);
        assert!(context.compact(counter(), 250));
        assert_eq!(results(&context), [DROPPED.to_owned(), "r".repeat(400), "r".repeat(400)]);
        assert!(context.compact(counter(), 1));
        assert_eq!(results(&context), [DROPPED.to_owned(), DROPPED.to_owned(), "r".repeat(400)]);
    }

    #[test]
    fn standing_orders_and_code_are_never_compacted() {
        let mut context = context(&[4_000]);
        context.compact(counter(), 1);
        let Some(Turn::User(parts)) = context.turns.first() else { unreachable!() };
        let left: Vec<Region> = parts.iter().map(|(region, _)| *region).collect();
        assert_eq!(left, [Region::Sops, Region::Files]);
    }

    #[test]
    fn after_the_budget_no_code_is_sent_and_orders_stay() {
        let mut context = context(&[40]);
        context.withhold_code();
        let all = format!("{:?}", context.messages());
        assert!(
            !all.contains("code\"") && !all.contains("rrrr") && all.contains("always"),
            "{all}"
        );
    }

    proptest! {
        #[test]
        fn every_call_keeps_its_result(lengths in proptest::collection::vec(0usize..900, 0..8), limit in 0u64..900) {
            let mut context = context(&lengths);
            context.compact(counter(), limit);
            let messages = context.messages();
            let called: Vec<&str> = messages.iter().flat_map(|message| match message {
                Message::Assistant { calls, .. } => calls.iter().map(|call| call.id.as_str()).collect(),
                _ => Vec::new(),
            }).collect();
            let answered: Vec<&str> = messages.iter().flat_map(|message| match message {
                Message::Results(results) => results.iter().map(|result| result.id.as_str()).collect(),
                _ => Vec::new(),
            }).collect();
            prop_assert_eq!(called, answered);
        }
    }
}
