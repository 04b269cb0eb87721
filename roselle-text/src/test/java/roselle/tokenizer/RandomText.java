package roselle.tokenizer;

import java.lang.Character.UnicodeScript;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * Random texts that tokenizers must agree on: every script, emoji with joiners, combining marks, controls, spaces of all
 * kinds, digits, code, long runs and the spellings of added tokens. The same seed gives the same texts.
 */
public final class RandomText {
    private static final List<int[]> SCRIPTS = scripts();
    private static final int[] SPACES = {
        ' ', ' ', ' ', ' ', '\t', '\n', '\n', '\r', 0x0B, 0x0C, 0x1C, 0x85, 0xA0, 0x1680, 0x2000, 0x2003, 0x2009,
        0x200A, 0x200B, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF, 0x180E, 0x2581, 0x2060
    };
    private static final int[] CONTROLS = {
        0, 1, 7, 8, 0x1B, 0x7F, 0x80, 0x9F, 0xAD, 0x200C, 0x200E, 0x202E, 0x2060, 0xFFFD, 0xFFFC
    };
    private static final int[] ZEROS = {
        '0', '0', '0', 0x660, 0x966, 0xE50, 0x3007, 0xFF10, 0x1D7CE, 0x2460, 0x2160, 0xB2
    };
    private static final String[] EMOJI = {
        "😀",
        "👩‍💻",
        "👨‍👩‍👧‍👦",
        "👍🏽",
        "🇩🇪",
        "🇯🇵🇩🇪",
        "❤️",
        "1️⃣",
        "☃",
        "🏴‍☠️",
        "🏴\uDB40\uDC67\uDB40\uDC62\uDB40\uDC7F",
        "🧑🏿‍🚀",
        "\u200D",
        "️"
    };
    private static final String[] CODE = {
        "for (int i = 0; i < n; i++) {\n\tsum += a[i];\n}",
        "def f(x):\n    return x**2  # ok\n",
        "x!=y&&z||w",
        "<div class=\"a\">",
        "SELECT * FROM t WHERE id=42;",
        "#include <stdio.h>\r\n",
        "a->b::c<T>",
        "a[i] += 0x1F;",
        "\"%s\\n\"",
        "\tdef f(self, *args, **kwargs):\r\n",
        "\n\n\n",
        "        ",
        "/* ... */",
        "https://example.org/a?b=c&d=%20",
        "0x1F3p-2",
        "{\"k\":[1,2.5e-3,null]}",
        "$HOME/.bashrc",
        "\\n\\t\\u00e9",
        "'''",
        "```",
        "==",
        "...",
        "--",
        "__init__"
    };
    private static final String[] WORDS = {
        "the",
        "The",
        "walking",
        "don't",
        "I'll",
        "we've",
        "they're",
        "he'd",
        "DON'T",
        "I'M",
        "unbelievable",
        "tokenization",
        "do not",
        "Tokenization",
        "n't",
        "'s",
        "'S",
        "a",
        "I",
        "naïve",
        "café",
        "cafe\u0301",
        "STRASSE",
        "straße",
        "Σίσυφος ΣΑΣ",
        "İstanbul",
        "ﬁne",
        "WE'VE",
        "we'Re",
        "'\u017F",
        "\u212A",
        "tokens",
        "internationalization",
        "Führer",
        "你好",
        "こんにちは",
        "한국어",
        "русский",
        "العربية",
        "हिन्दी",
        "ไทย",
        "Cửa",
        "<0x41>",
        "▁the",
        "Ġthe",
        "<|endoftext|>",
        "</s>",
        "<unk>",
        "_x",
        "ǅ"
    };

    private final Random random;
    private final List<String> tokens;

    public RandomText(long seed) {
        this(seed, List.of());
    }

    /** Texts from {@code seed}; {@code tokens} are spellings to be sprinkled in. */
    public RandomText(long seed, List<String> tokens) {
        random = new Random(seed);
        this.tokens = List.copyOf(tokens);
    }

