package roselle.structured;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import roselle.conversation.format.CallFormat;
import roselle.conversation.format.CallFormats;
import roselle.conversation.format.CallShapes;
import roselle.conversation.format.Shape;
import roselle.grammar.Constraints;
import roselle.grammar.GrammarLimits;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.GrammarException.Reason;
import roselle.grammar.schema.SchemaOptions;
import roselle.json.JsonLimits;
import roselle.structured.MarkedText.Freedom;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Structural tags, as XGrammar has them, to constraints: a tree of formats, each of which is compiled with what comes behind it.
 *
 * <p>Spellings of special tokens are these tokens. A text within a tag ends with the first of the tag's ends, one elsewhere wherever
 * what follows may begin.
 */
final class StructuralTags {
    private static final JsonMapper JSON = JsonLimits.DEFAULT.withDepth(256).mapper();
    private static final int MAX_DEPTH = 48;
    private static final int MAX_NODES = 4096;
    private static final int MAX_HELD = 256; // schemas, expressions and grammars of one tag
    private static final long LEAST_UNITS = 20_000;

    /** The formats of calls that write the arguments of a style. */
    private static final Map<String, String> STYLES = Map.of(
            "qwen_xml", "qwen3_coder",
            "minimax_xml", "minimax_m2",
            "deepseek_xml", "deepseek_v32",
            "deepseek_v4_1_xml", "deepseek_v32",
            "glm_xml", "glm45",
            "kimi_k3_xml", "kimi_k3");

    /** Those that write elements within elements. */
    private static final Map<String, NestedArguments.Style> NESTED = Map.of(
            "cohere_xml", NestedArguments.Style.COHERE,
            "minimax_m3_xml", NestedArguments.Style.MINIMAX_M3);

    private final SpecialOctets special;
    private final int[] endTokens;
    private final GrammarLimits limits;
    private GrammarLimits each;
    private int nodes;
    private int held;

    StructuralTags(SpecialOctets special, int[] endTokens, GrammarLimits limits) {
        this.special = special;
        this.endTokens = endTokens.clone();
        this.limits = limits;
        this.each = limits;
    }

    /**
     * The texts of a structural tag.
     *
     * @throws GrammarException if it is none, says what is not supported, or costs too much
     */
    Constraint compile(String tag) {
        if (tag.length() > limits.maxSourceCharacters()) {
            throw new GrammarException(
                    Reason.BUDGET,
                    "it has " + tag.length() + " characters; " + limits.maxSourceCharacters() + " are allowed.");
        }
        JsonNode read;
        try {
            read = JSON.readTree(tag);
        } catch (JacksonException malformed) {
            throw new GrammarException(Reason.INVALID, "it is no JSON: " + malformed.getOriginalMessage());
        }
        each = share(count(read));
        var fields = new TagFields(read, "");
        String type = fields.text("type");
        if (!type.equals("structural_tag")) {
            throw fields.refusal(Reason.INVALID, "type", "it must be structural_tag.");
        }
        var end = new Behind(new ShapeNode.End(), List.of());
        ShapeNode node = fields.any("structures") == null
                ? format(fields.required("format"), "/format", end, 0)
                : structures(fields, end);
        fields.refuseOthers();
        return new ShapeConstraint(node);
    }

    private GrammarLimits share(int parts) {
        if (parts > MAX_HELD) {
            throw new GrammarException(
                    Reason.BUDGET,
                    "it has " + parts + " schemas, expressions and grammars; " + MAX_HELD + " are allowed.");
        }
        int among = Math.max(1, parts);
        return new GrammarLimits(
                limits.maxSourceCharacters(),
                Math.max(Math.min(LEAST_UNITS, limits.workUnits()), limits.workUnits() / among),
                limits.stepUnits(),
                limits.answerUnits() / among,
                Math.max(Math.min(2 * LEAST_UNITS, limits.keptUnits()), limits.keptUnits() / among));
    }

    private static int count(JsonNode node) {
        int parts = node.has("json_schema") || node.has("pattern") || node.has("grammar") ? 1 : 0;
        for (JsonNode part : node) {
            parts += count(part);
        }
        return parts;
    }

