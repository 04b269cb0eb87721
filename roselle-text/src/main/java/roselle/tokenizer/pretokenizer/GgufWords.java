package roselle.tokenizer.pretokenizer;

import roselle.tokenizer.normalizer.NormalForm;
import roselle.tokenizer.normalizer.Normalizers;
import roselle.tokenizer.unicode.CharacterClasses;
import roselle.tokenizer.unicode.CodePointSet;

/**
 * BERT's words as llama.cpp cuts them: lower case, without accents, punctuation and ideographs apart.
 *
 * @param stripAccents keep only the first character of each decomposition, and no marks
 */
public record GgufWords(boolean lowerCase, boolean stripAccents) implements PreTokenizer {
    /** Marks, punctuation and capitals of Unicode 16, which llama.cpp's tables (15.1) do not know: they are letters. */
    private static final CodePointSet UNKNOWN = CodePointSet.parse("""
            897 1b4e-1b4f 1b7f a7cb a7dc 10d69-10d6e 10efc 113b8-113c0 113c2 113c5 113c7-113ca 113cc-113d0
            113d2 113d4-113d5 113d7-113d8 113e1-113e2 11be1 11f5a 1611e-1612f 16d6d-16d6f 1e5ee-1e5ef 1e5ff
            """);

    @Override
    public void split(String text, int start, int end, boolean first, PieceSink sink) {
        var word = new StringBuilder();
        for (int at = start; at < end; ) {
            int given = text.codePointAt(at);
            at += Character.charCount(given);
            int codePoint =
                    stripAccents ? NormalForm.NFD.of(Character.toString(given)).codePointAt(0) : given;
            if (UNKNOWN.contains(codePoint)) {
                word.appendCodePoint(codePoint);
            } else if (CharacterClasses.isWhiteSpace(codePoint)) {
                emit(word, sink);
            } else if (!isDropped(codePoint)) {
                append(codePoint, word, sink);
            }
        }
        emit(word, sink);
    }

    private void append(int codePoint, StringBuilder word, PieceSink sink) {
        boolean standsAlone = isPunctuation(codePoint) || Normalizers.isChinese(codePoint);
        if (standsAlone) {
            emit(word, sink);
        }
        word.appendCodePoint(lowerCase ? Character.toLowerCase(codePoint) : codePoint);
        if (standsAlone) {
            emit(word, sink);
        }
    }

    private static boolean isPunctuation(int codePoint) {
        return codePoint < 128
                ? CharacterClasses.isPunctuationOrAsciiSymbol(codePoint)
                : CharacterClasses.isPunctuation(codePoint);
    }

    private static void emit(StringBuilder word, PieceSink sink) {
        if (!word.isEmpty()) {
            sink.accept(word.toString(), 0, word.length(), false);
            word.setLength(0);
        }
    }

    private boolean isDropped(int codePoint) {
        return codePoint == 0
                || codePoint == 0xFFFD
                || switch (Character.getType(codePoint)) {
                    case Character.CONTROL, Character.FORMAT, Character.PRIVATE_USE -> true;
                    case Character.NON_SPACING_MARK, Character.ENCLOSING_MARK, Character.COMBINING_SPACING_MARK ->
                        stripAccents;
                    default -> false;
                };
    }
}
