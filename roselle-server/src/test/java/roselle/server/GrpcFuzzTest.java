package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.server.config.ListenOptions;
import roselle.server.config.ModelRepository;
import roselle.server.config.ModelRepository.Control;
import roselle.server.config.PoolOptions;
import roselle.server.config.PooledModel;
import roselle.server.config.ServerConfig;

/**
 * Messages of KServe's protocol over gRPC, made up field by field from what the protocol's file says of them: right ones, such with
 * wrong values, and such that are no messages. Each is answered or refused; none is a defect.
 */
@SuppressWarnings("ArrayRecordComponent") // of constants, which nobody compares
final class GrpcFuzzTest {
    private static final int TURNS = 900;
    private static final int VARINT = 0;
    private static final int FIXED_64 = 1;
    private static final int BYTES = 2;
    private static final int FIXED_32 = 5;

    @TempDir
    private static Path folder;

    // ---- what the protocol's file says ----

    /** What a field may have. */
    private sealed interface Kind {}

    private record Text(String... values) implements Kind {}

    private record Whole(long... values) implements Kind {}

    private record Packed(long... values) implements Kind {}

    private record Real(double... values) implements Kind {}

    private record Raw(byte[]... values) implements Kind {}

    private record Message(Field... fields) implements Kind {}

    /** A field that is there so many times in a hundred, and now and then more than once if that is not always. */
    private record Field(int number, int percent, Kind kind) {}

    private static final Kind FLAG = new Whole(0, 1, 1, 2, -1);
    private static final Field MODEL = new Field(
            1,
            100,
            new Text("demo", "demo", "demo", "demo", "demo", "demo", "demo", "demo", "bert", "other", "", "de\0mo"));
    private static final Field VERSION = new Field(2, 30, new Text("1", "1", "1", "1", "", "2", "-1"));

    private static final Field PARAMETERS = new Field(
            4,
            30,
            new Message(
                    new Field(
                            1,
                            95,
                            new Text(
                                    "max_tokens",
                                    "temperature",
                                    "top_p",
                                    "top_k",
                                    "seed",
                                    "stop",
                                    "logprobs",
                                    "n",
                                    "priority",
                                    "stream",
                                    "structured_outputs",
                                    "binary_data_size",
                                    "binary_data_output",
                                    "triton_enable_empty_final_response",
                                    "return_logprobs",
                                    "shared_memory_region",
                                    "skip_special_tokens",
                                    "colour",
                                    "")),
                    new Field(
                            2,
                            95,
                            new Message(
                                    new Field(1, 20, FLAG),
                                    new Field(
                                            2, 60, new Whole(0, 1, 2, 5, 20, 100, -1, Long.MIN_VALUE, Long.MAX_VALUE)),
                                    new Field(
                                            3,
                                            20,
                                            new Text(
                                                    "x",
                                                    "",
                                                    "{\"regex\":\"[ab]+\"}",
                                                    "{\"json\":{}}",
                                                    "{}",
                                                    "[",
                                                    "0.5")),
                                    new Field(
                                            4,
                                            20,
                                            new Real(
                                                    0,
                                                    0.5,
                                                    1,
                                                    -0.0,
                                                    -1,
                                                    2.5,
                                                    1e300,
                                                    Double.NaN,
                                                    Double.POSITIVE_INFINITY,
                                                    Double.NEGATIVE_INFINITY,
                                                    Double.MIN_VALUE)),
                                    new Field(5, 10, new Whole(0, 3, -1, Long.MAX_VALUE))))));

