package roselle.structured.type;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import roselle.api.InvalidRequestException;
import roselle.api.type.Description;
import roselle.api.type.Discriminator;
import roselle.api.type.Length;
import roselle.api.type.Pattern;
import roselle.api.type.Range;
import roselle.api.type.Size;
import roselle.structured.type.TypeNode.Absentable;
import roselle.structured.type.TypeNode.Bounds;
import roselle.structured.type.TypeNode.Choice;
import roselle.structured.type.TypeNode.Component;
import roselle.structured.type.TypeNode.Elements;
import roselle.structured.type.TypeNode.Entries;
import roselle.structured.type.TypeNode.RecordNode;
import roselle.structured.type.TypeNode.Scalar;

/** Finds out by reflection what a type is in JSON, or refuses it with the place. */
final class TypeCompiler {
    private static final Set<Class<?>> LISTS =
            Set.of(List.class, java.util.Collection.class, java.util.SequencedCollection.class);
    private static final Set<Class<?>> SETS = Set.of(Set.class, java.util.SequencedSet.class);
    private static final Set<Class<?>> MAPS = Set.of(Map.class, java.util.SequencedMap.class);
    private static final Set<Class<?>> OPTIONALS =
            Set.of(Optional.class, OptionalInt.class, OptionalLong.class, OptionalDouble.class);

    /** A record as such and as one of an interface's, which begins with another property, are two. */
    private final Map<Use, RecordNode> records = new HashMap<>();

    private final Map<Use, Choice> choices = new HashMap<>();

    /** The node of a use, with those of all that it is made of. */
    TypeNode compile(Use use, String path) {
        if (!use.isNullable()) {
            return compilePresent(use, path);
        }
        if (use.raw().isPrimitive() || OPTIONALS.contains(use.raw())) {
            throw Refusal.at(path, use.raw().getSimpleName() + " is never null: leave @Nullable out");
        }
        return absentable(compilePresent(use, path), path, null, present -> present);
    }

    private TypeNode compilePresent(Use use, String path) {
        Class<?> type = use.raw();
        requireMeaning(use, path);
        Scalar scalar = Scalars.of(use, path);
        if (scalar != null) {
            return scalar;
        }
        if (OPTIONALS.contains(type)) {
            return optional(use, path);
        }
        if (LISTS.contains(type) || SETS.contains(type)) {
            return elements(use, path);
        }
        if (MAPS.contains(type)) {
            return entries(use, path);
        }
        if (type.isRecord()) {
            return record(use, path);
        }
        if (type.isInterface() && type.isSealed()) {
            return choice(use, path);
        }
        throw Refusal.at(
                path,
                type.getTypeName() + " is not supported: records, sealed interfaces of records, enums, List, Set, Map,"
                        + " Optional, String, numbers, boolean and char are, and of java.time, java.util and java.net"
                        + " LocalDate, LocalTime, LocalDateTime, OffsetDateTime, Instant, YearMonth, Duration, UUID"
                        + " and URI");
    }

    /** Refuses an annotation that says nothing of this type. */
    private static void requireMeaning(Use use, String path) {
        Class<?> type = use.raw();
        boolean isNumber = Number.class.isAssignableFrom(type)
                || (type.isPrimitive() && type != boolean.class && type != char.class)
                || (OPTIONALS.contains(type) && type != Optional.class);
        boolean hasSize = LISTS.contains(type) || SETS.contains(type) || MAPS.contains(type);
        require(use, Range.class, isNumber, "numbers", path);
        require(use, Length.class, type == String.class, "String", path);
        require(use, Pattern.class, type == String.class, "String", path);
        require(use, Size.class, hasSize, "collections and maps", path);
    }

    private static void require(Use use, Class<? extends Annotation> note, boolean isMeant, String meant, String path) {
        if (use.note(note) != null && !isMeant) {
            String hint = use.arguments().isEmpty()
                    ? ""
                    : "; that of an argument stands before it, as in Optional<@" + note.getSimpleName() + "(…) …>";
            throw Refusal.at(
                    path,
                    "@" + note.getSimpleName() + " is for " + meant + ", not for "
                            + use.raw().getSimpleName() + hint);
        }
    }

