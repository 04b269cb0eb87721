package roselle.tokenizer.normalizer;

import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.IntUnaryOperator;
import roselle.tokenizer.model.ByteAlphabet;
import roselle.tokenizer.unicode.CharacterClasses;
import roselle.tokenizer.unicode.ReferenceUnicode;

/** The normalizers that are a few lines each, as Hugging Face's library defines them. */
public final class Normalizers {
    private Normalizers() {}

    /** Rewrites one character; appends nothing to drop it. */
    @FunctionalInterface
    private interface CharacterRule {
        void append(int codePoint, StringBuilder result);
    }

    private static Normalizer each(CharacterRule rule) {
        return (text, limit) -> {
            var result = new StringBuilder(text.length() + 16);
            for (int at = 0; at < text.length(); ) {
                int codePoint = text.codePointAt(at);
                rule.append(codePoint, result);
                Growth.check(result.length(), limit);
                at += Character.charCount(codePoint);
            }
            return result.toString();
        };
    }

    /** Drops characters. */
    private record Dropping(IntPredicate dropped) implements Normalizer {
        @Override
        public String normalize(String text, int limit) {
            var result = new StringBuilder(text.length());
            for (int at = 0; at < text.length(); ) {
                int codePoint = text.codePointAt(at);
                if (!dropped.test(codePoint)) {
                    result.appendCodePoint(codePoint);
                }
                at += Character.charCount(codePoint);
            }
            return result.toString();
        }

        @Override
        public boolean keepsBeginning(String text, int limit) {
            return text.isEmpty() || !dropped.test(text.codePointAt(0));
        }
    }

    private static Normalizer mapping(IntUnaryOperator mapped) {
        return each((codePoint, result) -> result.appendCodePoint(mapped.applyAsInt(codePoint)));
    }

    /** One normalizer after the other. */
    public static Normalizer sequence(List<Normalizer> normalizers) {
        return new Sequence(List.copyOf(normalizers));
    }

    private record Sequence(List<Normalizer> all) implements Normalizer {
        @Override
        public String normalize(String text, int limit) {
            String result = text;
            for (Normalizer normalizer : all) {
                result = normalizer.normalize(result, limit);
            }
            return result;
        }

        @Override
        public boolean keepsBeginning(String text, int limit) {
            String result = text;
            for (Normalizer normalizer : all) {
                if (!normalizer.keepsBeginning(result, limit)) {
                    return false;
                }
                result = normalizer.normalize(result, limit);
            }
            return true;
        }
    }

    /** Lower case by character, without regard to neighbours or language. */
    public static Normalizer lowerCase() {
        return each(ReferenceUnicode::appendLowerCase);
    }

    /** Drops marks of all kinds. */
    public static Normalizer stripAccents() {
        return new Dropping(ReferenceUnicode::isMark);
    }

    /** Drops white space at the ends. */
    public static Normalizer strip(boolean left, boolean right) {
        return new Strip(left, right);
    }

    private record Strip(boolean left, boolean right) implements Normalizer {
        @Override
        public String normalize(String text, int limit) {
            int start = 0;
            int end = text.length();
            while (left && start < end && CharacterClasses.isWhiteSpace(text.charAt(start))) {
                start++;
            }
            while (right && start < end && CharacterClasses.isWhiteSpace(text.charAt(end - 1))) {
                end--;
            }
            return text.substring(start, end);
        }

        @Override
        public boolean keepsBeginning(String text, int limit) {
            return !left || text.isEmpty() || !CharacterClasses.isWhiteSpace(text.charAt(0));
        }
    }

    /** Puts {@code prefix} before a text that is not empty. */
    public static Normalizer prepend(String prefix) {
        return (text, limit) -> text.isEmpty() ? text : Growth.checked(prefix + text, limit);
    }

    /** Puts {@code content} in place of each {@code pattern}, which is not empty. */
    public static Normalizer replace(String pattern, String content) {
        return (text, limit) -> replaced(text, pattern, content, limit);
    }

