package roselle.checkpoint;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import roselle.api.CheckpointException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** JSON as model files hold it: no duplicate keys, no second document, every limit finite. */
final class StrictJson {
    static final int LARGEST_FILE = 1 << 26;
    private static final int DEEPEST = 64;
    private static final int LONGEST_NUMBER = 400;
    private static final int LONGEST_STRING = 1 << 24;
    private static final int LONGEST_NAME = 1 << 16;

    private static final JsonFactory FACTORY = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(DEEPEST)
                    .maxNumberLength(LONGEST_NUMBER)
                    .maxStringLength(LONGEST_STRING)
                    .maxNameLength(LONGEST_NAME)
                    .maxDocumentLength(SafetensorsHeader.LARGEST)
                    .build())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS) // Python's json writes Infinity
            .build();
    private static final JsonMapper MAPPER = JsonMapper.builder(FACTORY)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private StrictJson() {}

    static JsonParser parser(byte[] json, int length) {
        return FACTORY.createParser(ObjectReadContext.empty(), json, 0, length);
    }

    /** The object that a file holds. */
    static JsonNode readObject(Path path) {
        try {
            JsonNode root = MAPPER.readTree(readBytes(path));
            if (!root.isObject()) {
                throw new CheckpointException(path + " does not hold a JSON object");
            }
            return root;
        } catch (JacksonException | IllegalStateException e) {
            throw malformed(path.toString(), 0, e);
        }
    }

    /** Jackson's complaint as one sentence; {@code start} is where the document begins in the file. */
    static CheckpointException malformed(String file, long start, RuntimeException cause) {
        String reason = cause.getMessage();
        String place = "";
        if (cause instanceof JacksonException jackson) {
            reason = jackson.getOriginalMessage();
            var location = jackson.getLocation();
            place = location == null ? "" : "at byte " + (start + Math.max(0, location.getByteOffset())) + ", ";
        }
        return new CheckpointException(
                file + ": " + place + "the JSON is malformed: " + FileField.excerpt(String.valueOf(reason)), cause);
    }

    /** All bytes of a small file. */
    static byte[] readBytes(Path path) {
        ModelPath.requireFile(path);
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
