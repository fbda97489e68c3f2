//! Templates: what they write into a page without escaping it.

use std::sync::LazyLock;

use quorum_model::finding::TraceStep;
use quorum_model::scope::FileEntry;
use quorum_model::severity::Severity;
use regex::Regex;

use super::rule::CodeRule;
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

/// The agent that reports what this module finds.
pub(super) const AGENT: &str = "security-reviewer";

const FROM_REQUEST: CodeRule = CodeRule {
    id: "template.unescaped-request",
    agent: AGENT,
    category: "injection",
    severity: Severity::High,
    confidence: 0.85,
};

const UNESCAPED: CodeRule = CodeRule {
    id: "template.unescaped-output",
    agent: AGENT,
    category: "injection",
    severity: Severity::Medium,
    confidence: 0.55,
};

/// The way in which a template writes a value as it is.
struct Form {
    /// The endings of files that have it.
    endings: &'static [&'static str],
    /// The expression is its first group.
    pattern: &'static str,
    /// Whether the engine writes every value so: then only what comes from outside is reported.
    always: bool,
    name: &'static str,
}

const HTML: &[&str] = &[
    ".html", ".htm", ".xhtml", ".jinja", ".jinja2", ".j2", ".njk", ".twig", ".tpl", ".liquid",
    ".django",
];

const FORMS: &[Form] = &[
    Form {
        endings: HTML,
        pattern: r"\{\{-?\s*([^{}]+?)\s*\|\s*(?:safe|raw|safeseq)\b[^{}]*\}\}",
        always: false,
        name: "`|safe`",
    },
    Form {
        endings: &[".blade.php"],
        pattern: r"\{!!\s*(.+?)\s*!!\}",
        always: false,
        name: "`{!! !!}`",
    },
    Form {
        endings: &[".erb", ".rhtml"],
        pattern: r"<%=\s*raw[\s(]\s*(.+?)\)?\s*-?%>|<%==\s*(.+?)\s*-?%>|<%=\s*([^%]+?)\.html_safe\s*-?%>",
        always: false,
        name: "`raw` or `html_safe`",
    },
    Form { endings: &[".slim"], pattern: r"^\s*[\w.#]*\s*==\s*(.+)$", always: false, name: "`==`" },
    Form { endings: &[".haml"], pattern: r"^\s*[\w.#%]*!=\s*(.+)$", always: false, name: "`!=`" },
    Form {
        endings: &[".jsp", ".jspx", ".jspf", ".tag"],
        pattern: r"<%=\s*(.+?)\s*%>|\$\{([^}]+)\}",
        always: true,
        name: "an expression of the page",
    },
    Form {
        endings: &[".html", ".xhtml"],
        pattern: r#"th:utext\s*=\s*"([^"]+)"|\[\(\$\{([^}]+)\}\)\]"#,
        always: false,
        name: "`th:utext`",
    },
    Form {
        endings: &[".cshtml", ".vbhtml", ".razor"],
        pattern: r"@\(?Html\.Raw\((.+)\)|\(MarkupString\)\s*\(?(.+)",
        always: false,
        name: "`Html.Raw`",
    },
    Form {
        endings: &[".hbs", ".handlebars", ".mustache"],
        pattern: r"\{\{\{\s*([^{}]+?)\s*\}\}\}|\{\{&\s*([^{}]+?)\s*\}\}",
        always: false,
        name: "`{{{ }}}`",
    },
    Form { endings: &[".ejs"], pattern: r"<%-\s*(.+?)\s*-?%>", always: false, name: "`<%- %>`" },
    Form {
        endings: &[".vue"],
        pattern: r#"\bv-html\s*=\s*"([^"]+)""#,
        always: false,
        name: "`v-html`",
    },
    Form {
        endings: &[".svelte"],
        pattern: r"\{@html\s+([^}]+)\}",
        always: false,
        name: "`{@html}`",
    },
    Form {
        endings: &[".astro"],
        pattern: r"\bset:html=\{([^}]+)\}",
        always: false,
        name: "`set:html`",
    },
    Form { endings: &[".phtml"], pattern: r"<\?=\s*(.+?)\s*\?>", always: true, name: "`<?= ?>`" },
];

