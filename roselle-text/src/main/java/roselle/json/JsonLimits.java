package roselle.json;

import java.util.List;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * How large JSON may be, and the one place where its readers are made: nothing but JSON is read, each name of an object stands
 * there once, and every limit is finite or another's who reads the bytes.
 *
 * @param depth of nested objects and arrays
 * @param numberCharacters of a number
 * @param nameCharacters of a name
 * @param stringCharacters of a string
 * @param documentBytes of a document
 * @param tokens values, names and brackets of a document
 */
public record JsonLimits(
        int depth, int numberCharacters, int nameCharacters, int stringCharacters, long documentBytes, long tokens) {
    /** Small names and numbers, and as many bytes as there are: the source of the bytes has a limit of its own. */
    public static final JsonLimits DEFAULT =
            new JsonLimits(64, 64, 1024, Integer.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);

    /** What a kind of files needs beyond strict JSON. */
    public enum Allowance {
        /** NaN and infinities as numbers: Python writes them. */
        NOT_A_NUMBER,
        /** Objects of so many names that their reader keeps and compares them, and no parser. */
        MANY_NAMES
    }

    public JsonLimits withDepth(int value) {
        return new JsonLimits(value, numberCharacters, nameCharacters, stringCharacters, documentBytes, tokens);
    }

    public JsonLimits withNumberCharacters(int value) {
        return new JsonLimits(depth, value, nameCharacters, stringCharacters, documentBytes, tokens);
    }

    public JsonLimits withNameCharacters(int value) {
        return new JsonLimits(depth, numberCharacters, value, stringCharacters, documentBytes, tokens);
    }

    public JsonLimits withStringCharacters(int value) {
        return new JsonLimits(depth, numberCharacters, nameCharacters, value, documentBytes, tokens);
    }

    public JsonLimits withDocumentBytes(long value) {
        return new JsonLimits(depth, numberCharacters, nameCharacters, stringCharacters, value, tokens);
    }

    public JsonLimits withTokens(long value) {
        return new JsonLimits(depth, numberCharacters, nameCharacters, stringCharacters, documentBytes, value);
    }

    /** Makes parsers of documents token by token. */
    @SuppressWarnings("exports") // readers have Jackson themselves
    public JsonFactory factory(Allowance... allowances) {
        var allowed = List.of(allowances);
        boolean hasManyNames = allowed.contains(Allowance.MANY_NAMES);
        return JsonFactory.builder()
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(depth)
                        .maxNumberLength(numberCharacters)
                        .maxNameLength(nameCharacters)
                        .maxStringLength(stringCharacters)
                        .maxDocumentLength(documentBytes)
                        .maxTokenCount(tokens)
                        .build())
                .configure(StreamReadFeature.STRICT_DUPLICATE_DETECTION, !hasManyNames)
                .configure(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES, !hasManyNames)
                .configure(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS, allowed.contains(Allowance.NOT_A_NUMBER))
                .build();
    }

    /** Makes trees of documents, and refuses what follows one. */
    @SuppressWarnings("exports") // readers have Jackson themselves
    public JsonMapper mapper() {
        return JsonMapper.builder(factory())
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .build();
    }
}
