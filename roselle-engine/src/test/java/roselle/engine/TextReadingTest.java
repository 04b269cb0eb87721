package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.conversation.FormatFinder;
import roselle.tokenizer.Tokenizer;

/** What is read beside the weights ends before the files are closed, and tells whoever waits for it what went wrong. */
final class TextReadingTest {
    /** Of a model whose tokenizer is read so; nothing else of it is asked for. */
    private static Checkpoint checkpoint(Supplier<Tokenizer> tokenizer) {
        return (Checkpoint) Proxy.newProxyInstance(
                Checkpoint.class.getClassLoader(),
                new Class<?>[] {Checkpoint.class},
                (_, method, _) -> switch (method.getName()) {
                    case "hasTokenizer" -> true;
                    case "tokenizer" -> tokenizer.get();
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    private static TextReading begin(Checkpoint checkpoint) {
        return TextReading.begin(checkpoint, FormatFinder.AUTO);
    }

    @Test
    void whatReadingThrowsIsThrownToWhoWaits() {
        var broken = new CheckpointException("model.gguf: a token is written twice");
        try (var reading = begin(checkpoint(() -> {
            throw broken;
        }))) {
            assertThatThrownBy(() -> reading.text(1)).isSameAs(broken);
        }
        var fault = new InternalError("a fault occurred in an unsafe memory access operation");
        try (var reading = begin(checkpoint(() -> {
            throw fault;
        }))) {
            assertThatThrownBy(() -> reading.text(1)).isSameAs(fault);
        }
    }

    @Test
    void closingWaitsUntilNothingIsReadAndKeepsAnInterruption() throws Exception {
        var begun = new CountDownLatch(1);
        var released = new CountDownLatch(1);
        var reading = begin(checkpoint(() -> {
            begun.countDown();
            await(released);
            throw new CheckpointException("no matter");
        }));
        await(begun);
        var closing = new FutureTask<>(() -> {
            reading.close();
            return Thread.interrupted();
        });
        Thread closer = Thread.ofPlatform().start(closing);
        closer.interrupt();
        while (closer.isAlive() && closer.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        assertThat(closing.isDone()).as("while a file is read").isFalse();
        released.countDown();
        assertThat(closing.get()).as("the closer's interruption").isTrue();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interruption) {
            throw new IllegalStateException(interruption);
        }
    }
}
