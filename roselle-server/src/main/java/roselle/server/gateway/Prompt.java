package roselle.server.gateway;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import roselle.json.JsonLimits;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * The beginnings of a request's prompt as numbers: one for each {@link #BLOCK} bytes, a hash of all bytes up to there.
 *
 * <p>The prompt is what the body has under the names that APIs give to prompts, as its bytes are: a conversation that goes on has
 * the bytes of its earlier turns, so no API, template or tokenizer needs to be known.
 *
 * @param bytes of the prompt
 * @param blocks a hash for each block that it fills
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares prompts
record Prompt(int bytes, long[] blocks) {
    /** Bytes of a block: about two pages of tokens. */
    static final int BLOCK = 128;

    /** Beyond 512 KiB nobody gains by a nearer look. */
    private static final int MOST_BLOCKS = 4096;

    static final Prompt NONE = new Prompt(0, new long[0]);

    private static final JsonFactory FACTORY =
            JsonLimits.DEFAULT.withTokens(4_000_000).factory();
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;

    /** Names of prompts, in the order in which servers put them before a model: the model's own name first. */
    private static final Map<String, Integer> NAMES = Map.of(
            "model",
            0,
            "tools",
            1,
            "system",
            2,
            "instructions",
            3,
            "prompt",
            4,
            "input",
            5,
            "inputs",
            6,
            "messages",
            7);

    /** The prompt of a body; none where it is not what an API would take. */
    static Prompt of(byte[] body) {
        if (body.length == 0) {
            return NONE;
        }
        try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), body)) {
            return parser.nextToken() == JsonToken.START_OBJECT ? of(body, parts(parser)) : NONE;
        } catch (JacksonException _) {
            return NONE; // a member says what is wrong with it
        }
    }

    /** Where the parts of the prompt lie, by their order: the first and the one behind the last byte. */
    private static NavigableMap<Integer, int[]> parts(JsonParser parser) {
        var parts = new TreeMap<Integer, int[]>();
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            Integer order = NAMES.get(parser.currentName());
            parser.nextToken();
            int begin = (int) parser.currentTokenLocation().getByteOffset();
            parser.skipChildren();
            parser.finishToken();
            if (order != null) {
                parts.put(
                        order, new int[] {begin, (int) parser.currentLocation().getByteOffset()});
            }
        }
        return parts;
    }

    private static Prompt of(byte[] body, NavigableMap<Integer, int[]> parts) {
        if (parts.isEmpty()) {
            return NONE;
        }
        var blocks = new long[Math.min(MOST_BLOCKS, body.length / BLOCK)];
        int count = 0;
        int bytes = 0;
        long hash = MULTIPLIER;
        for (var part : parts.entrySet()) {
            boolean isLast = part.getKey().equals(parts.lastKey());
            int begin = part.getValue()[0];
            int end = part.getValue()[1];
            hash = mixed(hash, part.getKey());
            for (; end - begin >= BLOCK && count < blocks.length; begin += BLOCK) {
                hash = block(body, begin, hash);
                blocks[count++] = hash;
            }
            if (!isLast) { // which may go on; the others are told apart by all of them
                hash = rest(body, begin, end, hash);
            }
            bytes += end - part.getValue()[0];
        }
        return new Prompt(bytes, Arrays.copyOf(blocks, count));
    }

    private static long block(byte[] body, int begin, long hash) {
        long all = hash;
        for (int at = begin; at < begin + BLOCK; at += Long.BYTES) {
            all = mixed(all, (long) LONG.get(body, at));
        }
        return all;
    }

    private static long rest(byte[] body, int begin, int end, long hash) {
        long all = hash;
        for (int at = begin; at < end; at++) {
            all = mixed(all, body[at]);
        }
        return all;
    }

    private static long mixed(long hash, long value) {
        long mixed = (hash ^ value) * MULTIPLIER;
        return mixed ^ mixed >>> 32;
    }
}
