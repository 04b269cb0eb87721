package roselle.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import roselle.tokenizer.Tokenizer;
import roselle.tokenizer.format.Tokenizers;

/**
 * Milliseconds to load a made-up tokenizer.json of 128,000 byte-level tokens, once in each of several fresh JVMs. The
 * first run writes the file, so that those after it have loaded no class for it: delete it to see the difference.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 0)
@Measurement(iterations = 1)
@Fork(value = 6, jvmArgsAppend = "--add-modules=jdk.incubator.vector")
public class TokenizerLoadBenchmark {
    private static final int TOKENS = 128_000;

    private final Path file = Path.of("roselle-bench/target/tokenizer-128k.json");

    @Setup
    public void write() throws IOException {
        if (!Files.exists(file)) {
            Files.writeString(file, json());
        }
    }

    /** Random merges of earlier tokens, mostly short ones. */
    private static String json() {
        var random = new Random(7);
        var tokens = new LinkedHashSet<String>();
        for (int i = 0; i < 256; i++) {
            tokens.add(Character.toString(i < 94 ? '!' + i : 0x100 + i)); // as many one-character tokens as bytes
        }
        var ordered = new ArrayList<>(tokens);
        var merges = new ArrayList<String>();
        while (ordered.size() < TOKENS) {
            String left = ordered.get(random.nextInt(Math.min(ordered.size(), 4000)));
            String right = ordered.get(random.nextInt(random.nextBoolean() ? 94 : Math.min(ordered.size(), 4000)));
            if (left.length() + right.length() < 12 && tokens.add(left + right)) {
                ordered.add(left + right);
                merges.add(left + " " + right);
            }
        }
        return "{\"version\":\"1.0\",\"added_tokens\":[],\"normalizer\":null,"
                + "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true},"
                + "\"decoder\":{\"type\":\"ByteLevel\"},\"model\":{\"type\":\"BPE\",\"vocab\":{"
                + vocabulary(ordered) + "},\"merges\":[" + quoted(merges) + "]}}";
    }

    private static String vocabulary(List<String> tokens) {
        var text = new StringBuilder();
        for (int id = 0; id < tokens.size(); id++) {
            text.append(id == 0 ? "" : ",")
                    .append(quoted(tokens.get(id)))
                    .append(':')
                    .append(id);
        }
        return text.toString();
    }

    private static String quoted(List<String> all) {
        return String.join(",", all.stream().map(TokenizerLoadBenchmark::quoted).toList());
    }

    private static String quoted(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }

    /** What the loading thread itself needed, whatever else the machine did. */
    @State(Scope.Thread)
    @AuxCounters(AuxCounters.Type.EVENTS)
    public static class Processor {
        public double processorMillis;
    }

    @Benchmark
    public Tokenizer load(Processor processor) throws IOException {
        var threads = ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadCpuTime();
        Tokenizer tokenizer = Tokenizers.fromFile(file);
        processor.processorMillis += (threads.getCurrentThreadCpuTime() - before) / 1e6;
        return tokenizer;
    }
}
