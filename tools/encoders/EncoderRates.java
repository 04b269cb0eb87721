import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import roselle.backend.DeviceOptions;
import roselle.embedding.EmbeddingConfig;
import roselle.embedding.EmbeddingEngine;
import roselle.embedding.EmbeddingOptions;

/**
 * Rates of an encoder beside ONNX Runtime's in the same JVM: {@code EncoderRates FOLDER MODEL.onnx [THREADS [ROUNDS [PATH]]]}, where
 * the folder is what {@code tools/models/onnx_encoder.py} makes of the file, and the path one of {@code --cpu}. Prints CSV.
 * {@code tools/encoders/rates.sh} gets all that it needs and runs it.
 *
 * <p>Both get the same token ids, of one length, so that nothing is padded and no tokenizer counts; both give the mean of the last
 * hidden states, whose cosine is printed. The two take turns of ten rounds, so that both meet the same load of the machine, and rest
 * after each, since threads of ONNX Runtime spin on for a while and would take a core from the other's turn. Milliseconds are medians,
 * and the lowest; CPU time is the process's, a mean of all rounds, since its clock may have steps of ten milliseconds.
 */
final class EncoderRates {
    private static final int[][] CASES = {{50, 1}, {50, 8}, {512, 1}}; // tokens, texts
    private static final int STEP_TOKENS = 4096; // room for each case in one step
    private static final int TURN = 10; // rounds of one before those of the other
    private static final long REST_MILLIS = 200; // until threads that spin sleep

    private final EmbeddingEngine engine;
    private final Peer peer;

    private EncoderRates(EmbeddingEngine engine, Peer peer) {
        this.engine = engine;
        this.peer = peer;
    }

    public static void main(String[] arguments) throws Exception {
        int threads = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 2;
        int rounds = arguments.length > 3 ? Integer.parseInt(arguments[3]) : 60;
        String path = arguments.length > 4 ? arguments[4] : DeviceOptions.DEFAULT.cpu();
        var device = new DeviceOptions("cpu", threads, path, DeviceOptions.DEFAULT.compute());
        var config = new EmbeddingConfig(Path.of(arguments[0]), device, 0, STEP_TOKENS, 64, 1 << 16);
        System.out.println("tokens,texts,threads,roselle ms,lowest,cpu ms,onnx ms,lowest,cpu ms,texts/s,onnx texts/s,ratio"
                + ",ratio of lowest,ratio of cpu,lowest cosine");
        try (EmbeddingEngine engine = EmbeddingEngine.open(config)) {
            var rates = new EncoderRates(engine, new Peer(arguments[1], threads));
            for (int[] one : CASES) { // so that all is compiled before the first is timed
                rates.measure(one[0], one[1], rounds);
            }
            for (int[] one : CASES) {
                System.out.println(one[0] + "," + one[1] + "," + threads + rates.measure(one[0], one[1], rounds));
            }
        }
    }

    private String measure(int tokens, int texts, int rounds) throws Exception {
        List<int[]> ids = ids(tokens, texts);
        var ours = new Watch(rounds);
        var theirs = new Watch(rounds);
        double cosine = 1;
        for (int turn = 0; turn < rounds; turn += TURN) {
            int end = Math.min(rounds, turn + TURN);
            List<float[]> vectors = List.of();
            for (int round = turn; round < end; round++) {
                ours.begin();
                vectors = engine.embedIds(ids, EmbeddingOptions.DEFAULT).vectors();
                ours.end(round);
            }
            Thread.sleep(REST_MILLIS);
            List<float[]> others = List.of();
            for (int round = turn; round < end; round++) {
                theirs.begin();
                others = peer.embed(ids);
                theirs.end(round);
            }
            Thread.sleep(REST_MILLIS);
            cosine = Math.min(cosine, lowestCosine(vectors, others));
        }
        return ",%s,%s,%.1f,%.1f,%.2f,%.2f,%.2f,%.7f"
                .formatted(
                        ours,
                        theirs,
                        texts * 1e3 / ours.median(),
                        texts * 1e3 / theirs.median(),
                        theirs.median() / ours.median(),
                        theirs.lowest() / ours.lowest(),
                        (double) theirs.cpu / ours.cpu,
                        cosine);
    }

