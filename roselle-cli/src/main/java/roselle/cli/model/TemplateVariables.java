package roselle.cli.model;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.api.InvalidRequestException;
import roselle.json.JsonLimits;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** Reads a template's variables from JSON as Python does, within limits and without second guesses. */
final class TemplateVariables {
    private static final int CHARACTERS = 64 << 20;

    private static final JsonMapper MAPPER = JsonLimits.DEFAULT
            .withNumberCharacters(4_300) // Python's limit
            .withNameCharacters(50_000)
            .withStringCharacters(CHARACTERS)
            .withDocumentBytes(CHARACTERS)
            .mapper();

    private TemplateVariables() {}

    /**
     * The members of a JSON object.
     *
     * @param name what error messages call the JSON
     */
    static Map<String, ?> parse(String json, String name) {
        if (json.length() > CHARACTERS) {
            throw new InvalidRequestException(
                    name + " has " + json.length() + " characters: at most " + CHARACTERS + " are read");
        }
        try {
            Map<String, @Nullable Object> variables = MAPPER.readValue(json, new TypeReference<>() {});
            if (variables == null) {
                throw new InvalidRequestException(name + " is null: a JSON object of variables is needed");
            }
            refuseInfinite(variables, name);
            return variables;
        } catch (JacksonException malformed) {
            throw new InvalidRequestException(
                    name + place(malformed) + ": not a JSON object of variables: " + malformed.getOriginalMessage());
        }
    }

    private static String place(JacksonException malformed) {
        TokenStreamLocation location = malformed.getLocation();
        return location == null ? "" : ", line " + location.getLineNr() + ", column " + location.getColumnNr();
    }

    private static void refuseInfinite(@Nullable Object value, String name) {
        switch (value) {
            case Double number
            when number.isInfinite() ->
                throw new InvalidRequestException(name + " holds a number that is too large for a float");
            case Map<?, ?> map -> map.values().forEach(member -> refuseInfinite(member, name));
            case List<?> list -> list.forEach(member -> refuseInfinite(member, name));
            case null, default -> {}
        }
    }
}
