//! Public items and how they change.

/// Something public that others may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// Its name with what holds it, such as `Server.Close`.
    pub(crate) name: String,
    /// What it is.
    pub(crate) kind: Kind,
    /// What callers depend on, spelt without what they do not.
    pub(crate) shape: Shape,
    /// Its line.
    pub(crate) line: u64,
    /// The line of code that declares it.
    pub(crate) quote: String,
    /// Whether it says that it will go away.
    pub(crate) deprecated: bool,
    /// Whether it is documented.
    pub(crate) documented: bool,
}

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Function,
    Method,
    /// A method that implementers have to write.
    Required,
    Type,
    Field,
    Variant,
    Value,
}

impl Kind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Required => "required method",
            Self::Type => "type",
            Self::Field => "field",
            Self::Variant => "variant",
            Self::Value => "value",
        }
    }
}

/// What callers depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Parameters, in order.
    pub(crate) parameters: Vec<Parameter>,
    /// The result, or a field's type.
    pub(crate) ty: String,
    /// Whether any arguments may follow.
    pub(crate) open: bool,
    /// How many type and constant parameters it needs.
    pub(crate) generics: usize,
    /// Other words that matter: `async`, `static`, `final`.
    pub(crate) words: Vec<&'static str>,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) ty: String,
    pub(crate) optional: bool,
    /// Only by name (Python).
    pub(crate) named: bool,
}

/// How an item breaks those who use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Break {
    /// What happened, as the end of a sentence that starts with the item.
    pub(crate) what: String,
    /// Who notices, and how.
    pub(crate) impact: String,
}

/// Names that do not get in each other's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Group {
    Type,
    Callable,
    Other,
}

impl Item {
    /// What tells it from all other items of a file.
    pub(crate) fn key(&self) -> (&str, Group) {
        let group = match self.kind {
            Kind::Type => Group::Type,
            Kind::Function | Kind::Method | Kind::Required => Group::Callable,
            Kind::Field | Kind::Variant | Kind::Value => Group::Other,
        };
        (&self.name, group)
    }

    /// The last part of the name.
    pub(crate) fn own_name(&self) -> &str {
        let end = self.name.find('(').unwrap_or(self.name.len());
        let start = self.name[..end].rfind(['.', ':', '#']).map_or(0, |at| at + 1);
        &self.name[start..]
    }

    /// The last part of the name, without the types that tell overloads apart.
    pub(crate) fn own_name_plain(&self) -> &str {
        let name = self.name.split('(').next().unwrap_or_default();
        name.rsplit(['.', ':', '#']).next().unwrap_or_default()
    }

    /// What holds it, if anything does.
    pub(crate) fn holder(&self) -> Option<&str> {
        let end = self.name.find('(').unwrap_or(self.name.len());
        self.name[..end].rfind(['.', ':']).map(|at| self.name[..at].trim_end_matches(':'))
    }
}

/// Text with runs of white space as one space.
pub(crate) fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first line of a declaration, without what it opens.
pub(crate) fn headline(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim_end().to_owned()
}
