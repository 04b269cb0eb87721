package roselle.structured.type;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import roselle.api.type.TypedEvent;
import roselle.api.type.TypedEvent.FieldDelta;

/** Texts read in one piece or in several. */
final class Reading {
    /** A value with the events that told of it, the deltas of a string being one. */
    record Told(@Nullable Object value, List<TypedEvent> events) {}

    private Reading() {}

    static <T> T whole(AnswerType<T> type, String text, String where) {
        AnswerReader<T> reader = type.reader(_ -> {});
        try {
            reader.accept(text);
            reader.finish();
        } catch (UnreadableException unreadable) {
            throw new AssertionError(unreadable.path() + ": " + unreadable.getMessage() + "\n" + where, unreadable);
        }
        assertThat(reader.isComplete()).as(where).isTrue();
        return reader.value();
    }

    static Told inPieces(AnswerType<?> type, String text, int... cuts) {
        List<TypedEvent> events = new ArrayList<>();
        AnswerReader<?> reader = type.reader(event -> add(events, event));
        int from = 0;
        for (int cut : cuts) {
            reader.accept(text.substring(from, cut));
            reader.partial();
            from = cut;
        }
        reader.accept(text.substring(from));
        reader.finish();
        return new Told(reader.value(), events);
    }

    static Told inPieces(AnswerType<?> type, String text, Random random) {
        return inPieces(
                type,
                text,
                random.ints(random.nextInt(1, 20), 0, text.length() + 1)
                        .sorted()
                        .toArray());
    }

    private static void add(List<TypedEvent> events, TypedEvent event) {
        if (event instanceof FieldDelta(String path, String part)) {
            assertThat(part).isNotEmpty();
            if (!events.isEmpty() && events.getLast() instanceof FieldDelta(String same, String begun)) {
                assertThat(path).isEqualTo(same);
                events.removeLast();
                events.add(new FieldDelta(path, begun + part));
                return;
            }
        }
        events.add(event);
    }
}
