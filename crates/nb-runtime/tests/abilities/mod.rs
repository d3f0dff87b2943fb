//! Each ability: what it does, what it refuses, and that nothing is done without its permission. `own.rs`: those that stay
//! on the machine; `outside.rs`: those that leave it; `model.rs`: those that ask the agent's model.

mod model;
mod outside;
mod own;
mod permissions;

use nb_runtime::Target;
use nb_runtime::record::RunEvent;
use serde_json::{Value, json};

use crate::common::{Home, agent};

/// An agent whose tool calls the ability that it is told.
struct Probe {
    home: Home,
    last_run: String,
}

impl Probe {
    fn new(asks: &[&str], grants: &[&str]) -> Self {
        let home = Home::new();
        home.vault.keep("TOKEN", SECRET);
        agent("probe")
            .asks(asks)
            .granted(grants)
            .set("secrets", json!(["TOKEN"]))
            .set("fuel_limit", json!(50_000_000))
            .set("resources", json!({"max_fuel": 50_000_000}))
            .tool("call", "return nb.call(parameters.ability, parameters.args)")
            .tool(
                "call-big",
                "parameters.args[parameters.key] = ('x'):rep(parameters.bytes)
                 return nb.call(parameters.ability, parameters.args)",
            )
            .install(&home);
        Self { home, last_run: String::new() }
    }

    fn granted(permission: &str) -> Self {
        Self::new(&[permission], &[permission])
    }

    /// The same, and the secret TOKEN.
    fn granted_with_secret(permission: &str) -> Self {
        Self::new(&[permission], &[permission, "secret.use:TOKEN"])
    }

    async fn call(&mut self, ability: &str, args: Value) -> Result<Value, String> {
        self.run("call", json!({"ability": ability, "args": args})).await
    }

    /// The same with a text of so many bytes as one more argument.
    async fn call_with(
        &mut self,
        ability: &str,
        args: Value,
        key: &str,
        bytes: usize,
    ) -> Result<Value, String> {
        self.run("call-big", json!({"ability": ability, "args": args, "key": key, "bytes": bytes})).await
    }

    async fn run(&mut self, tool: &str, params: Value) -> Result<Value, String> {
        let row = self.home.run("probe", Target::Tool(tool.to_owned()), params).await;
        self.last_run = row.id;
        match row.error {
            None => Ok(row.output.unwrap_or_default()),
            // In front of it stand the tool, its file and its line; behind it the line itself.
            Some(error) => {
                let shown = error.splitn(3, ": ").last().unwrap_or_default();
                Err(shown.split("\n  ").next().unwrap_or_default().to_owned())
            }
        }
    }

    /// The error of a call that must fail.
    async fn refusal(&mut self, ability: &str, args: Value) -> String {
        match self.call(ability, args.clone()).await {
            Err(error) => error,
            Ok(value) => panic!("{ability} {args} gave {value}"),
        }
    }

    fn record(&self) -> Vec<RunEvent> {
        self.home.record(&self.last_run)
    }

    /// Everything that was kept of the last run, as it is stored.
    fn stored(&self) -> String {
        let row = self.home.store().run(&self.last_run).unwrap();
        let events = self.home.store().run_events(&self.last_run, 0, usize::MAX).unwrap();
        format!("{row:?} {events:?} {:?}", self.home.store().events(0, usize::MAX).unwrap())
    }
}

const SECRET: &str = "s3cret/Value+1";
