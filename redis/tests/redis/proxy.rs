//! A proxy that drops, delays or repeats what the server says.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Starts it; returns its port. It ends with the tests.
pub(crate) fn start(to: u16, seed: u64) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut random = fastrand::Rng::with_seed(seed);
        for client in listener.incoming() {
            let (Ok(client), Ok(server)) = (client, TcpStream::connect(("127.0.0.1", to))) else { continue };
            let (mut from, mut into) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut from, &mut into));
            let random = random.fork();
            thread::spawn(move || replies(server, client, random));
        }
    });
    port
}

fn replies(mut server: TcpStream, mut client: TcpStream, mut random: fastrand::Rng) {
    let mut buffer = [0; 4_096];
    while let Ok(length @ 1..) = server.read(&mut buffer) {
        let reply = &buffer[..length];
        let times = match random.u8(..) {
            0..12 => 0,
            12..24 => 2,
            _ => 1,
        };
        if random.u8(..) < 24 {
            thread::sleep(Duration::from_millis(random.u64(1..120)));
        }
        for _ in 0..times {
            if client.write_all(reply).is_err() {
                return;
            }
        }
    }
}

/// Passes on what the server says, unless `mute` says to swallow it; returns its port.
pub(crate) fn mutable(to: u16, mute: &Arc<AtomicBool>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, mute) = (listener.local_addr().unwrap().port(), Arc::clone(mute));
    thread::spawn(move || {
        for client in listener.incoming() {
            let (Ok(mut client), Ok(mut server)) = (client, TcpStream::connect(("127.0.0.1", to))) else { continue };
            let (mut from, mut into) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut from, &mut into));
            let mute = Arc::clone(&mute);
            thread::spawn(move || {
                let mut buffer = [0; 4_096];
                while let Ok(length @ 1..) = server.read(&mut buffer) {
                    // ORDERING: SeqCst: a test's switch.
                    if !mute.load(Ordering::SeqCst) && client.write_all(&buffer[..length]).is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}

/// Passes connections on to `first`, or to `second` once the first is gone; returns its port.
pub(crate) fn switch(first: u16, second: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming() {
            let server =
                TcpStream::connect(("127.0.0.1", first)).or_else(|_| TcpStream::connect(("127.0.0.1", second)));
            let (Ok(mut client), Ok(mut server)) = (client, server) else { continue };
            let (mut from, mut into) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut from, &mut into));
            thread::spawn(move || {
                let _ = std::io::copy(&mut server, &mut client);
                let _ = client.shutdown(std::net::Shutdown::Both);
            });
        }
    });
    port
}