    /**
     * What comes behind a format.
     *
     * @param ends the literals that it begins with, where it is the end of a tag, so that the first of them ends a text
     */
    private record Behind(ShapeNode node, List<ShapeNode.Literal> ends) {
        static Behind of(ShapeNode node) {
            return new Behind(node, List.of());
        }
    }

    private ShapeNode format(JsonNode format, String pointer, Behind next, int depth) {
        var fields = new TagFields(format, pointer);
        if (++nodes > MAX_NODES || depth > MAX_DEPTH) {
            throw new GrammarException(Reason.BUDGET, pointer, "", "formats are nested or repeated too often.");
        }
        String type = fields.text("type");
        ShapeNode node = switch (type) {
            case "const_string" -> literal(fields, "value", octets(fields, "value", fields.text("value")), next.node());
            case "json_schema" -> schema(fields, next.node());
            case "qwen_xml_parameter" -> styled(fields, "qwen_xml", next.node());
            case "regex" -> {
                String pattern = fields.text("pattern");
                yield held(fields, "pattern", true, () -> Constraints.regex(pattern, each), next.node());
            }
            case "grammar" -> {
                String grammar = fields.text("grammar");
                yield held(fields, "grammar", false, () -> Constraints.grammar(grammar, each), next.node());
            }
            case "any_text" -> anyText(fields, next);
            case "any_tokens" -> anyTokens(fields, next);
            case "exclude_token" -> oneToken(fields, next.node());
            case "token" -> literal(fields, "token", token(fields, "token", fields.required("token")), next.node());
            case "sequence" -> sequence(fields, next, depth);
            case "or" -> or(fields, next, depth);
            case "optional" -> new ShapeNode.Fork(next.node(), content(fields, next, depth));
            case "plus" -> repeated(fields, 1, -1, next, depth);
            case "star" -> repeated(fields, 0, -1, next, depth);
            case "repeat" -> repeated(fields, fields.number("min"), fields.number("max"), next, depth);
            case "tag" -> tag(fields, begin(fields), next.node(), depth);
            case "tags_with_separator" -> separated(fields, next.node(), depth);
            case "triggered_tags" -> triggered(fields, "triggers", "excludes", next, depth);
            case "token_triggered_tags" -> triggered(fields, "trigger_tokens", "exclude_tokens", next, depth);
            case "dispatch" -> dispatch(fields, "excludes", next, depth);
            case "token_dispatch" -> dispatch(fields, "exclude_tokens", next, depth);
            default -> throw fields.refusal(Reason.UNSUPPORTED, "type", type + " is no format that is known here.");
        };
        fields.refuseOthers();
        return node;
    }

    private ShapeNode content(TagFields fields, Behind next, int depth) {
        return format(fields.required("content"), fields.pointer() + "/content", next, depth + 1);
    }

    // ---- literals and tokens ----

    private byte[] octets(TagFields fields, String field, String text) {
        if (special.indexOfAny(text, endTokens) >= 0) {
            throw fields.refusal(Reason.UNSUPPORTED, field, "it spells a token that ends answers.");
        }
        return special.of(text);
    }

    private static ShapeNode literal(TagFields fields, String field, byte[] octets, ShapeNode next) {
        if (octets.length == 0) {
            throw fields.refusal(Reason.INVALID, field, "it is empty.");
        }
        return new ShapeNode.Literal(octets, next);
    }

    /** A special token by its id or its spelling. */
    private byte[] token(TagFields fields, String field, JsonNode given) {
        boolean isId = given.isIntegralNumber() && given.canConvertToInt();
        int id = isId ? given.intValue() : given.isString() ? special.tokenOf(given.stringValue()) : -1;
        if (id < 0 || !special.hasToken(id)) {
            throw fields.refusal(
                    Reason.UNSUPPORTED, field, given + " is no special token of the model: write a text instead.");
        }
        if (Arrays.stream(endTokens).anyMatch(end -> end == id)) {
            throw fields.refusal(Reason.UNSUPPORTED, field, given + " is a token that ends answers.");
        }
        return SpecialOctets.of(id);
    }

