//! TLS settings. The certificate authorities of the machine are read at the first https request: 3 to
//! 25 ms for the 140 of a Debian in a debug build, where making everything else takes microseconds.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::OnceCell;

use crate::EgressError;

/// Settings for both schemes, made once and kept.
pub(crate) struct Tls {
    provider: Arc<CryptoProvider>,
    for_http: ClientConfig,
    for_https: OnceCell<ClientConfig>,
}

impl Tls {
    pub(crate) fn new() -> Result<Self, EgressError> {
        let provider = Arc::new(ring::default_provider());
        let for_http = config(&provider, RootCertStore::empty())?;
        Ok(Self { provider, for_http, for_https: OnceCell::new() })
    }

    /// For a client that makes no encrypted connection: it trusts nobody, so it cannot make one by mistake.
    pub(crate) fn for_http(&self) -> ClientConfig {
        self.for_http.clone()
    }

    /// With the authorities of the machine (or of `SSL_CERT_FILE` and `SSL_CERT_DIR`). A failure is not kept.
    pub(crate) async fn for_https(&self) -> Result<ClientConfig, EgressError> {
        let load = || async {
            let roots = tokio::task::spawn_blocking(load_authorities)
                .await
                .map_err(|error| EgressError::Setup { cause: error.to_string() })??;
            config(&self.provider, roots)
        };
        self.for_https.get_or_try_init(load).await.cloned()
    }

    /// Trusts these certificates and no authority of the machine.
    #[cfg(test)]
    pub(crate) fn trusting(certificates: &[&[u8]]) -> Self {
        let mut roots = RootCertStore::empty();
        for certificate in certificates {
            roots.add(certificate.to_vec().into()).unwrap();
        }
        let mut tls = Self::new().unwrap();
        tls.for_https = OnceCell::new_with(Some(config(&tls.provider, roots).unwrap()));
        tls
    }
}

fn config(provider: &Arc<CryptoProvider>, roots: RootCertStore) -> Result<ClientConfig, EgressError> {
    let mut config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| EgressError::Setup { cause: error.to_string() })?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn load_authorities() -> Result<RootCertStore, EgressError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, ignored) = roots.add_parsable_certificates(found.certs);
    tracing::debug!(added, ignored, errors = found.errors.len(), "certificate authorities loaded");
    if added == 0 {
        let cause = found.errors.first().map_or_else(
            || "install the package ca-certificates".to_owned(),
            |error| format!("{error}; install the package ca-certificates or check SSL_CERT_FILE"),
        );
        return Err(EgressError::NoAuthorities { cause });
    }
    Ok(roots)
}

#[cfg(test)]
mod tests;
