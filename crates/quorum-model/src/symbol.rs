//! Symbols of a repository and what refers to them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A declaration in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Symbol {
    /// Its own name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// The type, module or function that it stands in, outermost first, joined by `.`.
    pub container: Option<String>,
    /// The declaration without its body, on one line.
    pub signature: String,
    /// The comment that documents it, without comment marks.
    pub doc: Option<String>,
    /// Who can use it.
    pub visibility: Visibility,
    /// The line of the name.
    pub line: u64,
    /// First line, with attributes and the comment that documents it.
    pub start_line: u64,
    /// Last line.
    pub end_line: u64,
}

impl Symbol {
    /// The name with the names that it stands in, joined by `.`.
    pub fn qualified(&self) -> String {
        match &self.container {
            Some(container) => format!("{container}.{}", self.name),
            None => self.name.clone(),
        }
    }
}

/// What a symbol is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SymbolKind {
    /// A function outside any type.
    Function,
    /// A function of a type.
    Method,
    /// A class.
    Class,
    /// A structure, a record or a union.
    Struct,
    /// An enumeration.
    Enum,
    /// An interface or a protocol.
    Interface,
    /// A trait.
    Trait,
    /// Any other type: an alias, a delegate.
    Type,
    /// A value that does not change.
    Constant,
    /// A value outside any function.
    Variable,
    /// A property with accessors.
    Property,
    /// A module, a package or a namespace.
    Module,
    /// A macro.
    Macro,
    /// A heading of a text.
    Heading,
    /// A key of a configuration file.
    Key,
    /// A block: a resource, a build stage.
    Block,
    /// A table, a view or another object of a database.
    Table,
}

impl SymbolKind {
    /// The spelling used in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::Interface => "interface",
            Self::Trait => "trait",
            Self::Type => "type",
            Self::Constant => "constant",
            Self::Variable => "variable",
            Self::Property => "property",
            Self::Module => "module",
            Self::Macro => "macro",
            Self::Heading => "heading",
            Self::Key => "key",
            Self::Block => "block",
            Self::Table => "table",
        }
    }

    /// Whether it is a function of any sort.
    pub fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Macro)
    }

    /// Whether it is a type of any sort.
    pub fn is_type(self) -> bool {
        matches!(
            self,
            Self::Class | Self::Struct | Self::Enum | Self::Interface | Self::Trait | Self::Type
        )
    }
}

/// Who can use a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// Everybody.
    Public,
    /// Derived types.
    Protected,
    /// The same package, crate or assembly.
    Internal,
    /// The same file or type.
    Private,
}

impl Visibility {
    /// The spelling used in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Protected => "protected",
            Self::Internal => "internal",
            Self::Private => "private",
        }
    }
}

/// The symbols of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileSymbols {
    /// See [`crate::SCHEMA_VERSION`].
    #[serde(default = "crate::schema_version")]
    pub schema_version: u32,
    /// The file.
    pub path: String,
    /// Its language, by GitHub Linguist's names.
    pub language: Option<String>,
    /// Its tokens.
    pub tokens: u64,
    /// In the order of the file.
    pub symbols: Vec<Symbol>,
}

/// The signatures of one file, for a reader who has no room for all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileSummary {
    /// See [`crate::SCHEMA_VERSION`].
    #[serde(default = "crate::schema_version")]
    pub schema_version: u32,
    /// The file.
    pub path: String,
    /// Its language, by GitHub Linguist's names.
    pub language: Option<String>,
    /// Tokens of the whole file.
    pub file_tokens: u64,
    /// Tokens of `text`.
    pub tokens: u64,
    /// Signatures, one a line, indented as they are nested.
    pub text: String,
    /// Symbols that a token budget left out.
    pub left_out: u64,
}

