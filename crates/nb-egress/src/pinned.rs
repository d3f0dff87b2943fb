//! HTTP clients that can connect to nothing but the addresses that were checked.
//!
//! Each client belongs to one scheme, host, port and set of addresses; its resolver knows only those. A later
//! request to the same place with the same answer finds the client again, and with it the open connections:
//! a TLS handshake costs more than everything else here. Another answer gets another client.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::HeaderValue;
use reqwest::{Client, redirect, retry};
use rustls::ClientConfig;

use crate::EgressError;
use crate::failure::innermost;
use crate::guard::Admitted;

/// How many clients are kept; the one that was not used for longest goes. An agent talks to a handful of hosts.
const KEPT: usize = 64;

/// Open connections that are kept per client, and for how long. Servers close idle ones after 60 s and more.
const IDLE_CONNECTIONS: usize = 4;
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// The clients in the order of their last use, oldest first.
pub(crate) struct PinnedClients {
    user_agent: HeaderValue,
    connect_timeout: Duration,
    kept: Mutex<VecDeque<(Key, Client)>>,
}

#[derive(Clone, PartialEq, Eq)]
struct Key {
    https: bool,
    host: String,
    /// Sorted; each holds the port.
    addresses: Vec<SocketAddr>,
}

impl PinnedClients {
    pub(crate) fn new(user_agent: HeaderValue, connect_timeout: Duration) -> Self {
        Self { user_agent, connect_timeout, kept: Mutex::new(VecDeque::new()) }
    }

    pub(crate) fn client(
        &self,
        admitted: &Admitted,
        https: bool,
        tls: ClientConfig,
    ) -> Result<Client, EgressError> {
        let mut addresses = admitted.addresses.clone();
        addresses.sort_unstable();
        let key = Key { https, host: admitted.host.clone(), addresses };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().position(|(other, _)| *other == key).and_then(|index| kept.remove(index));
        let client = match known {
            Some((_, client)) => client,
            None => self.build(admitted, tls)?,
        };
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        kept.push_back((key, client.clone()));
        Ok(client)
    }

    fn build(&self, admitted: &Admitted, tls: ClientConfig) -> Result<Client, EgressError> {
        let only = Only { host: admitted.host.clone(), addresses: admitted.addresses.clone() };
        Client::builder()
            .tls_backend_preconfigured(tls)
            .dns_resolver(Arc::new(only))
            .no_proxy()
            .redirect(redirect::Policy::none())
            .referer(false)
            .retry(retry::never())
            .user_agent(self.user_agent.clone())
            .connect_timeout(self.connect_timeout)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .pool_idle_timeout(IDLE_TIMEOUT)
            .build()
            .map_err(|error| EgressError::Setup { cause: innermost(&error) })
    }
}

/// Answers for one host with what was checked. Hosts that are addresses never come here: the connector takes
/// them as they are, and they were checked as they are.
struct Only {
    host: String,
    addresses: Vec<SocketAddr>,
}

impl Resolve for Only {
    fn resolve(&self, name: Name) -> Resolving {
        let answer = if name.as_str() == self.host {
            Ok(Box::new(self.addresses.clone().into_iter()) as Addrs)
        } else {
            Err(format!("{} was not checked", name.as_str()).into())
        };
        Box::pin(std::future::ready(answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::Tls;

    fn admitted(host: &str, addresses: &[&str]) -> Admitted {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        Admitted { host: host.to_owned(), addresses }
    }

    fn kept_after(answers: &[Admitted]) -> usize {
        let clients = PinnedClients::new(HeaderValue::from_static("tests"), Duration::from_secs(1));
        let tls = Tls::new().unwrap();
        for answer in answers {
            clients.client(answer, false, tls.for_http()).unwrap();
        }
        clients.kept.lock().unwrap().len()
    }

    #[test]
    fn the_same_answer_in_another_order_finds_its_client_again() {
        let one = admitted("a.test", &["192.0.2.1:80", "192.0.2.2:80"]);
        let two = admitted("a.test", &["192.0.2.2:80", "192.0.2.1:80"]);
        assert_eq!(kept_after(&[one, two]), 1);
    }

    #[test]
    fn another_answer_port_or_host_gets_another_client() {
        let answers = [
            admitted("a.test", &["192.0.2.1:80"]),
            admitted("a.test", &["192.0.2.1:80", "192.0.2.2:80"]),
            admitted("a.test", &["192.0.2.1:81"]),
            admitted("b.test", &["192.0.2.1:80"]),
        ];
        assert_eq!(kept_after(&answers), 4);
    }

    #[test]
    fn no_more_clients_are_kept_than_the_limit() {
        let answers: Vec<_> =
            (0..KEPT + 10).map(|i| admitted(&format!("{i}.test"), &["192.0.2.1:80"])).collect();
        assert_eq!(kept_after(&answers), KEPT);
    }

    #[tokio::test]
    async fn a_name_that_was_not_checked_is_not_resolved() {
        let only = Only { host: "a.test".to_owned(), addresses: vec!["192.0.2.1:80".parse().unwrap()] };
        assert_eq!(only.resolve("a.test".parse().unwrap()).await.ok().unwrap().count(), 1);
        assert!(only.resolve("b.test".parse().unwrap()).await.is_err());
    }
}
