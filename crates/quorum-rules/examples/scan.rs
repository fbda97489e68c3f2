use quorum_model::scope::*;
use quorum_rules::*;
use std::sync::Arc;
struct None_;
impl Sources for None_ {
    fn read(&self, _: &str, _: Side) -> Option<Arc<str>> {
        None
    }
    fn paths(&self) -> &[String] {
        &[]
    }
}
fn walk(p: &std::path::Path, out: &mut Vec<String>) {
    if p.is_dir() {
        if p.file_name().is_some_and(|n| n == ".git") {
            return;
        }
        for e in std::fs::read_dir(p).unwrap() {
            walk(&e.unwrap().path(), out)
        }
    } else {
        out.push(p.to_string_lossy().into_owned())
    }
}
fn main() {
    let mut files = vec![];
    for a in std::env::args().skip(1) {
        if let Some(l) = a.strip_prefix('@') {
            files.extend(std::fs::read_to_string(l).unwrap().lines().map(String::from));
        } else {
            walk(std::path::Path::new(&a), &mut files);
        }
    }
    files.sort();
    let load = |i: usize| {
        let p = &files[i];
        let t = std::fs::read_to_string(p).ok()?;
        if t.len() > 1_500_000 {
            return None;
        }
        Some(SourceFile {
            entry: FileEntry {
                path: Arc::from(p.as_str()),
                old_path: None,
                change: Change::Added,
                language: None,
                kind: FileKind::Code,
                tokens: 0,
                flags: vec![],
                flag_reasons: Default::default(),
                hunks: vec![],
            },
            head: Some(Arc::from(t.as_str())),
            base: None,
            added: None,
            removed: LineSet::default(),
        })
    };
    let start = std::time::Instant::now();
    let r = review(files.len(), &load, &None_);
    eprintln!(
        "{} files {:?} findings {} hints {} notes {}",
        files.len(),
        start.elapsed(),
        r.findings.len(),
        r.hints.len(),
        r.notes.len()
    );
    for n in r.notes.iter().take(5) {
        eprintln!("note {} {}", n.file, n.cause)
    }
    use std::io::Write;
    let mut o = std::io::BufWriter::new(std::io::stdout());
    for (h, f) in r.findings.iter().map(|f| (0, f)).chain(r.hints.iter().map(|f| (1, f))) {
        let _ = writeln!(
            o,
            "{}\t{}\t{}\t{}\t{}\t{}\t{:.2}\t{}\t{}",
            h,
            f.file,
            f.line,
            f.end_line,
            f.rule,
            f.cwe.clone().unwrap_or_default(),
            f.confidence,
            f.severity.as_str(),
            f.agent
        );
    }
}
