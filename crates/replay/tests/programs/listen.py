"""listen.py UDP_PORT TCP_PORT: prints what arrives and when; answers streams with their length."""
import selectors, socket, sys, time

udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("127.0.0.1", int(sys.argv[1])))
tcp = socket.create_server(("127.0.0.1", int(sys.argv[2])))
selector = selectors.DefaultSelector()
for each in (udp, tcp):
    selector.register(each, selectors.EVENT_READ)
while True:
    ready = selector.select(3600)
    now = f"{time.time():.6f}"
    if not ready:
        print(now, "nothing for an hour", flush=True)
        break
    for key, _ in ready:
        if key.fileobj is udp:
            print(now, "datagram", udp.recv(65536).decode(), flush=True)
        elif key.fileobj is tcp:
            selector.register(tcp.accept()[0], selectors.EVENT_READ)
        else:
            octets = key.fileobj.recv(1 << 20)
            print(now, "stream", len(octets), flush=True)
            if octets:
                key.fileobj.sendall(b"%d\n" % len(octets))
            else:
                selector.unregister(key.fileobj)
                key.fileobj.close()
