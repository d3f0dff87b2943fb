//! Addresses of the two services.

use crate::address::Address;
use crate::environment::Environment;
use crate::error::ProviderError;
use crate::section::Section;

use super::credentials::{AccountKind, Proof};

/// The address, and the path of the model below it, without the method.
pub(super) fn find(
    section: &Section,
    proof: &Proof,
    environment: &dyn Environment,
    model: &str,
) -> Result<(Address, String), ProviderError> {
    let version = section.optional("version").map_or("v1", |version| version.value.as_str());
    if !is_vertex(section)? {
        let address = Address::new(section, "https://generativelanguage.googleapis.com")?;
        let model = if model.contains('/') { model.to_owned() } else { format!("models/{model}") };
        return Ok((address, format!("{version}/{model}")));
    }
    let region = section
        .optional("region")
        .ok_or_else(|| {
            let named = section.variable_of("region").map(|name| format!(": {name} is not set"));
            section
                .fail(format!("vertex-ai-api needs provider.credentials.region{}", named.unwrap_or_default()))
                .hinting("a region is written like us-central1")
        })?
        .value
        .as_str();
    // It becomes a part of the host.
    if region.is_empty() || !region.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    {
        return Err(section
            .fail(format!("provider.credentials.region: `{}` is not a region", region.escape_default()))
            .hinting("a region is written like us-central1"));
    }
    let usual = match region {
        "global" => "https://aiplatform.googleapis.com".to_owned(),
        region => format!("https://{region}-aiplatform.googleapis.com"),
    };
    let address = Address::new(section, &usual)?;
    let project = project(section, proof, environment)?;
    let model = match model.split_once('/') {
        Some(("publishers" | "endpoints", _)) => model.to_owned(),
        _ => format!("publishers/google/models/{model}"),
    };
    Ok((address, format!("{version}/projects/{project}/locations/{region}/{model}")))
}

pub(super) fn is_vertex(section: &Section) -> Result<bool, ProviderError> {
    const SERVICES: &str = "provider.credentials.service is generative-language-api or vertex-ai-api";
    match section.optional("service").map(|service| service.value.as_str()) {
        Some("generative-language-api") => Ok(false),
        Some("vertex-ai-api") => Ok(true),
        Some(other) => Err(section.fail(format!("there is no service `{other}`")).hinting(SERVICES)),
        None => Err(section.fail("provider.credentials has no `service`").hinting(SERVICES)),
    }
}

/// The project that is named, that of the key, the one that is billed, or the machine's.
fn project(section: &Section, proof: &Proof, environment: &dyn Environment) -> Result<String, ProviderError> {
    let named = section.optional("project-id").map(|project| project.value.clone());
    let known = match proof {
        Proof::Account(account) => account.project().map(str::to_owned),
        Proof::Key(_) => None,
    };
    let machine = || {
        ["GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"]
            .iter()
            .find_map(|name| environment.variable(name).ok().flatten().map(|variable| variable.value))
    };
    let project = named.or(known).or_else(machine).filter(|project| !project.is_empty());
    let project = project.ok_or_else(|| match proof {
        Proof::Account(account) if matches!(account.kind, AccountKind::Machine { .. }) => section
            .fail(
                "there are no credentials: provider.credentials has neither `file-path` nor `file-contents`, \
                 GOOGLE_APPLICATION_CREDENTIALS is not set, nobody has signed in with gcloud, and for this machine's own \
                 account the project is not known",
            )
            .hinting(
                "give the key file of a service account as `file-path` or `file-contents`; or `project-id` for the \
                 machine's own account",
            ),
        _ => section
            .fail("the project is not known: the credentials name none")
            .hinting("add `project-id` to provider.credentials"),
    })?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '.');
    if !project.chars().all(plain) {
        let message =
            format!("provider.credentials.project-id: `{}` is not a project", project.escape_default());
        return Err(section.fail(message));
    }
    Ok(project)
}
