"""A server of lines: a connection whose first line is no login is refused."""
import selectors, socket, sys
listener = socket.socket()
listener.bind(("127.0.0.1", int(sys.argv[1])))
listener.listen(8)
selector = selectors.DefaultSelector()
selector.register(listener, selectors.EVENT_READ, None)
while True:
    for key, _ in selector.select():
        if key.data is None:
            connection, _ = listener.accept()
            selector.register(connection, selectors.EVENT_READ, {"rest": b"", "name": None})
            continue
        octets = key.fileobj.recv(4096)
        if not octets:
            selector.unregister(key.fileobj)
            key.fileobj.close()
            continue
        *lines, key.data["rest"] = (key.data["rest"] + octets).split(b"\n")
        for line in lines:
            if key.data["name"] is None:
                key.data["name"] = line.decode() if line.startswith(b"login ") else "REFUSED"
            else:
                key.fileobj.send(line + b"\n")
                print(key.data["name"], line.decode(), flush=True)
