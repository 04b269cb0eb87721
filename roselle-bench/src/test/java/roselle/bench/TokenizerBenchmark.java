package roselle.bench;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.Tokenizer;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tokens per second of 100 kB of English and of code with GPT-2's vocabulary, ours and Hugging Face's library on one
 * thread each ({@code tokens} in the result). Run from the repository's root, so that documents and sources are found.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 1,
        jvmArgsAppend = {
            "--add-modules=jdk.incubator.vector",
            "-Dai.djl.offline=true",
            "--enable-native-access=ALL-UNNAMED"
        })
public class TokenizerBenchmark {
    private static final int CHARACTERS = 100_000;

    @Param({"english", "code"})
    private String kind = "";

    private String text = "";
    private List<Tokenizer> ours = List.of(); // one, once loaded
    private List<HuggingFaceTokenizer> theirs = List.of();

    /** The tokens of the operations of an iteration, which JMH divides by its time. */
    @State(Scope.Thread)
    @AuxCounters(AuxCounters.Type.OPERATIONS)
    public static class Counter {
        public long tokens;
    }

    @Setup
    public void load() throws IOException {
        text = sample(kind);
        Path vocabulary = Path.of("../shared/data/vocab/ggml-vocab-gpt-2.gguf");
        try (var checkpoint = Checkpoints.open(vocabulary)) {
            ours = List.of(checkpoint.tokenizer());
            theirs = List.of(reference(checkpoint));
        }
    }

    private static String sample(String kind) throws IOException {
        String ending = kind.equals("code") ? ".java" : ".md";
        Path root = kind.equals("code") ? Path.of("roselle-engine/src/main/java") : Path.of("..", "shared");
        var all = new StringBuilder();
        try (var files = Files.walk(root)) {
            for (Path file : files.filter(file -> file.toString().endsWith(ending))
                    .sorted()
                    .toList()) {
                all.append(Files.readString(file));
            }
        }
        while (all.length() < CHARACTERS) {
            all.append(all);
        }
        return all.substring(0, CHARACTERS);
    }

    private static HuggingFaceTokenizer reference(Checkpoint checkpoint) throws IOException {
        var mapper = new JsonMapper();
        var json = mapper.createObjectNode();
        String byteLevel = "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true}";
        json.put("version", "1.0").set("pre_tokenizer", mapper.readTree(byteLevel));
        json.putArray("added_tokens");
        var model = json.putObject("model").put("type", "BPE");
        var vocabulary = model.putObject("vocab");
        for (String token : checkpoint.config().strings("tokenizer.ggml.tokens")) {
            vocabulary.put(token, vocabulary.size());
        }
        checkpoint.config().strings("tokenizer.ggml.merges").forEach(model.putArray("merges")::add);
        Path file = Files.createTempFile("gpt2", ".json");
        try {
            Files.write(file, mapper.writeValueAsBytes(json));
            return HuggingFaceTokenizer.newInstance(file, Map.of("truncation", "false", "padding", "false"));
        } finally {
            Files.delete(file);
        }
    }

    @TearDown
    public void close() {
        theirs.getFirst().close();
    }

    @Benchmark
    public int[] roselle(Counter counter) {
        int[] ids = ours.getFirst().encode(text, EncodeOptions.PLAIN);
        counter.tokens += ids.length;
        return ids;
    }

    @Benchmark
    public long[] huggingFace(Counter counter) {
        long[] ids = theirs.getFirst().encode(text, false, false).getIds();
        counter.tokens += ids.length;
        return ids;
    }
}
