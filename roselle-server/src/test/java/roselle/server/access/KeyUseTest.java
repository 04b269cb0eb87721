package roselle.server.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import roselle.server.config.ApiKey;
import roselle.server.config.KeyLimits;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorAnswer;
import roselle.server.openai.common.OpenAiConventions;

final class KeyUseTest {
    private static final long SECOND = 1_000_000_000L;

    private final AtomicLong clock = new AtomicLong(-5);

    @Test
    void letsAsManyRequestsInAsAMinuteHas() {
        KeyUse use = use(6, 1_000, 100);
        for (int request = 0; request < 6; request++) {
            use.enter(1_000);
        }

        ApiException refused = refusal(use);

        assertThat(refused.status()).isEqualTo(429);
        assertThat(words(refused).type()).isEqualTo("requests");
        assertThat(words(refused).code()).isEqualTo("rate_limit_exceeded");
        assertThat(refused.retryAfter()).isEqualTo(Duration.ofSeconds(10));
        assertThat(refused).hasMessageContaining("6 requests a minute");
    }

    @Test
    void letsTheNextInWhenTheTimeThatItToldHasPassed() {
        KeyUse use = use(6, 1_000, 100);
        for (int request = 0; request < 6; request++) {
            use.enter(1_000);
        }
        Duration wait = refusal(use).retryAfter();

        clock.addAndGet(wait.toNanos() - 1_000);
        refusal(use);
        clock.addAndGet(1_000);
        use.enter(1_000);

        refusal(use);
    }

    @Test
    void refusesUntilWhatWasSpentTooMuchIsEarned() {
        KeyUse use = use(100, 60, 100);
        use.enter(1_000);
        use.spend(150); // known only when it has been made: 90 too many

        ApiException refused = refusal(use);

        assertThat(words(refused).type()).isEqualTo("tokens");
        assertThat(refused.retryAfter()).isEqualTo(Duration.ofSeconds(91));
        clock.addAndGet(91 * SECOND);
        use.enter(1_000);
    }

    @Test
    void earnsNoMoreThanAMinuteInAYear() {
        KeyUse use = use(2, 1_000, 100);
        clock.addAndGet(365L * 86_400 * SECOND);

        use.enter(1_000);
        use.enter(1_000);

        refusal(use);
    }

    @Test
    void countsRequestsThatAreBeingAnswered() {
        KeyUse use = use(1_000, 1_000, 2);
        use.enter(1_000);
        use.enter(1_000);
        assertThatThrownBy(() -> use.enter(1_000)).hasMessageContaining("2 requests at a time");

        use.leave();

        use.enter(1_000);
        assertThat(refusal(use).retryAfter()).isEqualTo(Duration.ofSeconds(1));
    }

    /** Whatever comes when: no more enter within a span of time than a full allowance and what it earned. */
    @Test
    void neverLetsMoreInThanTheLimit() {
        long seed = 20_261_121;
        System.out.println("seed " + seed);
        var random = new SplittableRandom(seed);
        KeyUse use = use(120, 1_000_000, 1_000_000);
        int entered = 0;
        long begin = clock.get();
        for (int attempt = 0; attempt < 10_000; attempt++) {
            clock.addAndGet(random.nextLong(SECOND / 2));
            try {
                use.enter(1_000);
                entered++;
            } catch (ApiException refused) {
                assertThat(refused.retryAfter()).isPositive();
            }
            long earned = 120 + (clock.get() - begin) / (SECOND / 2);
            assertThat((long) entered).isLessThanOrEqualTo(earned);
        }
        assertThat(entered).isGreaterThan(4_000);
    }

    private KeyUse use(int requests, long tokens, int concurrent) {
        return new KeyUse(
                new ApiKey("alice", ApiKey.sha256("k"), new KeyLimits(requests, tokens, concurrent)), clock::get);
    }

    private static ErrorAnswer words(ApiException refused) {
        return OpenAiConventions.COMPLETIONS.error(refused, "");
    }

    private static ApiException refusal(KeyUse use) {
        return catchThrowableOfType(ApiException.class, () -> use.enter(1_000));
    }
}
