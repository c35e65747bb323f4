"""A server and clients in one file: talk.py serve PORT_FILE | talk.py ask PORT_FILE NAME"""
import os, random, selectors, socket, sys, threading, time, uuid

start = time.monotonic()
def say(*words):
    print(f"{time.monotonic() - start:.6f}", *words, flush=True)

def serve(port_file):
    listener = socket.create_server(("127.0.0.1", 0))
    with open(port_file + ".new", "w") as f:
        f.write(str(listener.getsockname()[1]))
    os.rename(port_file + ".new", port_file)
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    ticks = [0]
    def tick():
        while True:
            time.sleep(60)
            ticks[0] += 1
    threading.Thread(target=tick, daemon=True).start()
    conns = 0
    while True:
        for key, _ in selector.select(3600):
            if key.fileobj is listener:
                conn, _ = listener.accept()
                conns += 1
                selector.register(conn, selectors.EVENT_READ, f"c{conns}")
                continue
            data = key.fileobj.recv(65536)
            if not data:
                say(key.data, "left after", ticks[0], "ticks")
                selector.unregister(key.fileobj)
                key.fileobj.close()
                if (conns := conns) == 2 and len(selector.get_map()) == 1:
                    return
                continue
            say(key.data, len(data), "octets")
            key.fileobj.sendall(data[::-1] + b"\n")

def ask(port_file, name):
    while not os.path.exists(port_file):
        time.sleep(0.001)
    conn = socket.create_connection(("127.0.0.1", int(open(port_file).read())))
    dice = random.Random()
    for i in range(200):
        time.sleep(dice.expovariate(1 / 300))
        conn.sendall(f"{name} {i} {uuid.uuid4()}".encode())
        answer = conn.recv(65536)
        say(name, answer.decode().strip())
    conn.close()

{"serve": serve, "ask": ask}[sys.argv[1]](*sys.argv[2:])
