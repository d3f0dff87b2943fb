//! The C sources and their bindings to the WIT world → one core WebAssembly module.

use std::fs;
use std::path::{Path, PathBuf};

use wit_bindgen_c::Opts;
use wit_bindgen_core::{Files, wit_parser::Resolve};

use crate::error::BuildError;
use crate::sources::{self, Sources};
use crate::toolchain::{Toolchain, output};
use crate::write_file;

pub fn build(sources: &Sources, toolchain: &Toolchain) -> Result<Vec<u8>, BuildError> {
    let unwritable = |source| BuildError::Write { path: sources.target.clone(), source };
    fs::create_dir_all(&sources.target).map_err(unwritable)?;
    let folder = tempfile::Builder::new().prefix("guest-").tempdir_in(&sources.target).map_err(unwritable)?;
    let folder = folder.path();
    let type_object = generate_bindings(&sources.wit(), folder)?;

    let mut c_files = sources.c_files()?;
    c_files.push(folder.join("interpreter.c"));
    let mut objects = Vec::new();
    for c_file in &c_files {
        let name = c_file.file_stem().unwrap_or_default();
        let object = folder.join(name).with_extension("o");
        let mut compiler = toolchain.compiler();
        // lstate.h wants the name of a type that wasi-libc gives only on request.
        compiler.args(["-D_WASI_EMULATED_SIGNAL", "-include", "config.h"]);
        compiler.arg("-I").arg(sources.glue().join("include"));
        for include in [sources.glue(), sources.lua.clone(), folder.to_path_buf()] {
            compiler.arg("-I").arg(include);
        }
        for embedded in [sources.vendor(), sources.glue()] {
            compiler.arg(format!("--embed-dir={}", embedded.display()));
        }
        if c_file.starts_with(sources.glue()) {
            compiler.args(["-Wall", "-Wextra", "-Werror"]);
        }
        if c_file.ends_with("setjmp.c") {
            // Its assembler text declares a tag, which the linker takes for a function when it is optimising.
            compiler.arg("-fno-lto");
        }
        compiler.arg("-o").arg(&object).arg(c_file);
        output(&mut compiler, "clang-22", &c_file.display().to_string())?;
        objects.push(object);
    }

    let module = folder.join("core.wasm");
    let mut linker = toolchain.linker();
    linker.args(&objects).arg(type_object).args(toolchain.libraries()).arg("-o").arg(&module);
    output(&mut linker, "wasm-ld-22", "the guest")?;
    sources::read(&module)
}

/// Writes interpreter.h, interpreter.c and the object that carries the world's type; returns the path of the object.
fn generate_bindings(wit: &Path, folder: &Path) -> Result<PathBuf, BuildError> {
    let refused =
        |error: &dyn std::fmt::Display| BuildError::Wit { path: wit.into(), message: format!("{error:#}") };
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(wit).map_err(|error| refused(&error))?;
    let world = resolve.select_world(&[package], Some("interpreter")).map_err(|error| refused(&error))?;
    let mut files = Files::default();
    Opts::default().build().generate(&mut resolve, world, &mut files).map_err(|error| refused(&error))?;
    for (name, bytes) in files.iter() {
        write_file(&folder.join(name), bytes)?;
    }
    let object = folder.join("interpreter_component_type.o");
    fs::metadata(&object).map_err(|source| BuildError::Read { path: object.clone(), source })?;
    Ok(object)
}
