"""A client of the TCP agent protocol, version 1, written from its document alone with Python's standard library."""

import json
import socket
import struct
import sys


def receive(sock):
    def exactly(count):
        data = b""
        while len(data) < count:
            piece = sock.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    (length,) = struct.unpack(">I", exactly(4))
    return json.loads(exactly(length))


def request(sock, id, act, data=None):
    message = {"v": 1, "t": "req", "id": id, "act": act}
    if data is not None:
        message["data"] = data
    body = json.dumps(message).encode("utf-8")
    sock.sendall(struct.pack(">I", len(body)) + body)
    return receive(sock)


host, port, token = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with socket.create_connection((host, port)) as sock:
    steps = [
        receive(sock),
        request(sock, "c1", "AUTH", {"token": token}),
        request(sock, "c2", "GET_OS_INFO", {"seconds": 60}),
        request(sock, "c3", "QUIT"),
    ]
    closed = sock.recv(1) == b""
print(json.dumps({"steps": steps, "closed": closed}))
