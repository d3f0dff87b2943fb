//! The usual proof of who asks.

use crate::address::Address;
use crate::environment::Variable;
use crate::wire::Authorization;

/// `Authorization: Bearer KEY`.
pub(crate) fn bearer(address: &Address, key: &Variable) -> Authorization {
    header("authorization", "Bearer ", address, key)
}

/// A header with the key behind a prefix. The key itself is filled in on the way out.
pub(crate) fn header(name: &str, prefix: &str, address: &Address, key: &Variable) -> Authorization {
    let secret = address.secret(key);
    Authorization {
        headers: vec![(name.to_owned(), format!("{prefix}{{{{secret.{}}}}}", secret.name))],
        secrets: vec![secret],
    }
}
