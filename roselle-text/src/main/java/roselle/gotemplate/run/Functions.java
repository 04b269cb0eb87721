package roselle.gotemplate.run;

import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import roselle.gotemplate.value.Comparison;
import roselle.gotemplate.value.Dictionary;
import roselle.gotemplate.value.Json;
import roselle.gotemplate.value.Nil;
import roselle.gotemplate.value.Printing;
import roselle.gotemplate.value.Slice;
import roselle.gotemplate.value.Struct;
import roselle.gotemplate.value.Values;
import roselle.jinja.text.TemplateFault;

/** The functions of Go's templates, and those that Ollama adds. {@code call} is not among them: no value is a function. */
public final class Functions {
    public static final Set<String> NAMES = Set.of(
            "and",
            "or",
            "not",
            "eq",
            "ne",
            "lt",
            "le",
            "gt",
            "ge",
            "len",
            "index",
            "slice",
            "print",
            "printf",
            "println",
            "html",
            "js",
            "urlquery",
            "json",
            "currentDate",
            "yesterdayDate",
            "toTypeScriptType");

    private static final int ANY = Integer.MAX_VALUE;

    private Functions() {}

    static Object call(String name, List<Object> arguments, LocalDateTime now, Budget budget) {
        chargeTexts(arguments, budget);
        return switch (name) {
            case "not" -> !Values.isTrue(only(name, arguments));
            case "eq" -> isAny(counted(name, arguments, 2, ANY));
            case "ne" -> !isAny(counted(name, arguments, 2, 2));
            case "lt" -> order(name, arguments) < 0;
            case "le" -> order(name, arguments) <= 0;
            case "gt" -> order(name, arguments) > 0;
            case "ge" -> order(name, arguments) >= 0;
            case "len" -> Values.length(only(name, arguments));
            case "index" -> index(counted(name, arguments, 1, ANY));
            case "slice" -> slice(counted(name, arguments, 1, 4));
            case "print" -> Printing.all(arguments);
            case "println" -> Printing.line(arguments);
            case "printf" -> printf(counted(name, arguments, 1, ANY), budget);
            case "html" -> Escapes.html(escapable(arguments, budget));
            case "js" -> Escapes.javaScript(escapable(arguments, budget));
            case "urlquery" -> Escapes.query(escapable(arguments, budget));
            case "json" -> Json.write(only(name, arguments));
            case "currentDate" -> date(name, arguments, now);
            case "yesterdayDate" -> date(name, arguments, now.minusDays(1));
            case "toTypeScriptType" -> TypeScript.type(only(name, arguments));
            default -> throw new TemplateFault("there is no function " + name);
        };
    }

    /** Accounts for texts that are read. */
    private static void chargeTexts(List<Object> arguments, Budget budget) {
        for (Object argument : arguments) {
            if (argument instanceof String text) {
                budget.charge(text.length());
            }
        }
    }

    private static List<Object> counted(String name, List<Object> arguments, int least, int most) {
        if (arguments.size() < least || arguments.size() > most) {
            String wanted = least == most ? String.valueOf(least) : "at least " + least;
            throw new TemplateFault(name + " has " + arguments.size() + " arguments, it takes " + wanted);
        }
        return arguments;
    }

    private static Object only(String name, List<Object> arguments) {
        return counted(name, arguments, 1, 1).getFirst();
    }

    private static boolean isAny(List<Object> arguments) {
        for (Object other : arguments.subList(1, arguments.size())) {
            if (Comparison.areEqual(arguments.getFirst(), other)) {
                return true;
            }
        }
        return false;
    }

    private static int order(String name, List<Object> arguments) {
        counted(name, arguments, 2, 2);
        return Comparison.order(arguments.getFirst(), arguments.getLast());
    }

    private static Object index(List<Object> arguments) {
        Object item = arguments.getFirst();
        if (item == Nil.NIL) {
            throw new TemplateFault("index of nil");
        }
        for (Object index : arguments.subList(1, arguments.size())) {
            item = switch (item) {
                case Dictionary dictionary
                when index instanceof String key -> dictionary.entries().getOrDefault(key, Nil.NIL);
                case Slice slice ->
                    slice.items().get(position(index, slice.items().size() - 1));
                case String text -> {
                    byte[] bytes = Values.bytes(text);
                    yield (long) (bytes[position(index, bytes.length - 1)] & 0xff);
                }
                default ->
                    throw new TemplateFault("a " + Values.type(item) + " has no index of type " + Values.type(index));
            };
        }
        return item;
    }

    private static int position(Object index, int most) {
        if (!(index instanceof Long position)) {
            throw new TemplateFault("an index is an integer, and this is a " + Values.type(index));
        }
        if (position < 0 || position > most) {
            throw new TemplateFault("index out of range: " + position);
        }
        return position.intValue();
    }

    private static Object slice(List<Object> arguments) {
        Object item = arguments.getFirst();
        if (!(item instanceof String) && !(item instanceof Slice)) {
            throw new TemplateFault("a " + Values.type(item) + " cannot be sliced");
        }
        int length = (int) Values.length(item);
        int from = arguments.size() > 1 ? position(arguments.get(1), length) : 0;
        int to = arguments.size() > 2 ? position(arguments.get(2), length) : length;
        int capacity = arguments.size() > 3 ? position(arguments.get(3), length) : length;
        if (from > to || to > capacity || (arguments.size() > 3 && item instanceof String)) {
            throw new TemplateFault("invalid slice from " + from + " to " + to);
        }
        if (item instanceof Slice slice) {
            return new Slice(slice.items().subList(from, to), slice.spelling());
        }
        return new String(Arrays.copyOfRange(Values.bytes((String) item), from, to), StandardCharsets.UTF_8);
    }

    private static String escapable(List<Object> arguments, Budget budget) {
        String text = Printing.escapable(arguments);
        budget.charge((long) Escapes.MOST * text.length());
        return text;
    }

    private static String printf(List<Object> arguments, Budget budget) {
        if (!(arguments.getFirst() instanceof String format)) {
            throw new TemplateFault("printf begins with a text, and this is a " + Values.type(arguments.getFirst()));
        }
        return Format.print(format, arguments.subList(1, arguments.size()), budget);
    }

    /** Arguments are texts without a meaning. */
    private static String date(String name, List<Object> arguments, LocalDateTime time) {
        if (!arguments.stream().allMatch(String.class::isInstance)) {
            throw new TemplateFault(name + " takes texts");
        }
        return time.toLocalDate().toString();
    }

    /** Types of JSON schemas in the words of TypeScript. */
    private static final class TypeScript {
        private static final String OR = " | ";

        private TypeScript() {}

        static String type(Object value) {
            if (!(value instanceof Struct property) || property.find("AnyOf").isEmpty()) {
                return "any";
            }
            List<Object> options = list(property, "AnyOf");
            List<Object> types = list(property, "Type");
            if (!options.isEmpty()) {
                return options.stream().map(TypeScript::type).collect(Collectors.joining(OR));
            }
            return types.isEmpty()
                    ? "any"
                    : types.stream().map(type -> word(String.valueOf(type))).collect(Collectors.joining(OR));
        }

        private static List<Object> list(Struct property, String field) {
            return property.find(field).orElse(Nil.NIL) instanceof Slice slice ? slice.items() : List.of();
        }

        private static String word(String type) {
            return switch (type) {
                case "string", "boolean", "null" -> type;
                case "number", "integer" -> "number";
                case "array" -> "any[]";
                case "object" -> "Record<string, any>";
                default -> "any";
            };
        }
    }
}
