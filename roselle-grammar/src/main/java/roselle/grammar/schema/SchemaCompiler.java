package roselle.grammar.schema;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Budget;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.GrammarException.Reason;
import roselle.grammar.regex.Formats;
import roselle.grammar.regex.Language;
import roselle.grammar.regex.Languages;
import roselle.grammar.regex.Numbers;
import roselle.grammar.regex.Regex;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * JSON schemas as formulas, keyword by keyword. Schemas of parts are compiled when a text, or the question whether values exist,
 * reaches them; keywords that cannot be followed anywhere in the document are therefore looked for in advance.
 */
public final class SchemaCompiler {
    private static final int MAX_DIGITS = 64;
    private static final int MAX_GIVEN_DIGITS = 100;
    private static final int MAX_IN_PLACE = 200;

    /** A schema in its scope, with where it stands. */
    record Scoped(Resource.Location location, List<Resource> scope) {
        JsonNode node() {
            return location.node();
        }

        @Nullable
        JsonNode keyword(String name) {
            return location.resource().dialect.unknown().contains(name) ? null : node().get(name);
        }

        Scoped at(JsonNode child, String... tokens) {
            return new Scoped(location.at(child, tokens), scope);
        }

        Draft draft() {
            return location.resource().draft();
        }
    }

    private final SchemaOptions options;
    private final Languages languages;
    private final Numbers numbers;
    private final Formulas formulas;
    private final Constants constants;
    private final Documents documents;
    private final Unevaluated unevaluated;
    private final Map<Place, Schema> schemas = new LinkedHashMap<>(); // in this order they are compiled
    private final Map<Place, Formula> compiled = new HashMap<>();
    private final Map<String, Language> patterns = new HashMap<>();
    private int inPlace;

    private SchemaCompiler(JsonNode schema, SchemaOptions options, Budget budget) {
        this.options = options;
        this.languages = new Languages(budget);
        this.numbers = new Numbers(
                languages, options.allowsAnyEscape() ? MAX_GIVEN_DIGITS : MAX_DIGITS, options.allowsAnyEscape());
        this.formulas = new Formulas(languages, numbers);
        this.constants = new Constants(formulas, numbers);
        this.documents = new Documents(schema, options, budget);
        this.unevaluated = new Unevaluated(this, formulas);
    }

    /**
     * The JSON texts that a schema allows.
     *
     * @param excluded texts that none of its strings and keys has in it
     */
    public static Constraint compile(String schema, SchemaOptions options, Collection<String> excluded, Budget budget) {
        budget.spend(schema.length() / 8);
        JsonNode node;
        try {
            node = Values.read(schema);
        } catch (JacksonException notJson) {
            throw new GrammarException(Reason.INVALID, "the schema is not JSON: " + notJson.getOriginalMessage());
        }
        SchemaCompiler compiler = new SchemaCompiler(node, options, budget);
        synchronized (compiler.languages.lock()) {
            Resource.Location whole = compiler.documents.main().whole();
            Formula formula = compiler.formula(compiler.scoped(whole, List.of()));
            compiler.compileParts();
            if (!excluded.isEmpty()) {
                formula = compiler.formulas.and(formula, ExcludedTexts.valuesWithout(excluded, compiler.formulas));
            }
            Shapes shapes = new Shapes(
                    compiler.formulas, compiler.constants, options.keyOrder() == SchemaOptions.KeyOrder.SCHEMA);
            return new JsonMachine(compiler.formulas, shapes, formula, options);
        }
    }

    /** Compiles all schemas that can be reached, so that what is not supported is refused before any text is. */
    private void compileParts() {
        int done = 0;
        while (done < schemas.size()) {
            List<Schema> all = new ArrayList<>(schemas.values());
            done = all.size();
            all.forEach(Schema::formula);
        }
    }

    // ---- places ----

