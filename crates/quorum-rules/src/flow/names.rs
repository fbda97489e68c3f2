//! What the name of a function says about its result.

use super::value::{ALL_HARMS, Harms, harms};

/// Numbers, flags and sizes carry nobody's text.
pub(super) fn gives_no_text(name: &str) -> bool {
    matches!(
        name,
        "int"
            | "float"
            | "bool"
            | "len"
            | "length"
            | "size"
            | "count"
            | "parseint"
            | "parsefloat"
            | "number"
            | "atoi"
            | "parsebool"
            | "parselong"
            | "parsedouble"
            | "hashcode"
            | "equals"
            | "equalsignorecase"
            | "isempty"
            | "is_a?"
            | "to_i"
            | "to_f"
            | "intval"
            | "floatval"
            | "boolval"
            | "isset"
            | "empty"
            | "isinstance"
            | "hasattr"
            | "exists"
            | "startswith"
            | "endswith"
            | "contains"
            | "includes"
            | "indexof"
            | "lastindexof"
            | "matches"
            | "test"
            | "compareto"
            | "compare"
            | "hasnext"
            | "hasmoreelements"
            | "haskey"
            | "has"
            | "isdigit"
            | "isalnum"
            | "ord"
            | "hash"
            | "uuid"
            | "parseuint"
            | "toint32"
            | "toint"
            | "sizeof"
            | "hasprefix"
            | "hassuffix"
            | "equalfold"
            | "time"
            | "now"
            | "abs"
            | "round"
            | "floor"
            | "strlen"
            | "sum"
            | "any"
            | "all"
            | "nil?"
            | "blank?"
            | "present?"
            | "fromstring"
            | "md5"
            | "sha1"
            | "sha256"
            | "sha512"
            | "hexdigest"
            | "digest"
            | "close"
            | "boolean"
    ) || name.starts_with("is_")
        || name.starts_with("has_")
        || (name.starts_with("parse") && (name.ends_with("int") || name.ends_with("float")))
}

/// Names that turn a number into text.
pub(super) fn converts(name: &str) -> bool {
    matches!(
        name,
        "str" | "itoa" | "tostring" | "string" | "valueof" | "formatint" | "to_s" | "repr"
    )
}

/// Names that promise to make something harmless.
pub(super) fn cleans_by_name(name: &str) -> bool {
    [
        "sanitiz",
        "sanitis",
        "escape",
        "purify",
        "whitelist",
        "allowlist",
        "htmlspecialchars",
        "quote",
        "validate",
        "secure_filename",
        "cleanse",
        "strip_tags",
        "bleach",
        "censor",
        "redact",
        "mask",
    ]
    .iter()
    .any(|word| name.contains(word))
        && !name.contains("unescape")
        && !name.contains("unquote")
}

/// Names that say that the result is made of the arguments.
pub(super) fn passes_by_name(name: &str) -> bool {
    [
        "format",
        "sprintf",
        "join",
        "concat",
        "replace",
        "trim",
        "strip",
        "lower",
        "upper",
        "decode",
        "encode",
        "string",
        "str",
        "text",
        "bytes",
        "substr",
        "slice",
        "split",
        "parse",
        "fromjson",
        "loads",
        "unmarshal",
        "clone",
        "copy",
        "append",
        "build",
        "convert",
        "cast",
        "repeat",
        "pad",
        "normalize",
        "resolve",
        "clean",
        "abs",
        "valueof",
        "tochararray",
        "getbytes",
        "newreader",
        "reader",
        "chain",
        "of",
        "file",
        "path",
        "url",
        "uri",
        "buffer",
        "list",
        "array",
        "dict",
        "tuple",
        "set",
        "map",
        "await",
        "promise",
        "optional",
        "sorted",
        "reversed",
        "iter",
        "next",
        "first",
        "last",
        "pop",
        "shift",
        "concatenate",
        "strcat",
    ]
    .iter()
    .any(|word| name == *word || name.starts_with(word) || name.ends_with(word))
}

/// Names that say that the result comes from somewhere else.
pub(super) fn looks_up(name: &str) -> bool {
    [
        "get", "find", "fetch", "load", "query", "select", "lookup", "search", "read", "exec",
        "create", "save", "update", "insert", "delete", "send", "check", "valid", "verify", "is",
        "has", "open", "connect", "render", "filter", "count", "run", "call", "request", "post",
        "put", "log", "print", "write", "add", "remove", "compare", "match", "test", "hash",
        "sign", "encrypt", "auth", "login",
    ]
    .iter()
    .any(|word| name.starts_with(word))
}

/// Functions that wrap another one and behave like it.
pub(super) fn wraps_function(name: &str) -> bool {
    matches!(
        name,
        "promisify"
            | "promisifyAll"
            | "pify"
            | "thenify"
            | "thenifyAll"
            | "denodeify"
            | "universalify"
            | "util.promisify"
            | "es6-promisify"
            | "express-async-handler"
            | "wrapAsync"
            | "asyncMiddleware"
            | "fromNode"
            | "callbackify"
            | "es6Promisify"
            | "partial"
            | "debounce"
            | "throttle"
            | "memoize"
            | "once"
            | "useCallback"
            | "sync_to_async"
            | "async_to_sync"
            | "asyncHandler"
            | "catchAsync"
            | "asyncify"
    )
}

/// Functions that run what they are given, at another time or in another thread.
pub(super) fn runs_later(name: &str) -> bool {
    matches!(
        name,
        "run_in_executor"
            | "submit"
            | "to_thread"
            | "Thread"
            | "Process"
            | "Timer"
            | "apply_async"
            | "starmap"
            | "call_soon"
            | "call_later"
            | "call_soon_threadsafe"
            | "start_new_thread"
            | "run_sync"
            | "add_task"
            | "spawn"
            | "map"
            | "setImmediate"
            | "nextTick"
            | "apply"
    )
}