    private static final Kind INPUT = new Message(
            new Field(
                    1,
                    97,
                    new Text(
                            "text_input",
                            "text_input",
                            "text_input",
                            "text_input",
                            "stream",
                            "sampling_parameters",
                            "exclude_input_in_output",
                            "return_finish_reason",
                            "return_logprobs",
                            "return_num_output_tokens",
                            "return_cumulative_logprob",
                            "tokens")),
            new Field(2, 97, new Text("BYTES", "BYTES", "BYTES", "BYTES", "BOOL", "BOOL", "FP32", "bytes", "")),
            new Field(3, 97, new Packed(1, 1, 1, 1, 1, 0, 2, -1, Long.MAX_VALUE)),
            new Field(4, 5, PARAMETERS.kind()),
            new Field(
                    5,
                    60,
                    new Message(
                            new Field(1, 15, FLAG),
                            new Field(2, 2, new Packed(1)),
                            new Field(3, 2, new Packed(1)),
                            new Field(6, 2, new Real(1)),
                            new Field(
                                    8,
                                    90,
                                    new Text(
                                            "Once",
                                            "Once upon",
                                            "",
                                            "{\"max_tokens\":\"2\"}",
                                            "{\"n\":2}",
                                            "\uD83E\uDD8A")))));

    /** One that is right as long as no field of it is made wrong. */
    private static final Kind PROMPT = new Message(
            new Field(1, 100, new Text("text_input")),
            new Field(2, 100, new Text("BYTES")),
            new Field(3, 100, new Packed(1)),
            new Field(5, 100, new Message(new Field(8, 100, new Text("Once", "", "a\0b")))));

    private static final Kind LENGTH = new Message(
            new Field(1, 100, new Text("max_tokens")),
            new Field(2, 100, new Message(new Field(2, 100, new Whole(1, 2, 9)))));

    private static final Kind OUTPUT = new Message(
            new Field(
                    1,
                    97,
                    new Text(
                            "text_output",
                            "text_output",
                            "finish_reason",
                            "cumulative_logprob",
                            "logprobs",
                            "num_input_tokens",
                            "num_output_tokens",
                            "tokens")),
            new Field(2, 10, PARAMETERS.kind()));

    private static final Kind INFER = new Message(
            MODEL,
            VERSION,
            new Field(3, 30, new Text("7", "", "seven")),
            new Field(4, 10, PARAMETERS.kind()),
            new Field(4, 50, LENGTH),
            new Field(5, 90, PROMPT),
            new Field(5, 15, INPUT),
            new Field(6, 15, OUTPUT),
            new Field(
                    7,
                    5,
                    new Raw(new byte[] {1, 0, 0, 0, 'a'}, new byte[] {1}, new byte[] {0}, new byte[0], new byte[] {
                        -1, -1, -1, -1, 'a'
                    })));

    private static final Kind NOTHING = new Message();
    private static final Kind OF_MODEL = new Message(MODEL, VERSION);
    private static final Kind OF_REPOSITORY = new Message(
            new Field(1, 10, new Text("", "models")),
            new Field(2, 95, new Text("demo", "demo", "bert", "other", "")),
            new Field(
                    3,
                    20,
                    new Message(
                            new Field(1, 95, new Text("unload_dependents", "config")),
                            new Field(2, 95, new Message(new Field(1, 90, FLAG), new Field(3, 10, new Text("{}")))))));

    /** The protocol's six calls, and Triton's. */
    private static final Map<String, Kind> CALLS = new TreeMap<>(Map.ofEntries(
            Map.entry("ServerLive", NOTHING),
            Map.entry("ServerReady", NOTHING),
            Map.entry("ServerMetadata", NOTHING),
            Map.entry("ModelReady", OF_MODEL),
            Map.entry("ModelMetadata", OF_MODEL),
            Map.entry("ModelInfer", INFER),
            Map.entry("ModelStreamInfer", INFER),
            Map.entry("ModelConfig", OF_MODEL),
            Map.entry("ModelStatistics", OF_MODEL),
            Map.entry("RepositoryIndex", new Message(new Field(1, 10, new Text("", "models")), new Field(2, 50, FLAG))),
            Map.entry("RepositoryModelLoad", OF_REPOSITORY),
            Map.entry("RepositoryModelUnload", OF_REPOSITORY)));

