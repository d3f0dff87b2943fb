//! A desktop and a vault of secrets that obey a test.

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use nb_runtime::services::{Notification, Notifier, Secrets};

type Show = Box<dyn FnMut(&Notification) -> Result<(), String> + Send>;

/// Shows every notification, unless a test says what happens instead.
#[derive(Default)]
pub struct Desktop {
    shown: Mutex<Vec<Notification>>,
    instead: Mutex<Option<Show>>,
}

impl Desktop {
    /// Calls `show` for every further notification.
    pub fn on_show(&self, show: impl FnMut(&Notification) -> Result<(), String> + Send + 'static) {
        *self.instead.lock().unwrap() = Some(Box::new(show));
    }

    /// What was shown.
    pub fn shown(&self) -> Vec<Notification> {
        self.shown.lock().unwrap().clone()
    }
}

#[async_trait]
impl Notifier for Desktop {
    async fn show(&self, notification: &Notification) -> Result<(), String> {
        if let Some(show) = self.instead.lock().unwrap().as_mut() {
            show(notification)?;
        }
        self.shown.lock().unwrap().push(notification.clone());
        Ok(())
    }
}

/// Secrets and variables by name.
#[derive(Default)]
pub struct Vault(Mutex<BTreeMap<String, String>>);

impl Vault {
    /// Keeps the secret `NAME`, or the variable `ENV/NAME`.
    pub fn keep(&self, name: &str, value: &str) {
        self.0.lock().unwrap().insert(name.to_owned(), value.to_owned());
    }

    /// Has it no more.
    pub fn forget(&self, name: &str) {
        self.0.lock().unwrap().remove(name);
    }
}

impl Secrets for Vault {
    fn read(&self, name: &str) -> Result<String, String> {
        let found = self.0.lock().unwrap().get(name).cloned();
        found.ok_or_else(|| format!("secret {name} is not in the vault"))
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.value(&format!("ENV/{name}"))
    }
}
