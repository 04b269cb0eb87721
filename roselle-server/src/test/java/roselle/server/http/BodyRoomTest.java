package roselle.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import org.junit.jupiter.api.Test;

final class BodyRoomTest {
    private static final long MEBIBYTE = 1L << 20;

    @Test
    void refusesWhatDoesNotFitBesideOthersUntilTheyAreOver() {
        var room = new BodyRoom(256 * MEBIBYTE, 256 * MEBIBYTE, Turns::atOnce);
        var shares = new BodyRoom.Share[8];
        for (int index = 0; index < shares.length; index++) {
            shares[index] = room.share("someone");
            shares[index].take(32 * MEBIBYTE);
        }
        try (var late = room.share("late")) {
            ApiException refused = catchThrowableOfType(ApiException.class, () -> late.take(1));
            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.retryAfter()).isPositive();

            shares[3].close();

            late.take(32 * MEBIBYTE);
        }
        shares[3].close(); // gives nothing back twice
        try (var next = room.share("late")) {
            next.take(32 * MEBIBYTE);
            assertThat(catchThrowableOfType(ApiException.class, () -> next.take(1)))
                    .isNotNull();
        }
    }

    @Test
    void hasRoomForOneBodyOfTheGreatestSize() {
        try (var share = BodyRoom.of(1L << 30, 64 * MEBIBYTE, Turns::atOnce).share("someone")) {
            share.take(1L << 30);
        }
    }

    @Test
    void isAQuarterOfASmallHeapAndOfALargeOne() {
        assertThat(most(MEBIBYTE, 64 * MEBIBYTE)).isEqualTo(16 * MEBIBYTE);
        assertThat(most(MEBIBYTE, 512 * MEBIBYTE)).isEqualTo(256 * MEBIBYTE);
        assertThat(most(MEBIBYTE, 2048 * MEBIBYTE)).isEqualTo(512 * MEBIBYTE);
        assertThat(most(MEBIBYTE, 1L << 20)).isEqualTo(MEBIBYTE);
    }

    private static boolean fits(BodyRoom.Share share, long bytes) {
        try {
            share.take(bytes);
            return true;
        } catch (ApiException _) {
            return false;
        }
    }

    /** What two owners can have together. */
    private static long most(long bodyBytes, long heapBytes) {
        var room = BodyRoom.of(bodyBytes, heapBytes, Turns::atOnce);
        try (var first = room.share("first");
                var second = room.share("second")) {
            return taken(first) + taken(second);
        }
    }

    private static long taken(BodyRoom.Share share) {
        long most = 0;
        for (long step = 1L << 40; step > 0; step >>= 1) {
            most += fits(share, step) ? step : 0;
        }
        return most;
    }

    @Test
    void keepsHalfForOthersFromWhoeverTakesMost() {
        var room = BodyRoom.of(32 * MEBIBYTE, 512 * MEBIBYTE, Turns::atOnce);
        var shares = new BodyRoom.Share[4];
        for (int index = 0; index < shares.length; index++) {
            shares[index] = room.share("greedy");
            shares[index].take(32 * MEBIBYTE);
        }
        try (var further = room.share("greedy");
                var other = room.share("modest")) {
            ApiException refused = catchThrowableOfType(ApiException.class, () -> further.take(1));
            assertThat(refused.status()).isEqualTo(429);
            assertThat(refused.retryAfter()).isPositive();

            other.take(32 * MEBIBYTE);
            assertThat(room.owners()).isEqualTo(2);

            shares[0].close();
            further.take(32 * MEBIBYTE);
        }
        for (BodyRoom.Share share : shares) {
            share.close();
        }
        assertThat(room.owners()).isZero();
    }

    @Test
    void chargesAKeyInsteadOfItsAddress() {
        var room = new BodyRoom(20, 10, Turns::atOnce);
        try (var share = room.share("address");
                var other = room.share("address")) {
            share.chargeTo("key");
            share.take(10);
            other.take(10);
            assertThat(room.owners()).isEqualTo(2);
        }
    }

    @Test
    void saysOfWhatCanNeverFitThatItIsTooLarge() {
        try (var share = new BodyRoom(10, 10, Turns::atOnce).share("someone")) {
            share.take(6);
            ApiException refused = catchThrowableOfType(ApiException.class, () -> share.take(5));
            assertThat(refused.status()).isEqualTo(413);
            assertThat(refused).hasMessageContaining("11 bytes").hasMessageContaining("10 there are");
        }
    }
}