    /** A schema entered from a scope: a resource with dynamic anchors joins it, unless one before it has the same. */
    private Scoped scoped(Resource.Location location, List<Resource> scope) {
        Resource.Location entered = documents.entered(location);
        Resource resource = entered.resource();
        boolean isNew = (!resource.dynamicAnchors.isEmpty() || resource.draft() == Draft.DRAFT_2019)
                && !scope.contains(resource);
        if (!isNew) {
            return new Scoped(entered, scope);
        }
        List<Resource> wider = new ArrayList<>(scope);
        wider.add(resource);
        return new Scoped(entered, List.copyOf(wider));
    }

    Schema schema(Scoped scoped) {
        Scoped entered = scoped(scoped.location(), scoped.scope());
        Place place = new Place(entered.node(), entered.location().resource(), entered.scope());
        return schemas.computeIfAbsent(place, key -> new Schema(() -> formula(entered)));
    }

    /** What a schema demands, with all that it refers to for the same value. */
    Formula formula(Scoped unentered) {
        Scoped scoped = scoped(unentered.location(), unentered.scope());
        Place place = new Place(scoped.node(), scoped.location().resource(), scoped.scope());
        Formula known = compiled.get(place);
        if (known != null) {
            return known;
        }
        if (++inPlace > MAX_IN_PLACE) {
            throw refused(scoped, "$ref", "references lead in a circle, or too far.");
        }
        formulas.budget().spend(20);
        known = compileHere(scoped);
        inPlace--;
        compiled.put(place, known);
        return known;
    }

    static GrammarException refused(Scoped scoped, String keyword, String message) {
        return new GrammarException(Reason.UNSUPPORTED, scoped.location().pointer(), keyword, message);
    }

    static GrammarException invalid(Scoped scoped, String keyword, String message) {
        return new GrammarException(Reason.INVALID, scoped.location().pointer(), keyword, message);
    }

    private Formula compileHere(Scoped scoped) {
        JsonNode node = scoped.node();
        if (node.isBoolean()) {
            return node.booleanValue() ? formulas.isTrue() : formulas.isFalse();
        }
        if (!node.isObject()) {
            throw invalid(scoped, "", "a schema must be an object or a boolean.");
        }
        if (node.has("$ref") && !scoped.draft().readsBesideRef()) {
            return formula(target(scoped, "$ref"));
        }
        List<Formula> parts = new ArrayList<>();
        addReferences(scoped, parts);
        addApplicators(scoped, parts);
        addValues(scoped, parts);
        addNumbers(scoped, parts);
        addStrings(scoped, parts);
        addObjects(scoped, parts);
        addArrays(scoped, parts);
        parts.add(unevaluated.members(scoped));
        parts.add(unevaluated.items(scoped));
        return formulas.and(parts);
    }

    // ---- references ----

    /** The schemas that a schema refers to for the same value. */
    List<Scoped> references(Scoped scoped) {
        List<Scoped> targets = new ArrayList<>();
        for (String keyword : List.of("$ref", "$dynamicRef", "$recursiveRef")) {
            boolean isKnown = switch (keyword) {
                case "$dynamicRef" -> scoped.draft() == Draft.DRAFT_2020;
                case "$recursiveRef" -> scoped.draft() == Draft.DRAFT_2019;
                default -> true;
            };
            if (isKnown && scoped.keyword(keyword) != null) {
                targets.add(target(scoped, keyword));
            }
        }
        return targets;
    }

    private void addReferences(Scoped scoped, List<Formula> parts) {
        for (Scoped target : references(scoped)) {
            parts.add(formula(target));
        }
    }