    /** A text, or an object of type token. */
    private byte[] mark(TagFields fields, String field, JsonNode given) {
        if (given.isString()) {
            return octets(fields, field, given.stringValue());
        }
        var token = new TagFields(given, fields.pointer() + "/" + field);
        if (!token.text("type").equals("token")) {
            throw token.refusal(Reason.INVALID, "type", "it must be a string or of type token.");
        }
        byte[] octets = token(token, "token", token.required("token"));
        token.refuseOthers();
        return octets;
    }

    // ---- texts of constraints ----

    /** What makes a constraint, and may refuse. */
    private interface Maker {
        Constraint make();
    }

    private ShapeNode held(TagFields fields, String field, boolean endsInLexemes, Maker maker, ShapeNode next) {
        if (++held > MAX_HELD) {
            throw fields.refusal(Reason.BUDGET, field, "it is repeated too often.");
        }
        try {
            return new ShapeNode.Held(maker.make(), endsInLexemes, next);
        } catch (GrammarException refused) {
            throw fields.refusal(refused.reason(), field, "it cannot be kept to: " + refused.getMessage());
        }
    }

    private ShapeNode schema(TagFields fields, ShapeNode next) {
        JsonNode style = fields.any("style");
        if (style != null && !style.isString()) {
            throw fields.refusal(Reason.INVALID, "style", "it must be a string.");
        }
        if (style != null && !style.stringValue().equals("json")) {
            return styled(fields, style.stringValue(), next);
        }
        var usual = SchemaOptions.GENERATING;
        var order = fields.flag("any_order", false) ? SchemaOptions.KeyOrder.ANY : SchemaOptions.KeyOrder.SCHEMA;
        var whitespace = fields.limit("max_whitespace_cnt") < 0 ? usual.whitespace() : SchemaOptions.Whitespace.NONE;
        var options = new SchemaOptions(
                whitespace, usual.allowsAnyEscape(), order, usual.assertsFormats(), usual.documents());
        String schema = fields.required("json_schema").toString();
        List<String> excluded = unwritten(fields);
        return held(fields, "json_schema", false, () -> Constraints.jsonSchema(schema, options, excluded, each), next);
    }

    /** Texts that no string and no key has in it, as readers get them: escapes are none of their letters. */
    private static List<String> unwritten(TagFields fields) {
        List<String> excluded = fields.texts("excludes");
        if (excluded.stream().anyMatch(text -> text.indexOf('\\') >= 0)) {
            throw fields.refusal(Reason.UNSUPPORTED, "excludes", "name texts as they are read, without backslashes.");
        }
        return excluded;
    }

    /** Arguments as a family of models writes them, one by one. */
    private ShapeNode styled(TagFields fields, String style, ShapeNode next) {
        if (!STYLES.containsKey(style) && !NESTED.containsKey(style)) {
            throw fields.refusal(Reason.UNSUPPORTED, "style", style + " is no style that is known here.");
        }
        boolean isUnordered = fields.flag("any_order", false);
        fields.limit("max_whitespace_cnt"); // there is none
        JsonNode given = fields.required("json_schema");
        if (!given.isObject()) {
            throw fields.refusal(Reason.UNSUPPORTED, "json_schema", "with this style it must be an object.");
        }
        Map<String, Object> schema = Tools.copy(JSON.convertValue(given, Map.class));
        String unwritten = Tools.unwrittenOf(schema);
        if (!unwritten.isEmpty()) {
            throw fields.refusal(
                    Reason.UNSUPPORTED, "json_schema", "its " + unwritten + " cannot be kept to with this style.");
        }
        List<String> excluded = unwritten(fields);
        if (schema.get("properties") instanceof Map<?, ?> properties) {
            for (Object name : properties.keySet()) {
                if (excluded.stream().anyMatch(String.valueOf(name)::contains)) {
                    throw fields.refusal(Reason.UNSUPPORTED, "excludes", "the property " + name + " has one in it.");
                }
            }
        }
        try {
            var nested = NESTED.get(style);
            List<String> marks = nested == null ? format(style).literals() : List.of();
            Shape shape = nested == null
                    ? new CallShapes(format(style)).arguments(schema)
                    : NestedArguments.of(nested, schema);
            var compiler = new ShapeCompiler(special, endTokens, marks, each).excluding(excluded);
            return (isUnordered ? compiler.unordered() : compiler).node(shape, next);
        } catch (GrammarException refused) {
            throw fields.refusal(refused.reason(), "json_schema", "it cannot be kept to: " + refused.getMessage());
        }
    }

