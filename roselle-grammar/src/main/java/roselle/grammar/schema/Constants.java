package roselle.grammar.schema;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.regex.Language;
import roselle.grammar.regex.Languages;
import roselle.grammar.regex.Numbers;
import tools.jackson.databind.JsonNode;

/** Formulas that are met by given values alone. */
final class Constants {
    private static final int MAX_POWER = 400;

    private final Formulas formulas;
    private final Languages languages;
    private final Numbers numbers;
    private final Map<JsonNode, Formula> known = new HashMap<>();

    Constants(Formulas formulas, Numbers numbers) {
        this.formulas = formulas;
        this.languages = formulas.languages();
        this.numbers = numbers;
    }

    /** Met by one of some values. */
    Formula anyOf(List<JsonNode> values) {
        List<String> texts = new ArrayList<>();
        List<Formula> parts = new ArrayList<>();
        List<Language> spellings = new ArrayList<>();
        int types = 0;
        for (JsonNode value : values) {
            switch (value.getNodeType()) {
                case STRING -> texts.add(value.stringValue());
                case NUMBER -> spellings.add(equal(decimal(value)));
                case NULL -> types |= Atom.NULL;
                case BOOLEAN -> types |= value.booleanValue() ? Atom.TRUE : Atom.FALSE;
                default -> parts.add(structure(value));
            }
        }
        parts.add(formulas.types(types));
        if (!texts.isEmpty()) {
            parts.add(formulas.and(
                    formulas.types(Atom.STRING),
                    formulas.atom(new Atom.Text(ValueType.STRING, languages.literals(texts), false))));
        }
        if (!spellings.isEmpty()) {
            Language any = languages.or(spellings.toArray(Language[]::new));
            parts.add(formulas.and(
                    formulas.types(Atom.INTEGER | Atom.FRACTION),
                    formulas.atom(new Atom.Text(ValueType.NUMBER, any, false))));
        }
        return formulas.or(parts);
    }

    /** A number's value; refused if its exponent is out of all reason. */
    static BigDecimal decimal(JsonNode number) {
        BigDecimal value = number.decimalValue();
        if (Math.abs((long) value.precision() - value.scale()) > MAX_POWER || value.precision() > MAX_POWER) {
            throw new GrammarException(
                    GrammarException.Reason.UNSUPPORTED, "a number has more than " + MAX_POWER + " digits.");
        }
        return value;
    }

    Language equal(BigDecimal value) {
        languages.budget().spend(10);
        return numbers.compared(value, false, true, false);
    }

    private Formula structure(JsonNode value) {
        Formula there = known.get(value);
        if (there == null) {
            there = value.isArray() ? array(value) : object(value);
            known.put(value, there);
        }
        return there;
    }

    private Schema constant(JsonNode value) {
        return new Schema(() -> anyOf(List.of(value)));
    }

    private Formula array(JsonNode value) {
        List<Schema> items = new ArrayList<>();
        for (JsonNode item : value) {
            items.add(constant(item));
        }
        return formulas.and(
                formulas.types(Atom.ARRAY),
                formulas.atom(new Atom.Items(items, new Schema(formulas::isFalse))),
                formulas.atom(new Atom.ItemCount(items.size(), items.size())));
    }

    private Formula object(JsonNode value) {
        Map<String, Schema> members = new LinkedHashMap<>();
        List<Formula> parts = new ArrayList<>();
        for (Map.Entry<String, JsonNode> member : value.properties()) {
            members.put(member.getKey(), constant(member.getValue()));
            parts.add(formulas.atom(new Atom.Has(member.getKey())));
        }
        parts.add(formulas.types(Atom.OBJECT));
        parts.add(formulas.atom(new Atom.Members(members, List.of(), new Schema(formulas::isFalse))));
        return formulas.and(parts);
    }
}
