//! The cartridge of an agent, its model and its budget, checked against the manifest.

use nb_spec::agent::Strictness;
use nb_spec::{Agent, Files, Problems};

const HEAD: &str = "name: demo\nversion: 1.0.0\n";
const SCRIPTED: &str = "provider:\n  id: scripted\n  options: {script: talk.yaml}\n";

fn read(strictness: Strictness, manifest: &str, more: &[(&str, &str)]) -> Result<Agent, Problems> {
    let mut files = Files::default();
    files.insert("manifest.yaml", format!("{HEAD}{manifest}"));
    more.iter().for_each(|(name, text)| files.insert(*name, *text));
    Agent::load(&files, strictness)
}

fn load(manifest: &str, more: &[(&str, &str)]) -> Agent {
    read(Strictness::Build, manifest, more).unwrap_or_else(|problems| panic!("{problems}"))
}

fn refusals(manifest: &str, more: &[(&str, &str)]) -> Vec<String> {
    let Err(problems) = read(Strictness::Build, manifest, more) else { panic!("the agent loads") };
    problems.iter().map(ToString::to_string).collect()
}

fn warnings(agent: &Agent) -> Vec<String> {
    agent.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn the_cartridge_is_the_one_that_is_named_or_the_one_at_the_usual_place() {
    let usual = ("cartridge.yml", SCRIPTED);
    let talk = ("talk.yaml", "turns: []");
    let found = load("", &[usual, talk]).cartridge.unwrap();
    assert_eq!(
        (found.file.as_str(), found.files["talk.yaml"].as_slice()),
        ("cartridge.yml", b"turns: []".as_slice())
    );
    assert_eq!(load("", &[("cartridge.yaml", "meta: {name: a}\n")]).cartridge.unwrap().provider(), None);
    assert_eq!(load("", &[]).cartridge, None);

    // Paths begin at the folder of the cartridge, as for whoever tries it there by hand.
    let named = [("bots/kind.yml", SCRIPTED), ("bots/talk.yaml", "turns: []"), usual];
    let found = load("cartridge: bots/kind.yml\n", &named).cartridge.unwrap();
    assert_eq!((found.file.as_str(), found.files.len()), ("bots/kind.yml", 1));

    assert_eq!(refusals("cartridge: no.yml\n", &[]), ["manifest.yaml:3: there is no file `no.yml`"]);
    assert_eq!(
        refusals("", &[usual, talk, ("cartridge.yaml", SCRIPTED)]),
        ["cartridge.yaml: stands beside cartridge.yml; an agent has one cartridge"]
    );
}

#[test]
fn what_is_wrong_in_a_cartridge_is_told_with_its_line() {
    let list = "anthropic, cohere, google, maritaca, mistral, ollama, openai, scripted";
    for (text, problem) in [
        ("provider:\n  id: [a]\n", "cartridge.yml:2: provider.id: invalid type: sequence, expected a text".to_owned()),
        (
            "provider:\n  id: opnai\n",
            format!("cartridge.yml:2: there is no provider `opnai`; did you mean `openai`? `provider.id` is one of {list}"),
        ),
        ("provider: {}\n", format!("cartridge.yml:1: `provider.id` is missing; it is one of {list}")),
        (
            "provider:\n  id: openai\n  credentials:\n    access-token: ENV/KEY\n",
            "cartridge.yml:4: `provider.credentials.access-token` is ENV/KEY, the secret KEY of the agent, which the \
             manifest does not list under `secrets`"
                .to_owned(),
        ),
        (
            "provider:\n  id: google\n  options: {model: ENV/LISTED}\n",
            "cartridge.yml:3: `provider.options.model` is ENV/LISTED: a secret may stand in credentials and settings alone"
                .to_owned(),
        ),
        (
            "provider:\n  id: openai\n  setings: {}\n",
            "cartridge.yml:3: `provider.setings` is not known; did you mean `settings`?".to_owned(),
        ),
        (
            "provider:\n  id: openai\n  credentials:\n    adress: http://localhost\n",
            "cartridge.yml:4: `provider.credentials.adress` is not known; did you mean `address`?".to_owned(),
        ),
        (SCRIPTED, "cartridge.yml:3: there is no file `talk.yaml` in the package".to_owned()),
        (
            "provider:\n  id: google\n  credentials: {file-path: /etc/key.json}\n",
            "cartridge.yml:3: there is no file `/etc/key.json` in the package".to_owned(),
        ),
    ] {
        assert_eq!(refusals("secrets: [LISTED]\n", &[("cartridge.yml", text)]), [problem], "{text}");
    }
}

#[test]
fn an_agent_that_was_installed_goes_on_without_its_model() {
    let text = "provider:\n  id: later\n  credentials: {key: ENV/KEY}\n  options: {script: no.yaml}\n";
    let agent = read(Strictness::Install, "", &[("cartridge.yml", text)]).unwrap();
    assert_eq!(agent.warnings.iter().count(), 3, "{}", agent.warnings);
}

#[test]
fn who_asks_for_a_model_is_told_what_it_needs() {
    let none = load("permissions: [kv.read, llm.query]\n", &[]);
    let needed = "`llm.query` needs a language model: a cartridge (cartridge.yml) with a `provider`, and there is none";
    assert_eq!(warnings(&none), [format!("manifest.yaml:3: warning: {needed}")]);
    let cartridge = "provider:\n  id: openai\n  credentials: {access-token: ENV/KEY, address: ENV/PLACE}\n";
    let wide = load("permissions: [llm.query]\nsecrets: [KEY, PLACE]\n", &[("cartridge.yml", cartridge)]);
    // An address leaves the machine as a key does.
    let narrow = ["KEY", "PLACE"].map(|name| {
        format!("cartridge.yml:3: warning: the secret {name} goes only to a host that is granted by name: ask for `llm.query:HOST` in place of `llm.query`")
    });
    assert_eq!(warnings(&wide), narrow);
    let named = load(
        "permissions: ['llm.query:a.example']\nsecrets: [KEY, PLACE]\n",
        &[("cartridge.yml", cartridge)],
    );
    assert!(named.warnings.is_empty(), "{}", named.warnings);
}

#[test]
fn a_key_that_is_written_out_is_warned_of() {
    let cartridge = "provider:\n  id: openai\n  credentials:\n    access-token: sk-0123456789\n    \
        address: http://localhost\n";
    let built = load("", &[("cartridge.yml", cartridge)]);
    let told = "cartridge.yml:4: warning: `provider.credentials.access-token` is written out: everyone who gets the \
                package gets it; write ENV/NAME";
    assert_eq!(warnings(&built), [told]);
    let installed = read(Strictness::Install, "", &[("cartridge.yml", cartridge)]).unwrap();
    assert!(installed.warnings.is_empty(), "{}", installed.warnings);

    let named = cartridge.replace("sk-0123456789", "ENV/KEY");
    assert!(load("secrets: [KEY]\n", &[("cartridge.yml", &named)]).warnings.is_empty());
    let file = "provider:\n  id: google\n  credentials: {file_path: key.json}\n";
    let packed = load("", &[("cartridge.yml", file), ("key.json", "{}")]);
    assert!(packed.warnings.is_empty(), "{}", packed.warnings);
}

#[test]
fn a_budget_is_more_than_nothing() {
    let budget = load("budget: {usd_per_day: 0.5, tokens_per_day: 1000}\n", &[]).manifest.budget.unwrap();
    assert_eq!((budget.usd_per_day, budget.tokens_per_day), (Some(0.5), Some(1000)));
    for (text, problem) in [
        ("budget: {}\n", "`budget` needs `usd_per_day` or `tokens_per_day`"),
        (
            "budget: {usd_per_day: 0}\n",
            "`budget.usd_per_day` must be more than 0 and at most 1000000; it is 0",
        ),
        (
            "budget: {usd_per_day: .nan}\n",
            "`budget.usd_per_day` must be more than 0 and at most 1000000; it is NaN",
        ),
        ("budget: {tokens_per_day: 0}\n", "`budget.tokens_per_day` must be at least 1; it is 0"),
        ("budget: {usd_per_dai: 1}\n", "unknown key `budget.usd_per_dai`; did you mean `usd_per_day`?"),
    ] {
        assert_eq!(refusals(text, &[])[0], format!("manifest.yaml:3: {problem}"));
    }
}