    @SuppressWarnings("ReferenceEquality") // nodes of one document are told apart by identity
    private Scoped target(Scoped scoped, String keyword) {
        JsonNode value = Objects.requireNonNull(scoped.keyword(keyword));
        if (!value.isString()) {
            throw invalid(scoped, keyword, "a reference must be a string.");
        }
        Resource.Location found = documents.find(scoped.location(), value.stringValue(), keyword);
        if (keyword.equals("$dynamicRef")) {
            String name = Documents.fragment(value.stringValue());
            Resource.Location anchored = found.resource().dynamicAnchors.get(name);
            if (anchored != null && anchored.node() == found.node()) {
                for (Resource resource : scoped.scope()) {
                    Resource.Location outermost = resource.dynamicAnchors.get(name);
                    if (outermost != null) {
                        return scoped(outermost, scoped.scope());
                    }
                }
            }
        } else if (keyword.equals("$recursiveRef") && found.resource().isRecursiveAnchor()) {
            for (Resource resource : scoped.scope()) {
                if (resource.isRecursiveAnchor()) {
                    return scoped(resource.whole(), scoped.scope());
                }
            }
        }
        return scoped(found, scoped.scope());
    }

    // ---- applicators for the same value ----

    /** The schemas in a list. */
    List<Scoped> list(Scoped scoped, String keyword) {
        JsonNode value = scoped.keyword(keyword);
        List<Scoped> all = new ArrayList<>();
        if (value != null) {
            if (!value.isArray()) {
                throw invalid(scoped, keyword, "must be a list of schemas.");
            }
            for (int i = 0; i < value.size(); i++) {
                all.add(scoped.at(value.get(i), keyword, Integer.toString(i)));
            }
        }
        return all;
    }

    @Nullable
    Scoped single(Scoped scoped, String keyword) {
        JsonNode value = scoped.keyword(keyword);
        return value == null ? null : scoped.at(value, keyword);
    }

    /** The schemas of a map by their keys. */
    Map<String, Scoped> map(Scoped scoped, String keyword) {
        JsonNode value = scoped.keyword(keyword);
        Map<String, Scoped> all = new LinkedHashMap<>();
        if (value != null) {
            if (!value.isObject()) {
                throw invalid(scoped, keyword, "must be an object.");
            }
            for (Map.Entry<String, JsonNode> entry : value.properties()) {
                all.put(entry.getKey(), scoped.at(entry.getValue(), keyword, entry.getKey()));
            }
        }
        return all;
    }

    private List<Formula> formulasOf(List<Scoped> all) {
        List<Formula> parts = new ArrayList<>(all.size());
        for (Scoped one : all) {
            parts.add(formula(one));
        }
        return parts;
    }

    private void addApplicators(Scoped scoped, List<Formula> parts) {
        parts.addAll(formulasOf(list(scoped, "allOf")));
        if (scoped.keyword("anyOf") != null) {
            parts.add(formulas.or(formulasOf(list(scoped, "anyOf"))));
        }
        if (scoped.keyword("oneOf") != null) {
            parts.add(exactlyOne(formulasOf(list(scoped, "oneOf"))));
        }
        Scoped not = single(scoped, "not");
        if (not != null) {
            parts.add(formulas.not(formula(not)));
        }
        Scoped condition = single(scoped, "if");
        if (condition != null && scoped.draft().compareTo(Draft.DRAFT_7) >= 0) {
            Formula is = formula(condition);
            Scoped then = single(scoped, "then");
            Scoped otherwise = single(scoped, "else");
            parts.add(formulas.or(formulas.not(is), then == null ? formulas.isTrue() : formula(then)));
            parts.add(formulas.or(is, otherwise == null ? formulas.isTrue() : formula(otherwise)));
        }
        for (Map.Entry<String, Scoped> entry : dependentSchemas(scoped).entrySet()) {
            parts.add(formulas.or(formulas.not(has(entry.getKey())), formula(entry.getValue())));
        }
    }

    /** Schemas that hold where a key is there. */
    Map<String, Scoped> dependentSchemas(Scoped scoped) {
        Map<String, Scoped> all = new LinkedHashMap<>(map(scoped, "dependentSchemas"));
        for (Map.Entry<String, Scoped> entry : map(scoped, "dependencies").entrySet()) {
            if (!entry.getValue().node().isArray()) {
                all.put(entry.getKey(), entry.getValue());
            }
        }
        return all;
    }