/// Who calls a symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Callers {
    /// See [`crate::SCHEMA_VERSION`].
    #[serde(default = "crate::schema_version")]
    pub schema_version: u32,
    /// The symbol that was asked for.
    pub symbol: String,
    /// Where it is declared; several places where names are not unique.
    pub definitions: Vec<Place>,
    /// Where it is called.
    pub callers: Vec<CallSite>,
}

/// A symbol and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// The file.
    pub path: String,
    /// The symbol.
    #[serde(flatten)]
    pub symbol: Symbol,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallSite {
    /// The file.
    pub path: String,
    /// The line.
    pub line: u64,
    /// The function that the call stands in, with what it stands in.
    pub caller: Option<String>,
    /// What stands before the name: a receiver, a type or a module.
    pub qualifier: Option<String>,
    /// How the call is known to mean this symbol.
    pub certainty: Certainty,
}

/// How a call is known to mean a symbol. Names are compared; types are not inferred.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// The same file, an import of the declaring file, a qualifier that is the container, or the only
    /// declaration of that name.
    Likely,
    /// The name alone, which is declared more than once.
    Possible,
}

/// What a file refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileReferences {
    /// See [`crate::SCHEMA_VERSION`].
    #[serde(default = "crate::schema_version")]
    pub schema_version: u32,
    /// The file.
    pub path: String,
    /// What it imports.
    pub imports: Vec<Import>,
    /// The symbols of this repository that it uses, each once.
    pub uses: Vec<Use>,
}

/// One import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Import {
    /// The module, package or file, as it is written.
    pub module: String,
    /// The line.
    pub line: u64,
    /// The files of this repository that it stands for; none for a dependency from elsewhere.
    pub files: Vec<String>,
}

/// A symbol of this repository that a file uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Use {
    /// The name.
    pub name: String,
    /// The first line that uses it.
    pub line: u64,
    /// Where it is declared.
    pub declared_in: Vec<String>,
    /// How that is known.
    pub certainty: Certainty,
}

/// The most central symbols of a repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RepositoryMap {
    /// See [`crate::SCHEMA_VERSION`].
    #[serde(default = "crate::schema_version")]
    pub schema_version: u32,
    /// Tokens that `text` may take.
    pub budget: u64,
    /// Tokens that it takes.
    pub tokens: u64,
    /// Files and signatures.
    pub text: String,
    /// The symbols in `text`, the most central first.
    pub symbols: Vec<RankedSymbol>,
    /// Symbols that the budget left out.
    pub left_out: u64,
}

/// A symbol with its rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankedSymbol {
    /// The file.
    pub path: String,
    /// The name, with what it stands in.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// The line of the name.
    pub line: u64,
    /// Its share of all attention.
    pub rank: f64,
}

/// What an indexing run did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexReport {
    /// See [`crate::SCHEMA_VERSION`].
    #[serde(default = "crate::schema_version")]
    pub schema_version: u32,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// The commit that is checked out.
    pub revision: Option<String>,
    /// Files in the index.
    pub files: u64,
    /// Files whose text was parsed in this run.
    pub parsed: u64,
    /// Files whose text was known already, from another path or another branch.
    pub reused: u64,
    /// Files that did not change.
    pub unchanged: u64,
    /// Files that vanished.
    pub removed: u64,
    /// Files that came in by name alone: empty, binary, generated, too large.
    pub by_name: u64,
    /// Chunks in the index.
    pub chunks: u64,
    /// Symbols in the index.
    pub symbols: u64,
    /// Lines in the index.
    pub lines: u64,
    /// Tokens in the index.
    pub tokens: u64,
    /// Chunks that have a vector of the configured model.
    pub embedded: u64,
    /// Files by language.
    pub languages: std::collections::BTreeMap<String, u64>,
    /// Files of which the name alone is indexed or that are indexed as text, each with the cause.
    pub skipped: Vec<SkippedFile>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// A file that is not indexed in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedFile {
    /// The file.
    pub path: String,
    /// Why.
    pub reason: String,
}
