package roselle.langchain4j;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.api.GenerationRequest;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.hub.BundledModel;

/** A thousand virtual threads ask through LangChain4j, and ask the engine itself: the same answers, and what each took is printed. */
@Tag("long")
class ManyCallersTest {
    private static final int CALLERS = 1000;
    private static final int TOKENS = 32;
    /** Rounds by turns after the first, for who measures: {@code -Droselle.rounds=5}. */
    private static final int ROUNDS = Integer.getInteger("roselle.rounds", 1);

    /** One round of all callers: their answers, and what they took. */
    private record Round(List<String> answers, long wallNanos, long cpuNanos) {}

    private static String question(int number) {
        return "What is " + number % 50 + " + " + number / 50 + "? Tell me a story.";
    }

    private static Round ask(IntFunction<String> caller) {
        var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long cpu = system.getProcessCpuTime();
        long start = System.nanoTime();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<CompletableFuture<String>> answers = IntStream.range(0, CALLERS)
                    .mapToObj(number -> CompletableFuture.supplyAsync(() -> caller.apply(number), threads))
                    .toList();
            List<String> texts = answers.stream().map(CompletableFuture::join).toList();
            return new Round(texts, System.nanoTime() - start, system.getProcessCpuTime() - cpu);
        }
    }

    @Test
    void answersAThousandCallersAsTheEngineDoes() throws IOException {
        Path file = BundledModel.DEMO.unpackInto(Path.of("target", "models"));
        var config = EngineConfig.of(file).with(new BatchOptions(0, 64, 512, 0, CALLERS));
        try (Engine engine = Engine.open(config)) {
            var model = RoselleChatModel.builder()
                    .engine(engine)
                    .defaultRequestParameters(ChatRequestParameters.builder()
                            .temperature(0.0)
                            .maxOutputTokens(TOKENS)
                            .build())
                    .build();
            IntFunction<String> through = number -> model.chat(ChatRequest.builder()
                            .messages(UserMessage.from(question(number)))
                            .build())
                    .aiMessage()
                    .text();
            IntFunction<String> direct = number -> engine.submit(GenerationRequest.builder()
                            .user(question(number))
                            .temperature(0)
                            .maxTokens(TOKENS)
                            .build())
                    .text();
            assertThat(ask(through).answers()).isEqualTo(ask(direct).answers());
            for (int round = 0; round < ROUNDS; round++) {
                print("engine", ask(direct));
                print("LangChain4j", ask(through));
            }
        }
    }

    private static void print(String way, Round round) {
        System.out.printf(
                Locale.ROOT,
                "%s: %.2f s, %.2f s of processors, %d callers%n",
                way,
                round.wallNanos() / 1e9,
                round.cpuNanos() / 1e9,
                CALLERS);
    }
}
