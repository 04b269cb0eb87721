package roselle.structured.type;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Sources of random types: a class with the record {@code Root} and what it is made of. */
final class RandomTypes {
    private static final int MAX_DEPTH = 3;
    private static final List<String> PRIMITIVES =
            List.of("int", "long", "short", "byte", "float", "double", "boolean", "char");
    private static final List<String> OBJECTS = List.of(
            "Integer",
            "Long",
            "Short",
            "Byte",
            "Float",
            "Double",
            "Boolean",
            "Character",
            "BigInteger",
            "BigDecimal",
            "String",
            "String",
            "LocalDate",
            "LocalTime",
            "LocalDateTime",
            "OffsetDateTime",
            "Instant",
            "YearMonth",
            "Duration",
            "UUID",
            "URI",
            "Color",
            "@Length(max = 8) String",
            "@Length(min = 1, max = 5) String",
            "@Pattern(\"[A-Z]{2}-[0-9]+|ä?\") String",
            "@Range(min = -5, max = 120) Integer",
            "@Range(min = 0.5) Double",
            "@Range(max = 0) Long",
            "@Range(min = 0, max = 0.1) BigDecimal");
    private static final List<String> KEYS =
            List.of("String", "Color", "UUID", "LocalDate", "Character", "@Length(max = 3) String");

    private final Random random;
    private final List<String> declarations = new ArrayList<>();

    private RandomTypes(Random random) {
        this.random = random;
    }

    static String source(String name, Random random) {
        var types = new RandomTypes(random);
        String root = types.components("Root", 0);
        return """
            import com.fasterxml.jackson.annotation.JsonTypeInfo;
            import java.math.*;
            import java.net.URI;
            import java.time.*;
            import java.util.*;
            import org.jspecify.annotations.Nullable;
            import roselle.api.type.*;

            final class %s {
                enum Color { RED, GREEN, BLÄU }
                record Box<T>(T content, @Nullable Box<T> next) {}
                        record Root(%s) {}
            %s
            }
            """.formatted(name, root, String.join("\n", types.declarations));
    }

    private String components(String self, int depth) {
        List<String> components = new ArrayList<>();
        int count = random.nextInt(depth == 0 ? 1 : 0, 6);
        for (int i = 0; i < count; i++) {
            components.add(component(self, depth) + " c" + i + (random.nextInt(6) == 0 ? "ä$" : ""));
        }
        return String.join(", ", components);
    }

    private String component(String self, int depth) {
        return switch (random.nextInt(9)) {
            case 0, 1 -> PRIMITIVES.get(random.nextInt(PRIMITIVES.size()));
            case 2 -> List.of("OptionalInt", "OptionalLong", "OptionalDouble").get(random.nextInt(3));
            case 3 ->
                List.of("Optional<%s>", "List<%s>", "Map<String, %s>")
                        .get(random.nextInt(3))
                        .formatted(self);
            case 4 -> "@Nullable " + self;
            default -> value(depth + 1);
        };
    }

    /** A type that may be the argument of another. */
    private String value(int depth) {
        if (depth > MAX_DEPTH) {
            return OBJECTS.get(random.nextInt(OBJECTS.size()));
        }
        return switch (random.nextInt(12)) {
            case 0 -> "List<" + value(depth + 1) + ">";
            case 1 -> "@Size(min = 1, max = 3) List<@Nullable " + value(depth + 1) + ">";
            case 2 -> "Set<" + value(depth + 1) + ">";
            case 3 -> "@Size(max = 4) Map<" + KEYS.get(random.nextInt(KEYS.size())) + ", " + value(depth + 1) + ">";
            case 4 -> "List<Optional<" + value(depth + 1) + ">>";
            case 5 -> record(depth);
            case 6 -> sealed(depth);
            case 7 -> "Box<" + value(depth + 1) + ">";
            default -> OBJECTS.get(random.nextInt(OBJECTS.size()));
        };
    }

    private String record(int depth) {
        String name = "R" + random.nextInt(1_000_000_000);
        declarations.add("record " + name + "(" + components(name, depth) + ") {}");
        return name;
    }

    private String sealed(int depth) {
        String name = "S" + random.nextInt(1_000_000_000);
        declarations.add("@JsonTypeInfo(use = JsonTypeInfo.Id.SIMPLE_NAME, property = \"type\") sealed interface "
                + name + " {}");
        for (String variant : List.of("A", "B", "C").subList(0, random.nextInt(1, 4))) {
            declarations.add(
                    "record " + name + variant + "(" + components(name, depth + 1) + ") implements " + name + " {}");
        }
        return name;
    }
}
