"""Reads lines in hexadecimal, prints what aprslib reads in each as a line of JSON."""

import json
import sys

import aprslib


def read(line):
    try:
        return aprslib.parse(line.decode("latin-1"))
    except (aprslib.ParseError, aprslib.UnknownFormat) as error:
        return {"refused": str(error)}
    except (ValueError, IndexError, KeyError, TypeError, OverflowError) as error:
        return {"crashed": repr(error)}


for text in sys.stdin:
    parsed = read(bytes.fromhex(text))
    while "subpacket" in parsed:
        parsed = parsed["subpacket"]
    keys = ("refused", "crashed", "format", "latitude", "longitude", "symbol", "symbol_table")
    keys += ("object_name", "addresse", "from")
    print(json.dumps({key: parsed.get(key) for key in keys}))
