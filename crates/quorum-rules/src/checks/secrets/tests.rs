//! Every format of the table finds what it describes and nothing like it. The tokens are made up
//! while the tests run, so that none is kept in the repository.

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::string::string_regex;
use proptest::test_runner::TestRunner;

use super::*;

/// A token of this format that no check sets aside.
fn token(format: &Format, runner: &mut TestRunner) -> String {
    let strategy = string_regex(&format.pattern.replace("(?i:", "(?:")).expect("a pattern");
    for _ in 0..2000 {
        let mut token = strategy.new_tree(runner).expect("a token").current();
        if let Some(check) = format.check {
            token.truncate(token.len() - 6);
            let open = format.open_part(token.as_bytes());
            let sum = check.of(&token.as_bytes()[open..]);
            token.push_str(&sum);
        }
        let open = format.open_part(token.as_bytes());
        let secret = &token.as_bytes()[open..];
        let plain = token.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"');
        let ends_free = !token.starts_with(['-', '.', '+', '/']) && !token.ends_with(['-', '.']);
        if plain
            && ends_free
            && judge::entropy(secret) >= format.entropy
            && !judge::is_stand_in(token.as_bytes())
            && (!format.mixed || judge::is_mixed(secret))
        {
            return token;
        }
    }
    panic!("{}: no token in 2000 tries", format.id);
}

/// A name for the token that satisfies the format's own conditions.
fn name(format: &Format) -> String {
    match &format.form {
        Form::Named { names, .. } => format!("{}_token", names[0]),
        _ => format!("{}_token", format.near.first().map_or("some", String::as_str)),
    }
}

fn found(line: &str, token: &str) -> bool {
    let at = line.find(token).expect("the token is in the line");
    hits(line).iter().any(|hit| {
        let named = matches!(hit.kind, Kind::Provider { .. });
        named
            && hit.span.start <= at
            && at + token.len() <= hit.span.end.max(at + token.len())
            && hit.span.start < at + token.len()
            && at < hit.span.end
    })
}

#[test]
fn there_are_more_than_150_formats() {
    assert!(catalog().formats.len() > 300, "{}", catalog().formats.len());
}

#[test]
fn every_format_is_found_wherever_people_write_it() {
    let mut runner = TestRunner::deterministic();
    let mut missed = Vec::new();
    for format in &catalog().formats {
        assert!(format.regex().is_some(), "{}: {}", format.id, format.pattern);
        let (token, name) = (token(format, &mut runner), name(format));
        for line in [
            format!("{name} = \"{token}\""),
            format!("const {name}: &str = \"{token}\";"),
            format!("{{\"{name}\": \"{token}\"}}"),
            format!("export {name}='{token}'"),
            format!("{name}: {token}\n"),
            format!("--{name} \"{token}\" --verbose"),
            format!("os.environ.get(\"{name}\", \"{token}\")"),
        ] {
            let cut = !line.contains(['"', '\'']) && token.contains(['&', '#', '(', ')', '|', '?']);
            if !cut && !found(&line, &token) {
                missed.push(format!("{}: {line}", format.id));
            }
        }
    }
    assert_eq!(missed, [""; 0]);
}

#[test]
fn no_format_takes_stand_ins_or_parts_of_something_longer() {
    let mut runner = TestRunner::deterministic();
    let mut taken = Vec::new();
    for format in &catalog().formats {
        let (token, name) = (token(format, &mut runner), name(format));
        let open = format.open_part(token.as_bytes());
        let (prefix, rest) = token.split_at(open);
        for line in [
            format!("{name} = \"{prefix}{}\"", "x".repeat(rest.len())),
            format!("{name} = \"{prefix}${{SECRET_FROM_ENV}}\""),
            format!("{name} = \"<{}>\"", format.name),
            format!("{name} = \"{}\"", &prefix[..prefix.len().min(12)]),
            format!("{name} = os.environ[\"{name}\"]"),
        ] {
            if !kinds(&line).is_empty() {
                taken.push(format!("{}: {line}", format.id));
            }
        }
        if matches!(format.form, Form::Prefix(_)) {
            let line = format!("aGVsbG8gd29y{token}");
            let inside = |hit: &Hit| matches!(hit.kind, Kind::Provider { format: f, .. } if catalog().formats[f].id == format.id);
            if hits(&line).iter().any(inside) {
                taken.push(format!("{}: {line}", format.id));
            }
        }
    }
    assert_eq!(taken, [""; 0]);
}

#[test]
fn the_examples_of_the_table_hold() {
    let mut runner = TestRunner::deterministic();
    for format in &catalog().formats {
        for (lines, expected) in [(&format.yes, true), (&format.no, false)] {
            for line in lines {
                let line = line.replace("<token>", &token(format, &mut runner));
                let own = |hit: &Hit| hit.kind.id() == format.id;
                assert_eq!(hits(&line).iter().any(own), expected, "{}: {line}", format.id);
            }
        }
    }
}

