//! The cartridge of an agent: found, and checked against the manifest.

use std::collections::BTreeMap;

use crate::agent::Strictness;
use crate::cartridge::{Cartridge, PROVIDERS, ProviderSection, UnknownKey, credentials_of, variable_name};
use crate::document::{Document, nearest};
use crate::files::Files;
use crate::manifest::Manifest;
use crate::permission::{MODELS, Permission};
use crate::problem::Problems;

/// Where a cartridge is found that the manifest does not name.
const USUAL: [&str; 2] = ["cartridge.yml", "cartridge.yaml"];

/// A cartridge in a package.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedCartridge {
    /// Its file.
    pub file: String,
    /// What it says.
    pub cartridge: Cartridge,
    /// The files of the package that its provider section names, by the path that stands there. Such a path begins at the
    /// folder of the cartridge.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl PackedCartridge {
    /// The provider section, when it has one.
    pub fn provider(&self) -> Option<&ProviderSection> {
        self.cartridge.provider.as_ref()
    }
}

/// The credentials that nobody but their owner may know.
const KEYS: [&str; 3] = ["access-token", "api-key", "file-contents"];

/// Finds the cartridge that the manifest names, or the one at the usual place.
pub(crate) fn find(
    manifest: &Manifest,
    document: &Document<'_>,
    files: &Files,
    strictness: Strictness,
    problems: &mut Problems,
) -> Option<PackedCartridge> {
    let found = read(manifest, document, files, strictness, problems);
    let asked = manifest.permissions.iter().position(|text| is_about_models(text));
    if let Some(index) = asked
        && found.as_ref().is_none_or(|found| found.provider().is_none())
    {
        let message = format!(
            "`{}` needs a language model: a cartridge (cartridge.yml) with a `provider`, and there is none",
            manifest.permissions[index]
        );
        document.warning(problems, &format!("permissions.{index}"), message);
    }
    found
}

fn is_about_models(permission: &str) -> bool {
    let permission = Permission::parse(permission);
    permission.ability.starts_with(MODELS) && permission.is_known()
}

fn read(
    manifest: &Manifest,
    document: &Document<'_>,
    files: &Files,
    strictness: Strictness,
    problems: &mut Problems,
) -> Option<PackedCartridge> {
    let file = match &manifest.cartridge {
        Some(file) => {
            if files.get(file).is_none() {
                document.error(problems, "cartridge", format!("there is no file `{file}`"));
            }
            file.as_str()
        }
        None => {
            let mut present = USUAL.into_iter().filter(|name| files.get(name).is_some());
            let file = present.next()?;
            if let Some(second) = present.next() {
                let message = format!("stands beside {file}; an agent has one cartridge");
                problems.error(second, None, message);
            }
            file
        }
    };
    let own = Document::new(file, files.get(file)?, problems)?;
    let cartridge = Cartridge::of(&own, problems)?;
    let mut named = BTreeMap::new();
    if let Some(section) = &cartridge.provider {
        let check = Check { manifest, document: &own, strictness };
        check.provider(section, problems);
        check.keys(section, problems);
        check.written_out(section, problems);
        check.variables(section, problems);
        check.files(section, files, &mut named, problems);
    }
    Some(PackedCartridge { file: file.to_owned(), cartridge, files: named })
}

struct Check<'a> {
    manifest: &'a Manifest,
    document: &'a Document<'a>,
    strictness: Strictness,
}

