//! An agent, whole: manifest, tools and tasks, cross-checked.

use std::collections::BTreeMap;

use crate::cartridge::ProviderSection;
use crate::chain::{self, Callable};
use crate::document::Document;
use crate::files::Files;
use crate::manifest::{FILE_NAMES, Manifest};
use crate::module::{self, Module};
use crate::packed::{self, PackedCartridge};
use crate::permission::UNSANDBOXED;
use crate::problem::Problems;
use crate::requires;
use crate::task::Task;
use crate::tool::Tool;

/// The most chains of an agent.
const MAX_CHAINS: usize = 256;
/// The most bytes of code that the tools of an agent have together: several tools may name the same file.
const MAX_CODE_BYTES: usize = 64 << 20;

/// How strictly a name that this version does not know is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// The author is at hand: a permission that looks mistyped is an error.
    Build,
    /// A package may have been built for a later version: what is unknown is a warning.
    Install,
}

/// An agent as its files describe it.
#[derive(Debug, Clone)]
pub struct Agent {
    /// Its manifest.
    pub manifest: Manifest,
    /// Its tools by name.
    pub tools: BTreeMap<String, Tool>,
    /// The files below `tools/lib`, which its tools can require.
    pub modules: Vec<Module>,
    /// Its tasks by id.
    pub tasks: BTreeMap<String, Task>,
    /// Its cartridge: who it is, and which model speaks for it.
    pub cartridge: Option<PackedCartridge>,
    /// What a person should know although the agent loads.
    pub warnings: Problems,
}

impl Agent {
    /// Which model speaks for it, when one does.
    pub fn provider(&self) -> Option<&ProviderSection> {
        self.cartridge.as_ref()?.provider()
    }

    /// Loads and checks everything. On failure all problems are reported together.
    pub fn load(files: &Files, strictness: Strictness) -> Result<Self, Problems> {
        let mut problems = Problems::default();
        let agent = Self::read(files, strictness, &mut problems);
        match agent {
            Some(agent) if !problems.has_errors() => Ok(Self { warnings: problems, ..agent }),
            _ => Err(problems),
        }
    }

    fn read(files: &Files, strictness: Strictness, problems: &mut Problems) -> Option<Self> {
        let present: Vec<&str> =
            FILE_NAMES.iter().copied().filter(|name| files.get(name).is_some()).collect();
        let name = match present[..] {
            [name] => name,
            [] => {
                problems.error(FILE_NAMES[0], None, "not found; an agent's folder has one at its root");
                return None;
            }
            _ => {
                problems.error(
                    present[1],
                    None,
                    format!("stands beside {}; an agent has one manifest", present[0]),
                );
                return None;
            }
        };
        let document = Document::new(name, files.get(name)?, problems)?;
        let manifest = Manifest::read(&document, strictness == Strictness::Build, problems);
        let permissions = manifest.as_ref().map(Manifest::requested).unwrap_or_default();

        let mut tools = BTreeMap::new();
        let modules = module::find(files, problems);
        let mut code_bytes: usize = modules.iter().map(|module| module.text.len()).sum();
        for (index, entry) in manifest.iter().flat_map(|manifest| manifest.tools.iter().enumerate()) {
            let path = format!("tools.{index}");
            let Some(tool) = entry.resolve(&path, &document, files, problems) else { continue };
            if !tool.is_sandboxed()
                && !permissions.iter().any(|asked| asked.ability == UNSANDBOXED && asked.is_known())
            {
                let message = format!(
                    "tool `{}`: `sandboxed: false` needs the permission `{UNSANDBOXED}`; add it to `permissions`",
                    tool.name
                );
                document.error(problems, &format!("{path}.sandboxed"), message);
            }
            code_bytes += tool.size();
            if code_bytes > MAX_CODE_BYTES {
                let message = format!("the tools and modules have more than {MAX_CODE_BYTES} bytes together");
                document.error(problems, &path, message);
                break;
            }
            if tools.insert(tool.name.clone(), tool).is_some() {
                document.error(
                    problems,
                    &format!("{path}.name"),
                    format!("tool `{}` stands twice", entry.name),
                );
            }
        }

        // At install the same is told by `missing_modules`: an agent that was installed before goes on.
        if strictness == Strictness::Build {
            requires::check(&tools, &modules, problems);
        }
        // Without a manifest, what the chains may call is not known, and complaints about it would mislead.
        let manifest = manifest?;
        let callable =
            Callable { tools: tools.keys().map(String::as_str).collect(), permissions: &permissions };
        let chains = files.iter().filter(|(file, _)| is_chain_file(file));
        let count = chains.clone().count();
        if count > MAX_CHAINS {
            problems.error("chains", None, format!("holds {count} chains; at most {MAX_CHAINS} are allowed"));
            return None;
        }
        let mut tasks: BTreeMap<String, Task> = BTreeMap::new();
        for (file, bytes) in chains {
            let Some(chain_document) = Document::new(file, bytes, problems) else { continue };
            let Some(task) = chain::read(&chain_document, &callable, problems) else { continue };
            if let Some(other) = tasks.get(&task.id) {
                chain_document.error(
                    problems,
                    "id",
                    format!("chain `{}` is already in {}", task.id, other.file),
                );
            }
            tasks.insert(task.id.clone(), task);
        }
        check_trigger_chains(&manifest, &tasks, &document, problems);
        let cartridge = packed::find(&manifest, &document, files, strictness, problems);
        Some(Self { manifest, tools, modules, tasks, cartridge, warnings: Problems::default() })
    }
}

fn is_chain_file(name: &str) -> bool {
    name.strip_prefix("chains/").is_some_and(|name| {
        !name.contains('/') && [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending))
    })
}

/// A trigger's chain must exist, and its parameters must suit the chain.
fn check_trigger_chains(
    manifest: &Manifest,
    tasks: &BTreeMap<String, Task>,
    document: &Document<'_>,
    problems: &mut Problems,
) {
    let triggers = &manifest.triggers;
    let scheduled = triggers.scheduled.iter().map(|trigger| (&trigger.chain, &trigger.params)).enumerate();
    let events = triggers.events.iter().map(|trigger| (&trigger.chain, &trigger.params)).enumerate();
    let webhooks = triggers.webhooks.iter().map(|trigger| (&trigger.chain, &trigger.params)).enumerate();
    let all = scheduled
        .map(|found| ("scheduled", found))
        .chain(events.map(|found| ("events", found)))
        .chain(webhooks.map(|found| ("webhooks", found)));
    for (kind, (index, (chain, params))) in all {
        let path = format!("triggers.{kind}.{index}");
        match tasks.get(chain) {
            None => {
                document.error(problems, &format!("{path}.chain"), format!("there is no chain `{chain}`"))
            }
            Some(task) => {
                for message in task.check_parameters(params).err().into_iter().flatten() {
                    document.error(problems, &format!("{path}.params"), message);
                }
            }
        }
    }
}