#[test]
fn a_checksum_that_holds_makes_it_certain() {
    let mut runner = TestRunner::deterministic();
    let formats = &catalog().formats;
    let format = formats.iter().find(|format| format.id == "github-token").expect("it is there");
    let token = token(format, &mut runner);
    let hit = &hits(&token)[0];
    assert!(matches!(hit.kind, Kind::Provider { checked: true, .. }));
    let other = if token.ends_with('0') { '1' } else { '0' };
    let broken = format!("{}{other}", &token[..token.len() - 1]);
    let hit = &hits(&broken)[0];
    assert!(matches!(hit.kind, Kind::Provider { checked: false, .. }));
    assert!(hit.confidence < 0.9 && hit.severity == Severity::High);
}

/// What a scan finds in a line, by kind.
fn kinds(text: &str) -> Vec<&'static str> {
    hits(text).iter().filter(|hit| hit.confidence >= 0.5).map(|hit| hit.kind.id()).collect()
}

#[test]
fn secrets_without_a_provider() {
    let random = "q8Zr2LxK9vTf4WmBy7Hd";
    for (line, kind) in [
        (format!("client_secret: \"{random}\""), "generic-secret"),
        (format!("db.password = {random}"), "password"),
        ("password = \"Sommer2019!\"".to_owned(), "password"),
        (format!("postgres://app:{random}@db.internal.net:5432/app"), "address-password"),
        ("amqp://svc:Tr0ub4dor@mq.corp.net".to_owned(), "address-password"),
        (format!("curl -u admin:{random} https://api.corp.net"), "command-password"),
        (format!("Authorization: Bearer {random}"), "authorization-header"),
        (format!("getenv(\"API_TOKEN\", \"{random}\")"), "generic-secret"),
    ] {
        assert_eq!(kinds(&line), [kind], "{line}");
    }
}

#[test]
fn what_only_looks_like_a_secret() {
    for line in [
        "password = getpass()",
        "password = password.encode(\"latin1\")",
        "password: \"Passwort\"",
        "<label for=\"password\">Password</label>",
        "token = request.headers[\"X-Token\"]",
        "api_key = os.environ[\"API_KEY\"]",
        "secret_name = \"prod/database/main-9f86d081884c7d65\"",
        "public_key = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b\"",
        "commit = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b\"",
        "integrity sha512-q8Zr2LxK9vTf4WmBy7Hdq8Zr2LxK9vTf4WmBy7Hd==",
        "key = \"SalesResults-1.2\"",
        "clientId = \"73082700-1f09-405b-80d0-3131bfd6272d\"",
        "https://user:password@example.com/",
        "postgres://postgres:postgres@localhost:5432/test",
        "redis://:${REDIS_PASSWORD}@redis:6379",
        "curl -u \"$USER:$PASS\" https://example.com",
        "Authorization: Bearer <token>",
        "tokenizer = AutoTokenizer.from_pretrained(\"bert-base-uncased\")",
        "keyStr = \"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\"",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "if line.startswith(\"-----BEGIN RSA PRIVATE KEY-----\"):",
    ] {
        assert_eq!(kinds(line), [""; 0], "{line}");
    }
}

/// A private key as tools print it, from bytes that open nothing.
fn armoured(kind: &str) -> String {
    let line = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2g\n";
    format!("-----BEGIN {kind} KEY-----\n{}-----END {kind} KEY-----\n", line.repeat(4))
}

#[test]
fn private_keys_in_armour() {
    assert_eq!(kinds(&armoured("OPENSSH PRIVATE")), ["private-key"]);
    assert_eq!(kinds(&armoured("PUBLIC")), [""; 0]);
    let json = format!("{{\"private_key\": {:?}}}", armoured("PRIVATE"));
    assert_eq!(kinds(&json), ["private-key"]);
}

#[test]
fn redaction_keeps_lines_and_columns() {
    let text = format!(
        "a = 1\npassword = \"Sömmer2019!\"\npassword = \"Sommer2019!\"\n{}z\n",
        armoured("RSA PRIVATE")
    );
    let redacted = redact(&text);
    assert_eq!(redacted.lines().count(), text.lines().count());
    for (before, after) in text.lines().zip(redacted.lines()) {
        assert_eq!(before.chars().count(), after.chars().count());
    }
    assert!(!redacted.contains("Sommer") && !redacted.contains("b3Blbn"));
    assert!(redacted.starts_with("a = 1\n") && redacted.ends_with("z\n"));
}

