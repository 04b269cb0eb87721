package roselle.grammar.regex;

import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.grammar.regex.Language.Kind;

/**
 * Texts that begin with a part so many times, and then go on with anything: those that begin with it more often are among those that do
 * less often. What is left of an expression that may match anywhere in a text is a union of such languages, one for each place where the
 * match may have begun; all but one of them are then left out.
 */
final class Beginnings {
    private Beginnings() {}

    /** Leaves out of a union what is among other languages of it. */
    static void simplify(List<Language> union) {
        for (int i = union.size() - 1; i >= 0; i--) {
            Language part = repeated(union.get(i));
            if (part != null && isAmongOthers(union, i, part)) {
                union.remove(i);
            }
        }
    }

    @SuppressWarnings("ReferenceEquality") // interned
    private static boolean isAmongOthers(List<Language> union, int which, Language part) {
        int times = times(union.get(which));
        for (int i = 0; i < union.size(); i++) {
            Language other = union.get(i);
            if (i != which && repeated(other) == part && times(other) <= times) {
                return true;
            }
        }
        return false;
    }

    /** The part that texts begin with before anything may come; null of other languages. */
    private static @Nullable Language repeated(Language language) {
        if (language.kind != Kind.CONCAT || !language.parts[1].isAny()) {
            return null;
        }
        Language first = language.parts[0];
        return first.kind == Kind.REPEAT ? first.parts[0] : first;
    }

    /** How often at least. */
    private static int times(Language language) {
        Language first = language.parts[0];
        return first.kind == Kind.REPEAT ? first.min : 1;
    }
}
