//! The tools: names, what a model is told about each, and schemas that cost few tokens.

use std::sync::{Arc, LazyLock};

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

use crate::arguments;

/// What a client is told about the server as a whole.
pub const INSTRUCTIONS: &str = "Quorum reviews code changes with several reviewers and decides the \
verdict in code. To review: `review` (Quorum's own reviewers), or `review_begin`, one sub-agent for \
each line of its answer, then `review_finish`. Read `verdicts` first and open a `finding` only where \
you need it. Search with `semantic_search` before you read files. Errors carry a code.";

/// A tool, for documents that are made from the list.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    /// Its name.
    pub name: &'static str,
    /// What a model is told.
    pub description: &'static str,
    /// Whether it leaves everything as it is.
    pub read_only: bool,
    schema: fn() -> JsonObject,
}

macro_rules! tools {
    ($($name:literal $arguments:ident $read_only:literal $description:literal;)*) => {
        &[$(Listed {
            name: $name,
            description: $description,
            read_only: $read_only,
            schema: schema::<arguments::$arguments>,
        }),*]
    };
}

/// All tools, in the order in which they are listed.
pub fn listing() -> &'static [Listed] {
    tools![
        "repository_index" RepositoryIndex false "Bring the code index up to date; returns file and token counts.";
        "semantic_search" SemanticSearch true "Find code by words, names, exact text or regex, within a token budget.";
        "symbol" Symbol true "Where a name is declared and used, or a file's signatures.";
        "repository_map" RepositoryMap true "The most central symbols.";
        "plan" Review true "What a review would do: files, tokens, tier, agents, budgets, ceilings. Sends nothing.";
        "size_task" SizeTask true "Whether files fit one request to a model; parts that do if not.";
        "gates" Gates false "Run the repository's build, test and lint gates, if the server was started with --allow-gates.";
        "review" Review false "Review a change in the background with Quorum's reviewers; returns a run id, or the verdict.";
        "review_status" ReviewStatus true "Where a review stands; can cancel it.";
        "verdicts" Verdicts true "One line per agent of a run.";
        "finding" Finding true "One finding in full.";
        "review_begin" Review false "Start a review that your own sub-agents carry out; returns one line per sub-agent.";
        "submit_findings" SubmitFindings false "Sub-agents: report what a brief asks for. Quotes are checked against the code.";
        "review_finish" ReviewFinish false "Decide a review begun with review_begin, or name its second round; at most 15 lines.";
        "branch_create" BranchCreate false "An isolated branch with a token budget; pass its id to other tools to charge it.";
        "branch_return" BranchReturn false "End a branch with a message or findings; secrets are removed.";
        "branch_status" BranchStatus true "Budget and state of a branch, or of a session's branches.";
        "memory_record" MemoryRecord false "Remember a lesson.";
        "memory_search" MemorySearch true "Lessons of earlier reviews.";
        "memory_feedback" MemoryFeedback false "Say whether a lesson helped.";
        "dismiss" Dismiss false "Set a finding aside, with a reason.";
    ]
}

/// The tools as they go over the wire.
pub(crate) fn tools() -> Vec<Tool> {
    static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| listing().iter().map(tool).collect());
    TOOLS.clone()
}

fn tool(listed: &Listed) -> Tool {
    let tool = Tool::new(listed.name, listed.description, Arc::new((listed.schema)()));
    if listed.read_only { tool.annotate(ToolAnnotations::new().read_only(true)) } else { tool }
}

/// The schema of a tool's arguments, without what no caller needs.
fn schema<T: JsonSchema>() -> JsonObject {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    let mut value = schema.to_value();
    slim(&mut value);
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// Takes out what says nothing to a caller: titles, formats, defaults that are nothing, the `null`
/// that stands for "leave it out", and the description of the whole, which the tool has.
fn slim(schema: &mut Value) {
    if let Value::Object(root) = schema {
        root.remove("$schema");
        root.remove("description");
    }
    slim_within(schema);
}

fn slim_within(value: &mut Value) {
    match value {
        Value::Object(object) => {
            // Within `properties` the keys are names of arguments.
            if let Some(Value::Object(properties)) = object.get_mut("properties") {
                properties.values_mut().for_each(slim_within);
            }
            for key in ["title", "format", "minimum", "default"] {
                object.remove(key);
            }
            without_null(object);
            for (key, inner) in object.iter_mut() {
                if key != "properties" {
                    slim_within(inner);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(slim_within),
        _ => {}
    }
}

fn without_null(object: &mut JsonObject) {
    if let Some(Value::Array(kinds)) = object.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            object.extend(only);
        }
    }
}

#[cfg(test)]
mod tests {
    use quorum_index::Counter;
    use quorum_model::config::Tokenizer;

    use super::*;

    fn tokens(text: &str) -> u64 {
        Counter::new(Tokenizer::default()).count(text.as_bytes())
    }

    /// What every conversation pays before anything is asked.
    #[test]
    fn all_schemas_together_cost_less_than_4000_tokens() {
        let listed = serde_json::to_string(&tools()).unwrap();
        let all = tokens(&listed) + tokens(INSTRUCTIONS);
        println!("{} tools, {all} tokens", tools().len());
        assert!(all < 4_000, "{all} tokens");
    }

    #[test]
    fn schemas_name_all_arguments_and_what_is_required() {
        let tools = tools();
        let search = tools.iter().find(|tool| tool.name == "semantic_search").unwrap();
        let schema = Value::Object((*search.input_schema).clone());
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["required"], serde_json::json!(["query"]));
        assert_eq!(schema["properties"]["limit"]["type"], "integer");
        assert_eq!(
            schema["properties"]["content_mode"]["enum"],
            serde_json::json!(["minimal", "preview", "full"])
        );
        assert_eq!(schema["additionalProperties"], false);
        assert!(schema["properties"].get("tenant_id").is_none());
        let record = tools.iter().find(|tool| tool.name == "memory_record").unwrap();
        let properties = &record.input_schema["properties"];
        assert!(properties.get("title").is_some(), "{properties}");
    }
}
