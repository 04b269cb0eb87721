package roselle.engine.answer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class StopStringMatcherTest {
    @Test
    void endsAtTheStopStringAndKeepsWhatCameBefore() {
        var matcher = new StopStringMatcher(List.of("END"));
        assertThat(matcher.append("one E") + matcher.append("N") + matcher.append("D two"))
                .isEqualTo("one ");
        assertThat(matcher.match()).isEqualTo("END");
        assertThat(matcher.finish()).isEmpty();
    }

    @Test
    void releasesWhatOnlyLookedLikeAStopString() {
        var matcher = new StopStringMatcher(List.of("aab"));
        assertThat(matcher.append("aa")).isEmpty();
        assertThat(matcher.append("a")).isEqualTo("a");
        assertThat(matcher.append("c")).isEqualTo("aac");
        assertThat(matcher.finish()).isEmpty();
    }

    @Test
    void theOneThatIsCompleteFirstWinsAndOfThoseTheLongest() {
        var matcher = new StopStringMatcher(List.of("bc", "abcd", "abc"));
        assertThat(matcher.append("xabcd")).isEqualTo("x");
        assertThat(matcher.match()).isEqualTo("abc");
    }

    @Test
    void findsWhatASearchOfTheWholeTextFindsHoweverTheTextIsCut() {
        var random = new Random(11);
        for (int round = 0; round < 5_000; round++) {
            String text = random.ints(30, 'a', 'd')
                    .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                    .toString();
            List<String> stops = List.of("abca", "bb", "cacc");
            var matcher = new StopStringMatcher(stops);
            var answer = new StringBuilder();
            for (int at = 0; at < text.length() && matcher.match().isEmpty(); ) {
                int next = Math.min(text.length(), at + 1 + random.nextInt(4));
                answer.append(matcher.append(text.substring(at, next)));
                at = next;
            }
            answer.append(matcher.finish());
            assertThat(answer.toString()).as(text).isEqualTo(untilFirst(text, stops));
        }
    }

    private static String untilFirst(String text, List<String> stops) {
        for (int end = 1; end <= text.length(); end++) {
            String longest = null;
            for (String stop : stops) {
                if (text.substring(0, end).endsWith(stop) && (longest == null || stop.length() > longest.length())) {
                    longest = stop;
                }
            }
            if (longest != null) {
                return text.substring(0, end - longest.length());
            }
        }
        return text;
    }
}
