//! Types of a component in the words of WIT, for a person who has to change them.

use wasmtime::component::types::{ComponentFunc, ComponentItem, Type};

/// How deep a type is written out; what is deeper shows as `…`.
const MAX_DEPTH: usize = 4;

/// The most parts of a record, variant and so on that are written out.
const MAX_PARTS: usize = 8;

/// The signature that the world `tool` asks of `run`.
pub(crate) const RUN: &str = "func(chunk: list<u8>, variables: string) -> result<string, script-error>";

/// What an export is: a function with its signature, or the kind of another thing.
pub(crate) fn item(item: &ComponentItem) -> String {
    match item {
        ComponentItem::ComponentFunc(function) => signature(function),
        ComponentItem::ComponentInstance(_) => "an interface".into(),
        ComponentItem::Component(_) => "a component".into(),
        ComponentItem::Module(_) => "a core module".into(),
        ComponentItem::CoreFunc(_) => "a core function".into(),
        ComponentItem::Type(_) | ComponentItem::Resource(_) => "a type".into(),
    }
}

fn signature(function: &ComponentFunc) -> String {
    let is_async = if function.async_() { "async " } else { "" };
    let parameters = some(function.params().map(|(name, of)| format!("{name}: {}", words(&of, MAX_DEPTH))));
    let result = function.results().next().map(|of| format!(" -> {}", words(&of, MAX_DEPTH)));
    format!("{is_async}func({parameters}){}", result.unwrap_or_default())
}

fn some(parts: impl ExactSizeIterator<Item = String>) -> String {
    let more = parts.len() > MAX_PARTS;
    let mut shown: Vec<String> = parts.take(MAX_PARTS).collect();
    if more {
        shown.push("…".into());
    }
    shown.join(", ")
}

fn words(of: &Type, depth: usize) -> String {
    let Some(depth) = depth.checked_sub(1) else { return "…".into() };
    let inner = |of: &Type| words(of, depth);
    let optional = |of: Option<Type>| of.map_or_else(|| "_".into(), |of| words(&of, depth));
    match of {
        Type::Bool => "bool".into(),
        Type::S8 => "s8".into(),
        Type::U8 => "u8".into(),
        Type::S16 => "s16".into(),
        Type::U16 => "u16".into(),
        Type::S32 => "s32".into(),
        Type::U32 => "u32".into(),
        Type::S64 => "s64".into(),
        Type::U64 => "u64".into(),
        Type::Float32 => "f32".into(),
        Type::Float64 => "f64".into(),
        Type::Char => "char".into(),
        Type::String => "string".into(),
        Type::List(list) => format!("list<{}>", inner(&list.ty())),
        Type::FixedLengthList(list) => format!("list<{}>", inner(&list.ty())),
        Type::Map(_) => "map".into(),
        Type::Option(option) => format!("option<{}>", inner(&option.ty())),
        Type::Result(result) => match (result.ok(), result.err()) {
            (None, None) => "result".into(),
            (ok, None) => format!("result<{}>", optional(ok)),
            (ok, err) => format!("result<{}, {}>", optional(ok), optional(err)),
        },
        Type::Tuple(tuple) => format!("tuple<{}>", some(tuple.types().map(|of| inner(&of)))),
        Type::Record(record) => {
            let fields = record.fields().map(|field| format!("{}: {}", field.name, inner(&field.ty)));
            format!("record {{ {} }}", some(fields))
        }
        Type::Variant(variant) => {
            let cases = variant.cases().map(|case| match case.ty {
                Some(of) => format!("{}({})", case.name, inner(&of)),
                None => case.name.to_owned(),
            });
            format!("variant {{ {} }}", some(cases))
        }
        Type::Enum(names) => format!("enum {{ {} }}", some(names.names().map(str::to_owned))),
        Type::Flags(flags) => format!("flags {{ {} }}", some(flags.names().map(str::to_owned))),
        Type::Own(_) => "own<resource>".into(),
        Type::Borrow(_) => "borrow<resource>".into(),
        Type::Future(_) => "future".into(),
        Type::Stream(_) => "stream".into(),
        Type::ErrorContext => "error-context".into(),
    }
}
