//! How a tool is isolated elsewhere.

use std::hint::black_box;
use std::process::Command;
use std::time::Duration;

use wasmtime::component::{Component, Linker, Val};
use wasmtime::{Config, Engine, Instance, Module, Store};

use crate::measure::{Figures, measure, median};

/// `1 + 1` as a program of its own, without an interpreter.
const TINY_MODULE: &str =
    r#"(module (func (export "run") (result i32) (i32.add (i32.const 1) (i32.const 1))))"#;

/// The guest compiled to machine code for each call, with the engine's settings as they come.
pub fn compile_guest_per_call() -> Duration {
    // Lua's errors are exceptions, so that the guest needs this one.
    let engine = Engine::new(Config::new().wasm_exceptions(true)).expect("the engine starts");
    let guest = || Component::new(&engine, nb_sandbox::component()).expect("it compiles");
    let text = |text: &str| Val::String(text.into());
    let source = Val::Record(vec![
        ("lang".into(), Val::Enum("lua".into())),
        ("file".into(), text("bench")),
        ("text".into(), text("return 1 + 1")),
    ]);
    let chunk = call_export(&guest(), "compile", &[source, Val::List(Vec::new())]);
    median(5, || {
        let answer = call_export(&guest(), "run", &[chunk.clone(), text("{}")]);
        assert_eq!(answer, text("2"));
    })
}

fn call_export(component: &Component, name: &str, args: &[Val]) -> Val {
    let mut linker = Linker::new(component.engine());
    linker.define_unknown_imports_as_traps(component).expect("it has imports");
    let mut store = Store::new(component.engine(), ());
    let instance = linker.instantiate(&mut store, component).expect("it links");
    let function = instance.get_func(&mut store, name).expect("it is exported");
    let mut answers = [Val::Bool(false)];
    function.call(&mut store, args, &mut answers).expect("it runs");
    match answers {
        [Val::Result(Ok(Some(answer)))] => *answer,
        other => panic!("`{name}` answered {other:?}"),
    }
}

/// The least program there can be, compiled to machine code for each call.
pub fn compile_tiny_module_per_call() -> Figures {
    let engine = Engine::default();
    let wasm = wat::parse_str(TINY_MODULE).expect("it is WAT");
    measure(500, || {
        let module = Module::new(&engine, &wasm).expect("it compiles");
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &module, &[]).expect("it links");
        let run = instance.get_typed_func::<(), i32>(&mut store, "run").expect("it is exported");
        assert_eq!(black_box(run.call(&mut store, ()).expect("it runs")), 2);
    })
}

/// `python3 -c 'print(1 + 1)'`, where it is installed.
pub fn python_process() -> Option<Figures> {
    let run = |python: &str, program: &str| {
        let output = Command::new(python).args(["-c", program]).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    // What is found first can be a script that starts the interpreter.
    let python = run("python3", "import sys; print(sys.executable)")?;
    Some(measure(100, || assert_eq!(run(&python, "print(1 + 1)").as_deref(), Some("2"))))
}
