"""The process of a page: what it is to show comes from the run that started it, which gets what is asked there."""

from __future__ import annotations

import json
import os
import sys
from multiprocessing.connection import Client

from wbc.errors import WbcError


def main() -> None:
    """Shows a page until the run that started it is over."""
    orders = json.loads(sys.stdin.readline())
    address = orders["address"]
    connection = Client(tuple(address) if isinstance(address, list) else address, authkey=bytes.fromhex(orders["key"]))
    scenery = connection.recv()
    try:
        from wbc.web.page import Page

        page = Page(scenery, connection.send, orders["host"], orders["port"])
    except WbcError as error:
        connection.send(error)
        return
    connection.send(page.address)
    try:
        while True:
            picture = connection.recv()
            while connection.poll():  # only the newest is shown
                picture = connection.recv()
            page.show(picture)
    except (EOFError, OSError, KeyboardInterrupt):
        os._exit(0)  # the run is over; viser's threads have nothing left to finish


if __name__ == "__main__":
    main()