    /** Whether a value is no object, or has a key; its opposite is an object without it. */
    Formula has(String key) {
        return formulas.and(formulas.types(Atom.OBJECT), formulas.atom(new Atom.Has(key)));
    }

    Formula exactlyOne(List<Formula> all) {
        Formula none = formulas.isTrue();
        Formula one = formulas.isFalse();
        for (int i = all.size() - 1; i >= 0; i--) {
            Formula here = all.get(i);
            Formula not = formulas.not(here);
            one = formulas.or(formulas.and(here, none), formulas.and(not, one));
            none = formulas.and(not, none);
        }
        return one;
    }

    // ---- values ----

    private void addValues(Scoped scoped, List<Formula> parts) {
        JsonNode type = scoped.keyword("type");
        if (type != null) {
            int set = 0;
            for (JsonNode one : type.isArray() ? type : List.of(type)) {
                set |= types(scoped, one);
            }
            parts.add(formulas.types(set));
            boolean isWhole = (set & (Atom.INTEGER | Atom.FRACTION)) == Atom.INTEGER;
            if (isWhole && scoped.draft() == Draft.DRAFT_4) { // there, 1.0 is no integer
                parts.add(text(ValueType.NUMBER, numbers.whole(), false));
            }
        }
        JsonNode values = scoped.keyword("enum");
        if (values != null) {
            if (!values.isArray()) {
                throw invalid(scoped, "enum", "must be a list.");
            }
            List<JsonNode> all = new ArrayList<>(values.size());
            values.forEach(all::add);
            parts.add(constants(scoped, "enum", all));
        }
        JsonNode constant = scoped.keyword("const");
        if (constant != null && scoped.draft() != Draft.DRAFT_4) {
            parts.add(constants(scoped, "const", List.of(constant)));
        }
    }

    private Formula constants(Scoped scoped, String keyword, List<JsonNode> values) {
        try {
            return constants.anyOf(values);
        } catch (GrammarException refusal) {
            throw new GrammarException(
                    refusal.reason(), scoped.location().pointer(), keyword, Objects.toString(refusal.getMessage()));
        }
    }

    private static int types(Scoped scoped, JsonNode name) {
        return switch (name.asString("")) {
            case "null" -> Atom.NULL;
            case "boolean" -> Atom.TRUE | Atom.FALSE;
            case "integer" -> Atom.INTEGER;
            case "number" -> Atom.INTEGER | Atom.FRACTION;
            case "string" -> Atom.STRING;
            case "array" -> Atom.ARRAY;
            case "object" -> Atom.OBJECT;
            case "any" -> Atom.ALL_TYPES;
            default -> throw invalid(scoped, "type", "there is no type " + name + ".");
        };
    }

    private void addNumbers(Scoped scoped, List<Formula> parts) {
        JsonNode exclusiveMin = scoped.keyword("exclusiveMinimum");
        JsonNode exclusiveMax = scoped.keyword("exclusiveMaximum");
        JsonNode min = scoped.keyword("minimum");
        JsonNode max = scoped.keyword("maximum");
        if (min != null) {
            boolean isOpen = exclusiveMin != null && exclusiveMin.isBoolean() && exclusiveMin.booleanValue();
            parts.add(compared(scoped, "minimum", min, !isOpen, true));
        }
        if (max != null) {
            boolean isOpen = exclusiveMax != null && exclusiveMax.isBoolean() && exclusiveMax.booleanValue();
            parts.add(compared(scoped, "maximum", max, !isOpen, false));
        }
        if (exclusiveMin != null && !exclusiveMin.isBoolean()) {
            parts.add(compared(scoped, "exclusiveMinimum", exclusiveMin, false, true));
        }
        if (exclusiveMax != null && !exclusiveMax.isBoolean()) {
            parts.add(compared(scoped, "exclusiveMaximum", exclusiveMax, false, false));
        }
        JsonNode multiple = scoped.keyword("multipleOf");
        if (multiple != null) {
            BigDecimal of = decimal(scoped, "multipleOf", multiple);
            if (of.signum() <= 0) {
                throw invalid(scoped, "multipleOf", "must be above 0.");
            }
            parts.add(text(ValueType.NUMBER, numbers.multiples(of), true));
        }
    }

