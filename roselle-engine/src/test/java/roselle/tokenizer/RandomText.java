package roselle.tokenizer;

import java.util.Random;

/**
 * Texts that try a tokenizer: every script, emoji with joiners, combining marks, controls, all kinds of spaces, digits,
 * words and code. Code points that Unicode 16 (Java's, and the reference's) does not assign are left out.
 */
final class RandomText {
    private static final int[] SPACES = {
        ' ', ' ', ' ', ' ', '\t', '\n', '\n', '\r', 0x0B, 0x0C, 0x85, 0xA0, 0x1680, 0x2000, 0x2003, 0x200A, 0x2028,
        0x2029, 0x202F, 0x205F, 0x3000, 0x200B, 0xFEFF, 0x180E
    };
    private static final int[] EMOJI = {
        0x1F600, 0x1F680, 0x1F999, 0x1F468, 0x1F469, 0x1F467, 0x1F3FB, 0x1F3FF, 0x200D, 0x200D, 0xFE0F, 0x2764, 0x1F1E9,
        0x1F1EA, 0x20E3, 0x2705, 0x1F32B, 0xE0067, 0xE007F
    };
    private static final String[] WORDS = {
        "the",
        "Hello",
        "world",
        "I'll",
        "don't",
        "WE'VE",
        "we'Re",
        "it'S",
        "'\u017F",
        "tokens",
        "internationalization",
        "na\u00efve",
        "F\u00fchrer",
        "\u4f60\u597d",
        "\u3053\u3093\u306b\u3061\u306f",
        "\ud55c\uad6d\uc5b4",
        "\u0440\u0443\u0441\u0441\u043a\u0438\u0439",
        "\u0627\u0644\u0639\u0631\u0628\u064a\u0629",
        "\u0939\u093f\u0928\u094d\u0926\u0940",
        "\u0e44\u0e17\u0e22",
        "C\u1eeda",
        "\u01c5",
        "\u00df",
        "\u0130",
        "\u212a",
        "<0x41>",
        "\u2581",
        "\u2581the",
        "<|endoftext|>",
        "</s>",
        "<s>",
        "<unk>",
        "\u0120the",
        "_x",
        "__init__"
    };
    private static final String[] CODE = {
        "for (int i = 0; i < n; ++i) {\n",
        "    return x;\n",
        "\tdef f(self, *args, **kwargs):\r\n",
        "a[i] += 0x1F;",
        "//",
        "/* ... */",
        "==",
        "!=",
        "->",
        "::",
        "\"%s\\n\"",
        "$HOME/.config",
        "https://a.b/c?d=e&f=1",
        "#include <stdio.h>",
        "\n\n\n",
        "        ",
        "{}",
        "();",
        "--",
        "```",
        "SELECT * FROM t WHERE a='b';"
    };
    private static final int[] DIGITS = {
        '0', '1', '9', '5', 0xB2, 0xBD, 0x661, 0x967, 0x2167, 0x2460, 0xFF11, 0x1D7D9, 0x3007
    };
    private static final int[] CONTROLS = {
        0, 1, 7, 8, 0x1B, 0x7F, 0x80, 0x9F, 0xAD, 0x200C, 0x200E, 0x202E, 0x2060, 0xFFFD, 0xFFFC
    };

    private final Random random;

    RandomText(long seed) {
        random = new Random(seed);
    }

    /** The next text, mostly short. */
    String next() {
        var text = new StringBuilder();
        int parts = random.nextInt(random.nextInt(20) == 0 ? 60 : 12);
        for (int i = 0; i < parts; i++) {
            appendPart(text);
        }
        return text.toString();
    }

    private void appendPart(StringBuilder text) {
        switch (random.nextInt(12)) {
            case 0 -> appendSome(text, SPACES, 4);
            case 1 -> appendSome(text, EMOJI, 6);
            case 2 -> appendSome(text, DIGITS, 6);
            case 3 -> appendSome(text, CONTROLS, 2);
            case 4 -> text.append(CODE[random.nextInt(CODE.length)]);
            case 5 -> appendScript(text);
            case 6 -> text.appendCodePoint(any());
            case 7 -> appendMarks(text);
            case 8 -> appendAscii(text);
            default -> {
                text.append(random.nextBoolean() ? " " : "");
                text.append(WORDS[random.nextInt(WORDS.length)]);
            }
        }
    }

    private void appendSome(StringBuilder text, int[] choices, int most) {
        for (int i = random.nextInt(most) + 1; i > 0; i--) {
            text.appendCodePoint(choices[random.nextInt(choices.length)]);
        }
    }

    /** A run of neighbours of one code point, which mostly share its script. */
    private void appendScript(StringBuilder text) {
        int origin = any();
        for (int i = random.nextInt(8); i >= 0; i--) {
            int near = Math.clamp(origin + random.nextInt(40) - 20, 1, Character.MAX_CODE_POINT);
            text.appendCodePoint(isUsable(near) ? near : origin);
        }
    }

    private void appendMarks(StringBuilder text) {
        text.append((char) ('a' + random.nextInt(26)));
        for (int i = random.nextInt(4); i >= 0; i--) {
            text.appendCodePoint(0x300 + random.nextInt(0x70));
        }
    }

    private void appendAscii(StringBuilder text) {
        for (int i = random.nextInt(10); i >= 0; i--) {
            text.append((char) (' ' + random.nextInt(95)));
        }
    }

    private int any() {
        while (true) {
            int limit =
                    random.nextInt(3) == 0 ? 0x20000 : random.nextInt(8) == 0 ? Character.MAX_CODE_POINT + 1 : 0x10000;
            int codePoint = random.nextInt(limit - 1) + 1;
            if (isUsable(codePoint)) {
                return codePoint;
            }
        }
    }

    private static boolean isUsable(int codePoint) {
        int type = Character.getType(codePoint);
        return type != Character.UNASSIGNED && type != Character.SURROGATE;
    }
}
