//! Our side: what nb-provider takes for the streams.

use std::path::PathBuf;
use std::sync::Arc;

use nb_egress::{Egress, EgressConfig};
use nb_provider::{Chat, Delta, Provider, Terminal, Turn};
use rustix::time::{ClockId, clock_gettime};

use crate::server::now;

/// How many streams run at once, and what each of them sends.
const STREAMS: usize = 200;
const MANY: &str = "tokens=100/20000.";

pub struct Figures {
    /// Microseconds of CPU time of this process.
    pub cpu_us: f64,
    pub first: Delays,
    pub single: Delays,
    pub many: Delays,
}

/// Milliseconds from the moment at which a token was sent.
pub struct Delays {
    pub p50: f64,
    pub p99: f64,
}

impl Delays {
    fn of(mut nanoseconds: Vec<u64>) -> Self {
        nanoseconds.sort_unstable();
        let at = |share: usize| nanoseconds[(nanoseconds.len() - 1) * share / 100] as f64 / 1e6;
        Self { p50: at(50), p99: at(99) }
    }
}

pub fn measure(address: &str, flood: usize) -> Figures {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let provider = provider(address);
        // A connection, and the code in the caches.
        delays(&provider, "tokens=1000/0.").await;
        let before = cpu();
        let counted = delays(&provider, &format!("tokens={flood}/0.")).await.len();
        let cpu_us = (cpu() - before) * 1e6 / counted as f64;
        let mut first = Vec::new();
        for _ in 0..100 {
            first.extend(delays(&provider, "tokens=1/1000.").await);
        }
        let single = delays(&provider, "tokens=1000/1000.").await;
        let tasks: Vec<_> = (0..STREAMS)
            .map(|_| {
                let provider = provider.clone();
                tokio::spawn(async move { delays(&provider, MANY).await })
            })
            .collect();
        let mut many = Vec::new();
        for task in tasks {
            many.extend(task.await.expect("a stream"));
        }
        Figures { cpu_us, first: Delays::of(first), single: Delays::of(single), many: Delays::of(many) }
    })
}

fn provider(address: &str) -> Provider {
    let surroundings = Terminal { folder: PathBuf::new() };
    let section = serde_yaml::from_str(&format!(
        "id: openai\ncredentials: {{address: '{address}', access-token: key-0123456789}}\nsettings: {{model: gpt-4o}}"
    ))
    .expect("a section");
    let allow = surroundings.allowed(&section);
    let egress = Egress::new(EgressConfig { allow, ..EgressConfig::default() }).expect("a way out");
    Provider::new(&section, Arc::new(surroundings), egress).expect("a provider")
}

/// How long each token took from the server to the caller.
async fn delays(provider: &Provider, message: &str) -> Vec<u64> {
    let chat = Chat { turns: vec![Turn::User(message.to_owned())], ..Chat::default() };
    let mut found = Vec::new();
    let mut take = |delta: Delta<'_>| {
        if let Delta::Text(text) = delta {
            let sent: u64 = text.trim().parse().expect("a time");
            found.push(now().saturating_sub(sent));
        }
    };
    provider.ask(&chat, true, &mut take).await.expect("an answer");
    found
}

/// Seconds of CPU time that this process took.
fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
