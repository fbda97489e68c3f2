//! The languages that are compiled in.

use std::path::Path;

use ast_grep_core::language::Language;
use ast_grep_core::matcher::PatternBuilder;
use ast_grep_core::tree_sitter::{LanguageExt, StrDoc, TSLanguage};
use ast_grep_core::{Pattern, PatternError};
use ast_grep_language::SupportLang;

macro_rules! languages {
    ($($variant:ident => $support:ident, $name:literal, [$($alias:literal),*], [$($extension:literal),*];)*) => {
        /// A language with a grammar.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Lang {
            $(#[doc = $name] $variant,)*
        }

        impl Lang {
            /// Every language with a grammar.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its short name, as rules and flags spell it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// From a short name, or from the name that Linguist has for it.
            pub fn from_name(name: &str) -> Option<Self> {
                let name = name.to_ascii_lowercase();
                match name.as_str() { $($name $(| $alias)* => Some(Self::$variant),)* _ => None }
            }

            fn from_extension(extension: &str) -> Option<Self> {
                match extension { $($($extension)|* => Some(Self::$variant),)* _ => None }
            }

            fn support(self) -> SupportLang {
                match self { $(Self::$variant => SupportLang::$support,)* }
            }
        }
    };
}

languages! {
    Bash => Bash, "bash", ["shell", "sh", "zsh"], ["sh", "bash", "zsh", "ksh", "bats"];
    C => C, "c", [], ["c"];
    Cpp => Cpp, "cpp", ["c++", "objective-c++", "cuda"], ["cc", "cpp", "cxx", "c++", "hpp", "hh", "hxx", "h", "ino", "cu"];
    CSharp => CSharp, "csharp", ["c#"], ["cs", "csx"];
    Go => Go, "go", ["golang"], ["go"];
    Hcl => Hcl, "hcl", ["terraform"], ["tf", "hcl", "tfvars"];
    Java => Java, "java", [], ["java"];
    JavaScript => JavaScript, "javascript", ["js", "jsx"], ["js", "jsx", "mjs", "cjs"];
    Json => Json, "json", ["json with comments", "json5"], ["json", "jsonc"];
    Kotlin => Kotlin, "kotlin", [], ["kt", "kts", "ktm"];
    Php => Php, "php", [], ["php", "phtml", "php5"];
    Python => Python, "python", ["py"], ["py", "pyi", "pyw"];
    Ruby => Ruby, "ruby", ["rb"], ["rb", "rake", "gemspec", "ru"];
    Rust => Rust, "rust", ["rs"], ["rs"];
    Tsx => Tsx, "tsx", [], ["tsx"];
    TypeScript => TypeScript, "typescript", ["ts"], ["ts", "mts", "cts"];
    Yaml => Yaml, "yaml", [], ["yaml", "yml"];
}

impl Lang {
    /// From a file's name alone.
    pub fn from_path(path: &str) -> Option<Self> {
        let path = Path::new(path);
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::from_extension(&extension)
    }

    /// The grammar.
    pub fn grammar(self) -> tree_sitter::Language {
        self.support().get_ts_language()
    }
}

impl std::fmt::Display for Lang {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Patterns with metavariables are written as code of the language itself.
impl Language for Lang {
    fn kind_to_id(&self, kind: &str) -> u16 {
        self.support().kind_to_id(kind)
    }

    fn field_to_id(&self, field: &str) -> Option<u16> {
        self.support().field_to_id(field)
    }

    fn pre_process_pattern<'q>(&self, query: &'q str) -> std::borrow::Cow<'q, str> {
        self.support().pre_process_pattern(query)
    }

    fn meta_var_char(&self) -> char {
        self.support().meta_var_char()
    }

    fn expando_char(&self) -> char {
        self.support().expando_char()
    }

    fn build_pattern(&self, builder: &PatternBuilder) -> Result<Pattern, PatternError> {
        builder.build(|source| StrDoc::try_new(source, *self))
    }
}

impl LanguageExt for Lang {
    fn get_ts_language(&self) -> TSLanguage {
        self.grammar()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_is_found_by_its_name_and_has_a_grammar() {
        for &lang in Lang::ALL {
            assert_eq!(Lang::from_name(lang.name()), Some(lang));
            assert!(lang.grammar().node_kind_count() > 10, "{lang}");
        }
    }

    #[test]
    fn linguist_and_extensions_agree() {
        assert_eq!(Lang::from_name("Shell"), Some(Lang::Bash));
        assert_eq!(Lang::from_name("C++"), Some(Lang::Cpp));
        assert_eq!(Lang::from_path("a/b.tsx"), Some(Lang::Tsx));
        assert_eq!(Lang::from_path("a/Makefile"), None);
    }
}
