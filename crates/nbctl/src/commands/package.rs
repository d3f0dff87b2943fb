//! `nbctl package`: builds, checks and looks into packages.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use chrono::Utc;
use nb_api::agents::{PackageView, SignerView};
use nb_package::{BuildOptions, PackageError, PublicKey, SecretKey, SignatureError, TrustStore};
use nb_spec::agent::Strictness;
use nb_spec::{Agent, Files, Problems};
use serde::Serialize;

use super::install::signer;
use super::{key, shell};
use crate::context::{Context, read_file};
use crate::error::Error;
use crate::page::{Page, Span, Tint};
use crate::text;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nbctl package build manifests/hello --sign me
  nbctl package verify hello-0.1.0.nap
  nbctl package verify hello-0.1.0.nap --key me.pub")]
pub(crate) struct Package {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Check the files of an agent, and pack them into a package.
    Build(Build),
    /// Check that a package is whole and signed by a trusted key.
    Verify {
        /// The package.
        file: PathBuf,
        /// Check against this minisign public key alone, without a daemon.
        #[arg(long, value_name = "FILE")]
        key: Option<PathBuf>,
    },
    /// Show what is in a package, without a daemon and whoever signed it.
    Show {
        /// The package.
        file: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
struct Build {
    /// The folder with the agent's manifest.
    dir: PathBuf,
    /// Where to write the package; else NAME-VERSION.nap in the current folder.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Sign it with the key of that name.
    #[arg(long, value_name = "NAME")]
    sign: Option<String>,
    /// The number that orders builds; else the time at which the newest file was changed.
    #[arg(long, value_name = "N")]
    serial: Option<u64>,
}

/// The answer of `package build`.
#[derive(Debug, Serialize)]
struct BuiltFile {
    file: PathBuf,
    bytes: usize,
    name: String,
    version: String,
    serial: u64,
    digest: String,
    key: Option<String>,
    warnings: Vec<String>,
}

/// The answer of `package verify`.
#[derive(Debug, Serialize)]
struct Verified {
    file: PathBuf,
    name: String,
    version: String,
    serial: u64,
    digest: String,
    signer: SignerView,
}

/// The answer of `package show`.
#[derive(Debug, Serialize)]
struct Contents {
    name: String,
    version: String,
    serial: u64,
    digest: String,
    description: String,
    signed: bool,
    permissions: Vec<Asked>,
    tools: Vec<String>,
    tasks: Vec<String>,
    triggers: usize,
    files: Vec<PackedFile>,
    problems: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Asked {
    permission: String,
    words: String,
}

#[derive(Debug, Serialize)]
struct PackedFile {
    path: String,
    bytes: usize,
}

impl Package {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        match self.command {
            Command::Build(arguments) => {
                let built = build(context, arguments)?;
                context.output.show(&built, built_text)
            }
            Command::Verify { file, key } => {
                let verified = match key {
                    Some(key) => verify_with(&file, &key)?,
                    None => verify_by_daemon(context, file).await?,
                };
                context.output.show(&verified, verified_text)
            }
            Command::Show { file } => context.output.show(&contents(&file)?, contents_text),
        }
    }
}

fn build(context: &Context, arguments: Build) -> Result<BuiltFile, Error> {
    let Build { dir, output, sign, serial } = arguments;
    let failed = |source| match source {
        PackageError::Agent(problems) => Error::Agent { dir: dir.clone(), problems },
        source => Error::Package { path: dir.clone(), source },
    };
    let key = sign.as_deref().map(|name| signing_key(context, name)).transpose()?;
    let files = Files::read_dir(&dir).map_err(|source| failed(source.into()))?;
    let modified = nb_package::newest_mtime(&dir).map_err(failed)?;
    let built =
        nb_package::build(&files, BuildOptions { modified, serial, key: key.as_ref() }).map_err(failed)?;
    let file = output.unwrap_or_else(|| format!("{}-{}.nap", built.name, built.version).into());
    let unwritten = |source| Error::Io { action: "write", path: file.clone(), source };
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    refuse_inside(&dir, parent, &file)?;
    write_whole(parent, &file, &built.bytes).map_err(unwritten)?;
    Ok(BuiltFile {
        bytes: built.bytes.len(),
        name: built.name,
        version: built.version.to_string(),
        serial: built.serial,
        digest: built.digest,
        key: built.signed_by.map(|id| id.to_string()),
        warnings: lines(&built.warnings),
        file,
    })
}

fn signing_key(context: &Context, name: &str) -> Result<SecretKey, Error> {
    let path = key::secret_key_file(context, name)?;
    if !path.exists() {
        return Err(Error::usage_hint(
            format!("there is no key {}", path.display()),
            format!("make it with: nbctl key generate {name}"),
        ));
    }
    Ok(SecretKey::load(&path)?)
}

/// The next build would pack what this one wrote.
fn refuse_inside(dir: &Path, parent: &Path, file: &Path) -> Result<(), Error> {
    let (Ok(dir), Ok(parent)) = (dir.canonicalize(), parent.canonicalize()) else { return Ok(()) };
    if !parent.starts_with(&dir) {
        return Ok(());
    }
    let name = Path::new(file.file_name().unwrap_or_default());
    Err(Error::usage_hint(
        format!("{} would lie in the folder that it packs", file.display()),
        format!("name another place, such as: -o {}", shell::quote_path(&Path::new("..").join(name))),
    ))
}

/// Writes beside the file and renames, so that a package that is there is never half of one.
fn write_whole(parent: &Path, file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut temporary = tempfile::Builder::new()
        .prefix(".nbctl-")
        .permissions(fs::Permissions::from_mode(0o644))
        .tempfile_in(parent)?;
    temporary.write_all(bytes)?;
    temporary.persist(file).map_err(|failed| failed.error)?;
    Ok(())
}

fn verify_with(file: &Path, key_file: &Path) -> Result<Verified, Error> {
    let key = PublicKey::load(key_file)?;
    let package = open(file)?;
    // A trust store of this one key.
    let dir = tempfile::tempdir().map_err(|source| Error::Io {
        action: "create a folder in",
        path: std::env::temp_dir(),
        source,
    })?;
    let mut store = TrustStore::open(dir.path())?;
    let label = key_file.file_stem().unwrap_or_default().to_string_lossy();
    store.add(&key, &label, &[]).or_else(|_| store.add(&key, "key", &[]))?;
    let signer = package.verify(&store, Utc::now()).map_err(|source| match source {
        SignatureError::UnknownKey { key_id } => Error::refused(
            format!("{} is signed by {key_id}, not by {} ({})", file.display(), key.id(), key_file.display()),
            "get the key of whoever made the package, over a way that you trust",
        ),
        source => Error::Signature { path: file.to_owned(), source },
    })?;
    Ok(Verified {
        file: file.to_owned(),
        name: package.name().to_owned(),
        version: package.version().to_string(),
        serial: package.serial(),
        digest: package.digest(),
        signer: SignerView {
            trusted: true,
            key: Some(signer.key_id.to_string()),
            label: Some(label.into_owned()),
            reason: None,
        },
    })
}

async fn verify_by_daemon(context: &Context, file: PathBuf) -> Result<Verified, Error> {
    let bytes = read_file(&file)?;
    let package: PackageView = context.client()?.upload("/v1/packages/inspect", &(), bytes).await?;
    if !package.signer.trusted {
        let reason = package.signer.reason.unwrap_or_else(|| "no trusted key signed it".to_owned());
        return Err(Error::refused(
            format!("{}: {reason}", file.display()),
            "`nbctl key ls` lists the trusted keys; --key FILE checks against another one",
        ));
    }
    let PackageView { name, version, serial, digest, signer, .. } = package;
    Ok(Verified { file, name, version, serial, digest, signer })
}

fn open(file: &Path) -> Result<nb_package::Package, Error> {
    nb_package::open(&read_file(file)?).map_err(|source| Error::Package { path: file.to_owned(), source })
}

fn contents(file: &Path) -> Result<Contents, Error> {
    let package = open(file)?;
    // What does not load here can still be looked into.
    let (agent, problems) = match package.agent(Strictness::Install) {
        Ok(agent) => (Some(agent), Vec::new()),
        Err(PackageError::Agent(problems)) => (None, lines(&problems)),
        Err(other) => (None, vec![other.to_string()]),
    };
    let problems = agent.as_ref().map_or(problems, |agent| lines(&agent.warnings));
    let agent = agent.as_ref();
    let triggers = agent.map(|agent| &agent.manifest.triggers);
    Ok(Contents {
        name: package.name().to_owned(),
        version: package.version().to_string(),
        serial: package.serial(),
        digest: package.digest(),
        description: agent.map(|agent| agent.manifest.description.clone()).unwrap_or_default(),
        signed: package.is_signed(),
        permissions: agent.map(asked).unwrap_or_default(),
        tools: agent.map(|agent| agent.tools.keys().cloned().collect()).unwrap_or_default(),
        tasks: agent.map(|agent| agent.tasks.keys().cloned().collect()).unwrap_or_default(),
        triggers: triggers.map_or(0, |all| all.scheduled.len() + all.events.len() + all.webhooks.len()),
        files: package
            .files
            .iter()
            .map(|(path, bytes)| PackedFile { path: path.to_owned(), bytes: bytes.len() })
            .collect(),
        problems,
    })
}

fn asked(agent: &Agent) -> Vec<Asked> {
    let view = |permission: nb_spec::Permission| Asked {
        words: permission.in_words(),
        permission: permission.to_string(),
    };
    agent.manifest.requested().into_iter().map(view).collect()
}

fn lines(problems: &Problems) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

fn built_text(built: &BuiltFile, page: &mut Page) {
    built.warnings.iter().for_each(|warning| page.line(warning));
    page.line(format!("built {}", built.file.display()));
    let key = built.key.as_ref().map_or_else(|| Span::new("nobody", Tint::Warning), Span::from);
    page.fields(&[
        ("agent", format!("{} {}", built.name, built.version).into()),
        ("size", text::bytes(built.bytes as u64).into()),
        ("serial", built.serial.to_string().into()),
        ("digest", (&built.digest).into()),
        ("signed by", key),
    ]);
    page.next(&format!("nbctl install {}", shell::quote_path(&built.file)));
}

fn verified_text(verified: &Verified, page: &mut Page) {
    page.spans(&[
        Span::new("ok", Tint::Good),
        format!("  {} is whole and signed by a trusted key", verified.file.display()).into(),
    ]);
    page.fields(&[
        ("agent", format!("{} {}", verified.name, verified.version).into()),
        ("serial", verified.serial.to_string().into()),
        ("digest", (&verified.digest).into()),
        ("signed by", signer(&verified.signer)),
    ]);
}

fn contents_text(contents: &Contents, page: &mut Page) {
    page.line(Span::new(format!("{} {}", contents.name, contents.version), Tint::Strong));
    if !contents.description.is_empty() {
        page.quote(2, &contents.description);
    }
    let list =
        |names: &[String]| -> Span { if names.is_empty() { "none".into() } else { names.join(", ").into() } };
    let signed = if contents.signed { "yes; `nbctl package verify` tells by whom" } else { "no" };
    page.fields(&[
        ("serial", contents.serial.to_string().into()),
        ("digest", (&contents.digest).into()),
        ("signed", signed.into()),
        ("tools", list(&contents.tools)),
        ("tasks", list(&contents.tasks)),
        ("triggers", contents.triggers.to_string().into()),
    ]);
    if !contents.permissions.is_empty() {
        page.heading("asks for");
        let asked: Vec<(&str, Span)> = contents
            .permissions
            .iter()
            .map(|asked| (asked.permission.as_str(), (&asked.words).into()))
            .collect();
        page.fields(&asked);
    }
    page.heading("files");
    let files: Vec<(&str, Span)> = contents
        .files
        .iter()
        .map(|file| (file.path.as_str(), text::bytes(file.bytes as u64).into()))
        .collect();
    page.fields(&files);
    if !contents.problems.is_empty() {
        page.heading("problems");
        contents.problems.iter().for_each(|problem| page.block(2, problem));
    }
}
