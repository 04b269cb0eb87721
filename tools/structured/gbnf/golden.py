"""Asks llama.cpp's grammar engine which texts our grammars derive; writes gbnf-golden.json of roselle-grammar's tests.

usage: golden.py LLAMA_CPP OUT      LLAMA_CPP is a checkout; a compiler of C++ is needed
"""

import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = 60

# A grammar, the signs of random texts, and texts to begin from.
GRAMMARS = [
    ('root ::= "a"+ [b-d]?', "abcde", ["aab", "a"]),
    ("root ::= expr\nexpr ::= term (\"+\" term)*\nterm ::= [0-9]+", "0123+ ", ["1+2", "42"]),
    (
        'root ::= sum\nsum ::= product ws (("+"|"-") ws product)*\nproduct ::= atom ws (("*"|"/") ws atom)*\n'
        'atom ::= [0-9]+ | [a-z]+ | "(" sum ")" | call\ncall ::= [a-z]+ "(" (sum ("," ws sum)*)? ")"\nws ::= [ \\t]?',
        "a1+*(), ",
        ["f(x, 1)+2", "(a+b)*(c)", "f()", "f(f(1))"],
    ),
    ('root ::= "(" root ")" root | ""', "()", ["()()", "(())", ""]),
    ('root ::= [^\\n]+ "\\n"', "ab\n\u00e4\u2028", ["ab\n", "\u00e4\n"]),
    ('root ::= ("- " item)+\nitem ::= [^\\n]+ "\\n"', "- a\n", ["- a\n- b\n"]),
    ("root ::= [\u3041-\u309f]{2,3} | \"\\u00e4\" | \"\\x41\\U0001F600\"", "\u3042\u3044A\U0001F600\u00e4", ["\u3042\u3044", "A\U0001F600"]),
    ('root ::= "ab"{2} "c"{1,} "d"{0,2}', "abcd", ["ababccdd", "ababc"]),
    ('root ::= ("a" | "b" | )  ("c" # a remark\n | "d")', "abcd", ["ac", "d"]),
    ('root ::= . . "x"', "xy\n\u65e5", ["yyx", "\u65e5\nx"]),
    ('root ::= [a-] [\\]^] [^^]', "a-]^b", ["-]b", "a^a"]),
    ('root ::= pal\npal ::= "a" pal "a" | "b" pal "b" | "c"', "abc", ["abcba", "c", "aacaa"]),
    ('root ::= "a" root "b" | "ab"', "ab", ["aabb", "ab", "aaabbb"]),
    ('root ::= item | item "," root\nitem ::= [0-9] | "[" root "]"', "01,[]", ["1,2,3", "[1,[2]],0"]),
    ('root ::= x x\nx ::= "a" | "a" "b" | ""', "ab", ["aba", "", "abab"]),
    (
        'root ::= object\nvalue ::= object | array | string | number | ("true" | "false" | "null") ws\n'
        'object ::= "{" ws (string ":" ws value ("," ws string ":" ws value)*)? "}" ws\n'
        'array ::= "[" ws (value ("," ws value)*)? "]" ws\n'
        'string ::= "\\"" ([^"\\\\\\x7F\\x00-\\x1F] | "\\\\" (["\\\\bfnrt] | "u" [0-9a-fA-F]{4}))* "\\"" ws\n'
        'number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws\n'
        "ws ::= | \" \" | \"\\n\" [ \\t]{0,20}",
        '{}[]":, 1ae\\n-.',
        ['{"a": [1, -2.5e3, "x\\n"], "b": {}}', "{}", '{"a":true}', '{"\u00e4": "\\u00e4"}'],
    ),
    ('root ::= s\ns ::= "i" s | "i" s "e" s | "x"', "iex", ["ixex", "iixex", "x"]),
    ('root ::= a b\na ::= "x"* \nb ::= "x"* "y"', "xy", ["xxy", "y"]),
    ('root ::= ("a"? "b"?){3}', "ab", ["ababab", "bbb", ""]),
    ('root ::= (("a" | "b")+ ",")* "."', "ab,.", ["ab,a,.", "."]),
    ('root ::= "a" (\n  "b" |\n  "c"\n)\n\nunused ::= root "z"', "abcz", ["ab", "ac"]),
    ("root ::= missing", "a", []),
    ('root ::= "a', "a", []),
    ('root ::= "\\q"', "q", []),
    ("root = [a]", "a", []),
    ('rot ::= "a"', "a", []),
    ("root ::= *", "a", []),
    ('root ::= ("a"', "a", []),
    ('root ::= "a"{', "a", []),
    ('root ::= "a" ) "b"', "ab", []),
]


def build(llama):
    program = os.path.join(tempfile.mkdtemp(), "oracle")
    sources = [os.path.join(HERE, "oracle.cpp")]
    sources += [os.path.join(llama, "src", name) for name in ("llama-grammar.cpp", "unicode.cpp", "unicode-data.cpp")]
    includes = ["-I" + os.path.join(llama, folder) for folder in ("src", "include", "ggml/include")]
    flags = ["-std=c++17", "-O1", "-w"]
    subprocess.run(["g++", *flags, *includes, "-o", program, *sources], check=True)
    return program


def mutated(text, signs, chance):
    symbols = list(text)
    for _ in range(chance.randint(1, 2)):
        at = chance.randint(0, len(symbols))
        kind = chance.randint(0, 3)
        if kind == 3 and len(symbols) < 40:
            symbols[at:at] = symbols[chance.randint(0, at) : chance.randint(at, len(symbols))]
        elif kind == 0 or not symbols:
            symbols.insert(at, chance.choice(signs))
        elif kind == 1:
            symbols.pop(min(at, len(symbols) - 1))
        else:
            symbols[min(at, len(symbols) - 1)] = chance.choice(signs)
    return "".join(symbols)


def main():
    llama, out = sys.argv[1:]
    oracle = subprocess.Popen([build(llama)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(kind, text):
        encoded = text.encode()
        oracle.stdin.write(f"{kind} {len(encoded)}\n".encode() + encoded)
        oracle.stdin.flush()
        return oracle.stdout.readline().decode().strip()

    chance = random.Random(1)
    golden = []
    for grammar, signs, known in GRAMMARS:
        entry = {"grammar": grammar, "isValid": ask("G", grammar) == "ok", "accepted": [], "refused": []}
        waiting = list(known)
        while entry["isValid"] and len(entry["accepted"]) + len(entry["refused"]) < TEXTS:
            text = waiting.pop() if waiting else mutated(chance.choice(entry["accepted"] + [""]), signs, chance)
            if text not in entry["accepted"] and text not in entry["refused"]:
                entry["accepted" if ask("T", text) == "1" else "refused"].append(text)
        golden.append(entry)
    with open(out, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(entry) for entry in golden) + "\n]\n")
    print(sum(len(e["accepted"]) for e in golden), "accepted,", sum(len(e["refused"]) for e in golden), "refused,",
          sum(not e["isValid"] for e in golden), "grammars invalid")


if __name__ == "__main__":
    main()
