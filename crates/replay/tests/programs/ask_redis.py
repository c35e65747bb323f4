"""ask_redis.py PORT: sets keys that expire, looks at them to the second, for an hour."""
import socket, sys, time

start = time.monotonic()
while True:
    try:
        conn = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        break
    except ConnectionRefusedError:
        time.sleep(0.01)
lines = conn.makefile("rb")

def ask(*words):
    conn.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w.encode()) for w in words))
    answer = lines.readline().decode().strip()
    if answer.startswith("$") and answer != "$-1":
        answer = lines.read(int(answer[1:]) + 2).decode().strip()
    return answer

def say(*words):
    print(f"{time.monotonic() - start:.6f}", *words)

for round in range(60):
    ask("SET", f"key{round}", "x" * round, "EX", "30")
    ask("LPUSH", "list", f"value {round}")
    time.sleep(29.9)
    say(ask("EXISTS", f"key{round}"), ask("PTTL", f"key{round}"))
    time.sleep(0.2)
    say(ask("EXISTS", f"key{round}"), ask("LLEN", "list"), ask("TIME"), lines.readline(), lines.readline(), lines.readline(), lines.readline())
    time.sleep(29.9)
say(ask("RANDOMKEY"), ask("BGSAVE"))
time.sleep(5)
say(ask("LASTSAVE"))
ask("SHUTDOWN", "NOSAVE")
