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
