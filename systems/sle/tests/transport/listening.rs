//! Listeners, and what the kernel makes of options.

use std::io::Write;

use chronoscope_sle::net::{EffectiveOptions, Listener, ListenerError, SocketOptions, connect};

use crate::peer::{CONTEXT, PATIENCE, Setting, Told, listen, pdu, rest, stream};

#[test]
fn one_address_has_three_quarters_of_the_connections_and_gets_them_back() {
    let (listener, sides) = listen(&Setting { connections_max: 4, ..Setting::default() });
    let mut first = stream(listener.address());
    let _second = stream(listener.address());
    let _third = stream(listener.address());
    let [one, _two, _three] = [(); 3].map(|()| sides.recv_timeout(PATIENCE).unwrap());
    assert_eq!(listener.connections(), 3);

    let fourth = stream(listener.address());
    assert_eq!(rest(&fourth).unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    assert_eq!(listener.refused(), 1);

    first.write_all(&[&CONTEXT[..], &pdu(b"undisturbed")].concat()).unwrap();
    assert_eq!(one.next(), Told::Pdu("undisturbed".into()));
    drop(first);
    assert_eq!(one.next(), Told::Closed(None));
    one.driver.join();
    let _fifth = stream(listener.address());
    sides.recv_timeout(PATIENCE).unwrap();
    assert_eq!((listener.connections(), listener.failed()), (3, 0));
}

#[test]
fn few_connections_may_all_be_of_one_address_and_no_more() {
    let (listener, sides) = listen(&Setting { connections_max: 2, ..Setting::default() });
    let _both = [stream(listener.address()), stream(listener.address())];
    let _sides = [(); 2].map(|()| sides.recv_timeout(PATIENCE).unwrap());
    let third = stream(listener.address());
    assert_eq!(rest(&third).unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
}

#[test]
fn a_listener_that_is_dropped_refuses_and_its_connections_live_on() {
    let (listener, sides) = listen(&Setting::default());
    let address = listener.address();
    let mut peer = stream(address);
    let side = sides.recv_timeout(PATIENCE).unwrap();
    drop(listener);
    assert!(std::net::TcpStream::connect(address).is_err());
    peer.write_all(&[&CONTEXT[..], &pdu(b"alive")].concat()).unwrap();
    assert_eq!(side.next(), Told::Pdu("alive".into()));
}

#[test]
fn an_address_in_use_is_named() {
    let (listener, _sides) = listen(&Setting::default());
    let again = Listener::start(listener.address(), &SocketOptions::default(), 1, drop);
    let Err(ListenerError::Listen { address, .. }) = again else { panic!("in use") };
    assert_eq!(address, listener.address().to_string());
}

#[test]
fn what_the_kernel_made_of_the_options_is_read_back() {
    let options = SocketOptions {
        nodelay: false,
        quickack: Some(true),
        send_buffer: Some(32_768),
        receive_buffer: Some(65_536),
        congestion: Some("reno".to_owned()),
    };
    let (listener, _sides) = listen(&Setting { options: options.clone(), ..Setting::default() });
    let socket = connect(listener.address(), &options, PATIENCE).unwrap();
    let given = EffectiveOptions::read(&socket).unwrap();
    assert_eq!(
        given,
        EffectiveOptions {
            nodelay: false,
            // Linux doubles what it is asked for (socket(7)).
            send_buffer: 65_536,
            receive_buffer: 131_072,
            congestion: "reno".to_owned(),
        }
    );
}

#[test]
fn a_congestion_control_that_the_kernel_lacks_is_named() {
    let options =
        SocketOptions { congestion: Some("no-such".to_owned()), ..SocketOptions::default() };
    let (listener, _sides) = listen(&Setting::default());
    let error = connect(listener.address(), &options, PATIENCE).unwrap_err();
    assert!(error.to_string().starts_with("socket option TCP_CONGESTION=no-such"), "{error}");
    assert!(matches!(
        Listener::start("127.0.0.1:0".parse().unwrap(), &options, 1, drop),
        Err(ListenerError::Option(_))
    ));
}
