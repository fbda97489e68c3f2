//! Connections: time, size, and redirects.

use std::net::TcpListener;
use std::time::Duration;

use quorum_model::config::ForgeKind;
use wiremock::ResponseTemplate;

use super::support::{Host, PULL, QUICK, TOKEN, connect_to, json_answer, pull, raw_server, told};
use crate::http::Limits;
use crate::{ForgeError, PullRequest};

const WITH_TOKEN: &[(&str, &str)] = &[("GITHUB_TOKEN", TOKEN)];

fn ask(address: &str, limits: Limits) -> Result<PullRequest, ForgeError> {
    connect_to(ForgeKind::GitHub, address, &[], limits).pull_request(7)
}

#[test]
fn a_refused_connection_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = ask(&format!("http://{address}"), QUICK).unwrap_err();
    let (message, hint) = told(&error);
    assert!(message.starts_with(&format!("cannot connect to {address}: ")), "{message}");
    assert!(message.to_lowercase().contains("refused"), "{message}");
    assert!(hint.starts_with("check the network"), "{hint}");
}

#[test]
fn a_host_without_encryption_is_not_taken_for_an_encrypted_one() {
    let address = raw_server(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()).replace("http:", "https:");
    let error = ask(&address, QUICK).unwrap_err();
    assert!(matches!(error, ForgeError::Unreachable { .. }), "{error}");
}

#[test]
fn a_slow_host_is_not_waited_for() {
    let host = Host::always(json_answer(pull()).set_delay(Duration::from_mins(1)));
    let limits = Limits { timeout: Duration::from_millis(200), ..QUICK };
    let error = ask(&host.server.uri(), limits).unwrap_err();
    assert!(told(&error).0.ends_with("gave no complete answer within 0.2 s"), "{error}");
}

#[test]
fn a_large_body_is_refused_by_its_length() {
    let host = Host::always(ResponseTemplate::new(200).set_body_bytes(vec![b' '; QUICK.body + 1]));
    let error = ask(&host.server.uri(), QUICK).unwrap_err();
    assert!(matches!(error, ForgeError::TooLarge { limit, .. } if limit == QUICK.body), "{error}");
    assert!(told(&error).1.contains("--base"));
}

#[test]
fn a_large_body_without_a_length_is_cut() {
    let mut answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..=QUICK.body / 1024 {
        answer.extend_from_slice(b"400\r\n");
        answer.extend_from_slice(&[b' '; 1024]);
        answer.extend_from_slice(b"\r\n");
    }
    let error = ask(&raw_server(answer), QUICK).unwrap_err();
    assert!(matches!(error, ForgeError::TooLarge { .. }), "{error}");
}

#[test]
fn many_small_answers_are_one_large_diff() {
    let file = serde_json::json!({"old_path": "x", "new_path": "x",
                                  "diff": format!("@@ -1 +1 @@\n-a\n+{}\n", "b".repeat(20_000))});
    let host = Host::start();
    host.on(super::support::MERGE, json_answer(super::support::merge_request()));
    for page in ["1", "2", "3", "4"] {
        let next = (page.parse::<u32>().unwrap() + 1).to_string();
        let mock = super::support::at_path(&format!("{}/diffs", super::support::MERGE))
            .and(wiremock::matchers::query_param("page", page));
        let answer = json_answer([&file]).insert_header("x-next-page", next.as_str());
        host.mount(mock.respond_with(answer));
    }
    let error = host.gitlab(&[]).diff(7).unwrap_err();
    assert!(matches!(error, ForgeError::TooLarge { .. }), "{error}");
}

#[test]
fn a_broken_answer_is_no_answer() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"number\"".to_vec();
    let error = ask(&raw_server(answer), QUICK).unwrap_err();
    assert!(matches!(error, ForgeError::Interrupted { .. }), "{error}");
    let error = ask(&raw_server(Vec::new()), QUICK).unwrap_err();
    assert!(matches!(error, ForgeError::Interrupted { .. }), "{error}");
    assert_eq!(told(&error).1, "try again in a minute");
}

fn redirect_to(location: &str) -> Host {
    Host::always(ResponseTemplate::new(301).insert_header("location", location))
}

#[test]
fn a_token_does_not_follow_to_another_host() {
    let elsewhere = Host::always(json_answer(pull()));
    let host = redirect_to(&format!("{}{PULL}", elsewhere.server.uri()));
    for (forge, kind) in [
        (host.github(WITH_TOKEN), ForgeKind::GitHub),
        (host.gitlab(&[("GITLAB_TOKEN", TOKEN)]), ForgeKind::GitLab),
        (host.gitlab(&[("CI_JOB_TOKEN", TOKEN)]), ForgeKind::GitLab),
    ] {
        let error = forge.pull_request(7).unwrap_err();
        let to = elsewhere.server.address().to_string();
        let expected = format!("redirects to {to}, which is not followed");
        assert!(told(&error).0.ends_with(&expected), "{kind:?}: {error}");
    }
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn without_a_token_another_host_may_answer() {
    let elsewhere = Host::always(json_answer(pull()));
    let host = redirect_to(&format!("{}{PULL}", elsewhere.server.uri()));
    assert_eq!(host.github(&[]).pull_request(7).unwrap().number, 7);
    let request = &elsewhere.requests()[0];
    assert!(!request.headers.contains_key("authorization"));
    assert!(!request.headers.contains_key("referer"));
}

#[test]
fn a_renamed_repository_is_found_on_the_same_host() {
    let host = Host::start();
    host.on(PULL, ResponseTemplate::new(301).insert_header("location", "/repositories/1/pulls/7"));
    host.on("/repositories/1/pulls/7", json_answer(pull()));
    assert_eq!(host.github(WITH_TOKEN).pull_request(7).unwrap().number, 7);
    let token = format!("Bearer {TOKEN}");
    assert_eq!(host.requests()[1].headers["authorization"], token);
}

#[test]
fn nothing_is_followed_out_of_encryption_or_for_ever() {
    let host = redirect_to("http://git.corp/");
    let (message, _) = told(&host.github(&[]).pull_request(7).unwrap_err());
    assert!(message.contains("redirects to git.corp"), "{message}");
    let host = redirect_to(PULL);
    let error = host.github(&[]).pull_request(7).unwrap_err();
    assert!(matches!(error, ForgeError::Redirected { .. }), "{error}");
    assert!(host.requests().len() < 10);
    let host = Host::always(ResponseTemplate::new(302));
    let (message, _) = told(&host.github(&[]).pull_request(7).unwrap_err());
    assert!(message.contains("redirects to nowhere"), "{message}");
}