    // ---- writing ----

    /** Writes messages; of a hundred fields {@code faults} are what the protocol does not allow. */
    private record Writer(Random random, int faults) {
        private boolean happens(int percent) {
            return random.nextInt(100) < percent;
        }

        byte[] message(Message message) {
            var out = new ByteArrayOutputStream();
            for (Field field : message.fields()) {
                for (int times = 0; times < 4 && happens(field.percent()); times++) {
                    field(out, field);
                    if (!happens(20)) {
                        break;
                    }
                }
            }
            if (happens(faults)) {
                wild(out, random.nextInt(1, 20));
            }
            return out.toByteArray();
        }

        private void field(ByteArrayOutputStream out, Field field) {
            if (happens(faults)) {
                wild(out, field.number());
                return;
            }
            switch (field.kind()) {
                case Text text ->
                    sized(
                            out,
                            field,
                            text.values()[random.nextInt(text.values().length)].getBytes(StandardCharsets.UTF_8));
                case Raw raw -> sized(out, field, raw.values()[random.nextInt(raw.values().length)]);
                case Message message -> sized(out, field, message(message));
                case Whole whole -> {
                    varint(out, ((long) field.number() << 3) | VARINT);
                    varint(out, whole.values()[random.nextInt(whole.values().length)]);
                }
                case Packed packed -> {
                    var elements = new ByteArrayOutputStream();
                    for (int count = happens(90) ? 1 : random.nextInt(4); count > 0; count--) {
                        varint(elements, packed.values()[random.nextInt(packed.values().length)]);
                    }
                    sized(out, field, elements.toByteArray());
                }
                case Real real -> {
                    varint(out, ((long) field.number() << 3) | FIXED_64);
                    out.writeBytes(number(real.values()[random.nextInt(real.values().length)]));
                }
            }
        }

        private static byte[] number(double value) {
            return ByteBuffer.allocate(Double.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putDouble(value)
                    .array();
        }

        private static void sized(ByteArrayOutputStream out, Field field, byte[] value) {
            varint(out, ((long) field.number() << 3) | BYTES);
            varint(out, value.length);
            out.writeBytes(value);
        }

        /** A field of a type that it has not, or of no type, or one that does not end, or one that nobody knows. */
        private void wild(ByteArrayOutputStream out, int number) {
            byte[] bytes = new byte[random.nextInt(12)];
            random.nextBytes(bytes);
            switch (random.nextInt(7)) {
                case 0 -> varint(out, ((long) number << 3) | VARINT);
                case 1 -> varint(out, ((long) number << 3) | FIXED_64);
                case 2 -> varint(out, ((long) number << 3) | FIXED_32);
                case 3 -> varint(out, ((long) number << 3) | (3 + random.nextInt(2)));
                case 4 -> {
                    varint(out, ((long) number << 3) | BYTES);
                    varint(out, random.nextBoolean() ? random.nextLong() : random.nextInt(1 << 20));
                }
                case 5 -> {
                    varint(out, ((long) number << 3) | BYTES);
                    varint(out, bytes.length);
                }
                default -> varint(out, random.nextLong());
            }
            out.writeBytes(bytes);
        }

        private static void varint(ByteArrayOutputStream out, long value) {
            long rest = value;
            while ((rest & ~0x7fL) != 0) {
                out.write((int) ((rest & 0x7f) | 0x80));
                rest >>>= 7;
            }
            out.write((int) rest);
        }

        /** As it is sent: behind whether it is compressed, and its length. */
        String framed(byte[] message) {
            boolean isOdd = happens(faults);
            int length = isOdd ? random.nextInt(2 * message.length + 2) : message.length;
            byte[] bytes = ByteBuffer.allocate(5 + message.length)
                    .put((byte) (isOdd ? random.nextInt(3) : 0))
                    .putInt(length)
                    .put(message)
                    .array();
            return new String(bytes, StandardCharsets.ISO_8859_1);
        }
    }