impl Check<'_> {
    /// At install a warning: an agent that was installed by another version goes on without its model.
    fn unless_installed(&self, problems: &mut Problems, path: &str, message: String) {
        match self.strictness {
            Strictness::Build => self.document.error(problems, path, message),
            Strictness::Install => self.document.warning(problems, path, message),
        }
    }

    fn provider(&self, section: &ProviderSection, problems: &mut Problems) {
        let id = section.id.as_str();
        if PROVIDERS.contains(&id) {
            return;
        }
        let list = PROVIDERS.join(", ");
        let message = match nearest(id, PROVIDERS.into_iter()) {
            _ if id.is_empty() => format!("`provider.id` is missing; it is one of {list}"),
            Some(meant) => {
                format!("there is no provider `{id}`; did you mean `{meant}`? `provider.id` is one of {list}")
            }
            None => format!("there is no provider `{id}`; `provider.id` is one of {list}"),
        };
        self.unless_installed(problems, "provider.id", message);
    }

    /// A key that looks mistyped: the provider would refuse it.
    fn keys(&self, section: &ProviderSection, problems: &mut Problems) {
        for UnknownKey { path, meant } in section.unknown_keys() {
            if let Some(meant) = meant {
                let message = format!("`{path}` is not known; did you mean `{meant}`?");
                self.unless_installed(problems, &path, message);
            }
        }
    }

    /// A key that stands in the package itself. Whoever installs it cannot change that.
    fn written_out(&self, section: &ProviderSection, problems: &mut Problems) {
        if self.strictness == Strictness::Install {
            return;
        }
        let known = credentials_of(&section.id).unwrap_or_default();
        for (key, value) in &section.credentials {
            let Some(text) = value.as_str().filter(|text| !text.is_empty()) else { continue };
            let plain = key.replace('_', "-");
            let is_key = KEYS.contains(&plain.as_str()) && known.contains(&plain.as_str());
            if is_key && variable_name(text).is_none() {
                let path = format!("provider.credentials.{key}");
                let message =
                    format!("`{path}` is written out: everyone who gets the package gets it; write ENV/NAME");
                self.document.warning(problems, &path, message);
            }
        }
    }

    /// A variable is a secret of the agent, which goes to hosts that are granted by name.
    fn variables(&self, section: &ProviderSection, problems: &mut Problems) {
        let asked: Vec<Permission> =
            self.manifest.requested().into_iter().filter(|asked| asked.ability.starts_with(MODELS)).collect();
        for reference in section.references() {
            let (path, name) = (format!("provider.{}", reference.path), reference.name);
            if reference.path.starts_with("options.") {
                let message =
                    format!("`{path}` is ENV/{name}: a secret may stand in credentials and settings alone");
                self.unless_installed(problems, &path, message);
            } else if !self.manifest.secrets.contains(&name) {
                let message = format!(
                    "`{path}` is ENV/{name}, the secret {name} of the agent, which the manifest does not list under `secrets`"
                );
                self.unless_installed(problems, &path, message);
            } else if let Some(wide) = asked.iter().find(|asked| asked.scope.is_none()) {
                let message = format!(
                    "the secret {name} goes only to a host that is granted by name: ask for `{wide}:HOST` in place of `{wide}`"
                );
                self.document.warning(problems, &path, message);
            }
        }
    }

    /// The files that the section names. An absolute path is none of the package.
    fn files(
        &self,
        section: &ProviderSection,
        files: &Files,
        named: &mut BTreeMap<String, Vec<u8>>,
        problems: &mut Problems,
    ) {
        let keys = [
            ("options", "script", &section.options),
            ("credentials", "file-path", &section.credentials),
            ("credentials", "file_path", &section.credentials),
        ];
        for (part, key, map) in keys {
            let Some(path) = map.get(key).and_then(serde_json::Value::as_str) else { continue };
            if variable_name(path).is_some() || named.contains_key(path) {
                continue;
            }
            let folder = self.document.file().rsplit_once('/').map_or("", |(folder, _)| folder);
            let plain = path.trim_start_matches("./");
            let place = if folder.is_empty() { plain.to_owned() } else { format!("{folder}/{plain}") };
            match files.get(&place) {
                Some(bytes) => drop(named.insert(path.to_owned(), bytes.to_vec())),
                None => {
                    let message = format!("there is no file `{place}` in the package");
                    self.unless_installed(problems, &format!("provider.{part}.{key}"), message);
                }
            }
        }
    }
}