    // ---- what contains others ----

    private TypeNode optional(Use use, String path) {
        Class<?> type = use.raw();
        if (type == Optional.class) {
            TypeNode inner = compile(use.arguments().getFirst(), path);
            return absentable(inner, path, Optional.empty(), Optional::of);
        }
        var number = type == OptionalInt.class ? int.class : type == OptionalLong.class ? long.class : double.class;
        TypeNode inner = Objects.requireNonNull(Scalars.of(new Use(number, List.of(), use.notes()), path));
        return type == OptionalInt.class
                ? absentable(inner, path, OptionalInt.empty(), value -> OptionalInt.of((Integer) value))
                : type == OptionalLong.class
                        ? absentable(inner, path, OptionalLong.empty(), value -> OptionalLong.of((Long) value))
                        : absentable(inner, path, OptionalDouble.empty(), value -> OptionalDouble.of((Double) value));
    }

    private static Absentable absentable(
            TypeNode inner,
            String path,
            @org.jspecify.annotations.Nullable Object absent,
            java.util.function.Function<Object, Object> present) {
        if (inner instanceof Absentable) {
            throw Refusal.at(path, "null would mean two things: one of @Nullable and Optional is enough");
        }
        return new Absentable(inner, absent, present);
    }

    private static Bounds bounds(Use use, String path) {
        Size size = use.note(Size.class);
        if (size == null) {
            return new Bounds(0, Integer.MAX_VALUE);
        }
        if (size.min() < 0 || size.min() > size.max()) {
            throw Refusal.at(path, "@Size is " + size.min() + " to " + size.max());
        }
        return new Bounds(size.min(), size.max());
    }

    private TypeNode elements(Use use, String path) {
        TypeNode element = compile(use.arguments().getFirst(), path + "[]");
        var node = new Elements(element, bounds(use, path), SETS.contains(use.raw()));
        if (node.isSet() && node.bounds().min() > 1) {
            throw Refusal.at(
                    path,
                    "@Size is at least " + node.bounds().min()
                            + ", but a Set holds equal elements once, however often they are written: use a List");
        }
        return node;
    }

    private TypeNode entries(Use use, String path) {
        TypeNode key = compile(use.arguments().getFirst(), path + "[key]");
        if (!(key instanceof Scalar text) || !text.isText() || !text.hasOneSpelling()) {
            throw Refusal.at(
                    path + "[key]",
                    use.arguments().getFirst().raw().getSimpleName()
                            + " cannot be the key of a map: String, enums, char, UUID and dates can");
        }
        return new Entries(text, compile(use.arguments().get(1), path + "[]"), bounds(use, path));
    }

    // ---- records ----

    private RecordNode record(Use use, String path) {
        Use plain = use.plain();
        RecordNode known = records.get(plain);
        if (known == null) {
            known = new RecordNode(use.raw().getSimpleName(), path, description(use.raw()), maker(use.raw(), path));
            records.put(plain, known);
            known.complete(components(use, path));
        }
        return known;
    }

    private List<Component> components(Use use, String path) {
        Map<TypeVariable<?>, Use> variables = use.variables();
        List<Component> components = new ArrayList<>();
        for (RecordComponent component : use.raw().getRecordComponents()) {
            String place = path + "." + component.getName();
            Use type = Use.of(component.getAnnotatedType(), variables, place).with(component.getAnnotations());
            Description said = type.note(Description.class);
            components.add(new Component(component.getName(), compile(type, place), said == null ? "" : said.value()));
        }
        return components;
    }

    private static String description(Class<?> type) {
        Description said = type.getAnnotation(Description.class);
        return said == null ? "" : said.value();
    }

    private static TypeNode.Maker maker(Class<?> type, String path) {
        Class<?>[] parameters = Arrays.stream(type.getRecordComponents())
                .map(RecordComponent::getType)
                .toArray(Class<?>[]::new);
        try {
            Constructor<?> canonical = type.getDeclaredConstructor(parameters);
            if (!canonical.trySetAccessible()) {
                throw new InvalidRequestException(
                        InvalidRequestException.Reason.INVALID, Refusal.FIELD, path + ": " + closed(type));
            }
            return values -> make(canonical, values);
        } catch (NoSuchMethodException impossible) {
            throw new AssertionError("a record without its canonical constructor", impossible);
        }
    }

