package roselle.tokenizer.normalizer;

import java.text.Normalizer.Form;
import roselle.tokenizer.unicode.ReferenceUnicode;

/** Unicode's normal forms, over the characters that Hugging Face's library knows. */
public enum NormalForm implements Normalizer {
    NFC(Form.NFC),
    NFD(Form.NFD),
    NFKC(Form.NFKC),
    NFKD(Form.NFKD);

    private static final char FIRST_AFFECTED = 0x80; // all forms leave ASCII alone

    private final Form form;

    NormalForm(Form form) {
        this.form = form;
    }

    @Override
    public String normalize(String text) {
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
                result.append(java.text.Normalizer.normalize(text.substring(done, at), form));
                result.appendCodePoint(codePoint);
                done = next;
            }
            at = next;
        }
        String rest = java.text.Normalizer.normalize(text.substring(done), form);
        return result == null ? rest : result.append(rest).toString();
    }
}