    /** Code points of each script, and the unassigned and private ones as a script of their own. */
    private static List<int[]> scripts() {
        Map<UnicodeScript, List<Integer>> byScript = new TreeMap<>();
        for (int codePoint = 0; codePoint <= Character.MAX_CODE_POINT; codePoint++) {
            boolean isSurrogate = codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
            UnicodeScript script = UnicodeScript.of(codePoint);
            if (!isSurrogate && (script != UnicodeScript.UNKNOWN || codePoint % 97 == 0)) {
                byScript.computeIfAbsent(script, key -> new ArrayList<>()).add(codePoint);
            }
        }
        return byScript.values().stream()
                .map(all -> all.stream().mapToInt(Integer::intValue).toArray())
                .toList();
    }

    /** The next text, of up to a few dozen parts. */
    public String next() {
        var text = new StringBuilder();
        int parts = random.nextInt(12) == 0 ? random.nextInt(60) : random.nextInt(8);
        for (int i = 0; i <= parts; i++) {
            appendPart(text);
        }
        return text.toString();
    }

    private void appendPart(StringBuilder text) {
        switch (random.nextInt(16)) {
            case 0, 1 -> appendScript(text, pick(SCRIPTS));
            case 2 -> text.append(pick(EMOJI));
            case 3 -> appendMarks(text);
            case 4 ->
                text.appendCodePoint(
                        random.nextBoolean() ? random.nextInt(0x20 + 1) : CONTROLS[random.nextInt(CONTROLS.length)]);
            case 5 -> appendSpaces(text);
            case 6 -> appendDigits(text);
            case 7 -> text.append(pick(CODE));
            case 8 -> appendRun(text);
            case 9 -> appendToken(text);
            case 10 -> text.append((char) (' ' + random.nextInt(95))).append((char) (' ' + random.nextInt(95)));
            case 11 -> appendAnything(text);
            default -> text.append(random.nextInt(3) == 0 ? "" : " ").append(pick(WORDS));
        }
    }

    private void appendScript(StringBuilder text, int[] script) {
        int length = 1 + random.nextInt(6);
        int around = random.nextInt(script.length);
        for (int i = 0; i < length; i++) {
            int near = Math.min(script.length - 1, around + random.nextInt(40));
            text.appendCodePoint(script[random.nextBoolean() ? near : random.nextInt(script.length)]);
            if (random.nextInt(5) == 0) {
                text.append(' ');
            }
        }
    }

    private void appendMarks(StringBuilder text) {
        text.append((char) ('a' + random.nextInt(26)));
        for (int i = random.nextInt(4); i >= 0; i--) {
            text.appendCodePoint(random.nextInt(4) == 0 ? 0x1AB0 + random.nextInt(80) : 0x300 + random.nextInt(0x70));
        }
    }

    private void appendSpaces(StringBuilder text) {
        int length = 1 + random.nextInt(random.nextInt(6) == 0 ? 40 : 3);
        int space = SPACES[random.nextInt(SPACES.length)];
        for (int i = 0; i < length; i++) {
            text.appendCodePoint(random.nextInt(5) == 0 ? SPACES[random.nextInt(SPACES.length)] : space);
        }
    }

    private void appendDigits(StringBuilder text) {
        int zero = ZEROS[random.nextInt(ZEROS.length)];
        for (int i = random.nextInt(9); i >= 0; i--) {
            text.appendCodePoint(zero + random.nextInt(10));
        }
    }

    private void appendRun(StringBuilder text) {
        String unit = random.nextBoolean() ? pick(WORDS) : Character.toString(' ' + random.nextInt(95));
        text.append(unit.repeat(1 + random.nextInt(random.nextInt(20) == 0 ? 200 : 12)));
    }

    private void appendToken(StringBuilder text) {
        if (!tokens.isEmpty()) {
            String token = pick(tokens);
            text.append(random.nextInt(4) == 0 ? " " : "");
            text.append(random.nextInt(6) == 0 ? token.substring(0, token.offsetByCodePoints(0, 1)) : token);
            text.append(random.nextInt(4) == 0 ? "  " : "");
        }
    }

    private void appendAnything(StringBuilder text) {
        int codePoint = random.nextInt(Character.MAX_CODE_POINT + 1);
        boolean isSurrogate = codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
        text.appendCodePoint(isSurrogate ? 0xFFFD : codePoint);
    }

    private <T> T pick(List<T> all) {
        return all.get(random.nextInt(all.size()));
    }

    private String pick(String[] all) {
        return all[random.nextInt(all.length)];
    }
}
