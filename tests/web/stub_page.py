"""The process of a page without viser, which does what its port number says: 1 reads, 2 never reads, 3 goes away."""

from __future__ import annotations

import json
import sys
import time
from multiprocessing.connection import Client

from wbc.errors import WbcError
from wbc.web.commands import Shove

READS, STOPS, GOES, REFUSES = 1, 2, 3, 4


def main() -> None:
    orders = json.loads(sys.stdin.readline())
    connection = Client(orders["address"], authkey=bytes.fromhex(orders["key"]))
    scenery = connection.recv()
    if orders["port"] == REFUSES:
        connection.send(WbcError("there is no viser here"))
        return
    connection.send(f"http://{orders['host']}:{orders['port']}")
    connection.send(1)  # somebody looks on
    if orders["port"] == GOES:
        connection.recv()
        return
    if orders["port"] == STOPS:
        time.sleep(60.0)
        return
    connection.send(Shove(scenery.pushable[1], (0.0, 10.0, 0.0), 0.01))
    try:
        while True:
            connection.recv()
    except (EOFError, OSError):
        pass


if __name__ == "__main__":
    main()