    // ---- asking ----

    /** Answered; a wrong argument, no such model, too much, not supported, not loaded. */
    private static final Set<String> ENDS = Set.of(
            "grpc-status: 0",
            "grpc-status: 3",
            "grpc-status: 5",
            "grpc-status: 8",
            "grpc-status: 12",
            "grpc-status: 14");

    private static String answer(int port, String call, String body) throws IOException {
        try (var connection = new PlainConnection(port)) {
            return connection
                    .post(
                            "/inference.GRPCInferenceService/" + call,
                            body,
                            "Content-Type: application/grpc\r\nConnection: close\r\n")
                    .read(Integer.MAX_VALUE);
        }
    }

    /** Sends made-up calls; returns how many of each ended how. */
    private static Map<String, Integer> ask(int port, int seed) throws IOException {
        var calls = new ArrayList<>(CALLS.keySet());
        calls.addAll(List.of("ModelInfer", "ModelInfer", "ModelStreamInfer")); // which have the most fields
        var ends = new TreeMap<String, Integer>();
        var seeds = new Random(seed);
        for (int turn = 0; turn < TURNS; turn++) {
            var random = new Random(seeds.nextLong());
            var writer = new Writer(random, List.of(0, 0, 4, 12).get(random.nextInt(4)));
            String call = calls.get(turn % calls.size());
            var body = new StringBuilder();
            for (int count = call.equals("ModelStreamInfer") ? random.nextInt(4) : 1; count > 0; count--) {
                body.append(writer.framed(writer.message((Message) Objects.requireNonNull(CALLS.get(call)))));
            }
            String said = answer(port, call, body.toString());
            String as = "seed " + seed + ", turn " + turn + ", " + call + ": " + said;
            assertThat(said).as(as).startsWith("HTTP/1.1 200 OK").containsPattern("\ngrpc-status: \\d+\r");
            String status = said.substring(said.lastIndexOf("grpc-status: ")).replaceFirst("(?s)\r.*", "");
            assertThat(status).as(as).isIn(ENDS);
            ends.merge(call + " " + status, 1, Integer::sum);
        }
        return ends;
    }

    /** What is made up is not refused at once: every call is answered, and refused, too. */
    private static void requireBoth(Map<String, Integer> ends) {
        for (String call : CALLS.keySet()) {
            assertThat(ends).as("%s", ends).containsKey(call + " grpc-status: 0");
            assertThat(ends.keySet()).as("%s", ends).anyMatch(end -> end.startsWith(call) && !end.endsWith(": 0"));
        }
    }

    @Test
    void noMessageIsADefectOfAServerOfAModel() throws IOException {
        try (var demo = new DemoServer()) {
            Map<String, Integer> ends = ask(demo.server().port(), 1);

            ends.keySet().removeIf(end -> end.startsWith("RepositoryModel")); // which one model refuses
            assertThat(ends).containsKeys("ModelInfer grpc-status: 0", "ModelInfer grpc-status: 3");
        }
    }

    @Test
    void noMessageIsADefectOfAServerOfManyModels() throws IOException {
        Files.copy(DemoServer.demo(), folder.resolve("demo.gguf"));
        var repository = new ModelRepository(
                folder,
                Control.EXPLICIT,
                Duration.ofHours(1),
                path -> PooledModel.of(
                        path.getFileName().toString().replace(".gguf", ""),
                        EngineConfig.of(path).with(new BatchOptions(256, 4, 64, 0, 16))),
                Optional.empty());
        var models = List.of(PooledModel.of("bert", EngineConfig.of(EncoderServer.MODELS.resolve("bert"))));
        try (var server = Server.start(
                ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0)),
                new PoolOptions(models, 0, PoolOptions.PATIENCE, Optional.of(repository)))) {
            requireBoth(ask(server.port(), 2));
        }
    }
}
