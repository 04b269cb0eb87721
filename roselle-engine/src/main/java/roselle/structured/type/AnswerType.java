package roselle.structured.type;

import java.util.Map;
import java.util.function.Consumer;
import roselle.api.InvalidRequestException;
import roselle.api.ResponseFormat;
import roselle.api.ResponseFormat.JsonOptions;
import roselle.api.ResponseFormat.KeyOrder;
import roselle.api.ResponseFormat.Whitespace;
import roselle.api.type.TypeReference;
import roselle.api.type.TypedEvent;

/**
 * A Java type that answers can be of: records and what they are made of. It is found out by reflection, once; thread-safe.
 *
 * <p>Properties are the components of a record, all of them, in their order; a component that is {@code @Nullable} or
 * {@code Optional} is {@code null} where there is nothing. A record of a sealed interface begins with a property {@code type} (see
 * {@link roselle.api.type.Discriminator}), whose value is the simple name of its class.
 *
 * @param <T> the type
 */
public final class AnswerType<T> {
    private final TypeNode node;
    private final String schema;

    private AnswerType(Use use, String name) {
        if (use.isNullable()) {
            throw Refusal.at(name, "an answer is never null as a whole: make it Optional");
        }
        node = new TypeCompiler().compile(use, name);
        EndlessTypes.refuse(node);
        schema = SchemaWriter.write(node);
    }

    /**
     * The type of a class.
     *
     * @throws InvalidRequestException if no answer can be of it; the message begins with the place, as in
     *     {@code Invoice.lines[].price}
     */
    public static <T> AnswerType<T> of(Class<T> type) {
        return new AnswerType<>(Use.of(type, type.getSimpleName()), type.getSimpleName());
    }

    /**
     * A type with arguments.
     *
     * @throws InvalidRequestException if no answer can be of it; the message begins with the place, as in
     *     {@code List[].lines[].price}
     */
    public static <T> AnswerType<T> of(TypeReference<T> type) {
        Use use = Use.of(type.type(), Map.of(), "TypeReference");
        return new AnswerType<>(use, use.raw().getSimpleName());
    }

    /** Its JSON schema, of draft 2020-12: what a prompt can tell the model, which is held to it in any case. */
    public String schema() {
        return schema;
    }

    /** What answers are held to. */
    public ResponseFormat format() {
        return new ResponseFormat.JsonSchema(schema, new JsonOptions(Whitespace.BOUNDED, KeyOrder.SCHEMA));
    }

    /**
     * Begins to read an answer.
     *
     * @param events hears of each field as it is read
     */
    public AnswerReader<T> reader(Consumer<TypedEvent> events) {
        return new AnswerReader<>(node, events);
    }
}
