package roselle.checkpoint.huggingface;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import roselle.api.CheckpointException;
import roselle.checkpoint.file.FileField;
import roselle.checkpoint.file.RegularFile;
import roselle.json.JsonLimits;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** JSON as model files hold it: no duplicate keys, no second document, every limit finite. */
final class StrictJson {
    static final int LARGEST_FILE = 1 << 26;
    private static final JsonFactory FACTORY = JsonLimits.DEFAULT
            .withNumberCharacters(400)
            .withNameCharacters(1 << 16)
            .withStringCharacters(1 << 24)
            .withDocumentBytes(SafetensorsHeader.LARGEST)
            .factory(JsonLimits.Allowance.NOT_A_NUMBER); // Python's json writes Infinity
    /** Trees are built here from tokens: Jackson's mapper alone takes a cold JVM a third of a second. */
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private StrictJson() {}

    /** A parser of a document that begins at {@code start} in the file. */
    static JsonParser parser(String file, long start, byte[] json) {
        try {
            return FACTORY.createParser(ObjectReadContext.empty(), json);
        } catch (JacksonException e) { // the first bytes are of no encoding
            throw malformed(file, start, e);
        }
    }

    /** The object that a file holds. */
    static JsonNode readObject(Path path) {
        return readObject(path.toString(), readBytes(path));
    }

    /** The object that a text holds; what names it in messages. */
    static JsonNode readObject(String file, byte[] json) {
        JsonNode root = readAny(file, json);
        if (!root.isObject()) {
            throw new CheckpointException(file + " does not hold a JSON object");
        }
        return root;
    }

    /** The value that a file holds. */
    static JsonNode readAny(Path path) {
        return readAny(path.toString(), readBytes(path));
    }

    private static JsonNode readAny(String file, byte[] json) {
        try (JsonParser parser = parser(file, 0, json)) {
            return readDocument(file, parser);
        }
    }

    private static JsonNode readDocument(String file, JsonParser parser) {
        try {
            JsonNode root = parser.nextToken() == null ? NODES.missingNode() : readValue(parser);
            long offset = Math.max(0, parser.currentLocation().getByteOffset());
            if (parser.nextToken() != null) {
                throw new CheckpointException(file + ": at byte " + offset + ", something follows the JSON document");
            }
            return root;
        } catch (JacksonException | IllegalStateException e) {
            throw malformed(file, Math.max(0, parser.currentLocation().getByteOffset()), e);
        }
    }

    /** The value that begins at the current token; as deep as the parser allows documents to be. */
    private static JsonNode readValue(JsonParser parser) {
        return switch (parser.currentToken()) {
            case START_OBJECT -> readFields(parser);
            case START_ARRAY -> readElements(parser);
            case VALUE_STRING -> NODES.stringNode(parser.getString());
            case VALUE_NUMBER_INT -> readInteger(parser);
            case VALUE_NUMBER_FLOAT -> NODES.numberNode(parser.getDoubleValue());
            case VALUE_TRUE -> NODES.booleanNode(true);
            case VALUE_FALSE -> NODES.booleanNode(false);
            case VALUE_NULL -> NODES.nullNode();
            case NOT_AVAILABLE, END_OBJECT, END_ARRAY, PROPERTY_NAME, VALUE_EMBEDDED_OBJECT ->
                throw new IllegalStateException("no JSON value begins with " + parser.currentToken());
        };
    }

    private static JsonNode readFields(JsonParser parser) {
        ObjectNode fields = NODES.objectNode();
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = parser.currentName();
            parser.nextToken();
            fields.set(name, readValue(parser));
        }
        return fields;
    }

    private static JsonNode readElements(JsonParser parser) {
        ArrayNode elements = NODES.arrayNode();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            elements.add(readValue(parser));
        }
        return elements;
    }

    private static JsonNode readInteger(JsonParser parser) {
        return parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                ? NODES.numberNode(parser.getBigIntegerValue())
                : NODES.numberNode(parser.getLongValue());
    }

    /** Jackson's complaint as one sentence. */
    static CheckpointException malformed(String file, long offset, RuntimeException cause) {
        String reason = cause instanceof JacksonException jackson ? jackson.getOriginalMessage() : cause.getMessage();
        return new CheckpointException(
                file + ": at byte " + offset + ", the JSON is malformed: " + withoutClass(String.valueOf(reason)),
                cause);
    }

    /** Cuts the name of the class that holds a limit from Jackson's message about the limit. */
    private static String withoutClass(String reason) {
        int origin = reason.indexOf(", from `");
        return origin < 0 ? FileField.excerpt(reason) : FileField.excerpt(reason.substring(0, origin)) + ")";
    }

    /** All bytes of a small file. */
    static byte[] readBytes(Path path) {
        RegularFile.require(path);
        try {
            long size = Files.size(path);
            if (size > LARGEST_FILE) {
                throw new CheckpointException(path + " has " + size + " bytes, more than the limit of " + LARGEST_FILE);
            }
            try (var stream = Files.newInputStream(path)) {
                return stream.readNBytes(LARGEST_FILE);
            }
        } catch (IOException e) {
            throw new CheckpointException(path + " cannot be read: " + e.getMessage(), e);
        }
    }
}
