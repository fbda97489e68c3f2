//! What the nodes of each language mean.

use std::sync::OnceLock;

use quorum_model::symbol::SymbolKind::{
    Class, Constant, Enum, Function, Interface, Macro, Method, Module, Property, Struct, Trait,
    Type as TypeName,
};

use super::names;
use super::spec::Act::{Body, Call, CallChild, Comment, Define, Import, Lead, Scope, Type, Wrap};
use super::spec::Naming::{Child, Field, Special};
use super::spec::{Act, Spec};
use crate::Lang;

type Table = &'static [(&'static str, Act)];

const NAME: super::spec::Naming = Field("name");

/// The table of a language, made once.
pub(super) fn spec(lang: Lang) -> &'static Spec {
    static SPECS: [OnceLock<Spec>; 32] = [const { OnceLock::new() }; 32];
    let table = table(lang);
    let marks: &'static [&'static str] = match lang {
        // An ordinary comment above a Rust item says something else than its documentation.
        Lang::Rust => &["///", "//!", "/**", "/*!"],
        Lang::Php | Lang::Java | Lang::Kotlin => &["/**", "///"],
        _ => &[],
    };
    SPECS[lang as usize % SPECS.len()].get_or_init(|| Spec::new(lang, table, marks))
}

fn table(lang: Lang) -> Table {
    match lang {
        Lang::Bash => BASH,
        Lang::C => C,
        Lang::Cpp => CPP,
        Lang::CSharp => CSHARP,
        Lang::Go => GO,
        Lang::Hcl => HCL,
        Lang::Java => JAVA,
        Lang::JavaScript => JAVASCRIPT,
        Lang::TypeScript | Lang::Tsx => TYPESCRIPT,
        Lang::Json => JSON,
        Lang::Kotlin => KOTLIN,
        Lang::Php => PHP,
        Lang::Python => PYTHON,
        Lang::Ruby => RUBY,
        Lang::Rust => RUST,
        Lang::Yaml => YAML,
    }
}

const BASH: Table = &[
    ("comment", Comment),
    ("function_definition", Define(Function, NAME)),
    ("command", Call("name")),
];

const C: Table = &[
    ("comment", Comment),
    ("function_definition", Define(Function, Special(names::c_function))),
    ("declaration", Define(Function, Special(names::c_declaration))),
    ("type_definition", Define(TypeName, Special(names::c_typedef))),
    ("struct_specifier", Define(Struct, Special(names::c_struct))),
    ("union_specifier", Define(Struct, Special(names::c_struct))),
    ("enum_specifier", Define(Enum, Special(names::c_struct))),
    ("preproc_def", Define(Constant, NAME)),
    ("preproc_function_def", Define(Macro, NAME)),
    ("preproc_include", Import),
    ("call_expression", Call("function")),
    ("type_identifier", Type),
];

const CPP: Table = &[
    ("comment", Comment),
    ("function_definition", Define(Function, Special(names::c_function))),
    ("declaration", Define(Function, Special(names::c_declaration))),
    ("field_declaration", Define(Method, Special(names::c_declaration))),
    ("type_definition", Define(TypeName, Special(names::c_typedef))),
    ("struct_specifier", Define(Struct, Special(names::c_struct))),
    ("union_specifier", Define(Struct, Special(names::c_struct))),
    ("enum_specifier", Define(Enum, Special(names::c_struct))),
    ("class_specifier", Define(Class, Special(names::c_struct))),
    ("namespace_definition", Define(Module, NAME)),
    ("alias_declaration", Define(TypeName, NAME)),
    ("concept_definition", Define(TypeName, NAME)),
    ("preproc_def", Define(Constant, NAME)),
    ("preproc_function_def", Define(Macro, NAME)),
    ("template_declaration", Wrap),
    ("preproc_include", Import),
    ("call_expression", Call("function")),
    ("new_expression", Call("type")),
    ("lambda_expression", Body),
    ("type_identifier", Type),
];

const CSHARP: Table = &[
    ("comment", Comment),
    ("class_declaration", Define(Class, NAME)),
    ("struct_declaration", Define(Struct, NAME)),
    ("record_declaration", Define(Class, NAME)),
    ("interface_declaration", Define(Interface, NAME)),
    ("enum_declaration", Define(Enum, NAME)),
    ("delegate_declaration", Define(TypeName, NAME)),
    ("method_declaration", Define(Method, NAME)),
    ("constructor_declaration", Define(Method, NAME)),
    ("destructor_declaration", Define(Method, NAME)),
    ("local_function_statement", Define(Function, NAME)),
    ("property_declaration", Define(Property, NAME)),
    ("field_declaration", Define(Constant, Special(names::csharp_field))),
    ("namespace_declaration", Define(Module, NAME)),
    ("file_scoped_namespace_declaration", Define(Module, NAME)),
    ("using_directive", Import),
    ("invocation_expression", Call("function")),
    ("object_creation_expression", Call("type")),
    ("lambda_expression", Body),
];

