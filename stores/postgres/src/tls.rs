//! TLS. The certificate is always verified.

use std::path::Path;
use std::sync::Arc;

use memdir_store::StoreError;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::config::SslNegotiation;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Settings;

const OPERATION: &str = "preparing TLS for PostgreSQL";

pub(super) fn connector(settings: &Settings) -> Result<MakeRustlsConnect, StoreError> {
    let roots = match &settings.root_certificates {
        Some(file) => from_file(file)?,
        None => of_the_system(),
    };
    let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| StoreError::failed(OPERATION, error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    if settings.config.get_ssl_negotiation() == SslNegotiation::Direct {
        // With direct TLS negotiation, the server requires this protocol name.
        config.alpn_protocols = vec![b"postgresql".to_vec()];
    }
    Ok(MakeRustlsConnect::new(config))
}

/// If the system has no certificates, every server certificate is rejected, with an error that says this.
fn of_the_system() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

fn from_file(file: &Path) -> Result<RootCertStore, StoreError> {
    let failed = |problem: String| {
        StoreError::failed(OPERATION, format!("the certificates of \"sslrootcert\": {problem}"))
    };
    let mut roots = RootCertStore::empty();
    let certificates =
        CertificateDer::pem_file_iter(file).map_err(|error| failed(error.to_string()))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| failed(error.to_string()))?;
        roots.add(certificate).map_err(|error| failed(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(failed("the file contains none".to_owned()));
    }
    Ok(roots)
}
