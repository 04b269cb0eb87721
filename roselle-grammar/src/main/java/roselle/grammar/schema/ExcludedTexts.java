package roselle.grammar.schema;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import roselle.grammar.regex.Language;
import roselle.grammar.regex.Languages;

/** Texts that no string of a value has in it, beside what its schema says. */
final class ExcludedTexts {
    private ExcludedTexts() {}

    /** Values none of whose strings and keys, at any depth, has a text in it. */
    static Formula valuesWithout(Collection<String> excluded, Formulas formulas) {
        Languages languages = formulas.languages();
        Language any = languages.any();
        Language allowed = languages.and(excluded.stream()
                .map(text -> languages.not(languages.concat(any, languages.text(text), any)))
                .toArray(Language[]::new));
        List<Schema> within = new ArrayList<>();
        within.add(new Schema(() -> formulas.and(List.of(
                formulas.atom(new Atom.Text(ValueType.STRING, allowed, false)),
                formulas.atom(new Atom.Names(allowed)),
                formulas.atom(new Atom.Members(Map.of(), List.of(), within.getFirst())),
                formulas.atom(new Atom.Items(List.of(), within.getFirst()))))));
        return within.getFirst().formula();
    }
}
