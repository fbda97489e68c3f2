//! What imported names stand for.

use std::rc::Rc;

use quorum_syntax::Node;

use super::literal::unquote;
use super::{Lowerer, child_of_kind, children, fields};

impl Lowerer<'_> {
    /// Reads an import; false when it is none.
    pub(super) fn import(&mut self, node: Node<'_>) -> bool {
        match node.kind() {
            "import_statement" if self.is_script() => self.script_import(node),
            "import_statement" => {
                for name in fields(node, "name") {
                    self.python_name(name, None);
                }
            }
            "import_from_statement" => {
                let module = node.child_by_field_name("module_name").map(|name| self.name(name));
                for name in fields(node, "name") {
                    self.python_name(name, module.clone());
                }
            }
            "import_declaration" if self.lang == quorum_syntax::Lang::Go => self.go_imports(node),
            "import_declaration" => {
                if let Some(path) = child_of_kind(node, &["scoped_identifier", "identifier"]) {
                    self.bind_last(path);
                }
            }
            "using_directive" | "use_declaration" | "namespace_use_declaration" => self.used(node),
            _ => return false,
        }
        true
    }

    fn bind(&mut self, local: &str, path: &str) {
        let path = path.replace("::", ".").replace(['/', '\\'], ".");
        self.module.imports.insert(Rc::from(local), Rc::from(path.trim_matches('.')));
    }

    fn bind_last(&mut self, node: Node<'_>) {
        let path = self.text(node).replace("::", ".").replace('\\', ".");
        if let Some(last) = path.rsplit('.').next() {
            let last = last.to_owned();
            self.bind(&last, &path);
        }
    }

    fn python_name(&mut self, node: Node<'_>, module: Option<Rc<str>>) {
        let (name, alias) = if node.kind() == "aliased_import" {
            (node.child_by_field_name("name"), node.child_by_field_name("alias"))
        } else {
            (Some(node), None)
        };
        let Some(name) = name.map(|name| self.text(name).to_owned()) else { return };
        match (module, alias.map(|alias| self.text(alias).to_owned())) {
            (Some(module), alias) => {
                let path = format!("{}.{name}", module.trim_start_matches('.'));
                self.bind(alias.as_deref().unwrap_or(&name), &path);
            }
            (None, Some(alias)) => self.bind(&alias, &name),
            (None, None) => {
                let first = name.split('.').next().unwrap_or(&name).to_owned();
                self.bind(&first, &first);
            }
        }
    }

    fn script_import(&mut self, node: Node<'_>) {
        let Some(source) = node.child_by_field_name("source") else { return };
        let module = unquote(self.text(source));
        let module = module.trim_start_matches("node:").to_owned();
        let Some(clause) = child_of_kind(node, &["import_clause"]) else { return };
        for part in children(clause) {
            match part.kind() {
                "identifier" => {
                    let local = self.text(part).to_owned();
                    self.bind(&local, &module);
                }
                "namespace_import" => {
                    if let Some(name) = children(part).first() {
                        let local = self.text(*name).to_owned();
                        self.bind(&local, &module);
                    }
                }
                "named_imports" => {
                    for one in children(part) {
                        let Some(name) = one.child_by_field_name("name") else { continue };
                        let alias = one.child_by_field_name("alias").unwrap_or(name);
                        let (name, alias) =
                            (self.text(name).to_owned(), self.text(alias).to_owned());
                        self.bind(&alias, &format!("{module}.{name}"));
                    }
                }
                _ => {}
            }
        }
    }

    fn go_imports(&mut self, node: Node<'_>) {
        for child in children(node) {
            if child.kind() == "import_spec_list" {
                self.go_imports(child);
            } else if let Some(path) = child.child_by_field_name("path") {
                let path = unquote(self.text(path));
                // `echo/v4` and `ldap.v2` are versions of `echo` and `ldap`.
                let is_version = |part: &str| {
                    part.strip_prefix('v').is_some_and(|n| n.chars().all(|c| c.is_ascii_digit()))
                };
                let mut segments: Vec<&str> =
                    path.split('/').filter(|part| !is_version(part)).collect();
                if let Some(last) = segments.last_mut()
                    && let Some((name, version)) = last.rsplit_once('.')
                    && is_version(version)
                {
                    *last = name;
                }
                let path = segments.join("/");
                let last = segments.last().copied().unwrap_or_default();
                let last = last.split('.').next().unwrap_or(last);
                let local = child.child_by_field_name("name").map_or(last, |name| self.text(name));
                self.bind(local, &path.replace('.', "_"));
            }
        }
    }

    /// `use a::b::{c, d as e}` and `use A\B as C`.
    fn used(&mut self, node: Node<'_>) {
        for child in children(node) {
            match child.kind() {
                "scoped_identifier" | "qualified_name" => self.bind_last(child),
                "use_as_clause" => {
                    let path = child.child_by_field_name("path").map(|p| self.text(p).to_owned());
                    let alias = child.child_by_field_name("alias").map(|a| self.text(a).to_owned());
                    if let (Some(path), Some(alias)) = (path, alias) {
                        self.bind(&alias, &path);
                    }
                }
                "scoped_use_list" => {
                    let path = child.child_by_field_name("path").map(|p| self.text(p).to_owned());
                    let list = child.child_by_field_name("list");
                    if let (Some(path), Some(list)) = (path, list) {
                        for one in children(list) {
                            let name = self.text(one).to_owned();
                            self.bind(&name, &format!("{path}.{name}"));
                        }
                    }
                }
                "namespace_use_clause" => {
                    if let Some(name) = children(child).first() {
                        self.bind_last(*name);
                    }
                }
                _ => {}
            }
        }
    }
}