const GO: Table = &[
    ("comment", Comment),
    ("function_declaration", Define(Function, NAME)),
    ("method_declaration", Define(Method, Special(names::go_method))),
    ("type_declaration", Wrap),
    ("type_spec", Define(TypeName, Special(names::go_type))),
    ("type_alias", Define(TypeName, NAME)),
    ("method_elem", Define(Method, NAME)),
    ("method_spec", Define(Method, NAME)),
    ("const_declaration", Wrap),
    ("const_spec", Define(Constant, Special(names::go_constant))),
    ("var_declaration", Wrap),
    ("var_spec", Define(Constant, Special(names::go_variable))),
    ("import_spec", Import),
    ("call_expression", Call("function")),
    ("func_literal", Body),
    ("type_identifier", Type),
];

const HCL: Table = &[
    ("comment", Comment),
    ("block", Define(super::SymbolKind::Block, Special(names::hcl_block))),
    ("attribute", Define(super::SymbolKind::Key, Special(names::hcl_attribute))),
];

const JAVA: Table = &[
    ("line_comment", Comment),
    ("block_comment", Comment),
    ("class_declaration", Define(Class, NAME)),
    ("interface_declaration", Define(Interface, NAME)),
    ("enum_declaration", Define(Enum, NAME)),
    ("record_declaration", Define(Class, NAME)),
    ("annotation_type_declaration", Define(Interface, NAME)),
    ("method_declaration", Define(Method, NAME)),
    ("constructor_declaration", Define(Method, NAME)),
    ("compact_constructor_declaration", Define(Method, NAME)),
    ("annotation_type_element_declaration", Define(Method, NAME)),
    ("field_declaration", Define(Constant, Special(names::java_field))),
    ("constant_declaration", Define(Constant, Special(names::java_field))),
    ("import_declaration", Import),
    ("method_invocation", Call("name")),
    ("object_creation_expression", Call("type")),
    ("method_reference", CallChild(&["identifier"])),
    ("lambda_expression", Body),
    ("type_identifier", Type),
];

const JAVASCRIPT: Table = &[
    ("comment", Comment),
    ("decorator", Lead),
    ("export_statement", Wrap),
    ("lexical_declaration", Wrap),
    ("variable_declaration", Wrap),
    ("expression_statement", Wrap),
    ("function_declaration", Define(Function, NAME)),
    ("generator_function_declaration", Define(Function, NAME)),
    ("class_declaration", Define(Class, NAME)),
    ("method_definition", Define(Method, NAME)),
    ("variable_declarator", Define(Constant, Special(names::script_variable))),
    ("field_definition", Define(Method, Special(names::script_field))),
    ("pair", Define(Method, Special(names::script_field))),
    ("assignment_expression", Define(Function, Special(names::script_assignment))),
    ("import_statement", Import),
    ("call_expression", Call("function")),
    ("new_expression", Call("constructor")),
    ("jsx_opening_element", Call("name")),
    ("jsx_self_closing_element", Call("name")),
    ("arrow_function", Body),
    ("function_expression", Define(Function, NAME)),
    ("class", Define(Class, NAME)),
];

const TYPESCRIPT: Table = &[
    ("comment", Comment),
    ("decorator", Lead),
    ("export_statement", Wrap),
    ("ambient_declaration", Wrap),
    ("lexical_declaration", Wrap),
    ("variable_declaration", Wrap),
    ("expression_statement", Wrap),
    ("function_declaration", Define(Function, NAME)),
    ("function_signature", Define(Function, NAME)),
    ("generator_function_declaration", Define(Function, NAME)),
    ("class_declaration", Define(Class, NAME)),
    ("abstract_class_declaration", Define(Class, NAME)),
    ("interface_declaration", Define(Interface, NAME)),
    ("type_alias_declaration", Define(TypeName, NAME)),
    ("enum_declaration", Define(Enum, NAME)),
    ("internal_module", Define(Module, NAME)),
    ("module", Define(Module, NAME)),
    ("method_definition", Define(Method, NAME)),
    ("method_signature", Define(Method, NAME)),
    ("abstract_method_signature", Define(Method, NAME)),
    ("variable_declarator", Define(Constant, Special(names::script_variable))),
    ("public_field_definition", Define(Method, Special(names::script_field))),
    ("pair", Define(Method, Special(names::script_field))),
    ("assignment_expression", Define(Function, Special(names::script_assignment))),
    ("import_statement", Import),
    ("call_expression", Call("function")),
    ("new_expression", Call("constructor")),
    ("jsx_opening_element", Call("name")),
    ("jsx_self_closing_element", Call("name")),
    ("arrow_function", Body),
    ("function_expression", Define(Function, NAME)),
    ("class", Define(Class, NAME)),
    ("type_identifier", Type),
];

