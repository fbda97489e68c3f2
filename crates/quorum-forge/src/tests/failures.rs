//! Answers that are no success.

use std::time::Duration;

use quorum_model::config::ForgeKind;
use wiremock::matchers::method;
use wiremock::{Mock, ResponseTemplate};

use super::support::{Host, PULL, QUICK, TOKEN, at_path, connect_to, json_answer, pull, told};
use crate::ForgeError;
use crate::http::Limits;

const WITH_TOKEN: &[(&str, &str)] = &[("GITHUB_TOKEN", TOKEN)];

fn refused(answer: ResponseTemplate, env: &[(&str, &str)]) -> (String, String) {
    let host = Host::always(answer);
    let error = host.github(env).pull_request(7).unwrap_err();
    let (message, hint) = told(&error);
    (message.replace(&host.server.address().to_string(), "HOST"), hint)
}

#[track_caller]
fn check(answer: ResponseTemplate, env: &[(&str, &str)], message: &str, hint: &str) {
    assert_eq!(refused(answer, env), (message.to_owned(), hint.to_owned()));
}

#[test]
fn a_wrong_token_is_named_by_its_variable() {
    check(
        ResponseTemplate::new(401),
        &[("GH_TOKEN", TOKEN)],
        "HOST does not accept the token in GH_TOKEN",
        "set GH_TOKEN to a token that may read pull requests of this repository",
    );
}

#[test]
fn a_missing_token_is_asked_for() {
    check(
        ResponseTemplate::new(401),
        &[],
        "HOST asks for a token, and there is none",
        "set GITHUB_TOKEN or GH_TOKEN to a token that may read pull requests",
    );
}

#[test]
fn a_used_up_allowance_says_when_it_is_back() {
    let limited = |status| {
        ResponseTemplate::new(status)
            .insert_header("x-ratelimit-remaining", "0")
            .insert_header("x-ratelimit-reset", "1700000000")
    };
    for status in [403, 429] {
        let message = "HOST allows no more requests until 22:13 UTC";
        check(limited(status), WITH_TOKEN, message, "wait that long");
        let hint = "wait that long, or set GITHUB_TOKEN or GH_TOKEN to a token that may read pull requests";
        check(limited(status), &[], message, hint);
    }
}

#[test]
fn requests_that_come_too_fast_are_a_rate_limit_too() {
    let slow_down = ResponseTemplate::new(403)
        .insert_header("x-ratelimit-remaining", "4000")
        .insert_header("retry-after", "60");
    check(slow_down, WITH_TOKEN, "HOST allows no more requests for 60 s", "wait that long");
    let silent = ResponseTemplate::new(429);
    check(silent, WITH_TOKEN, "HOST allows no more requests for now", "wait a few minutes");
}

#[test]
fn lack_of_rights_is_no_rate_limit() {
    let forbidden = ResponseTemplate::new(403)
        .insert_header("x-ratelimit-remaining", "4999")
        .set_body_json(serde_json::json!({"message": "Resource not accessible\nby integration"}));
    check(
        forbidden,
        WITH_TOKEN,
        "HOST forbids reading pull request 7 of octo/repo: Resource not accessible by integration",
        "set GITHUB_TOKEN to a token that may read pull requests of this repository",
    );
    let (message, _) = refused(ResponseTemplate::new(403).set_body_string("<html>"), &[]);
    assert_eq!(message, "HOST forbids reading pull request 7 of octo/repo");
}

#[test]
fn what_is_not_there_may_be_hidden() {
    check(
        ResponseTemplate::new(404),
        &[],
        "HOST shows no pull request 7 of octo/repo",
        "check the number and the repository; if it is private, set GITHUB_TOKEN or GH_TOKEN to a \
         token that may read pull requests",
    );
    let (_, hint) = refused(ResponseTemplate::new(404), WITH_TOKEN);
    assert!(
        hint.ends_with(
            "set GITHUB_TOKEN to a token that may read pull requests of this repository"
        )
    );
}

#[test]
fn any_other_refusal_keeps_its_status() {
    let (message, hint) = refused(ResponseTemplate::new(418), &[]);
    assert_eq!(message, "HOST answered pull request 7 of octo/repo with status 418");
    assert!(hint.contains("api_url"));
}

#[test]
fn a_failing_host_is_asked_three_times() {
    let host = Host::always(ResponseTemplate::new(502));
    let error = host.github(&[]).pull_request(7).unwrap_err();
    assert!(matches!(error, ForgeError::Server { status: 502, attempts: 3, .. }), "{error}");
    assert_eq!(told(&error).1, "try again in a minute");
    assert_eq!(host.requests().len(), 3);
}

#[test]
fn a_host_that_recovers_is_believed() {
    let host = Host::start();
    let failing = ResponseTemplate::new(503).insert_header("retry-after", "0");
    host.mount(at_path(PULL).respond_with(failing).up_to_n_times(2));
    host.on(PULL, json_answer(pull()));
    assert_eq!(host.github(&[]).pull_request(7).unwrap().number, 7);
    assert_eq!(host.requests().len(), 3);
}

#[test]
fn what_is_no_failure_is_not_repeated() {
    for status in [401, 403, 404, 422, 429] {
        let host = Host::always(ResponseTemplate::new(status));
        host.github(&[]).pull_request(7).unwrap_err();
        assert_eq!(host.requests().len(), 1, "{status}");
    }
}

#[test]
fn a_host_that_asks_for_a_long_wait_does_not_get_it() {
    let failing = ResponseTemplate::new(503).insert_header("retry-after", "3600");
    let host = Host::always(failing);
    host.github(&[]).pull_request(7).unwrap_err();
}

#[test]
fn pauses_double_and_follow_the_host_up_to_a_limit() {
    let limits = Limits::default();
    let seconds = |n| Some(Duration::from_secs(n));
    assert_eq!(limits.pause(1, None), Duration::from_millis(500));
    assert_eq!(limits.pause(2, None), Duration::from_secs(1));
    assert_eq!(limits.pause(1, seconds(3)), Duration::from_secs(3));
    assert_eq!(limits.pause(1, seconds(60)), Duration::from_secs(5));
    assert_eq!(limits.pause(40, None), Duration::from_secs(5));
}

#[test]
fn an_answer_of_another_kind_says_where() {
    for body in ["{\"number\": 7", "<html>", "", "[]", "{\"number\": \"seven\"}"] {
        let answer = ResponseTemplate::new(200).set_body_string(body);
        let (message, hint) = refused(answer, &[]);
        let start = "HOST answered pull request 7 of octo/repo with something else: ";
        assert!(message.starts_with(start) && message.len() > start.len(), "{message}");
        assert!(hint.contains("`api_url` and `kind`"), "{hint}");
    }
}

#[test]
fn the_diff_fails_like_the_rest() {
    let host = Host::start();
    host.mount(Mock::given(method("GET")).respond_with(ResponseTemplate::new(404)));
    for kind in [ForgeKind::GitHub, ForgeKind::GitLab] {
        let error = connect_to(kind, &host.server.uri(), &[], QUICK).diff(7).unwrap_err();
        assert!(matches!(error, ForgeError::NotFound { .. }), "{error}");
    }
}