    private static String replaced(String text, String pattern, String content, int limit) {
        int at = text.indexOf(pattern);
        if (at < 0) {
            return text;
        }
        var result = new StringBuilder(text.length() + 16);
        int done = 0;
        for (; at >= 0; at = text.indexOf(pattern, done)) {
            result.append(text, done, at).append(content);
            Growth.check(result.length(), limit);
            done = at + pattern.length();
        }
        return Growth.checked(result.append(text, done, text.length()).toString(), limit);
    }

    /** Spells each byte of UTF-8 as one visible character, as byte-level BPE does. */
    public static Normalizer byteLevel() {
        return (text, limit) -> Growth.checked(ByteAlphabet.spell(text), limit);
    }

    /** What Google's machine translation cleans: controls go, odd spaces become spaces. */
    public static Normalizer nmt() {
        return sequence(List.of(new Dropping(Normalizers::isDroppedByNmt), mapping(Normalizers::mappedByNmt)));
    }

    private static boolean isDroppedByNmt(int codePoint) {
        return (codePoint >= 0x01 && codePoint <= 0x08)
                || codePoint == 0x0B
                || (codePoint >= 0x0E && codePoint <= 0x1F)
                || codePoint == 0x7F
                || codePoint == 0x8F
                || codePoint == 0x9F;
    }

    private static int mappedByNmt(int codePoint) {
        return switch (codePoint) {
            case 0x09, 0x0A, 0x0C, 0x0D, 0x1680, 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD -> ' ';
            default -> codePoint >= 0x200B && codePoint <= 0x200F ? ' ' : codePoint;
        };
    }

    /**
     * BERT's basic cleaning.
     *
     * @param cleanText drop controls and make white space of all kinds a space
     * @param handleChineseCharacters put spaces around each ideograph
     * @param stripAccents decompose and drop marks
     */
    public static Normalizer bert(
            boolean cleanText, boolean handleChineseCharacters, boolean stripAccents, boolean lowerCase) {
        Normalizer cleaning = cleanText
                ? sequence(List.of(new Dropping(Normalizers::isDroppedByBert), mapping(Normalizers::mappedByBert)))
                : Normalizer.NONE;
        Normalizer spacing = handleChineseCharacters ? each(Normalizers::appendSpaced) : Normalizer.NONE;
        Normalizer stripping = stripAccents
                ? sequence(List.of(NormalForm.NFD, new Dropping(ReferenceUnicode::isNonSpacingMark)))
                : Normalizer.NONE;
        return sequence(List.of(cleaning, spacing, stripping, lowerCase ? lowerCase() : Normalizer.NONE));
    }

    private static boolean isDroppedByBert(int codePoint) {
        boolean isPlainSpace = codePoint == '\t' || codePoint == '\n' || codePoint == '\r';
        return codePoint == 0xFFFD || (!isPlainSpace && ReferenceUnicode.isOther(codePoint));
    }

    private static int mappedByBert(int codePoint) {
        return CharacterClasses.isWhiteSpace(codePoint) ? ' ' : codePoint;
    }

    private static void appendSpaced(int codePoint, StringBuilder result) {
        if (isChinese(codePoint)) {
            result.append(' ').appendCodePoint(codePoint).append(' ');
        } else {
            result.appendCodePoint(codePoint);
        }
    }

    /** The blocks of CJK ideographs; kana and hangul are written with spaces or learnt as words. */
    public static boolean isChinese(int codePoint) {
        return codePoint >= 0x3400
                && (codePoint <= 0x4DBF
                        || isIn(codePoint, 0x4E00, 0x9FFF)
                        || isIn(codePoint, 0xF900, 0xFAFF)
                        || isIn(codePoint, 0x20000, 0x2A6DF)
                        || isIn(codePoint, 0x2A700, 0x2B73F)
                        || isIn(codePoint, 0x2B740, 0x2B81F)
                        || isIn(codePoint, 0x2B920, 0x2CEAF)
                        || isIn(codePoint, 0x2F800, 0x2FA1F));
    }

    private static boolean isIn(int codePoint, int first, int last) {
        return codePoint >= first && codePoint <= last;
    }
}
