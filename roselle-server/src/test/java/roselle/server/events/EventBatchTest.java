package roselle.server.events;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import roselle.api.PageEvent.Lost;
import roselle.api.PageEvent.Removed;
import roselle.api.PageEvent.Scope;
import roselle.api.PageEvent.Stored;

final class EventBatchTest {
    private static final Scope SHARED = new Scope("", "", "");

    private final PageHashes hashes = new PageHashes();

    private EventBatch batch() {
        return new EventBatch(hashes, 2, digest -> "tales");
    }

    /** What Python's msgpack and hashlib make of the same events. */
    @Test
    void isWrittenAsVllmWritesIt() {
        var batch = batch().add(List.of(
                new Stored(1, 0, List.of(1, 200), Optional.of(new Scope("alice", "salt", "d1"))),
                new Stored(2, 1, List.of(70_000, 5), Optional.empty()),
                new Removed(2),
                new Stored(3, 0, List.of(1, 2), Optional.of(SHARED)),
                new Stored(4, 1, List.of(9, 9), Optional.empty()),
                new Lost()));

        assertThat(HexFormat.of().formatHex(batch.bytes(1.5)))
                .isEqualTo(
                        "93cb3ff80000000000009599ab426c6f636b53746f72656492cf4b228d27671cbe78cf3f278dfa48309606c09401cc"
                                + "c8ce000111700502c0c0a574616c65739291a473616c74c093ac426c6f636b52656d6f76656491cf3f278dfa483096"
                                + "06c099ab426c6f636b53746f72656491cfdce9144faac7aad0c092010202c0c0c0c099ab426c6f636b53746f7265"
                                + "6491cf6eb73288fd5dbc64cf4b228d27671cbe7892090902c0c0c0c091b0416c6c426c6f636b73436c656172656400");
    }

    @Test
    void pagesThatContinueWhatNobodyWasToldOfAreLeftOut() {
        var batch = batch().add(List.of(new Stored(8, 7, List.of(1, 2), Optional.empty()), new Removed(7)));

        assertThat(batch.isEmpty()).isTrue();
    }

    @Test
    void twoServersCallThePageTheSame() {
        var other = new PageHashes();
        other.add(5, 0, List.of(7, 7), Optional.of(SHARED));

        assertThat(other.add(9, 5, List.of(3, 4), Optional.empty()))
                .isEqualTo(second(hashes, 3, 4))
                .isNotEqualTo(second(new PageHashes(), 4, 3));
        assertThat(hashes.add(6, 0, List.of(7, 7), Optional.of(new Scope("", "other", ""))))
                .isNotEqualTo(other.of(5));
    }

    private static OptionalLong second(PageHashes of, int... tokens) {
        of.add(1, 0, List.of(7, 7), Optional.of(SHARED));
        return of.add(2, 1, List.of(tokens[0], tokens[1]), Optional.empty());
    }

    @Test
    void lettersAndNumbersOfEveryLength() {
        var text = new MessagePack()
                .unsigned(127)
                .unsigned(255)
                .unsigned(65_535)
                .unsigned(4_294_967_295L)
                .unsigned(-1)
                .text("x".repeat(31))
                .text("x".repeat(32))
                .text("x".repeat(256))
                .array(15)
                .array(16);

        String hex = HexFormat.of().formatHex(text.bytes());
        assertThat(hex)
                .startsWith("7fccffcdffffceffffffffcfffffffffffffffffbf78")
                .contains("78d92078", "78da010078")
                .endsWith("9fdc0010");
    }
}
