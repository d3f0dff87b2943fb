//! Components from the C files in `tests/components`, built with the guest's toolchain.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use nb_sandbox::ComponentTool;
use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wit_bindgen_c::Opts;
use wit_bindgen_core::{Files, wit_parser::Resolve};
use wit_component::ComponentEncoder;

use crate::common::sandbox;

static PLAIN: LazyLock<Option<ComponentTool>> = LazyLock::new(|| load("plain"));
static WASI: LazyLock<Option<ComponentTool>> = LazyLock::new(|| load("wasi"));

/// The component of `plain.c`, which uses no WASI; `None`, and a line that says so, without the toolchain.
pub fn plain() -> Option<&'static ComponentTool> {
    installed(&PLAIN)
}

/// The component of `wasi.c`.
pub fn wasi() -> Option<&'static ComponentTool> {
    installed(&WASI)
}

fn installed(tool: &'static LazyLock<Option<ComponentTool>>) -> Option<&'static ComponentTool> {
    if tool.is_none() {
        eprintln!("skipped: clang-22, lld-22, libclang-rt-22-dev-wasm32 and wasi-libc are not installed");
    }
    tool.as_ref()
}

fn load(name: &str) -> Option<ComponentTool> {
    let wasm = build(name)?;
    Some(sandbox().load_component(&format!("{name}.wasm"), &wasm).expect("the component is a tool"))
}

/// The bytes of the component that `tests/components/<name>.c` is.
pub fn build(name: &str) -> Option<Vec<u8>> {
    let builtins = builtins()?;
    let sources = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/components"));
    let folder = tempfile::tempdir().unwrap();
    generate_bindings(folder.path());
    let file = |name: &str| folder.path().join(name);
    for source in [sources.join(name).with_extension("c"), file("tool.c")] {
        let mut compiler = Command::new("clang-22");
        compiler.args(["--target=wasm32-wasip1", "-std=gnu23", "-O1", "-fno-optimize-sibling-calls", "-c"]);
        compiler.args(["-Wall", "-Wextra", "-Werror", "-isystem", "/usr/include/wasm32-wasi", "-I"]);
        compiler.arg(folder.path()).arg("-o").arg(file(source.file_stem().unwrap().to_str().unwrap()));
        succeed(compiler.arg(&source));
    }
    let module = file("core.wasm");
    let mut linker = Command::new("wasm-ld-22");
    linker.args(["--entry", "_initialize", "--strip-all", "--stack-first", "-z", "stack-size=262144"]);
    linker.arg("/usr/lib/wasm32-wasi/crt1-reactor.o").args([name, "tool", "tool_component_type.o"].map(file));
    succeed(linker.arg("/usr/lib/wasm32-wasi/libc.a").arg(builtins).arg("-o").arg(&module));
    let core = std::fs::read(&module).unwrap();
    let encoder = ComponentEncoder::default().validate(true).module(&core).unwrap();
    // Only what imports WASI gets the adapter.
    let mut encoder =
        encoder.adapter(WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER).unwrap();
    Some(encoder.encode().unwrap())
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The compiler's own library, if everything is installed.
fn builtins() -> Option<PathBuf> {
    let resources = Command::new("clang-22").arg("-print-resource-dir").output().ok()?;
    Command::new("wasm-ld-22").arg("--version").output().ok()?;
    let resources = String::from_utf8_lossy(&resources.stdout).into_owned();
    let builtins = Path::new(resources.trim()).join("lib/wasi/libclang_rt.builtins-wasm32.a");
    (builtins.exists() && Path::new("/usr/lib/wasm32-wasi/libc.a").exists()).then_some(builtins)
}

/// Writes tool.h, tool.c and the object that carries the world's type.
fn generate_bindings(folder: &Path) {
    let mut resolve = Resolve::default();
    let wit = concat!(env!("CARGO_MANIFEST_DIR"), "/../../guest-lua/wit");
    let (package, _) = resolve.push_dir(wit).unwrap();
    let world = resolve.select_world(&[package], Some("tool")).unwrap();
    let mut files = Files::default();
    Opts::default().build().generate(&mut resolve, world, &mut files).unwrap();
    for (name, bytes) in files.iter() {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}
