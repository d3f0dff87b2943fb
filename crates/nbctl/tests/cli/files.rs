//! Keys, packages and installing, from the first key to the signed package.

use crate::support::Home;
use insta::assert_snapshot;
use serde_json::{Value, json};

const MANIFEST: &str = "\
name: hello
version: 0.1.0
description: Greets people
permissions: [log.info]
tools:
  - name: greet
    description: Says hello
    lua: return 'hello'
";

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Keys and digests differ from run to run, and with the signature the size.
fn without_randomness(text: &str) -> String {
    let size = text.lines().find(|line| line.starts_with("  size  "));
    let text = size.map_or_else(|| text.to_owned(), |size| text.replace(size, "  size       SIZE"));
    let mut out = String::new();
    for word in text.split_inclusive([' ', '\n', '(', ')', ',']) {
        let body = word.trim_end_matches([' ', '\n', '(', ')', ',']);
        let hex = body.chars().all(|c| c.is_ascii_hexdigit());
        match body.len() {
            16 if hex => out.push_str(&word.replace(body, "KEY")),
            64 if hex => out.push_str(&word.replace(body, "DIGEST")),
            _ => out.push_str(word),
        }
    }
    out
}

fn inspected(permissions: Value, trusted: bool) -> String {
    json!({
        "name": "hello", "version": "0.1.0", "serial": 7, "digest": "d", "description": "Greets people",
        "signer": {"trusted": trusted, "key": "00000000000000AA", "label": trusted.then_some("ada"),
                   "reason": (!trusted).then_some("signed by a key that is not trusted here: 00000000000000AA")},
        "permissions": permissions, "warnings": [], "installed": null,
    })
    .to_string()
}

fn installed() -> String {
    json!({
        "name": "hello", "version": "0.1.0", "digest": "d", "signer": "00000000000000AA", "granted": ["log.info"],
        "refused": [], "withdrawn": [], "replaces": null, "warnings": [],
    })
    .to_string()
}

fn one_permission() -> Value {
    json!([{"permission": "log.info", "words": "write to its log", "known": true, "granted": false}])
}

