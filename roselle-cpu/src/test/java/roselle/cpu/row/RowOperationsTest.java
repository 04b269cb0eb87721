package roselle.cpu.row;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.backend.memory.Rows;
import roselle.cpu.attention.AttentionTwinContract;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.vector.Lanes;
import roselle.testing.ChildJvm;

class RowOperationsTest {
    @Test
    void everyOperationOnRowsGivesTheBitsOfItsScalarTwinAtThePreferredWidth() {
        assertThat(new RowsTwinContract(2_026).faults()).isEmpty();
    }

    @Tag("long")
    @Test
    void attentionGivesTheBitsOfItsScalarTwinForPromptsAndSingleTokensAtThePreferredWidth() {
        assertThat(new AttentionTwinContract(2_027).faults()).isEmpty();
    }

    @Test
    void aLastBitThatDependsOnTheNumberOfRowsIsFound() {
        var contract = new RowsTwinContract(2_026, (output, rows) -> {
            if (rows > 4) {
                nudge(output);
            }
        });
        assertThat(contract.faults())
                .isNotEmpty()
                .allMatch(fault ->
                        fault.contains("of 5 rows") || fault.contains("of 9 rows") || fault.contains("is cached as"));
    }

    private static void nudge(Rows output) {
        long at = CpuBuffer.row(output, 0);
        CpuBuffer.number(CpuBuffer.of(output), at, Math.nextUp(CpuBuffer.number(CpuBuffer.of(output), at)));
    }

    /** Narrower vectors than those that the tests above have met in this very process. */
    static IntStream forcedWidths() {
        return IntStream.of(128, 256, 512).filter(bits -> bits < Lanes.COUNT * Float.SIZE);
    }

    @Tag("long")
    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("forcedWidths")
    void everyOperationOnRowsGivesTheBitsOfItsScalarTwinAtAForcedWidth(int bits) {
        String said = ChildJvm.run(List.of("-XX:MaxVectorSize=" + bits / 8), RowsTwinContract.class)
                .success();
        assertThat(said).contains("lanes " + bits / Float.SIZE + ", faults 0");
    }
}
