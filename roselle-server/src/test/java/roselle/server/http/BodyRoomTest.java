package roselle.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import org.junit.jupiter.api.Test;

final class BodyRoomTest {
    private static final long MEBIBYTE = 1L << 20;

    @Test
    void refusesWhatDoesNotFitBesideOthersUntilTheyAreOver() {
        var room = new BodyRoom(32 * MEBIBYTE);
        var shares = new BodyRoom.Share[8];
        for (int index = 0; index < shares.length; index++) {
            shares[index] = room.share();
            shares[index].take(32 * MEBIBYTE);
        }
        try (var late = room.share()) {
            ApiException refused = catchThrowableOfType(ApiException.class, () -> late.take(1));
            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.retryAfter()).isPositive();

            shares[3].close();

            late.take(32 * MEBIBYTE);
        }
        shares[3].close(); // gives nothing back twice
        try (var next = room.share()) {
            next.take(32 * MEBIBYTE);
            assertThat(catchThrowableOfType(ApiException.class, () -> next.take(1)))
                    .isNotNull();
        }
    }

    @Test
    void hasRoomForOneBodyOfTheGreatestSize() {
        try (var share = new BodyRoom(1L << 30).share()) {
            share.take(1L << 30);
        }
    }
}