#[test]
fn what_is_too_uncertain_to_report_is_masked_all_the_same() {
    for (path, line, secret) in [
        ("a.py", "password = \"hunter2\"", "hunter2"),
        ("a.py", "password = \"correct horse battery staple\"", "horse battery"),
        ("a.py", "PASSWORD = 'Winter-Something-42'", "Something"),
        ("a.py", "SECRET_KEY = 'q8$zr(2lxk)=9v!tf4^wm&by7*hd-a1_b2+c3@d4#e5%f6'", "lxk)=9v"),
        ("a.py", "pw = 'abc-def-7'", "abc-def-7"),
        ("a.go", "sql.Open(\"mysql\", \"root:pw@tcp(db:3306)/app\")", "pw"),
        ("a.go", "smtp.PlainAuth(\"\", \"bob\", \"hunter22\", host)", "hunter22"),
        ("A.java", "client.login(\"bob\", \"hunter22\");", "hunter22"),
        ("A.java", "DriverManager.getConnection(url, \"sa\", \"S3cr3t\")", "S3cr3t"),
        ("A.java", "if (password.equals(\"S3cr3tPass\")) {", "S3cr3tPass"),
        ("a.js", "u = 'https://x.blob.net/c?sv=1&sig=aB3%2FdE5fG7hI9jK1lM3nO5pQ7'", "dE5fG7"),
        ("a.js", "const x = 'mzyx3wvu5tsr7qpo2nml4kji6hgf3edc5baz7yxw2vut4srq6pon'", "mzyx3wvu5"),
        ("a.js", "const x = 'glc_aB3dE5fG7hI9jK1lM3nO5pQ7rS9'", "aB3dE5f"),
        ("a.js", "x('0/1234567890123456:0123456789abcdef0123456789abcdef')", "89abcdef01"),
        ("a.sh", "sshpass -p hunter2 ssh -p 22 host", "hunter2"),
        ("a.sh", "mysqldump -u root -phunter2 app", "hunter2"),
        ("a.sh", "export DB_PASSWORD=hunterpass", "hunterpass"),
        ("a.sh", "curl postgres://user:hunter2@db/app", "hunter2"),
        (".env", "DB_PASSWORD=Tr0ub4dor&3-prod", "3-prod"),
        (".env", "DB_PASSWORD=with some spaces", "spaces"),
        ("a.yml", "db:\n  password: hunterpass # old", "hunterpass"),
        ("a.yml", "kind: Secret\ndata:\n  plain: aHVudGVyMg==\n", "aHVudGVyMg"),
        ("a.properties", "db.password=correct horse", "horse"),
        ("Dockerfile", "ENV API_TOKEN=abcdef123", "abcdef123"),
        (".netrc", "machine a login b password hunterpass", "hunterpass"),
        ("a.ipynb", "\"db_password = \\\"hunter2!\\\"\\n\",", "hunter2"),
    ] {
        let masked = redact_file(path, line);
        assert!(!masked.contains(secret), "{path}: {masked}");
        assert_eq!(masked.chars().count(), line.chars().count());
        assert_eq!(redact_file(path, &masked), masked, "masking is stable");
    }
}

#[test]
fn a_value_that_is_known_is_masked_wherever_it_is_quoted() {
    let text = "password = \"Tr0ub4dor&3\"\nlog(\"Tr0ub4dor&3\")\n";
    assert!(!redact(text).contains("Tr0ub"));
    let known = Known::of(Some("a.py"), text);
    assert_eq!(known.clean("log(\"Tr0ub4dor&3\")"), "log(\"***********\")");
    assert_eq!(known.clean("nothing"), "nothing");
}

#[test]
fn what_stands_for_a_secret_stays_readable() {
    for (path, line) in [
        ("a.py", "password = os.environ[\"DB_PASSWORD\"]"),
        ("a.py", "password = \"Enter your password\""),
        ("a.ts", "<input type=\"password\" autocomplete=\"new-password\">"),
        ("a.ts", "password: string | null = null"),
        ("a.ts", "const token = await login(user.name, user.password)"),
        ("a.go", "conn, err := net.Connect(\"localhost\", port)"),
        ("a.yml", "password: ${DB_PASSWORD}"),
        ("a.yml", "password: \"{{ vault_password }}\""),
        ("a.tf", "password = var.db_password"),
        ("a.sh", "mysql -u root -p\"$PW\" app"),
        ("a.sh", "docker run -p 8080:80 image"),
        ("a.py", "digest = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\""),
        ("a.rs", "let key = cache.get(\"session_key_prefix\");"),
        ("a.md", "Set `password` in the file; tokens are read from the environment."),
    ] {
        assert_eq!(redact_file(path, line), line, "{path}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_can_be_scanned_and_redacted(text in "(?s).{0,300}") {
        let redacted = redact(&text);
        proptest::prop_assert_eq!(redacted.chars().count(), text.chars().count());
        let known = Known::of(Some("a.env"), &text);
        proptest::prop_assert!(known.spans().windows(2).all(|pair| pair[0].end < pair[1].start));
        proptest::prop_assert_eq!(known.mask(&text).chars().count(), text.chars().count());
    }

    #[test]
    fn names_and_marks_in_any_order_do_no_harm(text in "(password|token|api_key|key|curl |://|eyJ|-----BEGIN |[:=\"'<>(){}, \n@.-]|[a-z0-9]{1,12}|é){0,40}") {
        proptest::prop_assert_eq!(redact(&text).chars().count(), text.chars().count());
    }
}
