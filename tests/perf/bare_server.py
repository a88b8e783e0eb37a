"""The smallest cost of answering kube-scheduler in Python: receive, and send as much.

``python -m tests.perf.bare_server`` prints its port, and serves one connection at a
time. A body that is posted to ``/filter`` is returned unchanged; all other requests get
an empty list. `tests.perf.extender` compares the extender with it.
"""

import re
import socket
import sys
from typing import Final

_LENGTH: Final = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_END: Final = b"\r\n\r\n"
_HEAD_LIMIT: Final = 1 << 16


def main() -> None:
    """Serve until killed."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        sys.stdout.write(f"serving on :{server.getsockname()[1]}\n")
        sys.stdout.flush()
        while True:
            connection, _ = server.accept()
            with connection:
                serve(connection)


def serve(connection: socket.socket) -> None:
    """Answer until the other side hangs up."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    body = bytearray()
    while head := connection.recv(_HEAD_LIMIT):
        while _END not in head:
            head += connection.recv(_HEAD_LIMIT)
        head, _, begun = head.partition(_END)
        found = _LENGTH.search(head)
        assert found is not None
        length = int(found[1])
        if length > len(body):
            body = bytearray(length)
        whole = memoryview(body)[:length]
        whole[: len(begun)] = begun
        rest = whole[len(begun) :]
        if rest:
            connection.recv_into(rest, 0, socket.MSG_WAITALL)
        answer = whole if b"/filter " in head.partition(b"\r")[0] else memoryview(b"[]")
        first = f"HTTP/1.1 200 OK\r\nContent-Length: {len(answer)}\r\n\r\n".encode()
        connection.sendmsg([first, answer])


if __name__ == "__main__":
    main()