const JSON: Table =
    &[("comment", Comment), ("pair", Define(super::SymbolKind::Key, Special(names::data_key)))];

const KOTLIN: Table = &[
    ("line_comment", Comment),
    ("multiline_comment", Comment),
    ("class_declaration", Define(Class, Special(names::kotlin_class))),
    ("object_declaration", Define(Class, Child(&["type_identifier"]))),
    ("companion_object", Scope(Child(&["type_identifier"]))),
    ("function_declaration", Define(Function, Child(&["simple_identifier"]))),
    ("property_declaration", Define(Property, Special(names::kotlin_property))),
    ("type_alias", Define(TypeName, Child(&["type_identifier"]))),
    ("import_header", Import),
    ("call_expression", CallChild(&["simple_identifier", "navigation_expression"])),
    ("lambda_literal", Body),
    ("type_identifier", Type),
];

const PHP: Table = &[
    ("comment", Comment),
    ("function_definition", Define(Function, NAME)),
    ("method_declaration", Define(Method, NAME)),
    ("class_declaration", Define(Class, NAME)),
    ("interface_declaration", Define(Interface, NAME)),
    ("trait_declaration", Define(Trait, NAME)),
    ("enum_declaration", Define(Enum, NAME)),
    ("const_declaration", Define(Constant, Special(names::php_constant))),
    ("namespace_use_declaration", Import),
    ("require_expression", Import),
    ("require_once_expression", Import),
    ("include_expression", Import),
    ("include_once_expression", Import),
    ("function_call_expression", Call("function")),
    ("member_call_expression", Call("name")),
    ("scoped_call_expression", Call("name")),
    ("object_creation_expression", CallChild(&["name", "qualified_name"])),
    ("anonymous_function", Body),
    ("arrow_function", Body),
];

const PYTHON: Table = &[
    ("comment", Comment),
    ("decorated_definition", Wrap),
    ("expression_statement", Wrap),
    ("function_definition", Define(Function, NAME)),
    ("class_definition", Define(Class, NAME)),
    ("assignment", Define(Constant, Special(names::python_assignment))),
    ("type_alias_statement", Define(TypeName, Field("left"))),
    ("import_statement", Import),
    ("import_from_statement", Import),
    ("future_import_statement", Import),
    ("call", Call("function")),
    ("lambda", Body),
];

const RUBY: Table = &[
    ("comment", Comment),
    ("method", Define(Function, NAME)),
    ("singleton_method", Define(Function, NAME)),
    ("class", Define(Class, NAME)),
    ("module", Define(Module, NAME)),
    ("assignment", Define(Constant, Special(names::ruby_assignment))),
    ("call", Call("method")),
];

const RUST: Table = &[
    ("line_comment", Comment),
    ("block_comment", Comment),
    ("attribute_item", Lead),
    ("function_item", Define(Function, NAME)),
    ("function_signature_item", Define(Function, NAME)),
    ("struct_item", Define(Struct, NAME)),
    ("union_item", Define(Struct, NAME)),
    ("enum_item", Define(Enum, NAME)),
    ("trait_item", Define(Trait, NAME)),
    ("type_item", Define(TypeName, NAME)),
    ("associated_type", Define(TypeName, NAME)),
    ("const_item", Define(Constant, Special(names::rust_value))),
    ("static_item", Define(Constant, Special(names::rust_value))),
    ("mod_item", Define(Module, NAME)),
    ("macro_definition", Define(Macro, NAME)),
    ("impl_item", Scope(Special(names::rust_impl))),
    ("use_declaration", Import),
    ("extern_crate_declaration", Import),
    ("call_expression", Call("function")),
    ("macro_invocation", Call("macro")),
    ("struct_expression", Call("name")),
    ("closure_expression", Body),
    ("type_identifier", Type),
];

const YAML: Table = &[
    ("comment", Comment),
    ("block_mapping_pair", Define(super::SymbolKind::Key, Special(names::data_key))),
];
