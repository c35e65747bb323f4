"""Takes datagrams with a number each, and says for each one the sum of the last minute's."""
import socket, sys, time
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", int(sys.argv[1])))
recent = []
while True:
    number = int(receiver.recv(100))
    now = time.time()
    recent = [(at, n) for at, n in recent if at > now - 60] + [(now, number)]
    print(f"{now:.3f} {number} {sum(n for _, n in recent)}", flush=True)
