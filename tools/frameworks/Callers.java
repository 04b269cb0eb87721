import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationRequest;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.langchain4j.RoselleChatModel;

/**
 * Many virtual threads that ask at once: the engine itself, LangChain4j's model of it, or that of jlama. It opens the model that it is told,
 * and for each line on standard input has all callers ask once; it writes the tokens a second of all together. callers.py runs several of
 * these by turns.
 *
 * <p>usage: Callers engine|langchain4j|jlama MODEL_FOLDER CALLERS TOKENS
 */
final class Callers {
    private static final int AT_A_TIME = 64;

    private Callers() {}

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[1]);
        int callers = Integer.parseInt(arguments[2]);
        int tokens = Integer.parseInt(arguments[3]);
        IntFunction<Integer> asked = arguments[0].equals("jlama") ? Jlama.open(folder, tokens) : Ours.open(arguments[0], folder, tokens);
        System.out.println("ready, first answer of " + asked.apply(0) + " tokens");
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (lines.readLine() != null) {
            System.out.println(rate(asked, callers));
        }
    }

    private static double rate(IntFunction<Integer> asked, int callers) throws Exception {
        long start = System.nanoTime();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Callable<Integer>> all = IntStream.range(0, callers)
                    .mapToObj(number -> (Callable<Integer>) () -> asked.apply(number))
                    .toList();
            int written = 0;
            for (var answer : threads.invokeAll(all)) {
                written += answer.get();
            }
            return written / ((System.nanoTime() - start) / 1e9);
        }
    }

    private static String question(int number) {
        return "Tell me a story about the number " + number + ".";
    }

    private static int through(ChatModel model, int number) {
        ChatResponse response = model.chat(
                ChatRequest.builder().messages(UserMessage.from(question(number))).build());
        return response.tokenUsage().outputTokenCount();
    }

    /** A class of its own, which is not loaded where jlama is asked. */
    private static final class Ours {
        static IntFunction<Integer> open(String way, Path folder, int tokens) {
            Engine engine = Engine.open(EngineConfig.of(folder).with(new BatchOptions(1024, AT_A_TIME, 512, 0, 100_000)));
            if (way.equals("engine")) {
                return number -> written(engine, GenerationRequest.builder()
                        .user(question(number))
                        .temperature(0)
                        .maxTokens(tokens)
                        .build());
            }
            var model = RoselleChatModel.builder().engine(engine).temperature(0.0).maxOutputTokens(tokens).build();
            return number -> through(model, number);
        }

        private static int written(Engine engine, GenerationRequest request) {
            try (var generation = engine.submit(request)) {
                for (var event : generation) {
                    if (event instanceof Finished finished) {
                        return finished.usage().completionTokens();
                    }
                }
            }
            throw new IllegalStateException("the answer has no end");
        }
    }

    /** By reflection: no build of ours has jlama. Its name of a model is owner/name, its folder owner_name. */
    private static final class Jlama {
        /** jlama's limit is of prompt and answer together; what counts is what was written. */
        private static final int PROMPT = 40;

        static IntFunction<Integer> open(Path folder, int tokens) throws ReflectiveOperationException {
            Object builder = Class.forName("dev.langchain4j.model.jlama.JlamaChatModel").getMethod("builder").invoke(null);
            set(builder, "modelCachePath", Path.class, folder.toAbsolutePath().getParent());
            set(builder, "modelName", String.class, folder.getFileName().toString().replaceFirst("_", "/"));
            set(builder, "temperature", Float.class, 0f);
            set(builder, "maxTokens", Integer.class, PROMPT + tokens);
            var model = (ChatModel) builder.getClass().getMethod("build").invoke(builder);
            return number -> through(model, number);
        }

        private static void set(Object builder, String name, Class<?> type, Object value) throws ReflectiveOperationException {
            builder.getClass().getMethod(name, type).invoke(builder, value);
        }
    }
}
