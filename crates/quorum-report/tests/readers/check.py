"""Reads sample reports with readers that are not ours.

    check.py SAMPLES SARIF_SCHEMA SCHEMAS

SAMPLES is what the example `samples` wrote, SARIF_SCHEMA the published schema, SCHEMAS the folder
with our own documents' schemas. `cargo xtask readers` gets all of it and runs this.
"""

import gzip
import json
import re
import sys
from collections import Counter
from pathlib import Path

import jsonschema
import junitparser
from markdown_it import MarkdownIt
from sarif import loader

HERE = Path(__file__).parent
OPEN = {"new", "persisting"}


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def ids_of(result, open_only):
    findings = result["findings"] + result.get("history", [])
    return [f["id"] for f in findings if not open_only or f["state"] in OPEN]


def entries_of(result, open_only):
    """What formats carry that know nothing but findings: violated standing orders too."""
    return ids_of(result, open_only) + [f"SOP-{sop['sop']}" for sop in result["sops"] if sop["status"] == "violated"]


def same(name, got, expected):
    got, expected = Counter(got), Counter(expected)
    assert got == expected, f"{name}: more {list((got - expected))[:5]}, missing {list((expected - got))[:5]}"


def check_sarif(folder, result, schema):
    path = folder / "report.sarif"
    log = load(path)
    validator = jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())
    for error in validator.iter_errors(log):
        raise AssertionError(f"{path}: {error.json_path}: {error.message[:300]}")
    (run,) = log["runs"]
    results = run["results"]
    agreed = [r for r in results if r["kind"] != "review"]
    same("sarif", [r["properties"]["id"] for r in agreed], entries_of(result, False))
    # GitHub's limits.
    assert len(gzip.compress(path.read_bytes())) < 10 * 1024 * 1024
    assert len(results) <= 25_000 and len(run["tool"]["driver"]["rules"]) <= 25_000
    assert len(run["tool"].get("extensions", [])) <= 100
    for rule in run["tool"]["driver"]["rules"]:
        assert len(rule["properties"]["tags"]) <= 20 and len(rule["id"]) <= 255
        assert len(rule["shortDescription"]["text"]) <= 1024 and len(rule["fullDescription"]["text"]) <= 1024
        score = rule["properties"].get("security-severity")
        assert score is None or 0.0 < float(score) <= 10.0
    for entry in results:
        assert run["tool"]["driver"]["rules"][entry["ruleIndex"]]["id"] == entry["ruleId"]
        assert 1 <= len(entry["locations"]) <= 1_000
        uri = entry["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert re.fullmatch(r"([A-Za-z0-9._~/-]|%[0-9A-F]{2})+", uri), uri
        assert entry["partialFingerprints"]["primaryLocationLineHash"]
    # sarif-tools counts by severity, and leaves out what is suppressed.
    read = loader.load_sarif_file(str(path))
    counts = Counter(record["Severity"] for record in read.get_records())
    levels = Counter(r["level"] for r in results)
    for level in ("error", "warning", "note"):
        assert counts[level] <= levels[level], (level, counts, levels)
    assert sum(counts.values()) >= len(ids_of(result, True))


def check_junit(folder, result):
    suites = junitparser.JUnitXml.fromfile(str(folder / "report.junit.xml"))
    names, failed = [], 0
    for suite in suites:
        for case in suite:
            if case.name.split(" ")[0] in ("verdict", "no"):
                continue
            names.append(case.name.split(" ")[0])
            failed += any(isinstance(outcome, junitparser.Failure) for outcome in case.result)
    same("junit", names, entries_of(result, False))
    serious = [f for f in result["findings"] if f["severity"] in ("CRITICAL", "HIGH") and f["state"] in OPEN]
    serious += [s for s in result["sops"] if s["status"] == "violated" and s["severity"] == "error"]
    assert failed == len(serious), (failed, len(serious))
    assert suites.tests == sum(suite.tests for suite in suites)


def check_gitlab(folder, result):
    report = load(folder / "gl-code-quality-report.json")
    jsonschema.validate(report, load(HERE / "gitlab.schema.json"))
    same("gitlab", [entry["description"].split(":")[0] for entry in report], entries_of(result, True))
    fingerprints = [entry["fingerprint"] for entry in report]
    assert len(set(fingerprints)) == len(fingerprints)


def check_rdjsonl(folder, result):
    validator = jsonschema.Draft202012Validator(load(HERE / "rdjson.schema.json"))
    lines = (folder / "report.rdjsonl").read_text(encoding="utf-8").split("\n")
    diagnostics = [json.loads(line) for line in lines if line]
    for diagnostic in diagnostics:
        validator.validate(diagnostic)
    same("rdjsonl", [d["message"].split(":")[0] for d in diagnostics], entries_of(result, True))


def check_github(folder, result):
    lines = (folder / "report.github.txt").read_text(encoding="utf-8").split("\n")
    commands = [line for line in lines if line]
    for line in commands:
        assert re.match(r"^::(error|warning|notice) file=[^,\n]+,line=\d+,endLine=\d+,title=[^:,\n]+::", line), line[:200]
    same("github", [re.search(r",title=(\S+)", line)[1] for line in commands], entries_of(result, True))


def check_markdown(folder, result):
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert len(text) < 60_000
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    tags = set(re.findall(r"</?([a-zA-Z][a-zA-Z0-9]*)", html))
    known = {"h2", "h3", "ul", "ol", "li", "p", "table", "thead", "tbody", "tr", "th", "td", "details",
             "summary", "b", "code", "pre", "sub", "strong"}
    assert tags <= known, tags - known
    assert html.count("<details") == html.count("</details>")
    ids = re.findall(r"<summary><b>\w+</b> <code>([^<]+)</code>", html)
    left_out = re.search(r"([\d,]+) findings? (?:is|are) not on this page", html)
    expected = [finding["id"] for finding in result["findings"]]
    missing = int(left_out[1].replace(",", "")) if left_out else 0
    assert len(ids) + missing == len(expected) and set(ids) <= set(expected)
    # What does not count is counted by its state, apart from what is open.
    headings = {"not_reviewed": "Open, not reviewed this time", "resolved": "Resolved", "dismissed": "Dismissed"}
    for state, heading in headings.items():
        count = sum(finding["state"] == state for finding in result.get("history", []))
        shown = re.search(rf"<summary>{heading}: ([\d,]+)</summary>", html)
        assert (int(shown[1].replace(",", "")) if shown else 0) == count, (state, count, shown and shown[0])


def check_documents(folder, result, schemas):
    jsonschema.Draft202012Validator(load(schemas / "result.json")).validate(result)
    validator = jsonschema.Draft202012Validator(load(schemas / "event.json"))
    events = (folder / "events.jsonl").read_text(encoding="utf-8").split("\n")
    events = [json.loads(line) for line in events if line]
    for event in events:
        validator.validate(event)
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))


def main():
    samples, sarif_schema, schemas = (Path(argument) for argument in sys.argv[1:4])
    schema = load(sarif_schema)
    folders = sorted(path for path in samples.iterdir() if path.is_dir())
    assert folders, f"no samples in {samples}"
    for folder in folders:
        result = load(folder / "result.json")
        check_documents(folder, result, schemas)
        check_sarif(folder, result, schema)
        check_junit(folder, result)
        check_gitlab(folder, result)
        check_rdjsonl(folder, result)
        check_github(folder, result)
        check_markdown(folder, result)
        print(f"{folder.name}: {len(result['findings'])} findings, every format reads back")


main()
