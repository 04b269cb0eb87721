package roselle.model.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Kinds of distances are those of Hugging Face's {@code make_log_bucket_position}. */
class DistanceKindsTest {
    @ParameterizedTest
    @CsvSource({
        "256,512,0,0",
        "256,512,7,7",
        "256,512,8,8",
        "256,512,9,9",
        "256,512,20,20",
        "256,512,31,31",
        "256,512,33,33",
        "256,512,127,127",
        "256,512,128,128",
        "256,512,129,129",
        "256,512,200,169",
        "256,512,300,207",
        "256,512,470,248",
        "256,512,510,255",
        "256,512,511,255",
        "256,512,700,284",
        "16,512,0,0",
        "16,512,7,7",
        "16,512,8,8",
        "16,512,9,9",
        "16,512,20,10",
        "16,512,31,11",
        "16,512,33,11",
        "16,512,127,13",
        "16,512,128,13",
        "16,512,129,13",
        "16,512,200,14",
        "16,512,300,15",
        "16,512,470,15",
        "16,512,510,15",
        "16,512,511,15",
        "16,512,700,16",
        "64,1024,0,0",
        "64,1024,7,7",
        "64,1024,8,8",
        "64,1024,9,9",
        "64,1024,20,20",
        "64,1024,31,31",
        "64,1024,33,33",
        "64,1024,127,45",
        "64,1024,128,45",
        "64,1024,129,45",
        "64,1024,200,49",
        "64,1024,300,53",
        "64,1024,470,57",
        "64,1024,510,57",
        "64,1024,511,57",
        "64,1024,700,60"
    })
    void equalTheReference(int span, int farthest, int before, int bucket) {
        var kinds = new DistanceKinds(span, farthest, true);
        assertThat(kinds.kind(-before)).isEqualTo(Math.min(2 * span - 1, span + bucket));
        assertThat(kinds.kind(before)).isEqualTo(Math.max(0, span - bucket));
    }

    @Test
    void areSingleDistancesWithoutALogarithm() {
        var kinds = new DistanceKinds(4, 0, false);
        assertThat(kinds.kind(0)).isEqualTo(4);
        assertThat(kinds.kind(-3)).isEqualTo(7);
        assertThat(kinds.kind(-9)).isEqualTo(7);
        assertThat(kinds.kind(9)).isZero();
    }

    @Test
    void needMoreDistancesThanSingleOnes() {
        assertThatThrownBy(() -> new DistanceKinds(16, 9, false)).isInstanceOf(IllegalArgumentException.class);
    }
}
