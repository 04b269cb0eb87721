package roselle.structured.type;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedArrayType;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.AnnotatedTypeVariable;
import java.lang.reflect.AnnotatedWildcardType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.TypeVariable;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import roselle.api.type.Description;
import roselle.api.type.Length;
import roselle.api.type.Pattern;
import roselle.api.type.Range;
import roselle.api.type.Size;

/**
 * A use of a class: its arguments, none of which is a variable any more, and the annotations that matter here.
 *
 * @param notes of ours, and any that is named {@code Nullable}
 */
record Use(Class<?> raw, List<Use> arguments, Set<Annotation> notes) {
    private static final int DEEPEST = 16;

    Use {
        arguments = List.copyOf(arguments);
        notes = Set.copyOf(notes);
    }

    /** The same without its own annotations, which are not its class's. */
    Use plain() {
        return new Use(raw, arguments, Set.of());
    }

    /** The same with annotations that stand before a component. */
    Use with(Annotation[] more) {
        Set<Annotation> all = new LinkedHashSet<>(notes);
        all.addAll(notes(more));
        return new Use(raw, arguments, all);
    }

    boolean isNullable() {
        return notes.stream().anyMatch(Use::isNullableNote);
    }

    <A extends Annotation> @Nullable A note(Class<A> type) {
        return notes.stream()
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst()
                .orElse(null);
    }

    private static boolean isNullableNote(Annotation note) {
        return note.annotationType().getSimpleName().equals("Nullable");
    }

    private static Set<Annotation> notes(Annotation[] all) {
        Set<Annotation> notes = new LinkedHashSet<>();
        for (Annotation note : all) {
            boolean isOurs = note instanceof Range
                    || note instanceof Length
                    || note instanceof Size
                    || note instanceof Pattern
                    || note instanceof Description;
            if (isOurs || isNullableNote(note)) {
                notes.add(note);
            }
        }
        return notes;
    }

    private int depth() {
        int deepest = 0;
        for (Use argument : arguments) {
            deepest = Math.max(deepest, argument.depth());
        }
        return deepest + 1;
    }

    static Use of(Class<?> type, String path) {
        requireNoParameters(type, path);
        return new Use(type, List.of(), Set.of());
    }

    /** A type as it is written somewhere, with the arguments of the record around it in place of its variables. */
    static Use of(AnnotatedType type, Map<TypeVariable<?>, Use> variables, String path) {
        Use use = switch (type) {
            case AnnotatedParameterizedType generic -> generic(generic, variables, path);
            case AnnotatedTypeVariable variable -> argument((TypeVariable<?>) variable.getType(), variables, path);
            case AnnotatedWildcardType wildcard -> bound(wildcard, variables, path);
            case AnnotatedArrayType _ -> throw Refusal.at(path, "an array, which is not supported: use a List");
            default -> of((Class<?>) type.getType(), path);
        };
        return use.with(type.getAnnotations());
    }

    private static Use generic(AnnotatedParameterizedType type, Map<TypeVariable<?>, Use> variables, String path) {
        var raw = (Class<?>) ((ParameterizedType) type.getType()).getRawType();
        List<Use> arguments = new ArrayList<>();
        for (AnnotatedType argument : type.getAnnotatedActualTypeArguments()) {
            arguments.add(of(argument, variables, path));
        }
        Use use = new Use(raw, arguments, Set.of());
        if (use.depth() > DEEPEST) {
            throw Refusal.at(path, raw.getSimpleName() + " has arguments that grow without end");
        }
        return use;
    }

    private static Use argument(TypeVariable<?> variable, Map<TypeVariable<?>, Use> variables, String path) {
        Use known = variables.get(variable);
        if (known == null) {
            throw Refusal.at(
                    path,
                    "the type variable " + variable.getName() + ", whose type is not known here: name it with"
                            + " new TypeReference<…>() {}");
        }
        return known;
    }

    private static Use bound(AnnotatedWildcardType wildcard, Map<TypeVariable<?>, Use> variables, String path) {
        AnnotatedType[] upper = wildcard.getAnnotatedUpperBounds();
        if (wildcard.getAnnotatedLowerBounds().length > 0
                || upper.length != 1
                || upper[0].getType().equals(Object.class)) {
            throw Refusal.at(path, wildcard.getType().getTypeName() + ", which may be anything: name a type");
        }
        return of(upper[0], variables, path);
    }

    private static void requireNoParameters(Class<?> type, String path) {
        if (type.getTypeParameters().length > 0) {
            throw Refusal.at(
                    path,
                    "the raw type " + type.getSimpleName()
                            + ": name its arguments, for an answer itself with new TypeReference<"
                            + type.getSimpleName() + "<…>>() {}");
        }
    }

    /** What the variables of the class stand for. */
    Map<TypeVariable<?>, Use> variables() {
        Map<TypeVariable<?>, Use> variables = new java.util.HashMap<>();
        TypeVariable<?>[] parameters = raw.getTypeParameters();
        for (int i = 0; i < arguments.size(); i++) {
            variables.put(parameters[i], arguments.get(i));
        }
        return variables;
    }
}
