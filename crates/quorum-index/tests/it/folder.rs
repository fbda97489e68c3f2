//! A folder of files, and its index.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bstr::{BStr, BString, ByteSlice as _};
use quorum_index::{
    Class, ContentMode, Counter, Index, IndexError, Presentation, Query, Tree, Update, update,
};
use quorum_model::config::Tokenizer;
use quorum_model::search::{SearchMethod, SearchResults};
use quorum_model::symbol::IndexReport;

/// A folder of its own for a test.
pub(crate) struct Folder {
    _kept: tempfile::TempDir,
    root: PathBuf,
    index: PathBuf,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path().join("tree");
        let index = folder.path().join("index");
        fs::create_dir_all(&root).expect("a tree");
        Self { _kept: folder, root, index }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn index_folder(&self) -> &Path {
        &self.index
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("the folder");
        fs::write(path, text).expect("the file");
    }

    pub(crate) fn update(&self) -> IndexReport {
        self.update_at(SystemTime::now())
    }

    pub(crate) fn update_at(&self, now: SystemTime) -> IndexReport {
        self.update_into(&self.index, now)
    }

    pub(crate) fn update_into(&self, folder: &Path, now: SystemTime) -> IndexReport {
        let update_of = Update {
            folder,
            tree: self,
            counter: Counter::new(Tokenizer::Chars4),
            only: None,
            now,
            watch: &|_| {},
        };
        update(&update_of).expect("it is indexed")
    }

    pub(crate) fn open(&self) -> Index {
        Index::open(&self.index, &self.root).expect("there is an index")
    }

    pub(crate) fn search(&self, query: &str) -> SearchResults {
        let index = self.open();
        let wanted = Query { text: query.to_owned(), limit: 10, ..Query::default() };
        let found = index.find(&wanted).expect("it answers");
        index.present(query, found, &presentation(ContentMode::Full), SearchMethod::Words).0
    }
}

pub(crate) fn presentation(content: ContentMode) -> Presentation {
    Presentation {
        content,
        budget: None,
        counter: Counter::new(Tokenizer::Chars4),
        mask: |_, content| content.to_vec(),
    }
}

/// Languages by ending alone: what a file is, is tested elsewhere.
fn language(path: &str) -> Option<String> {
    let name = match path.rsplit('.').next()? {
        "rs" => "Rust",
        "py" => "Python",
        "go" => "Go",
        "md" => "Markdown",
        "json" => "JSON",
        "js" => "JavaScript",
        "toml" => "TOML",
        _ => return None,
    };
    Some(name.to_owned())
}

impl Tree for Folder {
    fn root(&self) -> &Path {
        &self.root
    }

    fn files(&self) -> Result<Vec<BString>, IndexError> {
        let mut found = Vec::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let kind = entry.file_type().expect("a type");
                if kind.is_dir() {
                    folders.push(entry.path());
                } else {
                    let path = entry.path();
                    let path = path.strip_prefix(&self.root).expect("inside");
                    found.push(BString::from(<[u8]>::from_path(path).expect("bytes")));
                }
            }
        }
        found.sort();
        Ok(found)
    }

    fn policy(&self) -> Vec<u8> {
        Vec::new()
    }

    fn classify(&self, path: &BStr, content: Vec<u8>) -> (Class, Vec<u8>) {
        let class = Class { language: language(&path.to_str_lossy()), ..Class::default() };
        (class, content)
    }

    fn mask(&self, _: &BStr, content: &[u8]) -> Vec<u8> {
        content.to_vec()
    }

    fn branch(&self) -> Option<String> {
        Some("main".to_owned())
    }

    fn revision(&self) -> Option<String> {
        None
    }
}
