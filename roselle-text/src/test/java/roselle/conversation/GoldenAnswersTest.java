package roselle.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.conversation.format.CallFormat;
import roselle.conversation.format.CallFormats;

/** Each golden answer says the same, however it is cut into pieces. */
final class GoldenAnswersTest {
    static Stream<Golden> goldens() {
        return Golden.all().stream();
    }

    @Test
    void thereIsOneForEachFormat() {
        var formats = CallFormats.ALL.stream().map(CallFormat::name).collect(Collectors.toSet());

        assertThat(goldens().map(Golden::format)).containsAll(formats);
        assertThat(formats).hasSizeGreaterThanOrEqualTo(50);
    }

    @ParameterizedTest
    @MethodSource("goldens")
    void saysWhatItSays(Golden golden) {
        assertThat(golden.read(golden.answer())).isEqualTo(golden.told());
    }

    @ParameterizedTest
    @MethodSource("goldens")
    void saysTheSameCharacterByCharacter(Golden golden) {
        assertThat(golden.read(golden.answer().split(""))).isEqualTo(golden.told());
    }

    @ParameterizedTest
    @MethodSource("goldens")
    void saysTheSameInTwoPieces(Golden golden) {
        String answer = golden.answer();
        for (int cut = 0; cut <= answer.length(); cut++) {
            assertThat(golden.read(answer.substring(0, cut), answer.substring(cut)))
                    .as("cut at %s", cut)
                    .isEqualTo(golden.told());
        }
    }

    @ParameterizedTest
    @MethodSource("goldens")
    void saysTheSameWhereMarksAreSpecialTokens(Golden golden) {
        assertThat(golden.readTokens()).isEqualTo(golden.told());
        for (int cut = 0; cut <= golden.answer().length(); cut += 7) {
            assertThat(golden.readTokens(cut)).as("cut at %s", cut).isEqualTo(golden.told());
        }
    }

    @ParameterizedTest
    @MethodSource("goldens")
    void saysTheSameInRandomPieces(Golden golden) {
        inRandomPieces(golden, 20);
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("goldens")
    void saysTheSameInManyRandomPieces(Golden golden) {
        inRandomPieces(golden, 1000);
    }

    private static void inRandomPieces(Golden golden, int rounds) {
        var random = new Random(20261123);
        String answer = golden.answer();
        for (int round = 0; round < rounds; round++) {
            int most = 1 + random.nextInt(12);
            String[] pieces = Stream.iterate(0, from -> from < answer.length(), from -> from + most)
                    .map(from -> answer.substring(from, Math.min(from + most, answer.length())))
                    .flatMap(piece -> {
                        int cut = random.nextInt(piece.length() + 1);
                        return Stream.of(piece.substring(0, cut), piece.substring(cut));
                    })
                    .toArray(String[]::new);
            assertThat(golden.read(pieces)).as("round %s", round).isEqualTo(golden.told());
        }
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("goldens")
    void saysTheSameInThreePieces(Golden golden) {
        String answer = golden.answer();
        for (int first = 0; first <= answer.length(); first++) {
            for (int second = first; second <= answer.length(); second++) {
                var told = golden.read(
                        answer.substring(0, first), answer.substring(first, second), answer.substring(second));
                if (!told.equals(golden.told())) {
                    assertThat(told).as("cut at %s and %s", first, second).isEqualTo(golden.told());
                }
            }
        }
    }
}
