//! The abilities, one file each. A new one is a file here and a line in [`all`]. `mismatch` tells what does not fit
//! their arguments.

mod asks_model;
mod data_fetch_url;
mod event_publish;
mod flow_branch;
mod flow_stop;
mod http_fetch;
mod kv_read;
mod kv_write;
mod llm_chat;
mod llm_query;
mod llm_summarize;
mod log;
pub(crate) mod mismatch;
pub(crate) mod notify_user;

use crate::ability::Ability;

/// One of each.
pub(crate) fn all() -> Vec<Box<dyn Ability>> {
    vec![
        Box::new(data_fetch_url::DataFetchUrl),
        Box::new(event_publish::EventPublish),
        Box::new(flow_branch::FlowBranch),
        Box::new(flow_stop::FlowStop),
        Box::new(http_fetch::HttpFetch),
        Box::new(kv_read::KvRead),
        Box::new(kv_write::KvWrite),
        Box::new(llm_chat::LlmChat),
        Box::new(llm_query::LlmQuery),
        Box::new(llm_summarize::LlmSummarize),
        Box::new(log::INFO),
        Box::new(log::ERROR),
        Box::new(notify_user::NotifyUser),
    ]
}

/// Reads arguments whose shape the schema has checked.
fn parse<T: serde::de::DeserializeOwned>(args: serde_json::Value) -> Result<T, String> {
    serde_json::from_value(args).map_err(|error| error.to_string())
}
