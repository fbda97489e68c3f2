//! As much of SARIF as is written here, in its own words.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::text;

pub(super) type Properties<'a> = BTreeMap<&'a str, Value>;

#[derive(Serialize)]
pub(super) struct Log<'a> {
    #[serde(rename = "$schema")]
    pub(super) schema: &'static str,
    pub(super) version: &'static str,
    pub(super) runs: Vec<Run<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run<'a> {
    pub(super) tool: Tool<'a>,
    pub(super) automation_details: AutomationDetails,
    pub(super) invocations: Vec<Invocation>,
    pub(super) original_uri_base_ids: BTreeMap<&'static str, Artifact>,
    pub(super) column_kind: &'static str,
    pub(super) results: Vec<SarifResult<'a>>,
    pub(super) properties: Properties<'a>,
}

#[derive(Serialize)]
pub(super) struct AutomationDetails {
    pub(super) id: String,
}

#[derive(Serialize)]
pub(super) struct Artifact {
    pub(super) description: Message,
}

#[derive(Serialize)]
pub(super) struct Tool<'a> {
    pub(super) driver: Driver,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) extensions: Vec<Component<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Driver {
    pub(super) name: &'static str,
    pub(super) semantic_version: &'static str,
    pub(super) rules: Vec<Descriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Component<'a> {
    pub(super) name: &'a str,
    pub(super) full_name: String,
    pub(super) version: &'static str,
    pub(super) properties: Properties<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    pub(super) id: String,
    pub(super) short_description: Message,
    pub(super) full_description: Message,
    pub(super) help: Message,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) help_uri: Option<String>,
    pub(super) default_configuration: Configuration,
    pub(super) properties: Properties<'static>,
}

#[derive(Serialize)]
pub(super) struct Configuration {
    pub(super) level: &'static str,
}

/// A message that is shown as it is.
#[derive(Serialize)]
pub(super) struct Message {
    text: String,
}

impl Message {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }

    /// Text from strangers: on several lines, visible, and without the links that SARIF allows in
    /// plain messages.
    pub(super) fn foreign(text: &str, limit: usize) -> Self {
        let text = text::block(text, limit).replace("](", "] (");
        Self { text: if text.trim().is_empty() { "(no text)".to_owned() } else { text } }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifResult<'a> {
    pub(super) rule_id: String,
    pub(super) rule_index: usize,
    pub(super) kind: &'static str,
    pub(super) level: &'static str,
    pub(super) message: Message,
    pub(super) locations: Vec<Location>,
    pub(super) partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) baseline_state: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) suppressions: Vec<Suppression>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) code_flows: Vec<CodeFlow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) fixes: Vec<Fix>,
    pub(super) rank: f64,
    pub(super) properties: Properties<'a>,
}

#[derive(Serialize)]
pub(super) struct Suppression {
    pub(super) kind: &'static str,
    pub(super) status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) justification: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    pub(super) physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<Message>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PhysicalLocation {
    pub(super) artifact_location: ArtifactLocation,
    pub(super) region: Region,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context_region: Option<Region>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactLocation {
    pub(super) uri: String,
    pub(super) uri_base_id: &'static str,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    pub(super) start_line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) start_column: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_column: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) snippet: Option<Message>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeFlow {
    pub(super) thread_flows: Vec<ThreadFlow>,
}

#[derive(Serialize)]
pub(super) struct ThreadFlow {
    pub(super) locations: Vec<ThreadFlowLocation>,
}

#[derive(Serialize)]
pub(super) struct ThreadFlowLocation {
    pub(super) location: Location,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Fix {
    pub(super) description: Message,
    pub(super) artifact_changes: Vec<ArtifactChange>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactChange {
    pub(super) artifact_location: ArtifactLocation,
    pub(super) replacements: Vec<Replacement>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replacement {
    pub(super) deleted_region: Region,
    pub(super) inserted_content: Message,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation {
    pub(super) execution_successful: bool,
    pub(super) exit_code: u8,
    pub(super) exit_code_description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) start_time_utc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_time_utc: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
pub(super) struct Notification {
    pub(super) level: &'static str,
    pub(super) message: Message,
}
