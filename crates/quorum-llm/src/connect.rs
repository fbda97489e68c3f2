//! From a provider's name and the environment to something that answers.

use std::sync::Arc;

use crate::anthropic::Anthropic;
use crate::client::Lane;
use crate::command::{CommandProvider, CommandTemplate};
use crate::error::LlmError;
use crate::gemini::Gemini;
use crate::http::{HttpProvider, Timeouts};
use crate::key::Key;
use crate::openai_chat::{KeyHeader, OpenAiChat};
use crate::openai_responses::OpenAiResponses;
use crate::provider::Provider;
use crate::wire::Wire;

/// Something that answers, with what all who ask it must know about how it is doing.
#[derive(Debug)]
pub struct Endpoint {
    provider: Arc<dyn Provider>,
    lane: Lane,
}

impl Endpoint {
    /// `provider`, with at most `most_at_once` calls at a time.
    pub fn new(provider: Arc<dyn Provider>, most_at_once: usize) -> Self {
        Self { provider, lane: Lane::new(most_at_once) }
    }

    /// What answers.
    pub fn provider(&self) -> &dyn Provider {
        &*self.provider
    }

    pub(crate) fn lane(&self) -> &Lane {
        &self.lane
    }
}

/// Sets up the provider called `name`; nothing is sent yet.
///
/// Addresses and keys come from the variables that the providers' own tools read, through
/// `variable`; never from a repository, or the user's key would follow its word. `model` is what
/// the `command` provider runs. A name that is not known is a server that speaks as `OpenAI` does,
/// with variables of that name: `ACME_BASE_URL` and `ACME_API_KEY` for `acme`.
pub fn connect(
    name: &str,
    model: &str,
    timeouts: Timeouts,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Arc<dyn Provider>, LlmError> {
    let variables = Variables(&variable);
    match name {
        "anthropic" => anthropic(&variables, timeouts),
        "openai" | "openai-responses" => openai(name, &variables, timeouts),
        "gemini" => gemini(&variables, timeouts),
        "command" => {
            let template = CommandTemplate::parse(model)?;
            Ok(Arc::new(CommandProvider::new(template, timeouts.total)))
        }
        "azure" => {
            let base = variables.required(name, &["AZURE_OPENAI_ENDPOINT"])?;
            let key = variables.key(&["AZURE_OPENAI_API_KEY"])?;
            let base = format!("{}/openai/v1", base.trim_end_matches('/'));
            http(chat("azure", true, KeyHeader::ApiKey), &base, key, timeouts)
        }
        "ollama" => {
            let host = variables.get("OLLAMA_HOST").unwrap_or_else(|| "127.0.0.1:11434".to_owned());
            let host = if host.contains("://") { host } else { format!("http://{host}") };
            let base = format!("{}/v1", host.trim_end_matches('/'));
            http(chat("ollama", false, KeyHeader::Bearer), &base, None, timeouts)
        }
        "openrouter" => {
            let variable = "OPENROUTER_BASE_URL";
            let base = variables.get(variable);
            let base = base.unwrap_or_else(|| "https://openrouter.ai/api/v1".to_owned());
            let key = variables.key(&["OPENROUTER_API_KEY"])?;
            http(chat("openrouter", false, KeyHeader::Bearer), &base, key, timeouts)
        }
        other => {
            let prefix: String = other.to_uppercase().replace(|c: char| !c.is_alphanumeric(), "_");
            let (base, key) = (format!("{prefix}_BASE_URL"), format!("{prefix}_API_KEY"));
            let base = variables.get(&base).ok_or_else(|| LlmError::InvalidAddress {
                address: base.clone(),
                reason: "the variable is not set".to_owned(),
            })?;
            let key = variables.key(&[&key])?;
            http(chat("openai", false, KeyHeader::Bearer), &base, key, timeouts)
        }
    }
}

fn anthropic(variables: &Variables<'_>, timeouts: Timeouts) -> Result<Arc<dyn Provider>, LlmError> {
    let names = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"];
    let base = variables.get("ANTHROPIC_BASE_URL");
    let key = variables.key(&names)?;
    if base.is_none() && key.is_none() {
        return Err(no_key("anthropic", &names));
    }
    let bearer = variables.get(names[0]).is_none();
    let base = base.unwrap_or_else(|| "https://api.anthropic.com".to_owned());
    let base = base.trim_end_matches('/').trim_end_matches("/v1");
    http(Box::new(Anthropic { bearer }), base, key, timeouts)
}

fn openai(
    name: &str,
    variables: &Variables<'_>,
    timeouts: Timeouts,
) -> Result<Arc<dyn Provider>, LlmError> {
    let names = ["OPENAI_API_KEY"];
    let base = variables.get("OPENAI_BASE_URL");
    let key = variables.key(&names)?;
    if base.is_none() && key.is_none() {
        return Err(no_key("openai", &names));
    }
    let official = base.is_none();
    let base = base.unwrap_or_else(|| "https://api.openai.com/v1".to_owned());
    let wire: Box<dyn Wire> = if name == "openai" {
        chat("openai", official, KeyHeader::Bearer)
    } else {
        Box::new(OpenAiResponses { key_header: KeyHeader::Bearer })
    };
    http(wire, &base, key, timeouts)
}

fn gemini(variables: &Variables<'_>, timeouts: Timeouts) -> Result<Arc<dyn Provider>, LlmError> {
    let names = ["GEMINI_API_KEY", "GOOGLE_API_KEY"];
    let base = variables.get("GEMINI_BASE_URL").or_else(|| variables.get("GOOGLE_GEMINI_BASE_URL"));
    let key = variables.key(&names)?;
    if base.is_none() && key.is_none() {
        return Err(no_key("gemini", &names));
    }
    let base = base.unwrap_or_else(|| "https://generativelanguage.googleapis.com".to_owned());
    let base = base.trim_end_matches('/').trim_end_matches("/v1beta");
    http(Box::new(Gemini), &format!("{base}/v1beta"), key, timeouts)
}

fn chat(name: &'static str, official: bool, key_header: KeyHeader) -> Box<dyn Wire> {
    Box::new(OpenAiChat { official, key_header, name })
}

fn http(
    wire: Box<dyn Wire>,
    base: &str,
    key: Option<Key>,
    timeouts: Timeouts,
) -> Result<Arc<dyn Provider>, LlmError> {
    Ok(Arc::new(HttpProvider::new(wire, base, key, timeouts)?))
}

fn no_key(provider: &str, variables: &[&'static str]) -> LlmError {
    LlmError::NoKey { provider: provider.to_owned(), variables: variables.to_vec() }
}

struct Variables<'a>(&'a dyn Fn(&str) -> Option<String>);

impl Variables<'_> {
    /// A variable that is set to nothing is not set.
    fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    fn required(&self, provider: &str, names: &[&'static str]) -> Result<String, LlmError> {
        names.iter().find_map(|name| self.get(name)).ok_or_else(|| no_key(provider, names))
    }

    fn key(&self, names: &[&str]) -> Result<Option<Key>, LlmError> {
        for name in names {
            if let Some(value) = self.get(name) {
                let invalid = LlmError::InvalidKey { variable: (*name).to_owned() };
                return Key::new(&value).ok_or(invalid).map(Some);
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn try_connect(name: &str, set: &[(&str, &str)]) -> Result<Arc<dyn Provider>, LlmError> {
        connect(name, "cat", Timeouts::within(Duration::from_secs(9)), |wanted| {
            set.iter().find(|(name, _)| *name == wanted).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_usual_variables_decide() {
        type Set = &'static [(&'static str, &'static str)];
        const BASE: Set = &[("OPENAI_BASE_URL", "http://127.0.0.1:8100/v1")];
        let cases: [(&str, Set, &str); 8] = [
            ("anthropic", &[("ANTHROPIC_API_KEY", "k")], "api.anthropic.com"),
            ("openai", &[("OPENAI_API_KEY", "k")], "api.openai.com"),
            ("openai", BASE, "127.0.0.1:8100"),
            ("openai-responses", BASE, "127.0.0.1:8100"),
            ("gemini", &[("GOOGLE_API_KEY", "k")], "generativelanguage.googleapis.com"),
            ("ollama", &[], "127.0.0.1:11434"),
            ("azure", &[("AZURE_OPENAI_ENDPOINT", "https://x.example")], "x.example"),
            ("acme", &[("ACME_BASE_URL", "https://llm.acme.example/v1")], "llm.acme.example"),
        ];
        for (name, set, endpoint) in cases {
            assert_eq!(try_connect(name, set).unwrap().endpoint(), endpoint, "{name}");
        }
        assert_eq!(try_connect("command", &[]).unwrap().name(), "command");
    }

    #[test]
    fn a_missing_key_names_its_variable() {
        let error = try_connect("anthropic", &[("ANTHROPIC_API_KEY", " ")]).unwrap_err();
        assert!(error.hint().unwrap().contains("ANTHROPIC_API_KEY"), "{error}");
        assert!(try_connect("acme", &[]).unwrap_err().to_string().contains("ACME_BASE_URL"));
    }

    #[test]
    fn no_address_and_no_key_is_shown() {
        let set = [("OPENAI_BASE_URL", "ftp://user:pw@host"), ("OPENAI_API_KEY", "sk-secret-1")];
        let error = try_connect("openai", &set).unwrap_err();
        assert!(!format!("{error:?}").contains("pw"), "{error:?}");
        let set = [("OPENAI_API_KEY", "sk-secret-1")];
        assert!(!format!("{:?}", try_connect("openai", &set).unwrap()).contains("secret"));
    }
}
