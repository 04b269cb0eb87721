package roselle.structured.type;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.YearMonth;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import roselle.api.type.Length;
import roselle.api.type.Pattern;
import roselle.api.type.Range;
import roselle.structured.type.TypeNode.Scalar;

/**
 * The types whose values have no parts. Their schemas allow nothing that their parsers refuse, and the patterns of times spell each
 * value in one way.
 */
final class Scalars {
    static final String DATE = "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
            + "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
            + "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)";
    private static final String CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{0,8}[1-9])?";
    private static final String OFFSET = "(?:Z|[+-](?:00:(?:0[1-9]|[1-5][0-9])|(?:0[1-9]|1[0-7]):[0-5][0-9]|18:00))";
    private static final String NUMBER = "[0-9]{1,6}";
    private static final String DURATION = "PT(?:" + NUMBER + "H(?:" + NUMBER + "M)?(?:" + NUMBER + "S)?|" + NUMBER
            + "M(?:" + NUMBER + "S)?|" + NUMBER + "S)";
    private static final String UUID_DIGITS = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
    private static final String PLAIN = "A-Za-z0-9._~!$&'()*+,;=-";
    private static final String HOST = "(?:[" + PLAIN + "]|%[0-9A-Fa-f]{2})+";
    private static final String SEGMENT = "(?:[:@" + PLAIN + "]|%[0-9A-Fa-f]{2})";
    private static final String REST = "(?:[/?:@" + PLAIN + "]|%[0-9A-Fa-f]{2})*";
    /** URIs with a scheme and something behind it, which Java's parser demands; without addresses in brackets. */
    private static final String ABSOLUTE_URI = "[A-Za-z][A-Za-z0-9+.-]*:(?://(?:" + HOST + "@)?" + HOST
            + "(?::[0-9]{1,5})?(?:/" + SEGMENT + "*)*|/?" + SEGMENT + "+(?:/" + SEGMENT + "*)*)(?:\\?" + REST + ")?(?:#"
            + REST + ")?";

    private static final java.util.regex.Pattern DECIMAL =
            java.util.regex.Pattern.compile("-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?");
    /** Whole numbers up to it are doubles. */
    private static final double EXACT = 0x1p53;

    private Scalars() {}

    /** The type of a use; null where it is none of these. */
    static @Nullable Scalar of(Use use, String path) {
        Class<?> type = use.raw();
        if (type.isEnum()) {
            return constants(type, path);
        }
        return switch (type.getName()) {
            case "int", "java.lang.Integer" ->
                whole(use, path, Integer.MIN_VALUE, Integer.MAX_VALUE, BigDecimal::intValueExact);
            case "long", "java.lang.Long" ->
                whole(use, path, Long.MIN_VALUE, Long.MAX_VALUE, BigDecimal::longValueExact);
            case "short", "java.lang.Short" ->
                whole(use, path, Short.MIN_VALUE, Short.MAX_VALUE, BigDecimal::shortValueExact);
            case "byte", "java.lang.Byte" ->
                whole(use, path, Byte.MIN_VALUE, Byte.MAX_VALUE, BigDecimal::byteValueExact);
            case "java.math.BigInteger" ->
                number(use, path, true, null, null, written -> decimal(written).toBigIntegerExact());
            case "double", "java.lang.Double" -> number(use, path, false, null, null, Scalars::readDouble);
            case "float", "java.lang.Float" -> {
                var most = new BigDecimal(Float.MAX_VALUE);
                yield number(use, path, false, most.negate(), most, Scalars::readFloat);
            }
            case "java.math.BigDecimal" -> number(use, path, false, null, null, Scalars::decimal);
            case "boolean", "java.lang.Boolean" ->
                new Scalar(Map.of("type", "boolean"), Scalars::readTruth, false, false, true);
            case "char", "java.lang.Character" ->
                pattern("[\\u0000-\\uD7FF\\uE000-\\uFFFF]", written -> written.charAt(0), true);
            case "java.lang.String" -> text(use, path);
            case "java.time.LocalDate" -> pattern(DATE, LocalDate::parse, true);
            case "java.time.LocalTime" -> pattern(CLOCK, LocalTime::parse, true);
            case "java.time.LocalDateTime" -> pattern(DATE + "T" + CLOCK, LocalDateTime::parse, true);
            case "java.time.OffsetDateTime" -> pattern(DATE + "T" + CLOCK + OFFSET, OffsetDateTime::parse, true);
            case "java.time.Instant" -> pattern(DATE + "T" + CLOCK + "Z", Instant::parse, true);
            case "java.time.YearMonth" -> pattern("[0-9]{4}-(?:0[1-9]|1[0-2])", YearMonth::parse, true);
            case "java.time.Duration" -> pattern(DURATION, Duration::parse, false);
            case "java.util.UUID" -> pattern(UUID_DIGITS, UUID::fromString, true);
            case "java.net.URI" -> pattern(ABSOLUTE_URI, URI::create, false);
            default -> null;
        };
    }

    // ---- numbers ----

    /** Refuses what Java takes for a number and JSON does not. */
    private static void requireDecimal(String written) {
        if (!DECIMAL.matcher(written).matches()) {
            throw new NumberFormatException(written + " is no number");
        }
    }

    private static BigDecimal decimal(String written) {
        requireDecimal(written);
        return new BigDecimal(written);
    }

    private static Object readDouble(String written) {
        requireDecimal(written);
        double value = Double.parseDouble(written);
        if (Double.isInfinite(value)) {
            throw new NumberFormatException(written + " is beyond a double");
        }
        return value;
    }

    private static Object readFloat(String written) {
        requireDecimal(written);
        float value = Float.parseFloat(written);
        if (Float.isInfinite(value)) {
            throw new NumberFormatException(written + " is beyond a float");
        }
        return value;
    }

    private static Object readTruth(String written) {
        return switch (written) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException(written + " is neither true nor false");
        };
    }

    private static Scalar whole(Use use, String path, long min, long max, Function<BigDecimal, Object> read) {
        return number(
                use,
                path,
                true,
                BigDecimal.valueOf(min),
                BigDecimal.valueOf(max),
                written -> read.apply(decimal(written)));
    }

    private static Scalar number(
            Use use,
            String path,
            boolean isWhole,
            @Nullable BigDecimal min,
            @Nullable BigDecimal max,
            Function<String, Object> read) {
        BigDecimal least = min;
        BigDecimal most = max;
        Range range = use.note(Range.class);
        if (range != null) {
            BigDecimal from = bound(range.min(), isWhole, RoundingMode.CEILING, path);
            BigDecimal to = bound(range.max(), isWhole, RoundingMode.FLOOR, path);
            least = from == null || (least != null && least.compareTo(from) > 0) ? least : from;
            most = to == null || (most != null && most.compareTo(to) < 0) ? most : to;
            if (least != null && most != null && least.compareTo(most) > 0) {
                throw Refusal.at(path, "@Range leaves no " + use.raw().getSimpleName());
            }
        }
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("type", isWhole ? "integer" : "number");
        if (least != null) {
            schema.put("minimum", least);
        }
        if (most != null) {
            schema.put("maximum", most);
        }
        boolean isExact = isWhole || use.raw() == BigDecimal.class;
        return new Scalar(schema, read, false, false, isExact);
    }

    private static @Nullable BigDecimal bound(double bound, boolean isWhole, RoundingMode mode, String path) {
        if (Double.isInfinite(bound)) {
            return null;
        }
        if (Double.isNaN(bound) || (isWhole && Math.abs(bound) > EXACT)) {
            throw Refusal.at(path, "@Range has the bound " + bound + ", which a double does not say exactly");
        }
        BigDecimal exact = BigDecimal.valueOf(bound);
        return isWhole ? exact.setScale(0, mode) : exact;
    }

    // ---- texts ----

    private static Scalar pattern(String expression, Function<String, Object> read, boolean hasOneSpelling) {
        return new Scalar(
                Map.of("type", "string", "pattern", "^(?:" + expression + ")$"), read, true, false, hasOneSpelling);
    }

    private static Scalar text(Use use, String path) {
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("type", "string");
        Length length = use.note(Length.class);
        if (length != null) {
            if (length.min() < 0 || length.min() > length.max()) {
                throw Refusal.at(path, "@Length is " + length.min() + " to " + length.max());
            }
            addBounds(schema, "minLength", length.min(), "maxLength", length.max());
        }
        Pattern pattern = use.note(Pattern.class);
        if (pattern != null) {
            schema.put("pattern", "^(?:" + pattern.value() + ")$");
        }
        return new Scalar(schema, written -> written, true, true, true);
    }

    /** Adds what is no matter of course. */
    static void addBounds(Map<String, Object> schema, String least, int min, String most, int max) {
        if (min > 0) {
            schema.put(least, min);
        }
        if (max < Integer.MAX_VALUE) {
            schema.put(most, max);
        }
    }

    private static Scalar constants(Class<?> type, String path) {
        Map<String, Object> byName = new HashMap<>();
        List<String> names = Arrays.stream((Object[]) type.getEnumConstants())
                .map(constant -> ((Enum<?>) constant).name())
                .toList();
        if (names.isEmpty()) {
            throw Refusal.at(path, "the enum " + type.getSimpleName() + " has no constants");
        }
        for (Object constant : type.getEnumConstants()) {
            byName.put(((Enum<?>) constant).name(), constant);
        }
        return new Scalar(Map.of("enum", names), name -> constant(byName, name), true, false, true);
    }

    private static Object constant(Map<String, Object> byName, String name) {
        Object constant = byName.get(name);
        if (constant == null) {
            throw new IllegalArgumentException(name + " is none of " + byName.keySet());
        }
        return constant;
    }
}
