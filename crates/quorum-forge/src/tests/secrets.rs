//! A token never shows, not even when a host repeats it.

use std::time::Duration;

use quorum_model::config::ForgeKind;
use serde_json::json;
use wiremock::ResponseTemplate;

use super::support::{Host, QUICK, TOKEN, connect_to, json_answer, pull, raw_server};
use crate::http::Limits;
use crate::{Forge, ForgeError};

#[track_caller]
fn check(error: &ForgeError) {
    for text in [error.to_string(), format!("{error:?}"), error.hint().unwrap_or_default()] {
        assert!(!text.contains(TOKEN), "{text}");
    }
}

/// The same host with each of the tokens.
fn forges(address: &str, limits: Limits) -> [Box<dyn Forge>; 4] {
    [
        (ForgeKind::GitHub, "GITHUB_TOKEN"),
        (ForgeKind::GitHub, "GH_TOKEN"),
        (ForgeKind::GitLab, "GITLAB_TOKEN"),
        (ForgeKind::GitLab, "CI_JOB_TOKEN"),
    ]
    .map(|(kind, variable)| connect_to(kind, address, &[(variable, TOKEN)], limits))
}

#[track_caller]
fn check_all(address: &str, limits: Limits) {
    for forge in forges(address, limits) {
        check(&forge.pull_request(7).unwrap_err());
        check(&forge.diff(7).unwrap_err());
    }
}

#[test]
fn debug_shows_no_token() {
    for forge in forges("http://127.0.0.1:9", QUICK) {
        let (short, long) = (format!("{forge:?}"), format!("{forge:#?}"));
        assert!(!short.contains(TOKEN) && !long.contains(TOKEN), "{long}");
        assert!(short.contains("_TOKEN"), "{short}");
    }
}

#[test]
fn a_refusal_that_repeats_the_token_is_redacted() {
    let echo = json!({"message": format!("bad credentials: {TOKEN}")});
    for status in [400, 401, 403, 404, 406, 422, 429, 500] {
        let host = Host::always(ResponseTemplate::new(status).set_body_json(&echo));
        check_all(&host.server.uri(), QUICK);
    }
    let host = Host::always(ResponseTemplate::new(403).set_body_json(&echo));
    let error = host.github(&[("GH_TOKEN", TOKEN)]).pull_request(7).unwrap_err();
    assert!(error.to_string().ends_with(": bad credentials: [redacted]"), "{error}");
}

#[test]
fn an_answer_that_repeats_the_token_is_redacted() {
    let echo = Host::always(json_answer(TOKEN));
    check_all(&echo.server.uri(), QUICK);
    let mut value = pull();
    value["head"]["sha"] = json!(TOKEN);
    let host = Host::always(json_answer(value));
    let error = host.github(&[("GH_TOKEN", TOKEN)]).pull_request(7).unwrap_err();
    assert!(error.to_string().ends_with("`[redacted]` is no commit"), "{error}");
}

#[test]
fn a_redirect_that_repeats_the_token_is_redacted() {
    let location = format!("https://{TOKEN}.example/?token={TOKEN}");
    let host = Host::always(ResponseTemplate::new(302).insert_header("location", &*location));
    check_all(&host.server.uri(), QUICK);
}

#[test]
fn a_broken_connection_shows_no_token() {
    check_all("http://127.0.0.1:9", QUICK);
    check_all(&raw_server(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{".to_vec()), QUICK);
    check_all(&raw_server(TOKEN.as_bytes().to_vec()), QUICK);
    let slow = Host::always(json_answer(pull()).set_delay(Duration::from_mins(1)));
    let limits = Limits { timeout: Duration::from_millis(50), ..QUICK };
    check_all(&slow.server.uri(), limits);
}
