//! Free ports for the monitors.
//!
//! Several labs may start at the same moment, from several processes and users. A port is tried out by binding it, but
//! the monitor has to bind it itself, so there is a gap. In that gap the port is claimed with an abstract UNIX socket
//! (unix(7)): such names are machine-wide, need no file, and vanish with the process.
use crate::{
    error::{LabError, Result},
    secret,
};
use std::{
    net::{Ipv4Addr, TcpListener},
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener},
    },
};

/// Below the kernel's ephemeral ports (32768 up) and clear of Ceph's own 3300, 6789 and 6800-7568, so that neither an
/// outgoing connection nor an OSD takes a port between the test and the monitor's start.
const FIRST: u32 = 20_000;
const COUNT: u32 = 12_000;
const TRIES: usize = 2_000;

/// A port nobody else listens on and no other fathom will choose while this lives.
#[derive(Debug)]
pub(crate) struct Port {
    pub number: u16,
    _claim: UnixListener,
}

impl Port {
    /// Chooses a free port at random.
    pub fn choose() -> Result<Port> {
        for _ in 0..TRIES {
            if let Some(port) = Port::claim((FIRST + secret::below(COUNT)?) as u16) {
                return Ok(port);
            }
        }
        Err(LabError::Failed(format!(
            "no free TCP port on 127.0.0.1 between {FIRST} and {}: look with `ss -lnt` who has them",
            FIRST + COUNT - 1
        )))
    }

    fn claim(number: u16) -> Option<Port> {
        let name = SocketAddr::from_abstract_name(format!("fathom-lab-port-{number}")).ok()?;
        let claim = UnixListener::bind_addr(&name).ok()?;
        // Closed again at once: nothing has connected, so no TIME_WAIT keeps the monitor out.
        TcpListener::bind((Ipv4Addr::LOCALHOST, number)).ok()?;
        Some(Port { number, _claim: claim })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_given_once_and_never_when_taken() {
        let port = Port::choose().unwrap();
        assert!(Port::claim(port.number).is_none());
        let number = port.number;
        drop(port);
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, number)).unwrap();
        assert!(Port::claim(number).is_none());
        drop(taken);
        assert!(Port::claim(number).is_some());
    }
}