/// Methods that call the function that they are given with every element, or with what is inside.
pub(super) fn iterates(name: &str) -> bool {
    matches!(
        name,
        "map"
            | "forEach"
            | "filter"
            | "then"
            | "each"
            | "flatMap"
            | "some"
            | "every"
            | "find"
            | "collect"
            | "select"
            | "ifPresent"
            | "let"
            | "also"
            | "apply"
            | "tap"
            | "subscribe"
            | "pipe"
            | "and_then"
            | "orElse"
            | "Select"
            | "Where"
            | "ForEach"
            | "mapNotNull"
            | "map!"
            | "each_with_index"
            | "reduce"
            | "replace"
            | "replaceAll"
            | "finally"
            | "findIndex"
            | "sort"
            | "reduceRight"
            | "thenAccept"
            | "thenApply"
            | "thenCompose"
            | "thenApplyAsync"
            | "thenAcceptAsync"
            | "thenComposeAsync"
            | "whenComplete"
            | "handle"
            | "peek"
            | "anyMatch"
            | "allMatch"
            | "noneMatch"
            | "mapToInt"
            | "mapToLong"
            | "mapToObj"
            | "ifPresentOrElse"
            | "removeIf"
            | "forEachOrdered"
            | "doOnNext"
            | "flatMapMany"
            | "concatMap"
            | "takeWhile"
            | "dropWhile"
            | "run"
            | "use"
            | "onEach"
    )
}

/// Those of them whose result is made of what the function returns.
pub(super) fn maps(name: &str) -> bool {
    matches!(
        name,
        "map"
            | "flatMap"
            | "then"
            | "mapNotNull"
            | "Select"
            | "collect"
            | "map!"
            | "thenApply"
            | "thenCompose"
            | "thenApplyAsync"
            | "thenComposeAsync"
            | "supplyAsync"
            | "fromCallable"
            | "fromSupplier"
            | "mapToObj"
            | "mapToInt"
            | "mapToLong"
            | "flatMapMany"
            | "concatMap"
            | "withInitial"
            | "doPrivileged"
            | "computeIfAbsent"
    )
}

/// Types whose values are numbers or flags, or as good as them.
pub(super) fn is_number_type(ty: &str) -> bool {
    matches!(
        ty,
        "int"
            | "long"
            | "short"
            | "byte"
            | "float"
            | "double"
            | "boolean"
            | "bool"
            | "Integer"
            | "Long"
            | "Boolean"
            | "Double"
            | "Float"
            | "int64"
            | "int32"
            | "uint"
            | "uint32"
            | "uint64"
            | "number"
            | "i32"
            | "i64"
            | "u32"
            | "u64"
            | "usize"
            | "f64"
            | "integer"
            | "UUID"
            | "Guid"
            | "decimal"
            | "DateTime"
            | "int8"
            | "int16"
            | "uint8"
            | "uint16"
            | "float32"
            | "float64"
            | "Short"
            | "Byte"
            | "BigInteger"
            | "BigDecimal"
            | "bigint"
    )
}

/// What a replacement by a pattern makes harmless, from the spelling of its arguments.
pub(super) fn cleaned_by_pattern(name: &str, texts: &[&str]) -> Option<Harms> {
    if !matches!(name, "replace" | "replaceAll" | "sub" | "ReplaceAllString" | "gsub") {
        return None;
    }
    let pattern = texts.iter().find(|text| text.contains('[') || text.starts_with('/'))?;
    let everywhere = name != "replace" || pattern.rsplit('/').next()?.contains('g');
    if !everywhere {
        return None;
    }
    // `[^a-z0-9]`: nothing but what is listed stays.
    if let Some((_, class)) = pattern.split_once("[^")
        && let Some((kept, _)) = class.split_once(']')
    {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_- \\.".contains(c);
        let paths = if kept.contains('.') { harms(&["path", "file"]) } else { 0 };
        return kept.chars().all(plain).then_some(ALL_HARMS & !paths);
    }
    // Without slashes there is no way to another folder.
    let inside = pattern.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
    let slashes = inside.is_some_and(|(inside, _)| {
        inside == "\\/" || (inside.starts_with('[') && inside.contains("\\/"))
    });
    let breaks = pattern.contains("\\n") || pattern.contains("\\r");
    let mut clean = if breaks { harms(&["log", "header"]) } else { 0 };
    if slashes {
        clean |= harms(&["path", "file"]);
    }
    if pattern.contains('<') {
        clean |= harms(&["html"]);
    }
    (clean != 0).then_some(clean)
}

/// Methods that return the object that they belong to.
pub(super) fn returns_itself(name: &str) -> bool {
    matches!(
        name,
        "append" | "insert" | "add" | "put" | "push" | "concat" | "replace" | "reverse" | "Append"
    ) || name.starts_with("with")
        || name.starts_with("set")
}

/// Methods that return an element that can be changed in its place.
pub(super) fn returns_element(name: &str) -> bool {
    matches!(
        name,
        "get"
            | "computeIfAbsent"
            | "getOrDefault"
            | "setdefault"
            | "elementAt"
            | "getFirst"
            | "getLast"
            | "peek"
    )
}

/// Methods of an object that stands for a function, which call it.
pub(super) fn calls_function(name: &str) -> bool {
    matches!(
        name,
        "apply" | "accept" | "get" | "test" | "run" | "call" | "invoke" | "applyAsInt" | "execute"
    )
}

/// Whether a declared type says less than what a value is known to be.
pub(super) fn says_little(ty: &str) -> bool {
    matches!(
        ty,
        "io.Writer" | "io.Reader" | "any" | "interface{}" | "Any" | "typing.Any" | "object"
    )
}
