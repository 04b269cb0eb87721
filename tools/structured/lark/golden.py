"""Asks Lark which texts our grammars derive: golden.py OUT, with Python's package lark (1.3.1).

Writes a list of {grammar, isValid, accepted, refused}: the texts that Lark's Earley parser takes, with the lexer that tries every way
to cut a text into terminals, and those that it does not. Where what is ignored could end at several places, Lark takes the longest and
Roselle any: no grammar here has such.
"""
import itertools
import json
import random
import sys

import lark

GRAMMARS = {  # grammar: pieces that texts are made of
    'start: "a" | "b" start "c"': ["a", "b", "c"],
    'start: (A | "x")+ "."\nA: /[0-9]+/': ["1", "23", "x", "."],
    'start: pair ("," pair)*\npair: NAME "=" value\n?value: NAME | NUMBER -> number\n'
    '%import common.CNAME -> NAME\n%import common.NUMBER\n%import common.WS\n%ignore WS':
        ["a", "b_1", "=", ",", "1", "2.5", "e3", " ", "\n"],
    'start: "yes"i | "no"i "!"~2 | "so"~1..3': ["yes", "YES", "Yes", "no", "nO", "!", "so", "So"],
    'start: sum\nsum: sum "+" product | product\nproduct: product "*" atom | atom\natom: INT | "(" sum ")"\n'
    '%import common.INT\n%ignore " "': ["1", "23", "+", "*", "(", ")", " "],
    '// a comment\nstart: ["-"] DIGIT+ [FRACTION] // another\nDIGIT: "0".."9"\nFRACTION: "." DIGIT~2\n':
        ["-", "0", "7", "12", ".", ".5"],
    '!start: _item (";" _item)* ";"?\n_item: /a[bc]/i | /"[^"\\n]*"/\n':
        ["ab", "AC", "ad", ";", '"x y"', '""', '"'],
    'start: STRING\n%import common.ESCAPED_STRING -> STRING': ['"', "a", '\\"', "\\\\", "\\n", "\n"],
    'start: "\\u00e4\\n" | "\\x41" | "a\\"b" | "\\\\"': ["\u00e4\n", "A", 'a"b', "\\", "\u00e4"],
    'start: WORD (_SEP WORD)*\n_SEP: ","\n    | ";"\n%import common (WORD, WS_INLINE)\n%ignore WS_INLINE\n%ignore /#[^\\n]*\\n/':
        ["ab", "c", ",", ";", " ", "#x\n", "#"],
    'start: /./s /./ "end"': ["a", "\n", "end", "x"],
    'start: "[" [start ("," start)*] "]"': ["[", "]", ","],
    'start: e\ne: e e | "a" |': ["a", "b"],
    'start: A\nA: B | "x" A': [],
    'start: a': [],
    'start: "a': [],
    'start: "a" ~ 3..2': [],
    'start: ""': [],
    'begin: "a"': [],
    'start: ("a"': [],
    'start: "a"\nstart: "b"': [],
    'start: A\nA: b\nb: "x"': [],
    'start: X\n%import common.NONE -> X': [],
}


def texts(pieces, draw):
    found = [""]
    for count in range(1, 4):
        found += ["".join(each) for each in itertools.product(pieces, repeat=count)]
    longer = ["".join(draw.choices(pieces, k=draw.randint(4, 9))) for _ in range(200)] if pieces else []
    return list(dict.fromkeys(found + longer))


def entry(grammar, pieces, draw):
    try:
        parser = lark.Lark(grammar, parser="earley", lexer="dynamic_complete", ambiguity="resolve")
    except Exception:
        return {"grammar": grammar, "isValid": False, "accepted": [], "refused": []}
    accepted, refused = [], []
    for text in texts(pieces, draw):
        try:
            parser.parse(text)
            accepted.append(text)
        except lark.exceptions.UnexpectedInput:
            refused.append(text)
    draw.shuffle(accepted)
    draw.shuffle(refused)
    return {"grammar": grammar, "isValid": True, "accepted": accepted[:60], "refused": refused[:60]}


def main():
    draw = random.Random(4)
    entries = [entry(grammar, pieces, draw) for grammar, pieces in GRAMMARS.items()]
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        json.dump(entries, out, ensure_ascii=True, separators=(",", ":"))
        out.write("\n")


main()
