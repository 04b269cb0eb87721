package roselle.bench.trace;

import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import roselle.api.InvalidRequestException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A line of JSON with {@code timestamp}, {@code input_length}, {@code output_length} and {@code hash_ids}: Mooncake's traces
 * (milliseconds, blocks of 512 tokens) and Bailian's of Qwen (seconds, blocks of 16).
 */
record JsonLine(String format, double secondsPerUnit, int blockTokens) implements TraceRow {
    static final int MAX_TOKENS = 1 << 27;

    private static final JsonMapper MAPPER = new JsonMapper();

    /** The layout by the first line: only Bailian's tells about conversations. */
    static TraceRow of(String first) {
        return parse(first).has("chat_id") ? new JsonLine("bailian", 1, 16) : new JsonLine("mooncake", 1e-3, 512);
    }

    @Override
    public Optional<TraceEntry> read(String line) {
        JsonNode row = parse(line);
        int input = tokens(row, "input_length");
        int output = tokens(row, "output_length");
        double time = number(row, "timestamp") * secondsPerUnit;
        List<Long> blocks = blocks(row.path("hash_ids"));
        return input == 0 || output == 0 ? Optional.empty() : Optional.of(new TraceEntry(time, input, output, blocks));
    }

    private static List<Long> blocks(JsonNode ids) {
        return IntStream.range(0, ids.size())
                .mapToObj(i -> {
                    if (!ids.get(i).canConvertToLong()) {
                        throw new InvalidRequestException("hash_ids has a value that is no 64-bit integer");
                    }
                    return ids.get(i).longValue();
                })
                .toList();
    }

    private static int tokens(JsonNode row, String field) {
        double value = number(row, field);
        if (value < 0 || value > MAX_TOKENS || value != Math.rint(value)) {
            throw new InvalidRequestException(field + " is " + value + ", which is no number of tokens");
        }
        return (int) value;
    }

    private static double number(JsonNode row, String field) {
        JsonNode value = row.path(field);
        if (!value.isNumber()) {
            throw new InvalidRequestException(field + " is not there or no number");
        }
        return value.doubleValue();
    }

    private static JsonNode parse(String line) {
        try {
            return MAPPER.readTree(line);
        } catch (JacksonException malformed) {
            throw new InvalidRequestException("it is no JSON: " + malformed.getOriginalMessage(), malformed);
        }
    }
}
