//! docs/tools.md is true: its examples run, and give what stands under them.

use nb_runtime::Target;
use serde_json::{Value, json};

use crate::common::{Home, agent};
use crate::server::{Server, ok};

const PAGE: &str = include_str!("../../../docs/tools.md");
const ASKS: &[&str] = &["kv.read", "kv.write", "http.fetch", "log.info", "notify.user", "event.publish"];

/// A fenced block: what stands behind its fence, and its text.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let mut blocks = Vec::new();
    let mut rest = PAGE;
    while let Some((_, begun)) = rest.split_once("\n```") {
        let (kind, text) = begun.split_once('\n').unwrap();
        let (text, after) = text.split_once("```").unwrap();
        blocks.push((kind, text));
        rest = after;
    }
    blocks
}

#[tokio::test(flavor = "multi_thread")]
async fn the_examples_of_the_page_about_tools_give_what_it_says() {
    let server = Server::answering(|request| ok(request.rsplit("\r\n\r\n").next().unwrap_or_default())).await;
    let blocks = blocks();
    let mut files = Vec::new();
    let mut examples = 0;
    for (index, (kind, text)) in blocks.iter().enumerate() {
        let (kind, fails) = match kind.strip_prefix("error ") {
            Some(kind) => (kind, true),
            None => (*kind, false),
        };
        let (lang, file) = kind.split_once(" file=").unwrap_or((kind, ""));
        if !matches!(lang, "lua" | "fennel") {
            continue;
        }
        if !file.is_empty() {
            files.push((file, *text));
            continue;
        }
        let (expected_kind, expected) = blocks[index + 1];
        let home = Home::new();
        let source = text.replace("https://api.example.com", &server.url(""));
        let main = format!("tools/example.{}", if lang == "lua" { "lua" } else { "fnl" });
        let builder = agent("example").asks(ASKS).granted(ASKS).file(&main, source);
        let builder = files.iter().fold(builder, |builder, (file, text)| builder.file(file, *text));
        builder.tool_entry(json!({"name": "example", "source": main})).install(&home);
        let row = home.run("example", Target::Only, json!({"name": "Ada"})).await;
        if fails {
            assert_eq!(expected_kind, "text", "{text}");
            let expected = format!("tool `example`: {}", expected.trim_end());
            assert_eq!(row.error.unwrap_or_default(), expected, "{text}");
        } else {
            assert_eq!(expected_kind, "json", "{text}");
            let expected: Value = serde_json::from_str(expected).unwrap();
            assert_eq!(row.output.unwrap_or_default(), expected, "{text}: {:?}", row.error);
        }
        examples += 1;
    }
    assert!(examples > 12, "{examples}");
}
