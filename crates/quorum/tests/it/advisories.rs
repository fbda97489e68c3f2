//! Advisories are imported once and then decide about lock files, offline.

use crate::sandbox::Sandbox;

const RECORD: &str = r#"{"id":"GHSA-0000","aliases":["CVE-2024-0001"],"modified":"2024-05-06T00:00:00Z","summary":"Bad parsing",
  "severity":[{"type":"CVSS_V3","score":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}],
  "affected":[{"package":{"ecosystem":"npm","name":"left"},"ranges":[{"type":"SEMVER","events":[{"introduced":"0"},{"fixed":"1.4.2"}]}]}]}"#;

fn lock(version: &str) -> String {
    format!(
        "{{\n \"lockfileVersion\": 3,\n \"packages\": {{\n  \"\": {{\"dependencies\": {{\"left\": \"^1\"}}}},\n  \
         \"node_modules/left\": {{\n   \"version\": \"{version}\"\n  }}\n }}\n}}\n"
    )
}

#[test]
fn imported_advisories_block_a_vulnerable_version() {
    let sandbox = Sandbox::new();
    sandbox.write("package-lock.json", lock("1.4.2"));
    sandbox.commit("fine");
    sandbox.write("package-lock.json", lock("1.0.5"));
    sandbox.write("advisories/record.json", RECORD);
    let status = sandbox.quorum(&["advisories", "status"]);
    assert!(String::from_utf8_lossy(&status.stdout).contains("No advisories yet"));
    let imported = sandbox.quorum(&["advisories", "import", "advisories"]);
    assert!(imported.status.success(), "{imported:?}");
    sandbox.remove("advisories/record.json");
    let review = sandbox.quorum(&["review", "--agents", "vulnerability", "--format", "json"]);
    assert_eq!(review.status.code(), Some(1), "{review:?}");
    let result: serde_json::Value = serde_json::from_slice(&review.stdout).expect("a result");
    let finding = &result["findings"][0];
    assert_eq!(finding["severity"], "CRITICAL");
    assert_eq!(finding["line"], 6);
    assert_eq!(finding["recommendation"], "Update to left 1.4.2 or later.");
}

#[test]
fn an_update_without_an_address_says_what_to_set() {
    let sandbox = Sandbox::new();
    let refused = sandbox.quorum(&["advisories", "update"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("advisories.url"), "{refused:?}");
    let offline = sandbox.quorum(&["advisories", "update", "npm", "--url", "http://127.0.0.1:1"]);
    assert_eq!(offline.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&offline.stderr).contains("import"), "{offline:?}");
}
