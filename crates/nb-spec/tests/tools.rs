//! What a tool can be: a script, a component, a script outside of the sandbox; and the modules beside them.

use nb_spec::agent::Strictness;
use nb_spec::{Agent, Code, Files, Permission};

fn load(manifest: &str, files: &[(&str, &[u8])]) -> Result<Agent, Vec<String>> {
    let mut all = Files::default();
    all.insert("manifest.yaml", format!("name: demo\nversion: 1.0.0\n{manifest}"));
    for (name, bytes) in files {
        all.insert(*name, *bytes);
    }
    Agent::load(&all, Strictness::Build)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

#[test]
fn files_below_tools_lib_are_modules() {
    let files: &[(&str, &[u8])] = &[
        ("tools/lib/text.lua", b"return {}"),
        ("tools/lib/deep/er.fnl", b"{}"),
        ("tools/lib/whole/init.lua", b"return 1"),
        ("tools/lib/notes.txt", b"of no interest"),
        ("tools/main.lua", b"return 1"),
    ];
    let agent = load("", files).unwrap();
    let names: Vec<&str> = agent.modules.iter().map(|module| module.name.as_str()).collect();
    assert_eq!(names, ["deep.er", "text", "whole"]);
    assert_eq!(agent.modules[0].file, "tools/lib/deep/er.fnl");
}

#[test]
fn a_module_that_cannot_be_required_by_one_name_is_refused() {
    for (files, expected) in [
        (
            &[("tools/lib/a.lua", &b""[..]), ("tools/lib/a.fnl", &b""[..])][..],
            "tools/lib/a.lua: is the module `a`, and so is tools/lib/a.fnl; one of them must go",
        ),
        (
            &[("tools/lib/a.b.lua", &b""[..])][..],
            "tools/lib/a.b.lua: a module's name has no dots: they stand for folders in `require`",
        ),
        (&[("tools/lib/a.lua", &b"\xff"[..])][..], "tools/lib/a.lua: is not UTF-8 text"),
    ] {
        assert_eq!(load("", files).unwrap_err(), [expected]);
    }
}

#[test]
fn a_component_is_a_tool_and_never_leaves_the_sandbox() {
    let tool = "tools:\n  - name: sum\n    component: tools/sum.wasm\n";
    let agent = load(tool, &[("tools/sum.wasm", b"\0asm")]).unwrap();
    let sum = &agent.tools["sum"];
    assert_eq!((sum.file.as_str(), &sum.code), ("tools/sum.wasm", &Code::Component(b"\0asm".to_vec())));
    assert!(sum.is_sandboxed());
    assert_eq!(
        load(tool, &[]).unwrap_err(),
        ["manifest.yaml:5: tool `sum`: there is no file `tools/sum.wasm`"]
    );
    let outside = format!("permissions: [unsandboxed]\n{tool}    sandboxed: false\n");
    assert_eq!(
        load(&outside, &[("tools/sum.wasm", b"\0asm")]).unwrap_err(),
        ["manifest.yaml:7: tool `sum`: a component always runs in the sandbox; only scripts can leave it"]
    );
}

#[test]
fn a_tool_outside_of_the_sandbox_asks_for_the_permission() {
    let tool = "tools:\n  - name: home\n    lua: return os.getenv('HOME')\n    sandboxed: false\n";
    assert_eq!(
        load(tool, &[]).unwrap_err(),
        [
            "manifest.yaml:6: tool `home`: `sandboxed: false` needs the permission `unsandboxed`; add it to `permissions`"
        ]
    );
    let agent = load(&format!("permissions: [unsandboxed]\n{tool}"), &[]).unwrap();
    assert!(!agent.tools["home"].is_sandboxed());
    assert!(agent.warnings.is_empty(), "{}", agent.warnings);
}

#[test]
fn a_folder_is_asked_for_by_its_path() {
    for good in ["files.read:/srv/notes", "files.read:~/notes", "files.read:~"] {
        assert!(load(&format!("permissions: ['{good}']\n"), &[]).is_ok(), "{good}");
    }
    for (bad, expected) in [
        ("files.read", "`files.read` needs a folder"),
        ("files.read:notes", "a folder begins with `/` or `~/`"),
        ("files.read:/srv/../etc", "a folder is named without `.` and `..`"),
        ("unsandboxed:x", "`unsandboxed` has no scopes"),
    ] {
        let problems = load(&format!("permissions: ['{bad}']\n"), &[]).unwrap_err();
        assert!(problems[0].contains(expected), "{problems:?}");
    }
    let covers = |all: &str, part: &str| Permission::parse(all).covers(&Permission::parse(part));
    assert!(covers("files.read:/srv", "files.read:/srv/notes"));
    assert!(covers("files.read:/srv/", "files.read:/srv"));
    assert!(!covers("files.read:/srv", "files.read:/srv2"));
    assert!(!covers("files.read:/srv/notes", "files.read:/srv"));
}

/// The problems of an agent whose tool `main` is this, beside the module `tools/lib/text.lua`.
fn requiring(file: &str, source: &str, more: &str) -> Vec<String> {
    let manifest = format!("tools:\n  - name: main\n    source: {file}\n{more}");
    let files: &[(&str, &[u8])] = &[
        (file, source.as_bytes()),
        ("tools/lib/text.lua", b"return {}"),
        ("tools/lib/deep/er.fnl", b"{}"),
        ("tools/lib/macros/init-macros.fnl", b"{}"),
    ];
    load(&manifest, files)
        .map_or_else(|problems| problems, |agent| agent.warnings.iter().map(ToString::to_string).collect())
}

#[test]
fn a_module_that_is_required_and_not_there_is_an_error_with_its_place() {
    let listed = "tools/lib has deep.er, macros.init-macros, text";
    for (file, source, expected) in [
        (
            "tools/a.lua",
            "\nlocal t = require 'txet'",
            "2: there is no module `txet`; did you mean `text`?".to_owned(),
        ),
        (
            "tools/a.lua",
            "require('lib.txet')",
            "1: there is no module `lib.txet`; did you mean `lib.text`?".to_owned(),
        ),
        (
            "tools/a.fnl",
            "\n\n(require :deep.err)",
            "3: there is no module `deep.err`; did you mean `deep.er`?".to_owned(),
        ),
        ("tools/a.fnl", "(include \"other\")", format!("1: there is no module `other`; {listed}")),
        ("tools/a.lua", "require 'socket'", format!("1: there is no module `socket`; {listed}")),
        (
            "tools/a.lua",
            "require('json')",
            "1: there is no module `json`; `json` is there without `require`".to_owned(),
        ),
    ] {
        assert_eq!(requiring(file, source, ""), [format!("{file}:{expected}")]);
    }
    for (file, source) in [
        ("tools/a.lua", "require 'text' require 'lib.text' require('tools.lib.deep.er') -- require 'no'"),
        ("tools/a.fnl", "(require :text) (require :lib.deep.er) (require :macros) (require :fennel)"),
    ] {
        assert_eq!(requiring(file, source, ""), [""; 0], "{source}");
    }
    // Of an inline script the line is the manifest's.
    let inline = "tools:\n  - name: main\n    lua: |\n      return 1\n  - name: other\n    lua: |\n      local a = 1\n      require 'text'\n";
    assert_eq!(
        load(inline, &[]).unwrap_err(),
        ["manifest.yaml:10: there is no module `text`; the package has no file below tools/lib"]
    );
}

#[test]
fn a_module_requires_like_a_tool() {
    let files: &[(&str, &[u8])] =
        &[("tools/lib/a.lua", b"return require 'b'"), ("tools/lib/b.fnl", b"\n(require :c)")];
    assert_eq!(
        load("", files).unwrap_err(),
        ["tools/lib/b.fnl:2: there is no module `c`; tools/lib has a, b"]
    );
}

#[test]
fn outside_of_the_sandbox_the_machine_may_have_the_module() {
    let native = "    sandboxed: false\npermissions: [unsandboxed]\n";
    let source = "local os, lfs = require 'os', require 'lfs' require 'txet'";
    assert_eq!(
        requiring("tools/a.lua", source, native),
        [
            "tools/a.lua:1: warning: there is no module `lfs` in the package, only maybe on the machine",
            "tools/a.lua:1: warning: there is no module `txet` in the package, only maybe on the machine; did you mean `text`?"
        ]
    );
}

#[test]
fn an_agent_that_is_installed_loads_whatever_it_requires() {
    let mut files = Files::default();
    files.insert("manifest.yaml", "name: demo\nversion: 1.0.0\ntools: [{name: a, lua: require 'b'}]");
    let agent = Agent::load(&files, Strictness::Install).unwrap();
    let missing = agent.missing_modules();
    assert!(missing.has_errors());
    assert_eq!(
        missing.to_string(),
        "manifest.yaml:3: there is no module `b`; the package has no file below tools/lib"
    );
}

#[test]
fn what_is_wrong_with_an_entry_of_a_list_is_told_with_its_name() {
    let tools =
        |entry: &str| format!("tools:\n  - {{name: first, lua: return 1}}\n  - name: weather\n{entry}");
    for (entry, expected) in [
        (
            "    lua: return 1\n    sandbox: false\n",
            "manifest.yaml:7: unknown key `tools.1.sandbox` (`weather`); did you mean `sandboxed`?",
        ),
        (
            "    lua: [1]\n",
            "manifest.yaml:6: tools[1].lua (`weather`): invalid type: sequence, expected a text",
        ),
    ] {
        assert_eq!(load(&tools(entry), &[]).unwrap_err(), [expected]);
    }
    let chain = "id: c\nsteps:\n  - id: fetch\n    tool: first\n    argz: {}\n";
    let manifest = "tools: [{name: first, lua: return 1}]\n";
    assert_eq!(
        load(manifest, &[("chains/c.yaml", chain.as_bytes())]).unwrap_err(),
        ["chains/c.yaml:5: unknown key `steps.0.argz` (`fetch`); did you mean `args`?"]
    );
}

#[test]
fn a_folder_without_a_component_is_warned_about() {
    let asks = "permissions: ['files.read:/srv/notes']\n";
    let agent = load(asks, &[]).unwrap();
    assert_eq!(
        agent.warnings.to_string(),
        "manifest.yaml:3: warning: `files.read:/srv/notes` is for components, and no tool is one"
    );
    let tool = format!("{asks}tools: [{{name: a, component: a.wasm}}]\n");
    assert!(load(&tool, &[("a.wasm", b"\0asm")]).unwrap().warnings.is_empty());
}
