#!/usr/bin/env python3
"""Writes the golden file of draws: noise of tokens, and the tokens drawn by it, computed here once more. Needs Python alone.

    python3 tools/sampling/make_draws.py > roselle-engine/src/test/resources/sampling/draws.json

Python's floats are float64 and each operation is rounded by itself, as the engine's are, so the noise has the same bits.
"""
import json
import math
import random
import struct

MASK = 0xFFFFFFFF
OF_TOKEN, OF_SPAN = 0, 1
SPAN = 32


def philox(key, counter):
    """Philox4x32-10: four words of 32 bits."""
    (k0, k1), (a, b, c, d) = key, counter
    for _ in range(10):
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = q >> 32 ^ b ^ k0, q & MASK, p >> 32 ^ d ^ k1, p & MASK
        k0, k1 = k0 + 0x9E3779B9 & MASK, k1 + 0xBB67AE85 & MASK
    return a, b, c, d


assert philox((0, 0), (0, 0, 0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
assert philox((MASK, MASK), (MASK,) * 4) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)
assert philox((0xA4093822, 0x299F31D0), (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)) == (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)


def bits(seed, position, index, kind):
    a, b, _, _ = philox((seed & MASK, seed >> 32 & MASK), (position & MASK, position >> 32, index, kind))
    return b << 32 | a


def exponential(random_bits):
    x = ((random_bits >> 12) + 0.5) * 2.0**-52
    m, power = math.frexp(x)  # from 1/2 to 1
    if m < math.sqrt(0.5):
        m, power = 2 * m, power - 1
    s = (m - 1) / (m + 1)
    t, total = s * s, 2.0 / 19
    for n in (17, 15, 13, 11, 9, 7, 5, 3, 1):
        total = total * t + 2.0 / n
    minus = -(power * math.log(2)) - total * s
    assert abs(minus + math.log(x)) <= 1e-15 * minus
    return minus


def noise(seed, position, token):
    span = bits(seed, position, token // SPAN, OF_SPAN)
    least = exponential(span) / SPAN
    return least if span % SPAN == token % SPAN else least + exponential(bits(seed, position, token, OF_TOKEN))


def draw(logits, temperature, seed, position):
    """The least noise / weight; far from ties, so that any exp() will do."""
    times = sorted((noise(seed, position, i) / math.exp((x - max(logits)) / temperature), i) for i, x in enumerate(logits))
    return times[0][1]


def main():
    rng = random.Random(20261122)
    at = [(rng.getrandbits(64) - 2**63, rng.choice((rng.randrange(100), rng.randrange(2**31))), rng.choice((rng.randrange(64), rng.randrange(262144))))
          for _ in range(200)]
    noises = [[str(seed), position, token, "%016x" % struct.unpack(">Q", struct.pack(">d", noise(seed, position, token)))] for seed, position, token in at]
    rows = []
    for size in (1, 7, 33, 200, 1000):
        logits = [round(rng.gauss(0, 2) * 64) / 64 for _ in range(size)]  # exact in float32
        for temperature in (0.5, 1.0, 1.5):
            seed = rng.getrandbits(32)
            tokens = [draw(logits, temperature, seed, position) for position in range(40)]
            rows.append({"logits": logits, "temperature": temperature, "seed": seed, "tokens": tokens})
    print(json.dumps({"noise": noises, "rows": rows}, separators=(",", ":")))


if __name__ == "__main__":
    main()