    private static CallFormat format(String style) {
        CallFormat format = CallFormats.named(STYLES.getOrDefault(style, "")).orElseThrow();
        return style.equals("deepseek_v4_1_xml")
                ? format.map(literal -> literal.replace("｜parameter", "｜ parameter"))
                : format;
    }

    // ---- free texts ----

    private static ShapeNode free(Marks marks, List<byte[]> excluded, Behind next) {
        return free(marks, excluded, next, TextLimits.NONE);
    }

    private static ShapeNode free(Marks marks, List<byte[]> excluded, Behind next, TextLimits limits) {
        next.ends().forEach(end -> marks.lead(end.octets, end.next));
        excluded.forEach(marks::exclude);
        return marks.text(next.ends().isEmpty() ? next.node() : null, limits);
    }

    private ShapeNode anyText(TagFields fields, Behind next) {
        var limits = TextLimits.of(fields.limit("max_chars"), fields.limit("max_tokens"));
        return free(new Marks(Freedom.TEXT), excluded(fields, "excludes"), next, limits);
    }

    private ShapeNode anyTokens(TagFields fields, Behind next) {
        var limits = TextLimits.of(-1, fields.limit("max_tokens"));
        return free(new Marks(new Freedom(true, "")), excluded(fields, "exclude_tokens"), next, limits);
    }

    private ShapeNode oneToken(TagFields fields, ShapeNode next) {
        var marks = new Marks(new Freedom(true, ""));
        excluded(fields, "exclude_tokens").forEach(marks::exclude);
        return marks.text(next, TextLimits.ONE_TOKEN);
    }

    private List<byte[]> excluded(TagFields fields, String field) {
        if (!field.equals("exclude_tokens")) {
            return fields.texts(field).stream().map(special::of).toList();
        }
        var excluded = new ArrayList<byte[]>();
        for (JsonNode given : fields.list(field)) {
            if (!isEnd(given)) { // which no text has in it anyway
                excluded.add(token(fields, field, given));
            }
        }
        return excluded;
    }

    private boolean isEnd(JsonNode given) {
        int id = given.isString() ? special.tokenOf(given.stringValue()) : given.intValue(-1);
        return Arrays.stream(endTokens).anyMatch(end -> end == id);
    }

    // ---- one after the other ----

    private ShapeNode sequence(TagFields fields, Behind next, int depth) {
        List<JsonNode> elements = fields.some("elements");
        Behind behind = next;
        for (int i = elements.size() - 1; i >= 0; i--) {
            behind = Behind.of(format(elements.get(i), fields.pointer() + "/elements/" + i, behind, depth + 1));
        }
        return behind.node();
    }

    private ShapeNode or(TagFields fields, Behind next, int depth) {
        List<JsonNode> elements = fields.some("elements");
        var fork = new ShapeNode.Fork();
        for (int i = 0; i < elements.size(); i++) {
            fork.branches.add(format(elements.get(i), fields.pointer() + "/elements/" + i, next, depth + 1));
        }
        return fork;
    }

    /** @param most -1 for no limit */
    private ShapeNode repeated(TagFields fields, int least, int most, Behind next, int depth) {
        if (least < 0 || most < -1 || (most >= 0 && most < least)) {
            throw fields.refusal(Reason.INVALID, "max", "there must be 0 <= min <= max, or max -1.");
        }
        ShapeNode node = next.node();
        if (most < 0) {
            var again = new ShapeNode.Fork(next.node());
            again.branches.add(content(fields, Behind.of(again), depth));
            node = again;
        }
        for (int time = most; time > least; time--) {
            node = new ShapeNode.Fork(next.node(), content(fields, Behind.of(node), depth));
        }
        for (int time = 0; time < least; time++) {
            node = content(fields, Behind.of(node), depth);
        }
        fields.required("content");
        return node;
    }