    private Formula text(ValueType type, Language language, boolean isPlainOnly) {
        return language.isAny() ? formulas.isTrue() : formulas.atom(new Atom.Text(type, language, isPlainOnly));
    }

    private static BigDecimal decimal(Scoped scoped, String keyword, JsonNode value) {
        if (!value.isNumber()) {
            throw invalid(scoped, keyword, "must be a number.");
        }
        try {
            return Constants.decimal(value);
        } catch (GrammarException refusal) {
            throw refused(scoped, keyword, Objects.toString(refusal.getMessage()));
        }
    }

    private Formula compared(Scoped scoped, String keyword, JsonNode bound, boolean isEqual, boolean isGreater) {
        BigDecimal value = decimal(scoped, keyword, bound);
        return text(ValueType.NUMBER, numbers.compared(value, !isGreater, isEqual, isGreater), false);
    }

    private void addStrings(Scoped scoped, List<Formula> parts) {
        long min = count(scoped, "minLength", 0);
        long max = count(scoped, "maxLength", Long.MAX_VALUE);
        if (min > Integer.MAX_VALUE - 1) {
            throw refused(scoped, "minLength", "is too large.");
        }
        int most = max >= Integer.MAX_VALUE ? Integer.MAX_VALUE : (int) max;
        parts.add(text(ValueType.STRING, languages.length((int) min, most), false));
        JsonNode pattern = scoped.keyword("pattern");
        if (pattern != null) {
            parts.add(text(ValueType.STRING, pattern(scoped, "pattern", pattern.asString("")), false));
        }
        JsonNode format = scoped.keyword("format");
        if (format != null && format.isString() && options.assertsFormats()) {
            Language known = Formats.find(languages, format.stringValue());
            if (known != null) {
                parts.add(text(ValueType.STRING, known, false));
            }
        }
    }

    Language pattern(Scoped scoped, String keyword, String expression) {
        Language known = patterns.get(expression);
        if (known == null) {
            try {
                known = Regex.within(languages, expression);
            } catch (GrammarException refusal) {
                throw new GrammarException(
                        refusal.reason(), scoped.location().pointer(), keyword, Objects.toString(refusal.getMessage()));
            }
            patterns.put(expression, known);
        }
        return known;
    }

    private static long count(Scoped scoped, String keyword, long otherwise) {
        JsonNode value = scoped.keyword(keyword);
        if (value == null) {
            return otherwise;
        }
        if (!value.isNumber() || value.decimalValue().stripTrailingZeros().scale() > 0) {
            throw invalid(scoped, keyword, "must be a whole number.");
        }
        BigDecimal number = value.decimalValue().min(BigDecimal.valueOf(Long.MAX_VALUE - 1));
        if (number.signum() < 0) {
            throw invalid(scoped, keyword, "must not be negative.");
        }
        return number.setScale(0, RoundingMode.DOWN).longValue();
    }

    // ---- objects ----

    private void addObjects(Scoped scoped, List<Formula> parts) {
        JsonNode required = scoped.keyword("required");
        if (required != null && required.isArray()) {
            parts.add(hasAll(required));
        }
        parts.add(formulas.atom(new Atom.MemberCount(
                count(scoped, "minProperties", 0), count(scoped, "maxProperties", Long.MAX_VALUE))));
        Scoped names = single(scoped, "propertyNames");
        if (names != null) {
            parts.add(formulas.atom(new Atom.Names(formulas.language(formula(names), ValueType.STRING))));
        }
        addDependentKeys(scoped, "dependentRequired", parts);
        addDependentKeys(scoped, "dependencies", parts);
        Scoped others = single(scoped, "additionalProperties");
        if (scoped.keyword("properties") != null || scoped.keyword("patternProperties") != null || others != null) {
            Schema rest = others == null ? new Schema(formulas::isTrue) : schema(others);
            parts.add(members(scoped, rest));
        }
    }

