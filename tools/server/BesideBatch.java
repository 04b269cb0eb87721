import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a batch costs the requests that somebody waits for: {@code java tools/server/BesideBatch.java PORT [PER_SECOND [SECONDS [ROUNDS
 * [TOKENS]]]]} against {@code roselle serve --batch-folder}. Sends chat requests at a fixed rate, whatever the answers take, in rounds
 * without a batch and beside one, in turns; prints the percentiles of the milliseconds until an answer is whole, the rows of the batch
 * that were answered in a round, and the medians' ratio of the rounds.
 */
final class BesideBatch {
    private static final int BATCH_LINES = 50_000;
    private static final Pattern ID = Pattern.compile("\"id\":\\s*\"((?:file|batch)[^\"]*)\"");
    private static final Pattern DONE = Pattern.compile("\"completed\":\\s*(\\d+)");
    private static final Pattern STATUS = Pattern.compile("\"status\":\\s*\"([a-z_]+)\"");

    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String server;
    private final double perSecond;
    private final double seconds;
    private final int tokens;
    private int asked;

    private BesideBatch(int port, double perSecond, double seconds, int tokens) {
        server = "http://127.0.0.1:" + port;
        this.perSecond = perSecond;
        this.seconds = seconds;
        this.tokens = tokens;
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        double perSecond = arguments.length > 1 ? Double.parseDouble(arguments[1]) : 10;
        double seconds = arguments.length > 2 ? Double.parseDouble(arguments[2]) : 20;
        int rounds = arguments.length > 3 ? Integer.parseInt(arguments[3]) : 5;
        int tokens = arguments.length > 4 ? Integer.parseInt(arguments[4]) : 32;
        new BesideBatch(Integer.parseInt(arguments[0]), perSecond, seconds, tokens).run(rounds);
    }

    private void run(int rounds) throws IOException, InterruptedException {
        String input = upload();
        round("warm-up", "");
        double[] medians = new double[rounds];
        double[] tails = new double[rounds];
        for (int i = 0; i < rounds; i++) {
            double[] alone = round("alone", "");
            String batch = begin(input);
            double[] beside = round("beside", batch);
            end(batch);
            medians[i] = beside[0] / alone[0];
            tails[i] = beside[1] / alone[1];
        }
        Arrays.sort(medians);
        Arrays.sort(tails);
        System.out.printf(Locale.ROOT, "median of the rounds: p50 %.3f times, p99 %.3f times%n", medians[rounds / 2], tails[rounds / 2]);
    }

    private String upload() throws IOException, InterruptedException {
        var body = new StringBuilder("--x\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--x\r\n"
                + "Content-Disposition: form-data; name=\"file\"; filename=\"in.jsonl\"\r\n\r\n");
        for (int i = 0; i < BATCH_LINES; i++) {
            body.append("{\"custom_id\":\"").append(i).append("\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\",\"body\":")
                    .append(chat("Tell me of row " + i, 64)).append("}\n");
        }
        return id(send(post("/v1/files", body + "\r\n--x--\r\n", "multipart/form-data; boundary=x")));
    }

    /** A batch that answers requests already. */
    private String begin(String input) throws IOException, InterruptedException {
        String batch = id(send(post("/v1/batches", "{\"input_file_id\":\"" + input
                + "\",\"endpoint\":\"/v1/chat/completions\",\"completion_window\":\"24h\"}", "application/json")));
        while (done(batch) < 64) {
            Thread.sleep(100);
        }
        return batch;
    }

    private void end(String batch) throws IOException, InterruptedException {
        send(post("/v1/batches/" + batch + "/cancel", "", "application/json"));
        for (String state = ""; !state.equals("cancelled"); state = first(STATUS, send(get("/v1/batches/" + batch)))) {
            Thread.sleep(100);
        }
        Thread.sleep(500);
    }

    private long done(String batch) throws IOException, InterruptedException {
        return Long.parseLong(first(DONE, send(get("/v1/batches/" + batch))));
    }

    /** Milliseconds of the median and of the 99th of a hundred. */
    private double[] round(String name, String batch) throws IOException, InterruptedException {
        long before = batch.isEmpty() ? 0 : done(batch);
        int count = (int) (perSecond * seconds);
        double[] millis = new double[count];
        var failed = new AtomicInteger();
        var open = new CountDownLatch(count);
        long begin = System.nanoTime();
        for (int i = 0; i < count; i++) {
            long due = begin + (long) (i / perSecond * 1e9);
            long wait = due - System.nanoTime();
            if (wait > 0) {
                Thread.sleep(wait / 1_000_000, (int) (wait % 1_000_000));
            }
            int index = i;
            int number = asked++;
            Thread.startVirtualThread(() -> {
                try {
                    send(post("/v1/chat/completions", chat("What is " + number + " + 30?", tokens), "application/json"));
                } catch (IOException | InterruptedException | IllegalStateException failure) {
                    failed.incrementAndGet();
                }
                millis[index] = (System.nanoTime() - due) / 1e6;
                open.countDown();
            });
        }
        open.await();
        long rows = batch.isEmpty() ? 0 : done(batch) - before;
        Arrays.sort(millis);
        double[] of = {millis[count / 2], millis[(int) Math.ceil(0.99 * count) - 1]};
        System.out.printf(Locale.ROOT, "%-8s requests=%d failed=%d p50_ms=%.1f p99_ms=%.1f max_ms=%.1f batch_rows=%d%n",
                name, count, failed.get(), of[0], of[1], millis[count - 1], rows);
        return of;
    }

    private static String chat(String question, int tokens) {
        return "{\"messages\":[{\"role\":\"user\",\"content\":\"" + question + "\"}],\"max_tokens\":" + tokens
                + ",\"min_tokens\":" + tokens + "}";
    }

    private HttpRequest post(String path, String body, String type) {
        return HttpRequest.newBuilder(URI.create(server + path)).header("Content-Type", type)
                .POST(HttpRequest.BodyPublishers.ofString(body)).build();
    }

    private HttpRequest get(String path) {
        return HttpRequest.newBuilder(URI.create(server + path)).build();
    }

    private String send(HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new IllegalStateException(request.uri() + " answered " + answer.statusCode() + ": " + answer.body());
        }
        return answer.body();
    }

    private static String id(String json) {
        return first(ID, json);
    }

    private static String first(Pattern pattern, String json) {
        Matcher found = pattern.matcher(json);
        if (!found.find()) {
            throw new IllegalStateException("no " + pattern + " in " + json);
        }
        return found.group(1);
    }
}
