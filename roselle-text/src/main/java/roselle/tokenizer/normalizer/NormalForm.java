package roselle.tokenizer.normalizer;

import java.text.Normalizer.Form;
import roselle.tokenizer.unicode.ReferenceUnicode;

/** Unicode's normal forms, over the characters that Hugging Face's library knows. */
public enum NormalForm implements Normalizer {
    NFC(Form.NFC, Form.NFD),
    NFD(Form.NFD, Form.NFD),
    NFKC(Form.NFKC, Form.NFKD),
    NFKD(Form.NFKD, Form.NFKD);

    private static final char FIRST_AFFECTED = 0x80; // all forms leave ASCII alone

    private final Form form;
    private final Form decomposed;

    NormalForm(Form form, Form decomposed) {
        this.form = form;
        this.decomposed = decomposed;
    }

    @Override
    public String normalize(String text, int limit) {
        return Growth.checked(of(text), limit);
    }

    /** The form of a text; it is at most 18 times as long. */
    public String of(String text) {
        return isAscii(text) ? text : normalizeBetweenUntouched(text);
    }

    private static boolean isAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) >= FIRST_AFFECTED) {
                return false;
            }
        }
        return true;
    }

    /** A character that the library does not know is a starter that nothing combines with: it bounds the work. */
    private String normalizeBetweenUntouched(String text) {
        StringBuilder result = null;
        int done = 0;
        for (int at = 0; at < text.length(); ) {
            int codePoint = text.codePointAt(at);
            int next = at + Character.charCount(codePoint);
            if (ReferenceUnicode.UNTOUCHED_BY_NORMAL_FORMS.contains(codePoint)) {
                result = result == null ? new StringBuilder(text.length() + 16) : result;
                result.append(formOf(text.substring(done, at)));
                result.appendCodePoint(codePoint);
                done = next;
            }
            at = next;
        }
        String rest = formOf(text.substring(done));
        return result == null ? rest : result.append(rest).toString();
    }

    private String formOf(String text) {
        return java.text.Normalizer.normalize(new MarkOrder(decomposed).ordered(text), form);
    }
}