/// What a request brings, as the engines spell it.
const REQUEST: &str = r#"(?x)
    \b(?:app\.)?(?:request|req)\.(?:GET|POST|args|form|values|cookies|headers|query|query_params|params|body|files|META|data|json|path_info|full_path|attributes)\b
  | \bparams\s*(?:\[|\.(?:fetch|require|permit|dig)) | \bcookies\s*\[
  | \$_(?:GET|POST|REQUEST|COOKIE|SERVER)\b
  | \brequest\(\s*['"] | \brequest\(\)\s*->\s*(?:input|get|query|all|cookie|header|post)
  | \$request\s*->\s*(?:input|get|query|all|cookie|header|post|\w+\b) | \bRequest::(?:input|get|query|all|cookie)
  | \brequest\.get(?:Parameter\w*|Header\w*|QueryString|Cookies|PathInfo|RequestUR[IL])\b
  | ^\s*(?:param|paramValues|header|headerValues|cookie)\s*[.\[]
  | \bRequest\.(?:Query|Form|QueryString|Params|Cookies|Headers|Path|RawUrl)\b | \bContext\.Request\b
  | \$route\.(?:query|params|hash|fullPath)\b | \$page\.(?:url|params)\b | \bpage\.url\.search
  | \b(?:window\.|document\.)?location\.(?:search|hash|href)\b | \bURLSearchParams\b
  | \#(?:httpServletRequest|request)\b | \bparam\.[a-zA-Z_] | \bAstro\.(?:url|params|request)\b
"#;

/// What makes a value harmless for a page, or says that it is made for one.
const CLEAN: &str = r"(?i)escape|sanitiz|sanitis|purif|strip_?tags|bleach|\bclean|encode|json|\bint\b|integer|number|to_i\b|\.length|\.size\b|count|\bh\(|\be\(|htmlspecialchars|c:out|csrf|nonce";

/// What templates write as it is because it is a part of the page.
const PART: &str = r#"(?ix)
    ^\s*['"`][^'"`]*['"`]\s*$ | ^[\d\s.]+$
  | ^\s*[@$]?(?:t|_|__|trans|translate|gettext|ngettext|i18n|lang|l|tr|msg|message|messages|trans_choice)\b\s*[(.\s'"|]
  | ^\s*[$@]?(?:\w+[.>_-]+)*(?:include\w*|partial|render\w*|yield|content|contents|body|block|super|caller|slot\w*|form\w*|field\w*|widget\w*|paginat\w*|links?|stylesheets?|javascript\w*|asset\w*|vite|mix|scripts?|styles?|css|js|svg|icon\w*|image\w*|img|layout|children|breadcrumbs?|nav\w*|menu|toc|head|header|footer|sidebar|html|page|markup|media|badge|button|tags?|toolbar|chart|plot|template|component\w*|snippet|embed|capture|markdown|highlight|code|description_html|\w+_html|\w*[Hh]tml\w*|attrs?|attributes?|options?)\b
"#;

struct Patterns {
    forms: Vec<(&'static Form, Regex)>,
    request: Regex,
    clean: Regex,
    part: Regex,
    kept: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    let forms = FORMS.iter().map(|form| Regex::new(form.pattern).map(|regex| (form, regex)));
    Some(Patterns {
        forms: forms.collect::<Result<_, _>>().ok()?,
        request: Regex::new(REQUEST).ok()?,
        clean: Regex::new(CLEAN).ok()?,
        part: Regex::new(PART).ok()?,
        kept: Regex::new(r"(?:^|[\s{(;%])([$@]?[A-Za-z_]\w*)\s*:?=\s*([^=].*)$").ok()?,
    })
});

/// Whether a file, by its name in lower case, is a page or a template of one.
pub(crate) fn is_page(path: &str) -> bool {
    FORMS.iter().flat_map(|form| form.endings).any(|ending| path.ends_with(ending))
}

/// Whether the file is a template.
pub(super) fn takes(entry: &FileEntry, _: Option<&str>) -> bool {
    is_page(&entry.path.to_ascii_lowercase())
}

/// Looks at one file.
pub(crate) fn check(file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    let path = file.path().to_ascii_lowercase();
    // A template of plain text has nothing to escape for.
    let is_plain = path.contains(".text.") || path.contains(".txt.");
    if !is_page(&path) || is_plain {
        return;
    }
    let Some(patterns) = PATTERNS.as_ref() else { return };
    let has = |form: &Form| form.endings.iter().any(|ending| path.ends_with(ending));
    let forms: Vec<_> = patterns.forms.iter().filter(|(form, _)| has(form)).collect();
    let mut kept: Vec<(String, u64)> = Vec::new();
    for (number, line) in (1..).zip(file.text().lines()) {
        if line.len() > 4000 {
            continue;
        }
        for (form, regex) in &forms {
            for found in regex.captures_iter(line) {
                let expression = found.iter().skip(1).flatten().next();
                let Some(expression) = expression.map(|group| group.as_str().trim()) else {
                    continue;
                };
                let escaped = patterns.clean.is_match(expression) || is_escaped(line);
                if escaped {
                    continue;
                }
                let place = Written { number, line, expression, form };
                findings.extend(judge(file, &place, patterns, &kept));
            }
        }
        if let Some(set) = patterns.kept.captures(line)
            && let (Some(name), Some(value)) = (set.get(1), set.get(2))
            && patterns.request.is_match(value.as_str().trim())
            && !patterns.clean.is_match(value.as_str())
            // An attribute of a tag is no variable.
            && !value.as_str().starts_with(['"', '\''])
        {
            kept.push((name.as_str().to_owned(), number));
        }
    }
}

/// Whether a tag around the expression escapes it.
fn is_escaped(line: &str) -> bool {
    line.contains("<c:out") || line.contains("fn:escapeXml") || line.contains("<fmt:")
}

/// An expression that a template writes as it is.
struct Written<'a> {
    number: u64,
    line: &'a str,
    expression: &'a str,
    form: &'a Form,
}

fn judge(
    file: &ParsedFile,
    place: &Written<'_>,
    patterns: &Patterns,
    kept: &[(String, u64)],
) -> Option<RuleFinding> {
    let Written { number, line, expression, form } = *place;
    let name_of = |name: &str| {
        let words = expression.split(|c: char| !(c.is_alphanumeric() || "_$@".contains(c)));
        words.into_iter().any(|word| word == name)
    };
    let source = if patterns.request.is_match(expression) {
        Some(number)
    } else {
        kept.iter().rev().find(|(name, _)| name_of(name)).map(|(_, line)| *line)
    };
    let quote: String = line.trim().chars().take(240).collect();
    let advice = "Let the template engine escape it; for markup that users may write, clean it with a library \
                  for HTML before it is stored or shown.";
    let form = form.name;
    let mut found = match source {
        Some(_) => {
            let issue = format!(
                "A value from the request is written into the page without escaping, by {form} (cross-site \
                 scripting, XSS). Whoever makes somebody open a link runs scripts with their session."
            );
            FROM_REQUEST.on(file.path(), (number, number), quote, issue, advice)
        }
        None if place.form.always || patterns.part.is_match(expression) => return None,
        None => {
            let issue = format!(
                "`{}` is written into the page without escaping, by {form}. If somebody outside can ever choose \
                 a part of it, they run scripts in the browser of whoever opens the page (XSS).",
                expression.chars().take(60).collect::<String>()
            );
            UNESCAPED.on(file.path(), (number, number), quote, issue, advice)
        }
    };
    found.cwe = Some("CWE-79".to_owned());
    if let Some(source) = source {
        let step = |line, note: &str| TraceStep {
            file: file.path().to_owned(),
            line,
            note: note.to_owned(),
        };
        found.trace = vec![
            step(source, "the request brings it"),
            step(number, "it is written into the page"),
        ];
    }
    Some(found)
}
