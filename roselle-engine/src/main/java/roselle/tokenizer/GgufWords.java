package roselle.tokenizer;

/**
 * BERT's words as llama.cpp cuts them: lower case, without accents, punctuation and ideographs apart.
 *
 * @param stripAccents keep only the first character of each decomposition, and no marks
 */
record GgufWords(boolean lowerCase, boolean stripAccents) implements PreTokenizer {
    @Override
    public void split(String text, int start, int end, boolean first, PieceSink sink) {
        var word = new StringBuilder();
        for (int at = start; at < end; ) {
            int given = text.codePointAt(at);
            at += Character.charCount(given);
            int codePoint = stripAccents
                    ? NormalForm.NFD.normalize(Character.toString(given)).codePointAt(0)
                    : given;
            if (CharacterClasses.isWhiteSpace(codePoint)) {
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