    // ---- tags ----

    private byte[] begin(TagFields tag) {
        return mark(tag, "begin", tag.required("begin"));
    }

    /** A tag, of whose beginning so much is still to come. */
    private ShapeNode tag(TagFields tag, byte[] begin, ShapeNode next, int depth) {
        JsonNode end = tag.required("end");
        var ends = new ArrayList<ShapeNode.Literal>();
        var behind = new ShapeNode.Fork();
        for (JsonNode each : end.isArray() ? end : List.of(end)) {
            byte[] octets = mark(tag, "end", each);
            if (octets.length > 0) {
                ends.add(new ShapeNode.Literal(octets, next));
                behind.branches.add(ends.getLast());
            } else {
                behind.branches.add(next);
            }
        }
        if (behind.branches.isEmpty()) {
            throw tag.refusal(Reason.INVALID, "end", "there must be one at least.");
        }
        boolean isMarked = ends.size() == behind.branches.size();
        ShapeNode content = content(tag, new Behind(behind, isMarked ? ends : List.of()), depth);
        return begin.length == 0 ? content : new ShapeNode.Literal(begin, content);
    }

    /** A tag of a list, of whose beginning some bytes were read. */
    private ShapeNode tag(TagFields list, JsonNode tag, int index, int read, ShapeNode next, int depth) {
        var fields = listed(list, tag, index);
        byte[] begin = begin(fields);
        ShapeNode node = tag(fields, Arrays.copyOfRange(begin, read, begin.length), next, depth + 1);
        fields.refuseOthers();
        return node;
    }

    private TagFields listed(TagFields list, JsonNode tag, int index) {
        var fields = new TagFields(tag, list.pointer() + "/tags/" + index);
        JsonNode type = fields.any("type"); // older clients leave it out
        if (type != null && !(type.isString() && type.stringValue().equals("tag"))) {
            throw fields.refusal(Reason.INVALID, "type", "it must be tag.");
        }
        if (++nodes > MAX_NODES) {
            throw new GrammarException(Reason.BUDGET, fields.pointer(), "", "there are too many tags.");
        }
        return fields;
    }

    private ShapeNode anyTag(TagFields fields, ShapeNode next, int depth) {
        List<JsonNode> tags = fields.some("tags");
        var fork = new ShapeNode.Fork();
        for (int i = 0; i < tags.size(); i++) {
            fork.branches.add(tag(fields, tags.get(i), i, 0, next, depth));
        }
        return fork;
    }

    private ShapeNode separated(TagFields fields, ShapeNode next, int depth) {
        boolean isOnce = fields.flag("stop_after_first", false);
        byte[] separator = octets(fields, "separator", fields.text("separator"));
        var behind = new ShapeNode.Fork(next);
        ShapeNode one = anyTag(fields, behind, depth);
        if (!isOnce) {
            behind.branches.add(separator.length == 0 ? one : new ShapeNode.Literal(separator, one));
        }
        return fields.flag("at_least_one", false) ? one : new ShapeNode.Fork(next, one);
    }

    private ShapeNode triggered(TagFields fields, String triggers, String excludes, Behind next, int depth) {
        boolean isOnce = fields.flag("stop_after_first", false);
        boolean mustCome = fields.flag("at_least_one", false);
        boolean hasTokens = triggers.equals("trigger_tokens");
        List<byte[]> excluded = excluded(fields, excludes);
        List<JsonNode> tags = fields.some("tags");
        List<byte[]> marks = new ArrayList<>();
        for (JsonNode trigger : fields.some(triggers)) {
            marks.add(hasTokens ? token(fields, triggers, trigger) : trigger(fields, triggers, trigger));
        }
        var behind = new ShapeNode.Fork();
        var text = new Marks(new Freedom(hasTokens, ""));
        boolean[] isUsed = new boolean[marks.size()];
        for (int i = 0; i < tags.size(); i++) {
            int trigger = triggerOf(listed(fields, tags.get(i), i), marks);
            isUsed[trigger] = true;
            text.lead(marks.get(trigger), tag(fields, tags.get(i), i, marks.get(trigger).length, behind, depth));
        }
        for (boolean one : isUsed) {
            if (!one) {
                throw fields.refusal(Reason.INVALID, triggers, "one of them begins no tag.");
            }
        }
        ShapeNode free = free(text, excluded, next);
        behind.branches.add(isOnce ? next.node() : free);
        return mustCome ? anyTag(fields, behind, depth) : free;
    }

