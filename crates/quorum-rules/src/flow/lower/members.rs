//! What the types of a file say about their fields.

use std::collections::HashMap;
use std::rc::Rc;

use quorum_syntax::{Lang, Node};

use super::{Lowerer, child_of_kind, children, fields};
use crate::flow::ir::EMBEDDED;

impl Lowerer<'_> {
    /// Notes the types of the fields that types at the top of a file declare.
    pub(super) fn members(&mut self, root: Node<'_>) {
        for node in children(root) {
            match (self.lang, node.kind()) {
                (Lang::Go, "type_declaration") => {
                    for spec in children(node) {
                        self.struct_members(spec);
                    }
                }
                (Lang::Python, "class_definition") => self.class_members(node),
                (Lang::Python, "decorated_definition") => {
                    if let Some(class) = child_of_kind(node, &["class_definition"]) {
                        self.class_members(class);
                    }
                }
                _ => {}
            }
        }
    }

    fn struct_members(&mut self, spec: Node<'_>) {
        let body = spec
            .child_by_field_name("type")
            .filter(|ty| ty.kind() == "struct_type")
            .and_then(|ty| child_of_kind(ty, &["field_declaration_list"]));
        let (Some(name), Some(body)) = (spec.child_by_field_name("name"), body) else { return };
        let mut members: HashMap<Rc<str>, Rc<str>> = HashMap::new();
        for field in children(body) {
            let Some(ty) = field.child_by_field_name("type") else { continue };
            let ty = self.type_name(ty);
            let names = fields(field, "name");
            if names.is_empty() {
                members.insert(Rc::from(EMBEDDED), Rc::clone(&ty));
            }
            for name in names {
                members.insert(self.name(name), Rc::clone(&ty));
            }
        }
        let name = self.name(name);
        self.module.members.insert(name, members);
    }

    fn class_members(&mut self, class: Node<'_>) {
        let (Some(name), Some(body)) =
            (class.child_by_field_name("name"), class.child_by_field_name("body"))
        else {
            return;
        };
        let mut members = HashMap::new();
        for statement in children(body) {
            let declared = child_of_kind(statement, &["assignment"]);
            if let Some(declared) = declared
                && let Some(name) = declared.child_by_field_name("left")
                && let Some(ty) = declared.child_by_field_name("type")
            {
                members.insert(self.name(name), self.type_name(ty));
            }
        }
        let name = self.name(name);
        self.module.members.insert(name, members);
    }
}