    /** The condition on members of {@code properties} and {@code patternProperties}, and on all others. */
    Formula members(Scoped scoped, Schema others) {
        Map<String, Schema> named = new LinkedHashMap<>();
        map(scoped, "properties").forEach((name, child) -> named.put(name, schema(child)));
        List<Atom.KeyPattern> matched = new ArrayList<>();
        map(scoped, "patternProperties")
                .forEach((expression, child) -> matched.add(
                        new Atom.KeyPattern(pattern(scoped, "patternProperties", expression), schema(child))));
        return formulas.atom(new Atom.Members(named, matched, others));
    }

    private Formula hasAll(JsonNode keys) {
        List<Formula> parts = new ArrayList<>(keys.size());
        for (JsonNode key : keys) {
            parts.add(formulas.atom(new Atom.Has(key.asString(""))));
        }
        return formulas.and(parts);
    }

    private void addDependentKeys(Scoped scoped, String keyword, List<Formula> parts) {
        JsonNode value = scoped.keyword(keyword);
        if (value == null) {
            return;
        }
        for (Map.Entry<String, JsonNode> entry : value.properties()) {
            if (entry.getValue().isArray()) {
                parts.add(formulas.or(
                        formulas.not(formulas.atom(new Atom.Has(entry.getKey()))), hasAll(entry.getValue())));
            } else if (entry.getValue().isString()) {
                parts.add(formulas.or(
                        formulas.not(formulas.atom(new Atom.Has(entry.getKey()))),
                        formulas.atom(new Atom.Has(entry.getValue().stringValue()))));
            }
        }
    }

    // ---- arrays ----

    private void addArrays(Scoped scoped, List<Formula> parts) {
        parts.add(formulas.atom(
                new Atom.ItemCount(count(scoped, "minItems", 0), count(scoped, "maxItems", Long.MAX_VALUE))));
        List<Scoped> first = firstItems(scoped);
        Scoped rest = otherItems(scoped);
        if (!first.isEmpty() || rest != null) {
            List<Schema> schemasOfFirst = new ArrayList<>();
            first.forEach(one -> schemasOfFirst.add(schema(one)));
            Schema others = rest == null ? new Schema(formulas::isTrue) : schema(rest);
            parts.add(formulas.atom(new Atom.Items(schemasOfFirst, others)));
        }
        Scoped contains = single(scoped, "contains");
        if (contains != null && scoped.draft() != Draft.DRAFT_4) {
            boolean isCounted = scoped.draft().readsBesideRef();
            long min = isCounted ? count(scoped, "minContains", 1) : 1;
            long max = isCounted ? count(scoped, "maxContains", Long.MAX_VALUE) : Long.MAX_VALUE;
            if (min > 0 || max != Long.MAX_VALUE) {
                parts.add(formulas.atom(new Atom.Contains(schema(contains), min, max, 0)));
            }
        }
        JsonNode unique = scoped.keyword("uniqueItems");
        if (unique != null && unique.asBoolean(false)) {
            parts.add(formulas.atom(new Atom.Unique(List.of(), false)));
        }
    }

    /** Schemas of the first items, one by one. */
    List<Scoped> firstItems(Scoped scoped) {
        JsonNode items = scoped.keyword("items");
        return items != null && items.isArray() ? list(scoped, "items") : list(scoped, "prefixItems");
    }

    /** The schema of all further items. */
    @Nullable
    Scoped otherItems(Scoped scoped) {
        JsonNode items = scoped.keyword("items");
        return items != null && !items.isArray()
                ? single(scoped, "items")
                : items == null ? null : single(scoped, "additionalItems");
    }

    Schema lazily(Supplier<Formula> formula) {
        return new Schema(formula);
    }

    Set<String> keysOf(Scoped scoped, String keyword) {
        return map(scoped, keyword).keySet();
    }
}