    private byte[] trigger(TagFields fields, String field, JsonNode given) {
        if (!given.isString() || given.stringValue().isEmpty()) {
            throw fields.refusal(Reason.INVALID, field, "all of it must be strings that are not empty.");
        }
        return octets(fields, field, given.stringValue());
    }

    private int triggerOf(TagFields tag, List<byte[]> triggers) {
        byte[] begin = begin(tag);
        int found = -1;
        for (int i = 0; i < triggers.size(); i++) {
            byte[] trigger = triggers.get(i);
            if (begin.length >= trigger.length && Arrays.equals(trigger, Arrays.copyOf(begin, trigger.length))) {
                if (found >= 0) {
                    throw tag.refusal(Reason.INVALID, "begin", "it begins with more than one trigger.");
                }
                found = i;
            }
        }
        if (found < 0) {
            throw tag.refusal(Reason.INVALID, "begin", "it begins with no trigger.");
        }
        return found;
    }

    private ShapeNode dispatch(TagFields fields, String excludes, Behind next, int depth) {
        boolean isLoop = fields.flag("loop", true);
        boolean hasTokens = excludes.equals("exclude_tokens");
        List<byte[]> excluded = excluded(fields, excludes);
        List<JsonNode> rules = fields.some("rules");
        var behind = new ShapeNode.Fork();
        var text = new Marks(new Freedom(hasTokens, ""));
        for (int i = 0; i < rules.size(); i++) {
            JsonNode rule = rules.get(i);
            String pointer = fields.pointer() + "/rules/" + i;
            if (!rule.isArray() || rule.size() != 2) {
                throw new GrammarException(Reason.INVALID, pointer, "", "it must be a list of a mark and a format.");
            }
            byte[] mark = hasTokens ? token(fields, "rules", rule.get(0)) : trigger(fields, "rules", rule.get(0));
            text.lead(mark, format(rule.get(1), pointer + "/1", Behind.of(behind), depth + 1));
        }
        ShapeNode free = free(text, excluded, next);
        behind.branches.add(isLoop ? free : next.node());
        return free;
    }

    // ---- the older form ----

    private ShapeNode structures(TagFields fields, Behind next) {
        var text = new Marks(Freedom.TEXT);
        List<byte[]> marks = new ArrayList<>();
        fields.texts("triggers").forEach(trigger -> marks.add(octets(fields, "triggers", trigger)));
        var behind = new ShapeNode.Fork();
        List<JsonNode> structures = fields.some("structures");
        each = share(structures.size());
        for (int i = 0; i < structures.size(); i++) {
            var tag = new TagFields(structures.get(i), "/structures/" + i);
            int trigger = triggerOf(tag, marks);
            byte[] begin = begin(tag);
            ShapeNode end = literal(tag, "end", octets(tag, "end", tag.text("end")), behind);
            String schema = tag.required("schema").toString();
            ShapeNode held = held(
                    tag, "schema", false, () -> Constraints.jsonSchema(schema, SchemaOptions.GENERATING, each), end);
            byte[] rest = Arrays.copyOfRange(begin, marks.get(trigger).length, begin.length);
            text.lead(marks.get(trigger), rest.length == 0 ? held : new ShapeNode.Literal(rest, held));
            tag.refuseOthers();
        }
        ShapeNode free = free(text, List.of(), next);
        behind.branches.add(free);
        return free;
    }
}
