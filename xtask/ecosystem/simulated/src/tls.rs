//! A certificate for `server`, and configurations of rustls that use it.

use std::sync::{Arc, OnceLock};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};

/// A self-signed certificate and its key. The first host that needs them makes them, so that they
/// follow the seed: even the length of a signature is random.
#[derive(Clone, Debug, Default)]
pub struct Identity(Arc<OnceLock<Certified>>);

#[derive(Debug)]
struct Certified {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl Identity {
    fn get(&self) -> &Certified {
        self.0.get_or_init(|| {
            let CertifiedKey { cert, signing_key } =
                generate_simple_self_signed(["server".to_owned()]).expect("a certificate is made");
            Certified {
                certificate: cert.der().clone(),
                key: PrivateKeyDer::Pkcs8(signing_key.serialize_der().into()),
            }
        })
    }

    /// Returns the configuration of a server that presents this certificate.
    pub fn server(&self) -> ServerConfig {
        let Certified { certificate, key } = self.get();
        ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .expect("ring has the default versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key.clone_key())
            .expect("the key belongs to the certificate")
    }

    /// Returns the configuration of a client that trusts only this certificate.
    pub fn client(&self) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots
            .add(self.get().certificate.clone())
            .expect("the certificate is well-formed");
        ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .expect("ring has the default versions")
            .with_root_certificates(roots)
            .with_no_client_auth()
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}
