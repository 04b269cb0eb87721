package roselle.api.type;

import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;

/**
 * A type with its arguments, which a {@code Class} cannot say: {@code new TypeReference<List<Invoice>>() {}}.
 *
 * @param <T> the type
 */
public abstract class TypeReference<T> {
    private final AnnotatedType type;

    protected TypeReference() {
        if (!(getClass().getAnnotatedSuperclass() instanceof AnnotatedParameterizedType parent)
                || getClass().getSuperclass() != TypeReference.class) {
            throw new IllegalArgumentException(
                    "a type reference names its type where it is made: new TypeReference<List<String>>() {}");
        }
        type = parent.getAnnotatedActualTypeArguments()[0];
    }

    /** The type with its annotations. */
    public final AnnotatedType type() {
        return type;
    }
}