#[test]
fn from_a_key_to_a_verified_package() {
    let home = Home::empty();
    home.file("hello/manifest.yaml", MANIFEST);
    assert_snapshot!(without_randomness(&home.run(&["key", "generate", "me"]).to_string()), @"
    exit 0
    --- stdout
    made the key KEY
      secret  HOME/keys/me.key
      public  HOME/keys/me.pub
    next: nbctl key trust me
    --- stderr
    ");
    let built = home.run(&["package", "build", "hello", "--sign", "me", "--serial", "7"]);
    // The digest covers a time of building that is that of the files.
    assert_snapshot!(without_randomness(&built.to_string()), @"
    exit 0
    --- stdout
    built hello-0.1.0.nap
      agent      hello 0.1.0
      size       SIZE
      serial     7
      digest     DIGEST
      signed by  KEY
    next: nbctl install hello-0.1.0.nap
    --- stderr
    ");
    let verified = home.run(&["package", "verify", "hello-0.1.0.nap", "--key", "keys/me.pub"]);
    assert_snapshot!(without_randomness(&verified.to_string()), @"
    exit 0
    --- stdout
    ok  hello-0.1.0.nap is whole and signed by a trusted key
      agent      hello 0.1.0
      serial     7
      digest     DIGEST
      signed by  me (KEY)
    --- stderr
    ");
    let shown = home.run(&["package", "show", "hello-0.1.0.nap"]);
    assert_snapshot!(without_randomness(&shown.to_string()), @"
    exit 0
    --- stdout
    hello 0.1.0
      Greets people
      serial    7
      digest    DIGEST
      signed    yes; `nbctl package verify` tells by whom
      tools     greet
      tasks     none
      triggers  0

    asks for
      log.info  write to its log

    files
      manifest.yaml  153 B
    --- stderr
    ");

    let as_json =
        home.run(&["package", "build", "hello", "--sign", "me", "--serial", "7", "-o", "x.nap", "--json"]);
    assert_eq!(parsed(&as_json.stdout)["file"], "x.nap");
    let same = std::fs::read(home.path().join("x.nap")).unwrap();
    assert_eq!(same, std::fs::read(home.path().join("hello-0.1.0.nap")).unwrap());
}

#[test]
fn a_secret_key_is_for_its_owner_and_never_overwritten() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::empty();
    home.run(&["key", "generate", "me"]);
    let mode = |path: &str| home.path().join(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("keys"), mode("keys/me.key"), mode("keys/me.pub")), (0o700, 0o600, 0o644));
    assert_snapshot!(home.run(&["key", "generate", "me"]), @"
    exit 1
    --- stdout
    --- stderr
    error: HOME/keys/me.key is there already and is not overwritten; choose another name
    ");
    assert_snapshot!(home.run(&["key", "generate", "../me"]), @"
    exit 2
    --- stdout
    --- stderr
    error: `../me` cannot be the name of a key
    hint: use 1 to 64 letters, digits, `-`, `_` and `.`, with a letter or digit first
    ");
}

#[test]
fn a_secret_key_never_leaves_by_mistake() {
    let home = Home::with_daemon(|_| (200, "{}".to_owned()));
    home.run(&["key", "generate", "me"]);
    let ended = home.run(&["key", "trust", "keys/me.key"]);
    assert_snapshot!(ended, @"
    exit 1
    --- stdout
    --- stderr
    error: keys/me.key is not a minisign public key (a comment line, then one line of 56 characters)
    ");
    assert!(home.asked().is_empty());
}

#[test]
fn a_package_of_another_key_is_refused() {
    let home = Home::empty();
    home.file("hello/manifest.yaml", MANIFEST);
    home.run(&["key", "generate", "me"]);
    home.run(&["key", "generate", "other"]);
    home.run(&["package", "build", "hello", "--sign", "me", "-o", "signed.nap"]);
    home.run(&["package", "build", "hello", "-o", "unsigned.nap"]);
    let verify = |file: &str, key: &str| {
        without_randomness(&home.run(&["package", "verify", file, "--key", key]).to_string())
    };
    assert_snapshot!(verify("signed.nap", "keys/other.pub"), @"
    exit 1
    --- stdout
    --- stderr
    error: signed.nap is signed by KEY, not by KEY (keys/other.pub)
    hint: get the key of whoever made the package, over a way that you trust
    ");
    assert_snapshot!(verify("unsigned.nap", "keys/me.pub"), @"
    exit 1
    --- stdout
    --- stderr
    error: unsigned.nap: hello is not signed; install it only if you trust where it came from, with --allow-unsigned
    ");
    let packed = std::fs::read(home.path().join("signed.nap")).unwrap();
    std::fs::write(home.path().join("half.nap"), &packed[..packed.len() / 2]).unwrap();
    assert_snapshot!(verify("half.nap", "keys/me.pub"), @"
    exit 1
    --- stdout
    --- stderr
    error: half.nap: the package is cut off: it ends in the middle; copy or download it again
    ");
}

#[test]
fn all_problems_of_a_manifest_are_told() {
    let home = Home::empty();
    home.file(
        "hello/manifest.yaml",
        &MANIFEST.replace("description: Greets", "descripton: Greets").replace("log.info", "log.inf"),
    );
    assert_snapshot!(home.run(&["package", "build", "hello"]), @"
    exit 1
    --- stdout
    --- stderr
    manifest.yaml:3: unknown key `descripton`; did you mean `description`?
    manifest.yaml:4: there is no ability `log.inf`; did you mean `log.info`?
    error: the agent in hello has 2 problems; nothing was built
    ");
    let as_json = home.run(&["package", "build", "hello", "--json"]);
    assert_eq!(parsed(&as_json.stderr)["error"]["problems"].as_array().unwrap().len(), 2);
    assert_snapshot!(home.run(&["package", "build", "nowhere"]), @"
    exit 1
    --- stdout
    --- stderr
    error: cannot read nowhere: No such file or directory (os error 2)
    ");
}

#[test]
fn a_package_is_not_written_into_what_it_packs() {
    let home = Home::empty();
    home.file("hello/manifest.yaml", MANIFEST);
    assert_snapshot!(home.run(&["package", "build", "hello", "-o", "hello/a.nap"]), @"
    exit 2
    --- stdout
    --- stderr
    error: hello/a.nap would lie in the folder that it packs
    hint: name another place, such as: -o ../a.nap
    ");
    assert!(!home.path().join("hello/a.nap").exists());
    assert_snapshot!(home.run(&["package", "build", "hello", "--sign", "nobody"]), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no key HOME/keys/nobody.key
    hint: make it with: nbctl key generate nobody
    ");
}

#[test]
fn without_a_terminal_nobody_decides_about_permissions() {
    let home = Home::with_daemon(|line| match line {
        "POST /v1/packages/inspect" => (200, inspected(one_permission(), true)),
        _ => (200, installed()),
    });
    home.file("hello.nap", "package");
    assert_snapshot!(home.run(&["install", "hello.nap"]), @"
    exit 2
    --- stdout
    hello 0.1.0 (serial 7)
      Greets people
      signed by  ada (00000000000000AA)
      digest     d
    asks for
       1  new  log.info  write to its log

    --- stderr
    error: hello asks for permissions that nobody decided about: log.info
    hint: decide with --grant all, --grant none or --grant log.info
    ");
    assert_eq!(home.asked().len(), 1);
    assert_snapshot!(home.run(&["install", "hello.nap", "--grant", "all"]), @"
    exit 0
    --- stdout
    hello 0.1.0 (serial 7)
      Greets people
      signed by  ada (00000000000000AA)
      digest     d
    asks for
       1  new  log.info  write to its log

    installed hello 0.1.0
      granted  log.info
    next: nbctl show hello
    --- stderr
    ");
    assert_eq!(
        home.asked().last().unwrap(),
        &(
            "POST /v1/agents?grant=all&allow_unsigned=false&allow_downgrade=false".to_owned(),
            "package".to_owned()
        )
    );
    let as_json = home.run(&["install", "hello.nap", "--grant", "log.info", "--json"]);
    assert_eq!(parsed(&as_json.stdout)["granted"], json!(["log.info"]));
}

#[test]
fn the_daemon_refuses_a_stranger_before_anything_is_asked() {
    let home = Home::with_daemon(|line| match line {
        "POST /v1/packages/inspect" => (200, inspected(one_permission(), false)),
        _ => (
            403,
            json!({"kind": "refused", "message": "signed by a stranger", "hint": "nbctl key trust FILE"})
                .to_string(),
        ),
    });
    home.file("hello.nap", "package");
    assert_snapshot!(home.run(&["install", "hello.nap"]), @"
    exit 1
    --- stdout
    hello 0.1.0 (serial 7)
      Greets people
      signed by  00000000000000AA, not trusted: signed by a key that is not trusted here: 00000000000000AA
      digest     d
    asks for
       1  new  log.info  write to its log

    --- stderr
    error: signed by a stranger
    hint: nbctl key trust FILE
    ");
    assert_snapshot!(home.run(&["package", "verify", "hello.nap"]), @"
    exit 1
    --- stdout
    --- stderr
    error: hello.nap: signed by a key that is not trusted here: 00000000000000AA
    hint: `nbctl key ls` lists the trusted keys; --key FILE checks against another one
    ");
}

#[test]
fn an_upgrade_keeps_what_was_granted() {
    let home = Home::with_daemon(|line| match line {
        "POST /v1/packages/inspect" => {
            let granted = json!([{"permission": "log.info", "words": "write to its log", "known": true, "granted": true}]);
            let mut package = parsed(&inspected(granted, true));
            package["installed"] = json!("0.0.9");
            (200, package.to_string())
        }
        "GET /v1/agents/hello" => (404, json!({"kind": "not_found", "message": "it is gone"}).to_string()),
        _ => (200, installed()),
    });
    home.file("hello.nap", "package");
    assert_eq!(home.run(&["install", "hello.nap"]).code, Some(0));
    assert!(home.asked().last().unwrap().0.contains("grant=all"));
}

#[test]
fn a_webhook_is_signed_with_the_very_body() {
    let home = Home::with_daemon(|_| {
        let signed =
            json!({"method": "POST", "url": "http://127.0.0.1:1/x", "headers": [["X-Signature", "a b"]]});
        (200, signed.to_string())
    });
    home.file("push it.json", "{\"a\": 1}\n");
    assert_snapshot!(home.run(&["webhook", "sign", "repo-watch", "/github", "--file", "push it.json"]), @"
    exit 0
    --- stdout
    curl --globoff -X POST -H 'X-Signature: a b' --data-binary @'push it.json' http://127.0.0.1:1/x
    --- stderr
    ");
    let (target, body) = &home.asked()[0];
    assert!(target.ends_with("/v1/webhooks/sign?agent=repo-watch&path=%2Fgithub"), "{target}");
    assert_eq!(body, "{\"a\": 1}\n");
}
