#!/usr/bin/env python3
"""Prints the code points to which Hugging Face's UnicodeScripts gives a script, as ReferenceScripts lists them.

Needs: pip install tokenizers. The test ReferenceUnicodeTest compares every code point.
"""
import textwrap

from tokenizers.pre_tokenizers import UnicodeScripts

LATIN, GREEK = "a", "\u03b1"


def has_script(character):
    """A character without a script is joined to whatever stands before it."""
    cut = UnicodeScripts().pre_tokenize_str
    return any(len(cut(before + character)) > 1 for before in (LATIN, GREEK))


def ranges():
    first = None
    for code_point in range(0x110001):
        scalar = code_point < 0x110000 and not 0xD800 <= code_point <= 0xDFFF
        if scalar and has_script(chr(code_point)):
            first = code_point if first is None else first
        elif first is not None:
            yield f"{first:x}" if first == code_point - 1 else f"{first:x}-{code_point - 1:x}"
            first = None


if __name__ == "__main__":
    print(textwrap.fill(" ".join(ranges()), width=104, initial_indent=" " * 12, subsequent_indent=" " * 12,
                        break_on_hyphens=False))