    private static List<int[]> ids(int tokens, int texts) {
        var random = new Random(tokens * 31L + texts);
        var ids = new ArrayList<int[]>();
        for (int i = 0; i < texts; i++) {
            int[] text = random.ints(tokens, 1000, 2000).toArray();
            text[0] = 101; // [CLS]
            text[tokens - 1] = 102; // [SEP]
            ids.add(text);
        }
        return ids;
    }

    private static double lowestCosine(List<float[]> some, List<float[]> others) {
        double lowest = 1;
        for (int i = 0; i < some.size(); i++) {
            lowest = Math.min(lowest, product(some.get(i), others.get(i))
                    / Math.sqrt(product(some.get(i), some.get(i)) * product(others.get(i), others.get(i))));
        }
        return lowest;
    }

    private static double product(float[] a, float[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += (double) a[i] * b[i];
        }
        return sum;
    }

    /** Times of rounds. */
    private static final class Watch {
        private final double[] millis;
        private long cpu; // nanoseconds of the process in all rounds
        private long begun;
        private long cpuBegun;

        Watch(int rounds) {
            millis = new double[rounds];
        }

        private static long cpuNow() {
            return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                    .getProcessCpuTime();
        }

        void begin() {
            cpuBegun = cpuNow();
            begun = System.nanoTime();
        }

        void end(int round) {
            long end = System.nanoTime();
            millis[round] = (end - begun) / 1e6;
            cpu += cpuNow() - cpuBegun;
        }

        double median() {
            double[] sorted = millis.clone();
            Arrays.sort(sorted);
            return sorted[sorted.length / 2];
        }

        double lowest() {
            return Arrays.stream(millis).min().orElseThrow();
        }

        @Override
        public String toString() {
            return "%.3f,%.3f,%.3f".formatted(median(), lowest(), cpu / 1e6 / millis.length);
        }
    }

    /** ONNX Runtime, called by name because no build of ours has it. */
    private static final class Peer {
        private final Object environment;
        private final Object session;
        private final Method createTensor;
        private final Method run;
        private final List<String> inputs;

        Peer(String model, int threads) throws Exception {
            Class<?> kind = Class.forName("ai.onnxruntime.OrtEnvironment");
            environment = kind.getMethod("getEnvironment").invoke(null);
            Class<?> options = Class.forName("ai.onnxruntime.OrtSession$SessionOptions");
            Object chosen = options.getConstructor().newInstance();
            options.getMethod("setIntraOpNumThreads", int.class).invoke(chosen, threads);
            session = kind.getMethod("createSession", String.class, options).invoke(environment, model, chosen);
            createTensor = Class.forName("ai.onnxruntime.OnnxTensor")
                    .getMethod("createTensor", kind, LongBuffer.class, long[].class);
            run = session.getClass().getMethod("run", Map.class);
            var names = (Iterable<?>) session.getClass().getMethod("getInputNames").invoke(session);
            inputs = new ArrayList<>();
            names.forEach(name -> inputs.add(name.toString()));
        }

        List<float[]> embed(List<int[]> ids) throws Exception {
            int tokens = ids.getFirst().length;
            long[] shape = {ids.size(), tokens};
            var given = new HashMap<String, Object>();
            try {
                for (String name : inputs) {
                    given.put(name, createTensor.invoke(null, environment, numbers(name, ids, tokens), shape));
                }
                try (var result = (AutoCloseable) run.invoke(session, given)) {
                    Object first = result.getClass().getMethod("get", int.class).invoke(result, 0);
                    Object hidden = first.getClass().getMethod("getValue").invoke(first);
                    return Arrays.stream((float[][][]) hidden).map(Peer::mean).toList();
                }
            } finally {
                for (Object tensor : given.values()) {
                    ((AutoCloseable) tensor).close();
                }
            }
        }

        private static LongBuffer numbers(String name, List<int[]> ids, int tokens) {
            var numbers = new long[ids.size() * tokens];
            if (name.equals("attention_mask")) {
                Arrays.fill(numbers, 1);
            } else if (name.equals("input_ids")) {
                for (int i = 0; i < numbers.length; i++) {
                    numbers[i] = ids.get(i / tokens)[i % tokens];
                }
            }
            return LongBuffer.wrap(numbers);
        }

        private static float[] mean(float[][] rows) {
            var mean = new float[rows[0].length];
            for (float[] row : rows) {
                for (int i = 0; i < mean.length; i++) {
                    mean[i] += row[i] / rows.length;
                }
            }
            return mean;
        }
    }
}
