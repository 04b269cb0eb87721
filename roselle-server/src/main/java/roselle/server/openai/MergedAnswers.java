package roselle.server.openai;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.stream.IntStream;
import roselle.api.GenerationEvent;
import roselle.server.answer.Answer;

/**
 * The events of several answers in the order in which they happen.
 *
 * <p>One answer is read by the caller's thread itself. Several are read by a virtual thread each, which end with their answers:
 * closing those ends the threads, and {@link #close} lets one that waits for room in the queue go.
 */
final class MergedAnswers implements AutoCloseable {
    private static final int ROOM = 256;

    /** An event, and the number of the prompt that it belongs to. */
    record Event(int prompt, GenerationEvent event) {}

    private sealed interface Item {
        record Told(Event event) implements Item {}

        record Ended() implements Item {}

        record Broken(RuntimeException failure) implements Item {}
    }

    private final List<Answer> answers;
    private final BlockingQueue<Item> items = new ArrayBlockingQueue<>(ROOM);
    private final List<Thread> readers;
    private int open;

    MergedAnswers(List<Answer> answers) {
        this.answers = answers;
        open = answers.size();
        readers = answers.size() == 1
                ? List.of()
                : IntStream.range(0, answers.size())
                        .mapToObj(prompt -> Thread.ofVirtual().start(() -> read(prompt)))
                        .toList();
    }

    private void read(int prompt) {
        try {
            try {
                Answer answer = answers.get(prompt);
                while (answer.hasNext()) {
                    items.put(new Item.Told(new Event(prompt, answer.next())));
                }
                items.put(new Item.Ended());
            } catch (CancellationException given) {
                Thread.currentThread().interrupt();
            } catch (RuntimeException failure) {
                items.put(new Item.Broken(failure));
            }
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for the next event; empty when all answers have ended. */
    Optional<Event> next() {
        if (readers.isEmpty()) {
            Answer only = answers.getFirst();
            return only.hasNext() ? Optional.of(new Event(0, only.next())) : Optional.empty();
        }
        while (open > 0) {
            switch (take()) {
                case Item.Told told -> {
                    return Optional.of(told.event());
                }
                case Item.Broken broken -> throw broken.failure();
                case Item.Ended _ -> open--;
            }
        }
        return Optional.empty();
    }

    private Item take() {
        try {
            return items.take();
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
            throw new CancellationException("interrupted while waiting for a token");
        }
    }

    @Override
    public void close() {
        readers.forEach(Thread::interrupt);
    }
}
