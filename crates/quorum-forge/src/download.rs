//! One file from a host into a local one, without a token.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::{Client, Response};
use thiserror::Error;
use tokio::runtime::Builder;

use crate::address::{authority, is_loopback, parse};
use crate::error::ForgeError;
use crate::http::root_cause;

/// How long a host may stay silent.
const SILENCE: Duration = Duration::from_secs(30);

/// Why a file was not fetched.
#[derive(Debug, Error)]
pub enum DownloadError {
    /// The address cannot be used.
    #[error(transparent)]
    Address(#[from] ForgeError),
    /// No connection, or it broke.
    #[error("cannot fetch from {host}: {reason}")]
    Unreachable {
        /// Who was asked.
        host: String,
        /// What failed.
        reason: String,
    },
    /// The host refused.
    #[error("{host} answered with status {status}")]
    Refused {
        /// Who was asked.
        host: String,
        /// The status.
        status: u16,
    },
    /// More than is taken in.
    #[error("{host} sent more than {limit} bytes")]
    TooLarge {
        /// Who was asked.
        host: String,
        /// What is allowed.
        limit: u64,
    },
    /// The local file cannot be written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// Fetches `address`, which `setting` names, into the file `to`; returns how many bytes came.
pub fn download(
    address: &str,
    setting: &'static str,
    to: &Path,
    limit: u64,
) -> Result<u64, DownloadError> {
    let url = parse(address, setting)?;
    let host = authority(&url);
    let unreachable = |reason: String| DownloadError::Unreachable { host: host.clone(), reason };
    // Another part of the program may have chosen a provider before: then that one is used.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut builder = Client::builder()
        .user_agent(concat!("quorum/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(SILENCE)
        .read_timeout(SILENCE)
        .referer(false);
    if is_loopback(&url) {
        builder = builder.no_proxy();
    }
    let client = builder.build().map_err(|error| unreachable(root_cause(&error)))?;
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| unreachable(error.to_string()))?;
    runtime.block_on(async {
        let answer =
            client.get(url).send().await.map_err(|error| unreachable(root_cause(&error)))?;
        let status = answer.status();
        if !status.is_success() {
            return Err(DownloadError::Refused { host: host.clone(), status: status.as_u16() });
        }
        write(answer, &host, to, limit).await
    })
}

async fn write(
    mut answer: Response,
    host: &str,
    to: &Path,
    limit: u64,
) -> Result<u64, DownloadError> {
    let failed = |source| DownloadError::File { path: to.to_owned(), source };
    let mut file = std::fs::File::create(to).map_err(failed)?;
    let mut size = 0_u64;
    loop {
        let chunk = answer.chunk().await.map_err(|error| DownloadError::Unreachable {
            host: host.to_owned(),
            reason: root_cause(&error),
        })?;
        let Some(chunk) = chunk else { break };
        size += chunk.len() as u64;
        if size > limit {
            return Err(DownloadError::TooLarge { host: host.to_owned(), limit });
        }
        file.write_all(&chunk).map_err(failed)?;
    }
    file.sync_all().map_err(failed)?;
    Ok(size)
}