    private static Object make(Constructor<?> canonical, @org.jspecify.annotations.Nullable Object[] values) {
        try {
            return canonical.newInstance(values);
        } catch (InvocationTargetException thrown) {
            switch (thrown.getCause()) {
                case RuntimeException refused -> throw refused;
                case Error error -> throw error;
                case null, default -> throw new IllegalArgumentException(thrown.getCause());
            }
        } catch (ReflectiveOperationException impossible) {
            throw new LinkageError("the values are of the components' types", impossible);
        }
    }

    private static String closed(Class<?> type) {
        String reader = TypeCompiler.class.getModule().getName();
        return "the constructor of " + type.getSimpleName() + " is not accessible: add \"opens " + type.getPackageName()
                + " to " + reader + ";\" to the module-info.java of "
                + type.getModule().getName();
    }

    // ---- sealed interfaces ----

    private Choice choice(Use use, String path) {
        Use plain = use.plain();
        Choice known = choices.get(plain);
        if (known == null) {
            Class<?> type = use.raw();
            Discriminator named = type.getAnnotation(Discriminator.class);
            known = new Choice(type.getSimpleName(), description(type), named == null ? "type" : named.value());
            choices.put(plain, known);
            Map<String, RecordNode> records = new LinkedHashMap<>();
            addPermitted(plain, path, known.discriminator, records);
            known.complete(records);
        }
        return known;
    }

    private void addPermitted(Use sealed, String path, String discriminator, Map<String, RecordNode> records) {
        for (Class<?> permitted : sealed.raw().getPermittedSubclasses()) {
            String place = path + "(" + permitted.getSimpleName() + ")";
            Use use = permitted(permitted, sealed, place);
            if (permitted.isInterface() && permitted.isSealed()) {
                addPermitted(use, path, discriminator, records);
                continue;
            }
            if (!permitted.isRecord()) {
                throw Refusal.at(place, "is no record: a sealed interface is supported of records alone");
            }
            RecordNode record = record(use, place);
            if (Arrays.stream(permitted.getRecordComponents())
                    .anyMatch(each -> each.getName().equals(discriminator))) {
                throw Refusal.at(
                        place + "." + discriminator,
                        "is also the property that tells records of "
                                + sealed.raw().getSimpleName() + " apart: give it another name with @Discriminator");
            }
            RecordNode other = records.put(permitted.getSimpleName(), record);
            if (other != null && other != record) {
                throw Refusal.at(place, "another record of the interface has the same name");
            }
        }
    }

    /** A permitted class with the arguments that make it what the interface is used as. */
    private static Use permitted(Class<?> type, Use sealed, String path) {
        Map<TypeVariable<?>, Use> found = new HashMap<>();
        for (AnnotatedType parent : type.getAnnotatedInterfaces()) {
            if (parent instanceof AnnotatedParameterizedType generic
                    && ((ParameterizedType) generic.getType()).getRawType() == sealed.raw()) {
                Type[] written = ((ParameterizedType) generic.getType()).getActualTypeArguments();
                for (int i = 0; i < written.length; i++) {
                    match(written[i], sealed.arguments().get(i), found, path);
                }
            }
        }
        List<Use> arguments = new ArrayList<>();
        for (TypeVariable<?> parameter : type.getTypeParameters()) {
            Use argument = found.get(parameter);
            if (argument == null) {
                throw Refusal.at(
                        path, "its type variable " + parameter.getName() + " does not follow from the interface's");
            }
            arguments.add(argument);
        }
        return new Use(type, arguments, Set.of());
    }

    private static void match(Type written, Use use, Map<TypeVariable<?>, Use> found, String path) {
        if (written instanceof TypeVariable<?> variable) {
            found.put(variable, use);
        } else if (written != use.raw() || !use.arguments().isEmpty()) {
            throw Refusal.at(
                    path,
                    "is a " + written.getTypeName() + " of the interface, not a "
                            + use.raw().getSimpleName());
        }
    }
}
