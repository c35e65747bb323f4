"""Answers of asterix-decoder, an independent implementation.

Reads datagrams in hexadecimal, one a line, and prints for each a JSON list with one object a
record, as asterix-decoder gives it without texts.
"""

import json
import sys

import asterix

for line in sys.stdin:
    print(json.dumps(asterix.parse(bytes.fromhex(line), verbose=False)))
