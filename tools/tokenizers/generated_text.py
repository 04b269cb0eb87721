"""Generates text in many scripts for training small tokenizers; the same seed gives the same text."""

import random

WORDS = """the of and to in a is that it was for on are as with his they at be this have from or one had by word but
not what all were we when your can said there use an each which she do how their if will up other about out many then
them these so some her would make like him into time has look two more write go see number no way could people my than
first water been call who oil its now find long down day did get come made may part over new sound take only little work
know place year live me back give most very after thing our just name good sentence man think say great where help
through much before line right too mean old any same tell boy follow came want show also around form three small set put
end does another well large must big even such because turn here why ask went men read need land different home us move
try kind hand picture again change off play spell air away animal house point page letter mother answer found study
still learn should world don't isn't you're I've we'll they'd he'm international tokenization unbelievable running
runner runs walked walking walker happiness unhappy quickly nation national nationality""".split()

SYLLABLES = {
    "latin": "é è ê ñ ü ö ä ß ø å č ž š ğ ı İ ł ą ę ő ba de mi so tu lo ra ne ki".split(),
    "cyrillic": "при вет мир как де ла хо ро шо сто ка да нет ё й щ ы э ю я ґ ї".split(),
    "greek": "κα λη μέ ρα σς Σ ού της φι λο σο ά έ ή ί ό ύ ώ".split(),
    "hebrew": "של ום עו לם מה שָׁ לוֹ ם".split(),
    "arabic": "ال سلا م علي كم مَ رْ حَ بًا شكرا ۱۲۳ ٤٥٦".split(),
    "devanagari": "न म स् ते दु नि या क्ष त्र ज्ञ हिं दी १२३".split(),
    "thai": "ส วั ส ดี ช า ว โล ก ก็ กำ ๑๒๓".split(),
    "han": "你 好 世 界 中 文 字 符 測 試 語 言 模 型 學 習 日 本".split(),
    "kana": "こん にち は せ かい カタ カナ ガ ギ が ぱ".split(),
    "hangul": "안 녕 하 세 요 세계 한국어 말 각".split(),
}

EMOJI = "😀 😂 🎉 👍🏽 👩‍💻 👨‍👩‍👧‍👦 🇩🇪 🇯🇵 ❤️ ☃ ✈️ 1️⃣".split()

CODE = """def main(args):\n    for i in range(10):\n        print(f"{i}: {args[i]}")\n
public static void main(String[] args) {\n\tint x = 0x1F;\n\tif (x != 3 && y >= 10) { return; }\n}\n
#include <stdio.h>\nwhile (1) { a[i] += b[j++] * 3.14e-10; } // comment\n
SELECT * FROM table WHERE id = 12345 AND name LIKE '%foo%';\n
{"key": [1, 2, 3], "null": null, "text": "a\\\\nb"}\n
https://example.org/path?query=1&b=2#frag user.name@mail.example\n""".split("\n\n")


def word(rng, script):
    return "".join(rng.choice(SYLLABLES[script]) for _ in range(rng.randint(1, 4)))


def sentence(rng):
    kind = rng.random()
    if kind < 0.55:
        words = [rng.choice(WORDS) for _ in range(rng.randint(3, 14))]
        words[0] = words[0].capitalize()
        if rng.random() < 0.3:
            words.insert(rng.randint(0, len(words)), str(rng.randint(0, 10 ** rng.randint(1, 7))))
        if rng.random() < 0.1:
            words.insert(rng.randint(0, len(words)), rng.choice(EMOJI))
        return " ".join(words) + rng.choice([".", ".", "!", "?", "...", ";", ", and", ":"])
    if kind < 0.85:
        script = rng.choice(list(SYLLABLES))
        glue = "" if script in ("han", "kana", "thai") else " "
        return glue.join(word(rng, script) for _ in range(rng.randint(2, 9))) + rng.choice([".", "。", "!", "؟", "।"])
    if kind < 0.95:
        return rng.choice(CODE)
    return rng.choice(["  ", "\n\n", "\t", "    ", " ", "　"]).join(rng.choice(WORDS) for _ in range(5))


def lines(count, seed):
    rng = random.Random(seed)
    return [sentence(rng) for _ in range(count)]
